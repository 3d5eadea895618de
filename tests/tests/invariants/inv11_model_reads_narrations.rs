//! Of an error the model reads its own `Display` and no more; panics, causes and debug output are the host's; a secret
//! is nobody's but the handler's.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Serialize, Serializer};
use tool_runtime::path::{Acceptance, Asking, Loaded, Reviewed, Settled, ask};
use tool_runtime::wire::openai_chat;
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallContext, CallFacts, Card, CheckedCall, Checklist, Code, Content, Decision,
    DynamicTool, Entry, Final, Harness, HostTool, JsonPath, Ledger, MemoryLedger, QuestionSet, RawArguments, Registry,
    Secret, StoredResult, ToolCall, tool, tool_type,
};

use crate::support::{BoxError, Kept, Ran, lock, one, registry, traced};

/// An error in three layers, each of which says one thing to a person and another to a debugger.
#[derive(Debug)]
struct Layer {
    says: &'static str,
    #[allow(dead_code, reason = "read by `Debug`")]
    debugword: &'static str,
    under: Option<Box<Layer>>,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says)
    }
}

impl Error for Layer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.under.as_deref().map(|under| under as &(dyn Error + 'static))
    }
}

fn layers() -> Layer {
    let layer = |says, under: Option<Layer>| Layer { says, debugword: "debugword", under: under.map(Box::new) };
    layer("The note could not be saved", Some(layer("causeword one", Some(layer("causeword two", None)))))
}

/// Fails.
#[tool]
async fn fails() -> Result<u8, Layer> {
    Err(layers())
}

/// Fails on another thread.
#[tool]
fn fails_blocking() -> Result<u8, BoxError> {
    Err(Box::new(layers()))
}

/// Fails with its context.
#[tool]
async fn fails_in_context() -> Result<u8, anyhow::Error> {
    Err(anyhow::Error::new(std::io::Error::other("causeword"))
        .context("causeword in between")
        .context("The note could not be saved"))
}

/// Fails, and its causes may be read.
#[tool(host(causes))]
async fn fails_openly() -> Result<u8, Layer> {
    Err(layers())
}

fn fails_dynamically() -> HostTool {
    let tool = DynamicTool::builder("fails_dynamically", "Fails.").output("true").run(|_, _| async {
        let error: BoxError = Box::new(layers());
        Err(error)
    });
    tool.unwrap_or_else(|error| panic!("{error}"))
}

/// All that reaches a model of a call.
fn model_reads(settled: &Settled) -> String {
    let result = settled.result();
    [
        serde_json::to_string(result).unwrap_or_default(),
        format!("{result:?}"),
        result.text(),
        openai_chat::message(result).to_json(),
    ]
    .join("\n")
}

#[tokio::test]
async fn inv11_of_an_error_the_model_reads_its_display_and_no_more() {
    let tools = [
        FailsTool::host(),
        FailsBlockingTool::host(),
        FailsInContextTool::host(),
        FailsOpenlyTool::host(),
        fails_dynamically(),
    ];
    let harness = Harness::new(registry(tools), AllowAll);
    for tool in ["fails", "fails_blocking", "fails_in_context", "fails_dynamically"] {
        let settled = one(&harness, ToolCall::new("1", tool, "")).await;
        assert_eq!(settled.record().code(), Code::ToolError);
        assert_eq!(settled.result().text(), "The note could not be saved", "{tool}");
        let read = model_reads(&settled);
        assert!(!read.contains("causeword") && !read.contains("debugword"), "{tool}: {read}");
        // The host has them all, and no debug output either.
        let detail = settled.record().detail().unwrap_or_default();
        assert!(detail.contains("causeword"), "{tool}: {detail}");
        assert!(!detail.contains("debugword"), "{tool}: {detail}");
    }
    let settled = one(&harness, ToolCall::new("1", "fails_openly", "")).await;
    assert_eq!(settled.result().text(), "The note could not be saved: causeword one: causeword two");
}

/// A type whose own code panics where it is told to.
#[derive(schemars::JsonSchema)]
struct Touchy(#[allow(dead_code, reason = "only its schema is looked at")] u8);

impl<'de> serde::Deserialize<'de> for Touchy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        assert_ne!(number, 13, "panicword");
        Ok(Touchy(number))
    }
}

