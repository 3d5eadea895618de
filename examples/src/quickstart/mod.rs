//! A scripted conversation, shown twice: as the model sees it and as the host keeps it.

mod screen;
mod script;
mod tools;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Code, Decision, Entry, Event, EventKind, Harness, HostTool, MemoryLedger, Question,
    QuestionSet, ToolCall, VerdictKind,
};

pub use screen::Style;
use screen::{Item, Screen, Tone, indented, item};
use script::{SCENES, Scene};

/// Says whether a call may run. It stands outside of every tool and sees the accepted arguments, never the model's
/// own text: a rule need not know that the model wrote `4000.0` for 4000, or left out what has a default.
fn policy(call: &CallFacts<'_>) -> Decision {
    match call.tool() {
        "transfer_money" => match call.arguments().read::<u64>("/cents") {
            Some(cents) if cents > 100_000 => Decision::deny("transfers above 1000.00 EUR are made at the bank"),
            // A value that the rule can't read is no reason to let the call pass.
            _ => Decision::ask("money leaves the account"),
        },
        _ if call.hints().destructive => Decision::ask("it can't be undone"),
        _ => Decision::Allow,
    }
}

/// Stands for the person who is asked. Keeps the questions, and says yes.
#[derive(Clone, Default)]
struct Person(Arc<Mutex<Vec<Question>>>);

impl Person {
    fn ask(&self, set: QuestionSet) -> Vec<Answer> {
        let answers = vec![Answer::Yes; set.questions.len()];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(set.questions);
        answers
    }

    fn was_asked(&self, settled: &Settled) -> Option<Question> {
        let questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.iter().find(|question| question.call_id == *settled.record().call_id()).cloned()
    }
}

/// When each body began. The host hears of it while it happens.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<BTreeMap<String, Instant>>>);

impl Clock {
    fn hear(&self, event: &Event) {
        if let EventKind::Started = event.kind() {
            let mut began = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            began.insert(event.call_id().to_string(), Instant::now());
        }
    }

    /// From when to when a body ran, from the beginning of its turn on.
    fn span(&self, turn: Instant, settled: &Settled) -> Option<String> {
        let began = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = began.get(settled.record().call_id().as_str())?.duration_since(turn);
        let end = begin + settled.record().took();
        Some(format!("{:.0} to {:.0} ms of the turn", begin.as_secs_f64() * 1e3, end.as_secs_f64() * 1e3))
    }
}

/// Plays the conversation and writes it down. Gives back what became of every call.
///
/// # Errors
/// If `out` can't be written to.
pub fn run(out: &mut impl Write, style: Style) -> Result<Vec<Settled>, Box<dyn Error>> {
    // One thread is enough, but there has to be a timer: tools have time budgets.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(play(&mut Screen::new(out, style)))
}

async fn play<W: Write>(screen: &mut Screen<'_, W>) -> Result<Vec<Settled>, Box<dyn Error>> {
    let person = Person::default();
    let asked = person.clone();
    let approver =
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { Box::pin(std::future::ready(asked.ask(set))) };
    let ledger = Arc::new(MemoryLedger::default());
    let clock = Clock::default();
    let heard = clock.clone();
    let harness = Harness::new(tools::registry()?, policy)
        .approver(approver)
        .observer(move |event: &Event| heard.hear(event))
        .ledger(Arc::clone(&ledger));

    introduce(screen, &harness)?;
    let (mut proposed, mut all) = (0, Vec::new());
    for (number, scene) in SCENES.iter().enumerate() {
        let calls = openai_chat::calls(scene.message)?;
        let begun = Instant::now();
        let settled = harness.run_settled(calls.clone(), None).await;
        let kept = settled.iter().map(|settled| {
            let mut items = kept(settled, person.was_asked(settled));
            if calls.len() > 1
                && let Some(span) = clock.span(begun, settled)
            {
                items.push(item("ran", span));
            }
            items
        });
        show(screen, number + 1, scene, &calls, &settled, kept)?;
        proposed += calls.len();
        all.extend(settled);
    }
    conclude(screen, proposed, &all, &ledger)?;
    Ok(all)
}

fn introduce<W: Write>(screen: &mut Screen<'_, W>, harness: &Harness) -> Result<(), Box<dyn Error>> {
    screen.say("The model proposes, your code executes.", Tone::Bold)?;
    screen.say(
        "On the left is all that the model says and reads. What is on the right stays in the host.",
        Tone::Plain,
    )?;
    screen.blank()?;
    let tool = harness.registry().get("get_weather").ok_or("there is no get_weather")?;
    let others = harness.registry().len() - 1;
    screen.table("A tool", &[declared(tool)])?;
    screen.say(
        &format!("{others} more tools are declared like this one. What follows is a conversation about them."),
        Tone::Dim,
    )?;
    screen.blank()?;
    Ok(())
}

