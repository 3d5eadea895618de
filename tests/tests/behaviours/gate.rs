//! The gate as a whole: in which order everybody is asked, and what is a no.

use std::borrow::Cow;
use std::sync::Mutex;

use tool_runtime::path::Reviewed;
use tool_runtime::{
    AllowAll, Answer, Attempt, BoxFuture, CallFacts, Code, Content, Decision, Entry, Event, EventKind, Final, Harness,
    Layer, Ledger, LedgerError, MemoryLedger, Policies, QuestionSet, Ran, Rule, Rules, StoredResult, Test, ToolCall,
    tool,
};

use super::support::{Log, ends, lock, logged};

/// Where hooks without a state of their own write.
static TRACE: Mutex<Option<Log>> = Mutex::new(None);

fn trace(what: &str) {
    if let Some(log) = &*lock(&TRACE) {
        log.note(what);
    }
}

fn narrate(sum: &u32) -> Content {
    trace("project");
    format!("sum {sum}").into()
}

fn last(args: Option<&AddArgs>, last: &Final<'_>) -> Option<Content> {
    let args = args.expect("they were accepted");
    trace(&format!("finalize {} {} of {}", args.a, args.b, last.content.to_text()));
    None
}

/// Adds.
#[tool(host(project = narrate, finalize = last))]
async fn add(
    /// One.
    a: u32,
    /// The other.
    #[arg(default = 2)]
    b: u32,
    #[host] log: &Log,
) -> u32 {
    log.note(format!("body {a} {b}"));
    a + b
}

/// Notes what passes.
struct Passing(Log);

impl Layer for Passing {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            self.0.note(format!("layer in {}", attempt.arguments().as_str()));
            let ran = attempt.run().await;
            self.0.note(format!("layer out {}", ran.value().unwrap_or("none")));
            ran
        })
    }
}

/// Notes what it is given.
struct Noted(Log, MemoryLedger);

impl Ledger for Noted {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        match &entry {
            Entry::Verdict(verdict) => self.0.note(format!("record {}", verdict.arguments())),
            Entry::End(record) => self.0.note(format!("end {}", record.code())),
            _ => {}
        }
        self.1.append(entry)
    }
}