impl Serialize for Touchy {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("panicword")
    }
}

/// What can't be written, and says so.
#[derive(schemars::JsonSchema)]
struct Refuses(#[allow(dead_code, reason = "only its schema is looked at")] u8);

impl Serialize for Refuses {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("causeword"))
    }
}

/// Panics in many ways.
#[tool(host(timeout = "5s"))]
async fn panics(
    /// How.
    how: u8,
) -> Result<u8, String> {
    match how {
        0 => panic!("panicword {how}"),
        1 => std::panic::panic_any("panicword".to_owned()),
        2 => std::panic::panic_any(vec!["panicword"]),
        3 => Err::<u8, _>("panicword").map_err(|_| ()).expect("panicword"),
        _ => {
            tokio::task::yield_now().await;
            unreachable!("panicword")
        }
    };
    Ok(0)
}

/// Panics on another thread.
#[tool]
fn panics_blocking() -> u8 {
    panic!("panicword")
}

/// Panics at once.
#[tool(host(inline))]
fn panics_inline() -> u8 {
    panic!("panicword")
}

/// Panics while it is read or written.
#[tool]
async fn panics_as_json(
    /// A touchy number.
    number: Touchy,
) -> Touchy {
    number
}

/// Gives what refuses to be written.
#[tool]
async fn refuses() -> Refuses {
    Refuses(0)
}

fn panics_project(_: &u8) -> Content {
    panic!("panicword")
}

fn panics_finalize(_: Option<&PanicsRenderedArgs>, _: &Final<'_>) -> Option<Content> {
    panic!("panicword")
}

fn panics_call(_: &PanicsRenderedArgs) -> Card {
    panic!("panicword")
}

fn panics_result(_: &PanicsRenderedArgs, _: &StoredResult) -> Card {
    panic!("panicword")
}

/// Is rendered by what panics.
#[tool(host(finalize = panics_finalize, present_call = panics_call, present_result = panics_result))]
async fn panics_rendered(
    /// Any.
    n: u8,
) -> u8 {
    n
}

/// Is projected by what panics.
#[tool(host(project = panics_project))]
async fn panics_projected() -> u8 {
    0
}