/// A tool, as both sides know it.
fn declared(tool: &HostTool) -> (Vec<Item>, Vec<Item>) {
    let schema = tool.schema();
    let model = vec![
        item("name", schema.name()).tone(Tone::Bold),
        item("descr.", schema.description()),
        item("defer", schema.defer().to_string()),
        item("params", indented(schema.parameters())),
    ];
    let hints = tool.hints();
    let named = [
        (hints.read_only, "read_only"),
        (hints.destructive, "destructive"),
        (hints.idempotent, "idempotent"),
        (hints.deterministic, "deterministic"),
    ];
    let named: Vec<&str> = named.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
    let budget = tool.timeout().map_or_else(|| "none".to_owned(), |budget| format!("{budget:?}"));
    let host = vec![
        item("execute", "async fn get_weather(…)"),
        item("state", "&Stations, injected"),
        item("timeout", budget),
        item("hints", named.join(", ")),
        item("overlap", "concurrency_safe"),
        item("project", "narrate: value → text for the model"),
        item("card", "forecast_card: result → a person"),
        item("digest", tool.digest().to_string().chars().take(32).collect::<String>() + "…"),
        item("output", indented(tool.output_schema())),
    ];
    (model, host)
}

fn show<W: Write>(
    screen: &mut Screen<'_, W>,
    number: usize,
    scene: &Scene,
    calls: &[ToolCall],
    settled: &[Settled],
    kept: impl Iterator<Item = Vec<Item>>,
) -> Result<(), Box<dyn Error>> {
    let seen = calls.iter().zip(settled).map(|(call, settled)| seen(call, settled));
    let rows: Vec<_> = seen.zip(kept).collect();
    screen.table(&format!("{number} · {}", scene.title), &rows)?;
    if !scene.note.is_empty() {
        screen.say(scene.note, Tone::Dim)?;
    }
    screen.blank()?;
    Ok(())
}

/// The left column: what the model said, and what it reads.
fn seen(call: &ToolCall, settled: &Settled) -> Vec<Item> {
    let proposed = format!("{} {}", call.name(), call.arguments().to_string_lossy());
    vec![item("says", proposed).tone(Tone::Bold), item("reads", settled.result().text())]
}

/// The right column: the record.
fn kept(settled: &Settled, question: Option<Question>) -> Vec<Item> {
    let record = settled.record();
    let tone = match record.code() {
        Code::Ok => Tone::Good,
        Code::InvalidArguments | Code::Denied => Tone::Warning,
        _ => Tone::Bad,
    };
    let mut items = vec![item("code", record.code().as_str()).tone(tone)];
    match record.verdict() {
        Some(verdict) => {
            items.push(item(
                "verdict",
                match verdict.kind() {
                    VerdictKind::Cleared => "cleared".to_owned(),
                    VerdictKind::Blocked(code) => format!("blocked: {code}"),
                    other => format!("{other:?}"),
                },
            ));
            items.push(item("arguments", verdict.arguments()));
            items.extend(verdict.reasons().iter().map(|reason| item("reason", reason)));
        }
        None => items.push(item("verdict", "none: there was nothing to judge")),
    }
    if let Some(question) = question {
        let card = question.card.map_or_else(|| question.arguments.clone(), |card| card.title);
        items.push(item("asked", format!("\"{card}?\" Answer: yes")));
    }
    if let Some(value) = settled.value() {
        items.push(item("value", value));
    }
    if let Some(detail) = record.detail() {
        items.push(item("detail", detail));
    }
    if record.started() {
        items.push(item("took", format!("{:.1} ms", record.took().as_secs_f64() * 1e3)));
    }
    if let Some(card) = record.card() {
        let body = card.body.as_ref().map(|body| format!(" · {body}")).unwrap_or_default();
        items.push(item("card", format!("{}{body}", card.title)));
    }
    items
}

fn conclude<W: Write>(
    screen: &mut Screen<'_, W>,
    proposed: usize,
    all: &[Settled],
    ledger: &MemoryLedger,
) -> Result<(), Box<dyn Error>> {
    let entries = ledger.entries();
    let verdicts: Vec<VerdictKind> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Verdict(verdict) => Some(verdict.kind()),
            _ => None,
        })
        .collect();
    let cleared = verdicts.iter().filter(|kind| **kind == VerdictKind::Cleared).count();
    let started = all.iter().filter(|settled| settled.record().started()).count();
    screen
        .say(&format!("{proposed} calls, {} results, in order: every call has exactly one.", all.len()), Tone::Bold)?;
    screen.say(
        &format!(
            "The ledger has {} verdicts, each written before anything ran: {cleared} cleared, {} blocked. {started} tools ran.",
            verdicts.len(),
            verdicts.len() - cleared,
        ),
        Tone::Plain,
    )?;
    Ok(())
}

/// Keeps the default panic message of tools off the screen.
///
/// The runtime catches a tool's panic and keeps its words in the record, where the right column shows them. The hook of
/// the standard library prints them a second time, into the middle of the table. Panics from anywhere else are printed
/// as ever.
pub fn keep_tool_panics_off_the_screen() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(tools::is_here) {
            default(info);
        }
    }));
}
