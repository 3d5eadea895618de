//! Rules in a file.

use tool_runtime::{Code, DynamicTool, Harness, Rules, ToolCall};

use super::{Said, any, from_toml, path, registry, said, tools};

const FILE: &str = r#"
base = "/w"

[[rule]]
decision = "deny"
tool = "file_*"
reason = "secrets stay"

[[rule.when]]
argument = "path"
under = "secrets"

[[rule]]
decision = "allow"
tool = ["file_read", "fr*"]
hints = []

[[rule]]
decision = "ask"
tool = "pay"
hints = ["!read_only", "!destructive"]
reason = "a large amount"
when = [
    { argument = "payment.amount", at_least = 1_000.5 },
    { argument = "payment.copies[*]", matches = '*@*', absent = "match" },
]

[[rule]]
decision = "deny"
tool = "free"
reason = "a number"
[[rule.when]]
argument = "value"
one_of = [0x10, +20, 30.0, 1e400, 9007199254740993, "x", true]
absent = "no_match"
"#;

#[tokio::test]
async fn rules_in_a_file_mean_what_they_mean_in_code() {
    let rules = from_toml(FILE);
    assert_eq!(rules.len(), 4);
    assert!(said(&rules, "file_read", &path("x/../secrets/k")).await.is_denied());
    assert_eq!(said(&rules, "file_read", &path("k")).await, Said::Allowed);
    let pay = |amount: &str, copies: &str| format!(r#"{{"payment":{{"amount":{amount},"copies":{copies}}}}}"#);
    let large = Said::Asked("a large amount".to_owned());
    assert_eq!(said(&rules, "pay", &pay("1000.5", "[]")).await, large);
    assert_eq!(said(&rules, "pay", &pay("1000.5", r#"["x","a@b"]"#)).await, large);
    assert_eq!(said(&rules, "pay", &pay("1000.5", r#"["x"]"#)).await, Said::Asked(String::new()));
    assert_eq!(said(&rules, "pay", &pay("1000.499", "[]")).await, Said::Asked(String::new()));
    for (value, denied) in [
        ("16", true),
        ("2e1", true),
        ("30", true),
        ("9007199254740993", true),
        ("\"x\"", true),
        ("true", true),
        ("9007199254740992", false),
        ("17", false),
        ("\"16\"", false),
        ("false", false),
    ] {
        let said = said(&rules, "free", &format!(r#"{{"value":{value}}}"#)).await;
        assert_eq!(said.is_denied(), denied, "{value}: {said:?}");
        assert_eq!(said == Said::Allowed, !denied, "{value}: {said:?}");
    }
}

/// What the documentation shows means what it says there.
#[tokio::test]
async fn the_file_in_the_documentation_is_one() {
    let path = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let looks = |name: &str| {
        let mut hints = tool_runtime::Hints::default();
        hints.read_only = true;
        let tool = DynamicTool::builder(name, "Looks.").parameters(path).output("true").hints(hints);
        tool.run(|text, _| async { Ok(text) }).unwrap_or_else(|error| panic!("{error}"))
    };
    let all = registry([any("files_read", path), looks("get_all"), looks("list_all"), any("other", path)]);
    let text = tests::documented("gate/rules/file.rs", "toml");
    let rules = Rules::from_toml(&text, &all).unwrap_or_else(|error| panic!("{error}"));
    let harness = Harness::new(all, rules);
    for (tool, arguments, code) in [
        ("files_read", r#"{"path":"secrets/k"}"#, Code::Denied),
        ("files_read", r#"{"path":"k"}"#, Code::ApprovalUnavailable),
        ("files_read", "{}", Code::ApprovalUnavailable),
        ("get_all", "{}", Code::Ok),
        ("list_all", "{}", Code::Ok),
        ("other", "{}", Code::ApprovalUnavailable),
    ] {
        let settled = harness.run_settled([ToolCall::new("1", tool, arguments)], None).await;
        assert_eq!(settled[0].record().code(), code, "{tool} {arguments}");
        assert_eq!(settled[0].result().text().contains("files stay"), code == Code::Denied);
    }
}

const BROKEN: &str = r#"
bas = "/w"
[[rule]]
decision = "denny"
tool = "file_*"
hint = ["read_only"]
[[rule]]
tool = 5
reason = 1979-05-27
hints = ["readonly", "!x", 1]
when = { argument = "path" }
[[rule]]
decision = "deny"
[[rule.when]]
argument = "path"
[[rule.when]]
above = 1
below = 2
[[rule.when]]
argument = "path"
equals = 1979-05-27
absent = "nomatch"
[[rule]]
decision = "allow"
tool = ["file_read", "bаsh"]
[[rule.when]]
  argument = "päth"
  one_of = ["x", []]
[[rule.when]]
argument = "path"
under = "secrets"
above = "x"
[[rule.when]]
argument = "path"
under = "secrets"
[[rule]]
decision = "allow"
tool = []
"a\u001bb" = 1
"#;

#[test]
fn all_faults_of_a_file_come_with_their_places() {
    let Err(error) = Rules::from_toml(BROKEN, &tools()) else { panic!("the rules were taken") };
    let told = error.to_string();
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        [
            "line 2, column 1: unknown key `bas`; did you mean `base`?",
            "line 4, column 12: rule 1: `decision` can't be \"denny\"; did you mean \"deny\"?",
            "line 6, column 1: rule 1: unknown key `hint`; did you mean `hints`?",
            "line 7, column 1: rule 2: needs a `decision`: \"allow\", \"deny\" or \"ask\"",
            "line 8, column 8: rule 2: `tool` has to be text, or a list of texts, and is an integer",
            "line 9, column 10: rule 2: `reason` has to be text, and is a date",
            "line 10, column 10: rule 2: unknown hint \"readonly\"; did you mean \"read_only\"?",
            "line 10, column 22: rule 2: unknown hint \"x\"; known: `read_only`, `destructive`, `idempotent`, `deterministic`",
            "line 10, column 28: rule 2: `hints` has to be text, and is an integer",
            "line 11, column 8: rule 2: `when` has to be a list: write [[rule.when]] above each, and is a table",
            "line 12, column 1: rule 3: needs a `tool`: a pattern, or a list of patterns",
            "line 12, column 1: rule 3: needs a `reason`, which the model or a person reads",
            "line 14, column 1: rule 3: a condition needs a test: one of `equals`, `one_of`, `matches`, `under`, `above`, `at_least`, `below`, `at_most`",
            "line 16, column 1: rule 3: a condition needs an `argument`",
            "line 18, column 1: rule 3: `below`: a condition has one test; write another [[rule.when]] for a second",
            "line 21, column 10: rule 3: `equals`: arguments have dates as text: put it into quotes",
            "line 22, column 10: rule 3: `absent` can't be \"nomatch\"; did you mean \"no_match\"?",
            "line 25, column 22: rule 4: tool \"bаsh\": no tool can have such a name: U+0430 is no ASCII letter, digit, `_`, `-` or `.`",
            "line 27, column 14: rule 4: argument \"päth\" has a name that has to stand in brackets and quotes: [\"päth\"]",
            "line 28, column 18: rule 4: `one_of` has to be text, a number or a boolean, and is a list",
            "line 31, column 9: rule 4: `under`: a relative path needs `base`, the directory that it is in",
            "line 32, column 1: rule 4: `above`: a condition has one test; write another [[rule.when]] for a second",
            "line 35, column 9: rule 4: `under`: a relative path needs `base`, the directory that it is in",
            "line 38, column 8: rule 5: `tool` is an empty list",
            "line 39, column 1: rule 5: unknown key `a\\u{1b}b`; known: `decision`, `tool`, `hints`, `reason`, `when`",
        ]
    );
}

#[test]
fn what_is_no_toml_is_told_with_its_places() {
    let text = "[[rule]]\ndecision = \"deny\ntool = [\n[[rule]]\n\u{1b}x = = 1\nbase = 1\nbase = 2\n";
    let Err(error) = Rules::from_toml(text, &tools()) else { panic!("the rules were taken") };
    let told = error.to_string();
    assert!(told.lines().count() > 1, "{told}");
    assert!(told.lines().all(|line| line.starts_with("line ") && line.contains("not valid TOML: ")), "{told}");
    assert!(told.chars().all(|c| c == '\n' || !c.is_control()), "{told:?}");
    for text in ["rule = 1", "rule = [1]", "[rule]\ntool = \"git\"", "base = 1"] {
        let Err(error) = Rules::from_toml(text, &tools()) else { panic!("{text} was taken") };
        assert!(error.to_string().starts_with("line 1, column "), "{error}");
    }
    // Nothing that a file can hold is more than a fault.
    for text in ["[".repeat(100_000), "a=".to_owned() + &"[".repeat(100_000), "a.".repeat(100_000), "\0".into()] {
        let Err(_) = Rules::from_toml(&text, &tools()) else { panic!("it was taken") };
    }
}