#[tokio::test]
async fn inv11_no_word_of_a_panic_is_read() {
    let tools = || {
        [
            PanicsTool::host(),
            PanicsBlockingTool::host(),
            PanicsInlineTool::host(),
            PanicsAsJsonTool::host(),
            RefusesTool::host(),
            PanicsRenderedTool::host(),
            PanicsProjectedTool::host(),
        ]
    };
    let yes = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    };
    let harness = Harness::new(registry(tools()), |_: &CallFacts<'_>| Decision::ask("sure?")).approver(yes);
    let mut calls: Vec<_> = (0..=4).map(|how| ("panics", format!(r#"{{"how":{how}}}"#), Code::Panicked)).collect();
    calls.push(("panics_blocking", String::new(), Code::Panicked));
    calls.push(("panics_inline", String::new(), Code::Panicked));
    calls.push(("panics_as_json", r#"{"number":13}"#.to_owned(), Code::InvalidArguments));
    calls.push(("panics_as_json", r#"{"number":1}"#.to_owned(), Code::Panicked));
    calls.push(("refuses", String::new(), Code::InvalidOutput));
    calls.push(("panics_rendered", r#"{"n":1}"#.to_owned(), Code::InvalidOutput));
    calls.push(("panics_projected", String::new(), Code::InvalidOutput));
    for (tool, arguments, code) in calls {
        let settled = one(&harness, ToolCall::new("1", tool, arguments.as_str())).await;
        assert_eq!(settled.record().code(), code, "{tool} {arguments}: {}", settled.result().text());
        let read = model_reads(&settled);
        assert!(!read.contains("panicword") && !read.contains("causeword"), "{tool} {arguments}: {read}");
        assert!(!settled.result().text().trim().is_empty());
    }
    // The same of the host's own code.
    let ok = || ToolCall::new("1", "panics_rendered", r#"{"n":1}"#);
    let allow = |_: &CallFacts<'_>| Decision::Allow;
    let asks = |_: &CallFacts<'_>| Decision::ask("sure?");
    let harnesses = [
        Harness::new(registry(tools()), |_: &CallFacts<'_>| -> Decision { panic!("panicword") }),
        Harness::new(registry(tools()), allow).guard(|_: &CallFacts<'_>| panic!("panicword")),
        Harness::new(registry(tools()), asks)
            .approver(|_: QuestionSet| -> BoxFuture<'static, Vec<Answer>> { panic!("panicword") }),
        Harness::new(registry(tools()), allow).review(|_: &StoredResult| -> Reviewed { panic!("panicword") }),
        Harness::new(registry(tools()), allow).ledger(Panics),
    ];
    for (index, harness) in harnesses.into_iter().enumerate() {
        let settled = one(&harness, ok()).await;
        assert!(settled.result().is_error(), "{index}");
        let read = model_reads(&settled);
        assert!(!read.contains("panicword"), "{index}: {read}");
    }
}

struct Panics;

impl Ledger for Panics {
    fn append(&self, _: Entry) -> BoxFuture<'_, Result<(), tool_runtime::LedgerError>> {
        panic!("panicword")
    }
}

/// Parts of which no part may be read anywhere: a secret, and one that is a number.
const SECRET: &str = "hunter2zq";
const PARTS: [&str; 4] = ["hunt", "er2z", "77889911", "2zq"];
const NUMBER: &str = "7788991122";

/// Who one is.
#[tool_type]
struct Login {
    /// The name.
    user: String,
    /// The key.
    #[arg(secret)]
    key: String,
}

/// A way in.
#[tool_type]
enum Door {
    Open,
    Locked {
        /// The code.
        #[arg(secret)]
        code: String,
    },
}

fn present(args: &EnterArgs) -> Card {
    Card::new(format!("as {}", args.user))
}

/// Enters.
#[allow(clippy::too_many_arguments, reason = "one for each place that a secret may have")]
#[tool(host(present_call = present))]
async fn enter(
    /// As whom.
    user: String,
    /// With what.
    #[arg(secret, alias = "pass", length = 1..=40)]
    password: Option<String>,
    /// With which number.
    pin: Option<Secret<u64>>,
    /// As whom else.
    #[arg(default)]
    logins: Vec<Login>,
    /// With which tokens.
    #[arg(default)]
    tokens: HashMap<String, Secret<String>>,
    /// Through which door.
    door: Option<Door>,
    /// With which list.
    #[arg(secret)]
    list: Option<Vec<String>>,
    #[host] ran: Ran,
) -> bool {
    let secrets = password
        .into_iter()
        .chain(logins.iter().map(|login| login.key.clone()))
        .chain(tokens.values().map(|token| token.expose().clone()))
        .chain(door.map(|door| match door {
            Door::Open => SECRET.to_owned(),
            Door::Locked { code } => code,
        }))
        .chain(list.into_iter().flatten());
    let all = secrets.into_iter().all(|secret| secret == SECRET);
    if all && pin.is_none_or(|pin| pin.expose().to_string() == NUMBER) {
        ran.note();
    }
    user.len() == 1
}

/// Arguments with secrets, well and badly formed. `@` is the secret, `#` the number.
const WELL: [&str; 11] = [
    r#"{"user":"u","password":"@"}"#,
    r#"{"password":"@","user":"u"}"#,
    r#"{"user":"u","pass":"@"}"#,
    r#"{"user":"u","pin":#}"#,
    r#"{"user":"u","pin":#.0}"#,
    r#"{"user":"u","logins":[{"user":"a","key":"@"},{"key":"@","user":"b"}]}"#,
    r#"{"user":"u","tokens":{"a":"@","b":"@"}}"#,
    r#"{"user":"u","door":{"Locked":{"code":"@"}}}"#,
    r#"{"user":"u","list":["@","@"]}"#,
    r#"  {"user":"u","password":"hunt\u0065r2zq"}"#,
    r#""{\"user\":\"u\",\"password\":\"@\"}""#,
];

const BADLY: [&str; 34] = [
    r#"{"user":1,"password":"@"}"#,
    r#"{"password":"@"}"#,
    r#"{"user":"u","pasword":"@"}"#,
    r#"{"user":"u","PASSWORD":"@"}"#,
    r#"{"user":"u","password":"@","password":"@"}"#,
    r#"{"user":"u","password":"@","pass":"@"}"#,
    r#"{"user":"u","password":["@"]}"#,
    r#"{"user":"u","password":{"@":"@"}}"#,
    r#"{"user":"u","password":#}"#,
    r#"{"user":"u","password":"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"}"#,
    r#"{"user":"u","pin":"@"}"#,
    r#"{"user":"u","pin":-#}"#,
    r#"{"user":"u","pin":#.5}"#,
    r#"{"user":"u","pin":#00000000000000}"#,
    r#"{"user":"u","logins":{"user":"a","key":"@"}}"#,
    r#"{"user":"u","logins":[{"user":"a","key":["@"]}]}"#,
    r#"{"user":"u","logins":[{"user":"a","kex":"@"}]}"#,
    r#"{"user":"u","logins":[["a","@"]]}"#,
    r#"{"user":"u","logins":["@"]}"#,
    r#"{"user":"u","logins":"@"}"#,
    r#"{"user":"u","tokens":{"a":["@"]}}"#,
    r#"{"user":"u","tokens":["@"]}"#,
    r#"{"user":"u","tokens":"@"}"#,
    r#"{"user":"u","door":{"Locked":{"kode":"@"}}}"#,
    r#"{"user":"u","door":{"Locked":{"code":#}}}"#,
    r#"{"user":"u","door":{"Locked":"@"}}"#,
    r#"{"user":"u","door":{"Locket":{"code":"@"}}}"#,
    r#"{"user":"u","door":"@"}"#,
    r#"{"user":"u","list":"@"}"#,
    r#"{"user":"u","list":[#,{"a":"@"}]}"#,
    r#"{"user":"u","password":"@"#,
    r#"{"user":"u","password":"@" "@"}"#,
    r#"{"user":"u","password":@}"#,
    r#"["@"]"#,
];

fn filled(text: &str) -> String {
    text.replace('@', SECRET).replace('#', NUMBER)
}

/// The lines that show a part of a secret.
fn leaks(text: &str) -> Vec<&str> {
    text.lines().filter(|line| PARTS.iter().any(|part| line.contains(part))).collect()
}

fn no_secret(what: &str, raw: &str, text: &str) {
    let leaks = leaks(text);
    assert!(leaks.is_empty(), "{what} of {raw} shows a secret: {leaks:#?}");
}

/// Everything of a settled call that anybody may look at.
fn looked_at(settled: &Settled) -> String {
    let (result, record) = (settled.result(), settled.record());
    let mut text = model_reads(settled);
    text.push_str(&format!("{settled:?} {settled:#?} {record:?} {:?}", record.verdict()));
    text.push_str(&serde_json::to_string(record).unwrap_or_default());
    text.push_str(&serde_json::to_string(&record.verdict()).unwrap_or_default());
    text.push_str(&format!("{:?} {:?} {:?}", record.detail(), record.card(), record.whole()));
    text.push_str(&format!("{:?} {:?}", result.content(), settled.value()));
    text
}

#[tokio::test]
async fn inv11_a_secret_is_the_handlers_alone() {
    let heard = traced();
    let shown = Arc::new(Mutex::new(String::new()));
    for decision in ["allow", "deny", "ask", "later"] {
        let ran = Ran::default();
        let tools = Registry::builder().tool(EnterTool::host()).state(ran.clone()).build();
        let (policy_sees, approver_sees) = (Arc::clone(&shown), Arc::clone(&shown));
        let kept = Kept::default();
        let harness = Harness::new(tools.unwrap_or_else(|error| panic!("{error}")), move |call: &CallFacts<'_>| {
            lock(&policy_sees).push_str(&format!("{call:?} {call:#?} {:?}", call.arguments()));
            // The one place where it may be read: a policy judges the real value.
            assert!(PARTS.iter().any(|part| call.arguments().as_str().contains(part)));
            match decision {
                "allow" => Decision::Allow,
                "deny" => Decision::deny("not here"),
                _ => Decision::ask("sure?"),
            }
        })
        .approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            lock(&approver_sees).push_str(&format!("{set:?} {set:#?}"));
            let answer = if decision == "later" { Answer::Later } else { Answer::Yes };
            Box::pin(async move { vec![answer; set.questions.len()] })
        })
        .ledger(kept.clone());
        for raw in WELL {
            let text = filled(raw);
            let settled = one(&harness, ToolCall::new("1", "enter", text.as_str())).await;
            no_secret("what is settled", &text, &looked_at(&settled));
            let code = settled.record().code();
            let expected = match decision {
                "deny" => Code::Denied,
                "later" => Code::ApprovalPending,
                _ => Code::Ok,
            };
            assert_eq!(code, expected, "{text}: {}", settled.result().text());
        }
        // It was really there, and really handed over.
        let runs = if ["allow", "ask"].contains(&decision) { WELL.len() } else { 0 };
        assert_eq!(ran.times(), runs, "{decision}");
        assert_eq!(kept.verdicts().len(), WELL.len());
        assert!(kept.verdicts().iter().all(|verdict| verdict.arguments().contains("[redacted]")));
        let mut leaking = Vec::new();
        for raw in BADLY {
            let text = filled(raw);
            for call in [
                ToolCall::new("1", "enter", text.as_str()),
                ToolCall::new("1", "enter", text.as_str()).truncated(),
                ToolCall::new("1", "entr", text.as_str()),
                ToolCall::new("1", "enter", [text.as_bytes(), b"\xff"].concat()),
                ToolCall::new("1", "enter", format!("{{\"user\":\"u\",\"more\":{text}}}")),
            ] {
                let settled = one(&harness, call).await;
                assert!(settled.result().is_error(), "{text} was taken");
                let looked_at = looked_at(&settled);
                if let Some(leak) = leaks(&looked_at).first() {
                    leaking.push(format!("{text}: {leak}"));
                }
            }
        }
        assert!(leaking.is_empty(), "refusals show a secret: {leaking:#?}");
        no_secret("the ledger", decision, &format!("{:?}", kept.entries()));
        no_secret("the ledger", decision, &serde_json::to_string(&kept.entries()).unwrap_or_default());
        no_secret("the harness", decision, &format!("{harness:?} {:#?}", harness.registry()));
    }
    let shown = lock(&shown).clone();
    assert!(shown.contains("[redacted]"), "nobody was asked: {shown}");
    no_secret("what is shown", "all", &shown);
    let heard = lock(heard).clone();
    assert!(heard.contains("enter"), "nothing was traced: {heard}");
    no_secret("what is traced", "all", &heard);
}

/// Every public type that holds a call on its way.
#[tokio::test]
async fn inv11_no_stage_shows_a_secret() {
    let registry = match Registry::builder().tool(EnterTool::host()).state(Ran::default()).build() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    };
    let ledger = Arc::new(MemoryLedger::default());
    let asks = |_: &CallFacts<'_>| Decision::ask("sure?");
    let later = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Later; set.questions.len()] })
    };
    let mut drafts = 0;
    for raw in WELL {
        let text = filled(raw);
        let mut shown = Vec::new();
        let call = ToolCall::new("1", "enter", text.as_str());
        shown.push(format!("{call:?} {:?} {:?}", call.arguments(), RawArguments::from(text.as_str())));
        let proposed = registry.resolve(call, &Loaded::new()).unwrap_or_else(|ending| panic!("{}", ending.code()));
        shown.push(format!("{proposed:#?} {:?}", proposed.call()));
        let accepted = proposed.accept().unwrap_or_else(|ending| panic!("{text}: {}", ending.code()));
        shown.push(format!("{accepted:#?}"));
        if let Acceptance::Accepted(accepted) = &accepted {
            shown.push(format!("{accepted:?} {:?} {:?}", accepted.arguments(), accepted.call()));
        }
        let checked = accepted.check(&Checklist::new()).await;
        shown.push(format!("{checked:#?}"));
        let decided = checked.decide(&AllowAll, &[]);
        shown.push(format!("{decided:#?}"));
        let recorded = decided.record(&*ledger).await.unwrap_or_else(|ending| panic!("{}", ending.code()));
        shown.push(format!("{recorded:#?} {:#?}", recorded.verdict()));
        let permit = recorded.permit().unwrap_or_else(|ending| panic!("{}", ending.code()));
        shown.push(format!("{permit:#?} {:#?}", permit.tool()));
        let outcome = permit.execute(None).await;
        shown.push(format!("{outcome:#?}"));
        let ending = tool_runtime::path::Ending::from(outcome);
        shown.push(format!("{ending:#?}"));
        let settled = ending.settle(&*ledger, 1000).await;
        shown.push(format!("{settled:#?} {ledger:#?} {:#?}", ledger.entries()));
        // A draft, an ending of refused arguments, and a pending call.
        let anonymous = text.replace(r#""user":"u","#, "").replace(r#","user":"u""#, "");
        for arguments in [anonymous, text.replace("user", "pin"), text.clone()] {
            let call = ToolCall::new("1", "enter", arguments.as_str());
            let open = call.with_no_result(JsonPath::from_pointer("/user"));
            let proposed = registry.resolve(open, &Loaded::new()).unwrap_or_else(|ending| panic!("{}", ending.code()));
            match proposed.accept() {
                Ok(accepted) => {
                    drafts += usize::from(matches!(accepted, Acceptance::Draft(_)));
                    shown.push(format!("{accepted:#?}"));
                    let decided = accepted.check(&Checklist::new()).await.decide(&asks, &[]);
                    let asking = Asking::new(&asks, &[], ledger.clone()).approver(&later);
                    for asked in ask::ask(vec![decided], asking).await {
                        shown.push(format!("{asked:#?}"));
                        let ending = asked.record(&*ledger).await.and_then(|recorded| recorded.permit()).err();
                        shown.push(format!("{ending:#?}"));
                    }
                }
                Err(ending) => shown.push(format!("{ending:#?}")),
            }
        }
        for shown in shown {
            no_secret("Debug", &text, &shown);
        }
    }
    // All but the one whose object is in quotes.
    assert_eq!(drafts, WELL.len() - 1);
    no_secret("Debug", "Secret", &format!("{:?} {:#?}", Secret::new(SECRET), Some(Secret::new(7_788_991_122_u64))));
    no_secret("Serialize", "Secret", &serde_json::to_string(&[Secret::new(SECRET)]).unwrap_or_default());
}

/// An error of a library, which quotes what it was given.
#[derive(Debug)]
struct Library(String);

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no connection to db://u:{}@host", self.0)
    }
}

impl Error for Library {}

/// Says no more than it should, and keeps its cause.
#[derive(Debug)]
struct Refused(Library);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The service refused")
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

static CONNECTED: AtomicUsize = AtomicUsize::new(0);

/// Connects.
#[tool]
async fn connect(
    /// With what.
    #[arg(secret)]
    password: String,
    /// Panic?
    panic: bool,
    #[host] cx: &CallContext,
) -> Result<u8, Refused> {
    CONNECTED.fetch_add(1, Ordering::SeqCst);
    assert!(!panic, "no connection for {} with {password}", cx.tool());
    Err(Refused(Library(password)))
}

async fn connected(panic: bool) -> Settled {
    let harness = Harness::new(registry([ConnectTool::host()]), AllowAll);
    let settled =
        one(&harness, ToolCall::new("1", "connect", format!(r#"{{"password":"{SECRET}","panic":{panic}}}"#))).await;
    assert!(CONNECTED.load(Ordering::SeqCst) > 0);
    no_secret("what the model reads", "a body that quotes it", &model_reads(&settled));
    settled
}

/// A record keeps the causes of an error for the host; what is secret in the call is redacted in them as well.
#[tokio::test]
async fn inv11_a_cause_that_quotes_a_secret_is_redacted_in_the_record() {
    let settled = connected(false).await;
    assert_eq!(settled.result().text(), "The service refused");
    no_secret("what is settled", "a cause that quotes it", &looked_at(&settled));
}

/// The same of the words of a panic.
#[tokio::test]
async fn inv11_a_panic_that_quotes_a_secret_is_redacted_in_the_record() {
    let settled = connected(true).await;
    assert_eq!(settled.record().code(), Code::Panicked);
    no_secret("what is settled", "a panic that quotes it", &looked_at(&settled));
}

/// What of the host's code breaks, and quotes what it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Breaks {
    Policy,
    Guard,
    Layer,
    Body,
    Finalize,
    Presenter,
    Condition,
    PanickingCondition,
}

fn quotes_last(args: Option<&QuotedArgs>, _: &Final<'_>) -> Option<Content> {
    let quoted = args.filter(|args| args.breaks == "Finalize");
    assert!(quoted.is_none(), "{}", quoted.map_or("", |args| &args.password));
    None
}

fn quotes_result(args: &QuotedArgs, _: &StoredResult) -> Card {
    assert!(args.breaks != "Presenter", "{} and {}", args.start, args.password);
    Card::new("fine")
}

/// Is quoted.
#[tool(host(finalize = quotes_last, present_result = quotes_result))]
async fn quoted(
    /// What breaks.
    breaks: String,
    /// A secret that another one begins with.
    #[arg(secret)]
    start: String,
    /// The other one.
    #[arg(secret)]
    password: String,
) -> u8 {
    assert!(breaks != "Body", "{start} and {password}");
    1
}

struct Quotes;

impl tool_runtime::Layer for Quotes {
    fn around<'a>(&'a self, mut attempt: tool_runtime::Attempt<'a>) -> BoxFuture<'a, tool_runtime::Ran> {
        assert!(!attempt.arguments().as_str().contains(r#""Layer""#), "{}", attempt.arguments().as_str());
        Box::pin(async move { attempt.run().await })
    }
}

/// Host code that is shown the arguments as they are may break with words that quote them.
#[tokio::test]
async fn inv11_host_code_that_breaks_quotes_no_secret_anywhere() {
    let heard = traced();
    for (breaks, code) in [
        (Breaks::Policy, Code::Denied),
        (Breaks::Guard, Code::Denied),
        (Breaks::Layer, Code::Panicked),
        (Breaks::Body, Code::Panicked),
        (Breaks::Finalize, Code::InvalidOutput),
        (Breaks::Presenter, Code::Ok),
        (Breaks::Condition, Code::Unanswered),
        (Breaks::PanickingCondition, Code::Unanswered),
    ] {
        let word = format!("{breaks:?}");
        let registry = registry([QuotedTool::host()]);
        let check = move |call: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
            let quoted = format!("no answer about {}", call.arguments().as_str());
            Box::pin(async move {
                assert!(breaks != Breaks::PanickingCondition, "{quoted}");
                if breaks == Breaks::Condition { Err(quoted) } else { Ok(true) }
            })
        };
        let list = r#"{"list":"user","origin":"ann","scope":{"calls":"none"},"line":[
            {"tool":"quoted","name":"known","text":"it is known","check":"known","then":"holds"}]}"#;
        let list = Checklist::builder().condition("known", check).json("ann", list).build(&registry);
        let kept = Kept::default();
        let harness = Harness::new(registry, move |call: &CallFacts<'_>| {
            assert!(breaks != Breaks::Policy, "{}", call.arguments().as_str());
            Decision::Allow
        })
        .guard(move |call: &CallFacts<'_>| {
            assert!(breaks != Breaks::Guard, "{}", call.arguments().as_str());
            None
        })
        .checklist(list.unwrap_or_else(|error| panic!("{error}")))
        .layer(Quotes)
        .ledger(kept.clone());
        let before = lock(heard).len();
        let arguments = format!(r#"{{"breaks":"{word}","start":"{}","password":"{SECRET}"}}"#, PARTS[0]);
        let settled = one(&harness, ToolCall::new("1", "quoted", arguments)).await;
        assert_eq!(settled.record().code(), code, "{word}: {}", settled.result().text());
        no_secret("what is settled", &word, &looked_at(&settled));
        no_secret("the ledger", &word, &serde_json::to_string(&kept.entries()).unwrap_or_default());
        let traced = lock(heard)[before..].to_owned();
        no_secret("what is traced", &word, &traced);
    }
}

/// A default that holds a secret would be shown as `[redacted]`, and then be taken for the secret itself.
#[tokio::test]
async fn inv11_a_redacted_default_is_never_handed_to_a_handler() {
    let Ok(registry) = Registry::builder().tool(DefaultedTool::host()).build() else { return };
    let settled = one(&Harness::new(registry, AllowAll), ToolCall::new("1", "defaulted", "{}")).await;
    let text = settled.result().text();
    assert!(!settled.record().started() || text == "true", "the handler got `[redacted]` as its key");
}

/// Who one is, by default.
#[tool_type]
struct Fallback {
    /// The key.
    key: Secret<String>,
}

/// Has a default of its own.
#[tool]
async fn defaulted(
    /// As whom.
    #[arg(default = Fallback { key: Secret::new("k-1".to_owned()) })]
    login: Fallback,
) -> bool {
    login.key.expose() == "k-1"
}
