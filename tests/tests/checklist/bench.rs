//! What the tests of calls share: a tool that pays, somebody who answers, and what the ledger has afterwards.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tool_runtime::{
    Answer, Ask, BoxFuture, CheckedCall, ChecklistBuilder, Code, DynamicTool, Entry, Harness, Hit, HostTool, Location,
    Lookup, MemoryLedger, Normalisation, Pointer, Policy, QuestionSet, Registry, SlotKind, SlotState, Source,
    SourceKind, ToolCall, Verdict, source_fn,
};

/// What bodies were given, in order.
pub(crate) type Ran = Arc<Mutex<Vec<String>>>;

pub(crate) fn seen(ran: &Ran) -> Vec<String> {
    ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(crate) fn tool_of(ran: &Ran, name: &str, description: &str, parameters: &str) -> HostTool {
    let ran = ran.clone();
    DynamicTool::builder(name, description)
        .parameters(parameters)
        .output("true")
        .run(move |arguments, _cx| {
            let ran = ran.clone();
            async move {
                ran.lock().unwrap_or_else(PoisonError::into_inner).push(arguments);
                Ok("\"done\"".to_owned())
            }
        })
        .unwrap()
}

pub(crate) const PAY: &str = r#"{"type":"object","additionalProperties":false,"required":["iban","amount"],"properties":{
    "iban":{"type":"string","description":"The account that is paid."},
    "amount":{"type":"integer","description":"How much, in euros.","minimum":1},
    "memo":{"type":"string"}}}"#;

/// A preset a value.
pub(crate) fn presets(values: &[(&'static str, &'static str)]) -> Arc<dyn Source> {
    let values: BTreeMap<&str, &str> = values.iter().copied().collect();
    source_fn(SourceKind::Preset, move |ask: Ask| {
        let found = values.get(ask.slot()).filter(|known| ask.value() == Some(**known)).map(|known| {
            let location = Location::whole(Pointer::Preset(ask.slot().into()), known);
            Lookup::Hit(Hit::new(location, *known, Normalisation::Exact))
        });
        std::future::ready(found.unwrap_or(Lookup::NoResult))
    })
}

pub(crate) struct Bench {
    pub(crate) ran: Ran,
    pub(crate) registry: Registry,
    pub(crate) ledger: Arc<MemoryLedger>,
}

impl Bench {
    pub(crate) fn with(description: &str, parameters: &str) -> Self {
        let ran = Ran::default();
        let registry = Registry::builder().tool(tool_of(&ran, "pay", description, parameters)).build().unwrap();
        Bench { ran, registry, ledger: Arc::new(MemoryLedger::default()) }
    }

    pub(crate) fn harness(&self, policy: impl Policy + 'static, checklist: ChecklistBuilder) -> Harness {
        let checklist = checklist.build(&self.registry).unwrap_or_else(|error| panic!("{error}"));
        Harness::new(self.registry.clone(), policy).checklist(checklist).ledger(Arc::clone(&self.ledger))
    }

    pub(crate) fn verdicts(&self) -> Vec<Arc<Verdict>> {
        let verdict = |entry| match entry {
            Entry::Verdict(verdict) => Some(verdict),
            _ => None,
        };
        self.ledger.entries().into_iter().filter_map(verdict).collect()
    }

    pub(crate) fn slot(&self, name: &str) -> (SlotKind, SlotState) {
        let verdicts = self.verdicts();
        let verdict = verdicts.last().unwrap();
        let slot = verdict.slots().iter().find(|slot| slot.name() == name);
        let slot = slot.unwrap_or_else(|| panic!("no slot `{name}` in {:?}", verdict.slots()));
        (slot.kind(), slot.state().clone())
    }
}

pub(crate) async fn code_of(harness: &Harness, call: ToolCall) -> (Code, String) {
    let settled = harness.run_settled([call], None).await.remove(0);
    (settled.record().code(), settled.result().text())
}

pub(crate) fn pay(arguments: &str) -> ToolCall {
    ToolCall::new("call_1", "pay", arguments)
}

/// Somebody who fills in blanks by what they ask for, and says yes.
pub(crate) fn fills(
    answers: &[(&'static str, &'static str)],
    sets: &Arc<Mutex<Vec<QuestionSet>>>,
) -> impl tool_runtime::Approver + use<> {
    let (answers, sets): (BTreeMap<&str, &str>, _) = (answers.iter().copied().collect(), sets.clone());
    move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        for question in &set.questions {
            for blank in &question.blanks {
                if let Some(answer) = answers.get(&*blank.asks) {
                    set.fill_text(&question.id, &blank.slot, answer).unwrap();
                }
            }
        }
        let answers = vec![Answer::Yes; set.questions.len()];
        sets.lock().unwrap().push(set);
        Box::pin(std::future::ready(answers))
    }
}

pub(crate) fn check(then: &str) -> String {
    format!(
        r#"{{"origin":"treasury policy 4","line":[{{"tool":"pay","name":"recipient","check":"known","then":"{then}","text":"the recipient is known"}}],"scope":{{"calls":"none"}}}}"#
    )
}

pub(crate) fn says(
    truth: Result<bool, &'static str>,
) -> impl Fn(CheckedCall) -> BoxFuture<'static, Result<bool, String>> {
    move |_| Box::pin(std::future::ready(truth.map_err(str::to_owned)))
}
