//! What a refusal, a question and a record may say of a secret.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer};
use tool_runtime::{
    AllowAll, Answer, BoxFuture, CallFacts, Code, Decision, Entry, Harness, HostTool, MemoryLedger, QuestionSet,
    Secret, ToolCall, tool, tool_type,
};

use super::{NeedsTool, Pri, kept};
use crate::support::{bench, lock, registry};

const TOKEN: &str = "sk-live-1";

/// A value whose own code quotes what it refuses.
#[derive(Debug)]
struct Pin;

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "1234" { Ok(Pin) } else { Err(serde::de::Error::custom(format!("no such pin: {text}"))) }
    }
}

impl serde::Serialize for Pin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl schemars::JsonSchema for Pin {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pin".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[tool_type]
#[derive(Debug)]
struct Login {
    user: String,
    #[arg(secret)]
    key: u32,
}

#[tool_type]
#[derive(Debug)]
struct PinLogin {
    user: String,
    #[arg(secret)]
    pin: Pin,
}

/// A secret inside of a choice.
#[tool_type]
#[serde(tag = "kind")]
#[derive(Debug)]
enum Access {
    Key {
        #[arg(secret)]
        key: String,
    },
    Code {
        // What reads a secret back has no `Serialize`.
        #[serde(skip_serializing)]
        code: Secret<u32>,
    },
}

/// Uses a key.
#[tool]
fn use_key(
    /// The key.
    #[arg(secret)]
    key: u32,
) -> u32 {
    key
}

/// Uses a key that is secret by its type.
#[tool]
fn use_typed_key(
    /// The key.
    key: Secret<u32>,
) -> u32 {
    *key.expose()
}

/// Uses a key inside.
#[tool]
fn use_login(
    /// Who.
    login: Login,
    /// More of them, by name.
    more: HashMap<String, Vec<Login>>,
) -> u32 {
    login.key + u32::try_from(more.len()).unwrap_or_default() + u32::try_from(login.user.len()).unwrap_or_default()
}

/// Uses a pin.
#[tool]
fn use_pin(
    /// The pin.
    #[arg(secret)]
    pin: Pin,
) -> u8 {
    let Pin = pin;
    1
}

/// Uses a pin that is secret by its type.
#[tool]
fn use_typed_pin(
    /// The pin.
    pin: Secret<Pin>,
) -> u8 {
    let Pin = pin.expose();
    1
}

/// Uses a pin inside of an argument.
#[tool]
fn use_pin_inside(
    /// Who.
    login: PinLogin,
) -> usize {
    let Pin = login.pin;
    login.user.len()
}

/// Uses a pin inside of the whole object.
#[tool]
fn use_pin_whole(#[args] login: PinLogin) -> usize {
    let Pin = login.pin;
    login.user.len()
}

/// Uses secrets wherever they may stand.
#[tool]
fn use_many(
    /// Perhaps.
    maybe: Option<Secret<u32>>,
    /// In a list.
    list: Vec<Secret<String>>,
    /// Under a name.
    map: HashMap<String, Secret<String>>,
    /// In a choice.
    access: Access,
    /// A whole object.
    #[arg(secret)]
    whole: HashMap<String, String>,
    /// A file that nobody is to know of.
    #[arg(secret, path)]
    file: Option<String>,
) -> String {
    let known = match access {
        Access::Key { key } => key.len(),
        Access::Code { code } => code.expose().to_string().len(),
    };
    let listed: usize = list.iter().chain(map.values()).map(|text| text.expose().len()).sum();
    format!("{} {listed} {known} {} {}", maybe.is_some(), whole.len(), file.is_some())
}

/// Uses a small secret.
#[tool]
fn use_closed(
    /// One of few words.
    #[arg(secret)]
    word: Option<Pri>,
    /// At least so long.
    #[arg(secret, length = 12..=20)]
    text: String,
) -> String {
    format!("{word:?} {}", text.len())
}

/// Everything that is written or read of one call with these arguments, the ledger's lines included.
async fn everything(tool: HostTool, arguments: &str) -> (Code, String) {
    let ledger = Arc::new(MemoryLedger::default());
    let name = tool.name().to_owned();
    let harness = Harness::new(registry([tool]), AllowAll).ledger(Arc::clone(&ledger));
    let call = ToolCall::new("c", name, arguments);
    let mut all = format!("{call:?} {:?} {harness:?}", call.arguments());
    let settled = harness.run_settled([call], None).await;
    all.push_str(&kept(&settled[0]));
    for entry in ledger.entries() {
        match serde_json::to_string(&entry) {
            Ok(line) => all.push_str(&line),
            Err(error) => panic!("{error}"),
        }
        if let Entry::Verdict(verdict) = &entry {
            all.push_str(&format!("{verdict:?}"));
        }
    }
    (settled[0].record().code(), all)
}

async fn assert_refused_without_a_word(tool: HostTool, arguments: &str) {
    let (code, all) = everything(tool, arguments).await;
    assert_eq!(code, Code::InvalidArguments, "{arguments}");
    let leak = all.lines().find(|line| line.contains(TOKEN));
    assert_eq!(leak, None, "{arguments}");
}

#[tokio::test]
async fn b84_no_secret_is_quoted_by_what_refuses_it() {
    for (tool, arguments) in [
        (UseKeyTool::host(), format!(r#"{{"key":"{TOKEN}"}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":["{TOKEN}"]}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":"{TOKEN}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":{TOKEN}}}"#)),
        (UseKeyTool::host(), format!(r#"{{"key":1}} {TOKEN}"#)),
        (UseTypedKeyTool::host(), format!(r#"{{"key":"{TOKEN}"}}"#)),
        (UseLoginTool::host(), format!(r#"{{"login":{{"user":"u","key":"{TOKEN}"}},"more":{{}}}}"#)),
        (
            UseLoginTool::host(),
            format!(
                r#"{{"login":{{"user":"u","key":1}},"more":{{"x":[{{"user":"u","key":2}},{{"user":"u","key":"{TOKEN}"}}]}}}}"#
            ),
        ),
        (UsePinTool::host(), format!(r#"{{"pin":"{TOKEN}"}}"#)),
        (UseClosedTool::host(), format!(r#"{{"word":"{TOKEN}","text":"{TOKEN}"}}"#)),
        (UseClosedTool::host(), format!(r#"{{"word":"low","text":"{TOKEN}","txt":"{TOKEN}"}}"#)),
        (
            UseManyTool::host(),
            format!(
                r#"{{"maybe":"{TOKEN}","list":[1,{{"a":"{TOKEN}"}}],"map":{{"a":["{TOKEN}"]}},"access":{{"kind":"Code","code":"{TOKEN}"}},"whole":"{TOKEN}","file":"{TOKEN}\u0000"}}"#
            ),
        ),
        (
            UseManyTool::host(),
            format!(
                r#"{{"list":[],"map":{{}},"access":{{"kind":"Key","key":["{TOKEN}"]}},"whole":{{"a":{{"b":"{TOKEN}"}}}}}}"#
            ),
        ),
    ] {
        assert_refused_without_a_word(tool, &arguments).await;
    }
    assert_eq!(
        bench(UseKeyTool::host()).refused(r#"{"key":"sk-live-1"}"#).await,
        ["`key`: expected integer from 0 to 4294967295, got string"]
    );
    assert_eq!(
        bench(UsePinTool::host()).refused(r#"{"pin":"sk-live-1"}"#).await,
        ["`pin`: expected a value that its type takes, got string"]
    );
}

/// `Secret<T>` is as good as the attribute.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_a_type_inside_a_secret() {
    assert_refused_without_a_word(UseTypedPinTool::host(), &format!(r#"{{"pin":"{TOKEN}"}}"#)).await;
}

/// A type's own code may refuse a secret that stands deeper than at the top.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_a_type_inside_another() {
    let arguments = format!(r#"{{"login":{{"user":"u","pin":"{TOKEN}"}}}}"#);
    assert_refused_without_a_word(UsePinInsideTool::host(), &arguments).await;
}

/// Nor one in a type that is the whole object.
#[tokio::test]
async fn b84_no_secret_is_quoted_by_the_type_of_the_whole_object() {
    let arguments = format!(r#"{{"user":"u","pin":"{TOKEN}"}}"#);
    assert_refused_without_a_word(UsePinWholeTool::host(), &arguments).await;
}

/// What succeeds quotes no secret either, and the handler gets it as it is.
#[tokio::test]
async fn b84_an_accepted_secret_is_kept_by_nobody() {
    for access in [format!(r#"{{"kind":"Key","key":"{TOKEN}"}}"#), r#"{"kind":"Code","code":123456789}"#.to_owned()] {
        let arguments = format!(
            r#"{{"maybe":123456789,"list":["{TOKEN}","b"],"map":{{"a":"{TOKEN}"}},"access":{access},"whole":{{"x":"{TOKEN}"}},"file":"/{TOKEN}"}}"#
        );
        let (code, all) = everything(UseManyTool::host(), &arguments).await;
        assert_eq!(code, Code::Ok, "{all}");
        assert!(!all.contains(TOKEN) && !all.contains("123456789"), "{all}");
        assert!(all.contains("true 19 9 1 true"), "{all}");
        // The keys stay.
        assert!(all.contains(r#"\"list\":[\"[redacted]\",\"[redacted]\"]"#), "{all}");
    }
    let (code, all) = everything(UseClosedTool::host(), r#"{"word":"low","text":"sk-live-12345"}"#).await;
    assert_eq!(code, Code::Ok);
    assert!(!all.contains(TOKEN), "{all}");
    assert!(all.contains("[redacted]"), "{all}");
    assert!(all.contains("Some(Low) 13"), "{all}");
}

/// Whoever is asked sees what will run, and no secret of it.
#[tokio::test]
async fn b84_a_question_quotes_no_secret() {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    let harness = Harness::new(registry([UseKeyTool::host()]), |_: &CallFacts<'_>| Decision::ask("why not")).approver(
        move |questions: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            lock(&seen).push(format!("{questions:?}"));
            let answers = vec![Answer::Yes; questions.questions.len()];
            Box::pin(std::future::ready(answers))
        },
    );
    let results = harness.run([ToolCall::new("c", "use_key", r#"{"key":123456789}"#)]).await;
    assert_eq!(results[0].text(), "123456789", "the handler gets the true value");
    let asked = lock(&asked).concat();
    assert!(asked.contains("[redacted]") && !asked.contains("123456789"), "{asked}");
}

#[tokio::test]
async fn b84_a_long_value_is_not_quoted_at_all() {
    let needs = bench(NeedsTool::host());
    let problems = needs.refused(format!(r#"{{"n":"{}"}}"#, "x".repeat(1_000_000))).await;
    assert_eq!(problems, ["`n`: expected integer from 0 to 4294967295, got string of 1000000 characters"]);
    // A name that the model made up is cut as well, and so is a list of them.
    let key = "k".repeat(100_000);
    let problems = needs.refused(format!(r#"{{"n":1,"{key}":1}}"#)).await;
    assert!(problems[0].len() < 200, "{problems:?}");
    let many: Vec<_> = (0..10_000).map(|index| format!("\"k{index}\":1")).collect();
    let problems = needs.refused(format!("{{{}}}", many.join(","))).await;
    assert!(problems.len() < 50, "{}", problems.len());
    assert!(problems.last().is_some_and(|last| last.contains("more")), "{problems:?}");
    // Quoted text is on one line, with what could deceive a reader escaped.
    assert_eq!(
        needs.refused(r#"{"n":"a\n- `n`: fine\u202e\u001b[2K"}"#).await,
        [r#"`n`: expected integer from 0 to 4294967295, got string "a\n- `n`: fine\u{202e}\u{1b}[2K""#]
    );
}