#[tokio::test]
async fn d21_the_trace_of_an_allowed_call() {
    let (registry, log) = logged([AddTool::host()]);
    *lock(&TRACE) = Some(log.clone());
    let by = |who: &'static str| {
        let log = log.clone();
        move |call: &CallFacts<'_>| {
            assert_eq!(call.call_id().as_str(), "1");
            log.note(format!("{who} {}", call.arguments().as_str()));
        }
    };
    let (policy, guard, asked, reviewed, told) = (by("policy"), by("guard"), log.clone(), log.clone(), log.clone());
    let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
        policy(call);
        Decision::ask("so")
    })
    .guard(move |call: &CallFacts<'_>| -> Option<Cow<'static, str>> {
        guard(call);
        None
    })
    .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        asked.note(format!("ask {}", set.questions[0].arguments));
        Box::pin(async { vec![Answer::Yes] })
    })
    .ledger(Noted(log.clone(), MemoryLedger::default()))
    .layer(Passing(log.clone()))
    .review(move |seen: &StoredResult| {
        reviewed.note(format!("review {}", seen.content.to_text()));
        Reviewed::Accept
    })
    .observer(move |event: &Event| match event.kind() {
        EventKind::Finished(record) => told.note(format!("finished {}", record.content().to_text())),
        kind => told.note(kind.as_str()),
    });
    let settled = harness.run_settled([ToolCall::new("1", "add", r#" {"a": 1.0} "#)], None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true)]);
    let expected = [
        "proposed",
        r#"policy {"a":1,"b":2}"#,
        r#"guard {"a":1,"b":2}"#,
        "asked",
        r#"ask {"a":1,"b":2}"#,
        // The world may have changed while a person thought.
        r#"policy {"a":1,"b":2}"#,
        r#"guard {"a":1,"b":2}"#,
        r#"record {"a":1,"b":2}"#,
        "decided",
        "started",
        r#"layer in {"a":1,"b":2}"#,
        "body 1 2",
        "project",
        "layer out 3",
        "review sum 3",
        "finalize 1 2 of sum 3",
        "end ok",
        "finished sum 3",
    ];
    assert_eq!(log.take(), expected);
}

/// Does something.
#[tool]
async fn act(#[host] log: &Log) -> u8 {
    log.note("ran");
    1
}

fn says(reason: &'static str) -> impl Fn(&CallFacts<'_>) -> Option<Cow<'static, str>> + Send + Sync + Clone {
    move |_: &CallFacts<'_>| Some(reason.into())
}

fn silent(_: &CallFacts<'_>) -> Option<Cow<'static, str>> {
    None
}

#[tokio::test]
async fn d22_a_guard_can_only_say_no() {
    let call = || [ToolCall::new("1", "act", "")];
    let (registry, log) = logged([ActTool::host()]);
    let harness = |policy: Decision| Harness::new(registry.clone(), move |_: &CallFacts<'_>| policy.clone());
    // One without an opinion, and a later one that denies.
    let settled = harness(Decision::Allow).guard(silent).guard(says("not today")).run_settled(call(), None).await;
    assert_eq!(ends(&settled), [("1", Code::Denied, false)]);
    assert!(settled[0].result().text().contains("not today"), "{}", settled[0].result().text());
    // Every reason is recorded, the policy's first, and a guard that is there twice says it twice.
    let twice = says("second");
    let denied = harness(Decision::deny("first")).guard(twice.clone()).guard(silent).guard(twice);
    let settled = denied.run_settled(call(), None).await;
    let verdict = settled[0].record().verdict().expect("a no is recorded");
    assert_eq!(verdict.reasons(), ["first", "second", "second"]);
    // A guard's silence grants nothing.
    for (policy, code) in [
        (Decision::deny("no"), Code::Denied),
        (Decision::ask("so"), Code::ApprovalUnavailable),
        (Decision::NoOpinion, Code::ApprovalUnavailable),
    ] {
        let settled = harness(policy).guard(silent).run_settled(call(), None).await;
        assert_eq!(ends(&settled), [("1", code, false)]);
    }
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn d24_a_broken_policy_is_a_no() {
    let (registry, log) = logged([ActTool::host()]);
    let breaks = |call: &CallFacts<'_>| match call.call_id().as_str() {
        "2" => panic!("a word of the policy's"),
        _ => Decision::NoOpinion,
    };
    let (reviewed, told) = (log.clone(), log.clone());
    let harness = Harness::new(registry, Policies::new().and(AllowAll).and(breaks))
        .layer(Passing(log.clone()))
        .review(move |seen: &StoredResult| {
            reviewed.note(format!("review {}", seen.code));
            Reviewed::Accept
        })
        .observer(move |event: &Event| {
            if let EventKind::Finished(record) = event.kind() {
                told.note(format!("finished {}", record.call_id()));
            }
        });
    let settled = harness.run_settled(["1", "2", "3"].map(|id| ToolCall::new(id, "act", "")), None).await;
    assert_eq!(ends(&settled), [("1", Code::Ok, true), ("2", Code::Denied, false), ("3", Code::Ok, true)]);
    let one = |id: &str| {
        ["layer in {}".to_owned(), "ran".to_owned(), "layer out 1".to_owned(), "review ok".to_owned(), id.to_owned()]
    };
    let mut expected = one("finished 1").to_vec();
    expected.push("finished 2".to_owned());
    expected.extend(one("finished 3"));
    assert_eq!(log.take(), expected);
    let text = settled[1].result().text();
    assert!(text.contains("the call could not be judged") && !text.contains("a word of the policy's"), "{text}");
}

/// Runs a command.
#[tool]
async fn shell(
    /// Which.
    #[arg(alias = "command")]
    cmd: String,
    #[host] log: &Log,
) -> String {
    log.note(format!("ran {cmd}"));
    cmd
}

/// Nothing can rewrite what was judged: the only host code between a yes and the body is a layer, which
/// can't, and everybody reads one text.
#[tokio::test]
async fn b66_what_was_allowed_is_what_runs() {
    let (registry, log) = logged([ShellTool::host()]);
    let rules = Rules::builder()
        .rule(Rule::allow("shell").when("cmd", Test::matches("ok *")))
        .rule(Rule::deny("shell").because("no").when("cmd", Test::matches("rm *")))
        .build(&registry)
        .expect("the rules are sound");
    let harness =
        Harness::new(registry, rules).ledger(Noted(log.clone(), MemoryLedger::default())).layer(Passing(log.clone()));
    for (arguments, code, expected) in [
        (
            r#"{"command":"ok rm x"}"#,
            Code::Ok,
            [
                r#"record {"cmd":"ok rm x"}"#,
                r#"layer in {"cmd":"ok rm x"}"#,
                "ran ok rm x",
                r#"layer out "ok rm x""#,
                "end ok",
            ]
            .as_slice(),
        ),
        (r#"{"cmd":"rm x"}"#, Code::Denied, &[r#"record {"cmd":"rm x"}"#, "end denied"]),
        (r#"{"cmd":"RM x"}"#, Code::ApprovalUnavailable, &[r#"record {"cmd":"RM x"}"#, "end approval_unavailable"]),
    ] {
        let settled = harness.run_settled([ToolCall::new("1", "shell", arguments)], None).await;
        assert_eq!(settled[0].record().code(), code, "{arguments}");
        assert_eq!(log.take(), expected, "{arguments}");
    }
}
