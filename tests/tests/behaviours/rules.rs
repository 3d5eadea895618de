//! Rules: what they decide, what they can't tell, and what is refused before anything runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tool_runtime::{
    Absent, Answer, BoxFuture, CallFacts, Code, Decision, DynamicTool, FileFault, Harness, Hint, HostTool, Policies,
    QuestionSet, Registry, Rule, Rules, RulesError, Scalar, Test, ToolCall, tool, tool_type,
};

/// How often bodies began.
#[derive(Debug, Clone, Default)]
struct Ran(Arc<AtomicUsize>);

/// Reads a file.
#[tool(host(read_only))]
async fn file_read(
    /// Which one.
    #[arg(path, alias = "file")]
    path: String,
    #[host] ran: Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    path
}

/// Writes a file.
#[tool(host(destructive))]
async fn file_write(
    /// Which one, as it is.
    path: String,
    /// What.
    text: Option<String>,
    #[host] ran: Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    text.unwrap_or(path)
}

/// Wipes everything.
#[tool(host(destructive))]
async fn filesystem_wipe(#[host] ran: Ran) {
    ran.0.fetch_add(1, Ordering::SeqCst);
}

/// What a payment is in.
#[tool_type]
#[serde(rename_all = "lowercase")]
enum Currency {
    /// Euros.
    Eur,
    /// Dollars.
    Usd,
}

/// A payment.
#[tool_type]
struct Payment {
    /// How much.
    amount: f64,
    /// In what.
    #[arg(default = Currency::Eur)]
    currency: Currency,
    /// Which invoice.
    invoice: Option<u128>,
    /// To whom else.
    copies: Vec<String>,
}

/// Pays.
#[tool]
async fn pay(
    /// What.
    payment: Payment,
    #[host] ran: Ran,
) -> f64 {
    ran.0.fetch_add(1, Ordering::SeqCst);
    payment.amount
}

/// A tool that takes what its schema says.
fn any(name: &str, parameters: &str) -> HostTool {
    let built =
        DynamicTool::builder(name, "Does it.").parameters(parameters).output("true").run(|text, _| async { Ok(text) });
    match built {
        Ok(tool) => tool,
        Err(error) => panic!("{error}"),
    }
}

/// Values of any type.
fn free() -> HostTool {
    any("free", r#"{"type":"object","properties":{"value":{},"list":{"type":"array"}}}"#)
}

fn tools() -> Registry {
    registry([
        FileReadTool::host(),
        FileWriteTool::host(),
        FilesystemWipeTool::host(),
        PayTool::host(),
        free(),
        any("git", r#"{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}"#),
    ])
}

fn registry(tools: impl IntoIterator<Item = HostTool>) -> Registry {
    match Registry::builder().tools(tools).state(Ran::default()).build() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

fn rules(rules: impl IntoIterator<Item = Rule>) -> Rules {
    match Rules::builder().base("/w").rules(rules).build(&tools()) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    }
}

fn from_toml(text: &str) -> Rules {
    match Rules::from_toml(text, &tools()) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    }
}

fn refused(rules: impl IntoIterator<Item = Rule>) -> RulesError {
    match Rules::builder().rules(rules).build(&tools()) {
        Ok(_) => panic!("the rules were taken"),
        Err(error) => error,
    }
}

/// What rules say of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Allowed,
    Denied(String),
    Asked(String),
}

impl Said {
    fn is_denied(&self) -> bool {
        matches!(self, Said::Denied(_))
    }

    /// A person is asked since something couldn't be told.
    fn is_asked_about(&self, rule: usize, argument: &str) -> bool {
        matches!(self, Said::Asked(why)
            if why.contains(&format!("rule {rule} ")) && why.contains("can't tell") && why.contains(&format!("`{argument}`")))
    }
}

/// One call, with nobody to ask.
async fn said(rules: &Rules, tool: &str, arguments: &str) -> Said {
    let harness = Harness::new(tools(), rules.clone());
    let mut settled = harness.run_settled([ToolCall::new("1", tool, arguments)], None).await;
    let Some(settled) = settled.pop() else { panic!("no result") };
    let why = settled.record().verdict().map(|verdict| verdict.reasons().join("; ")).unwrap_or_default();
    match settled.record().code() {
        Code::Ok => Said::Allowed,
        Code::Denied => Said::Denied(why),
        Code::ApprovalUnavailable => Said::Asked(why),
        code => panic!("{code:?}: {}", settled.result().text()),
    }
}

fn path(path: &str) -> String {
    serde_json::json!({ "path": path }).to_string()
}

fn secrets() -> Rule {
    Rule::deny("file_*").because("secrets stay").when("path", Test::under("/w/secrets"))
}

// ---- B62: one file, many spellings

#[tokio::test]
async fn b62_every_spelling_of_a_path_is_denied() {
    for rule in [secrets(), Rule::deny("file_*").because("x").when("path", Test::under("x/..//secrets/."))] {
        let rules = rules([Rule::allow("*"), rule]);
        for tool in ["file_read", "file_write"] {
            for spelt in [
                "secrets/k",
                "./secrets/k",
                "/w/x/../secrets/k",
                "/w//secrets/k",
                "/w/secrets/./k",
                "/w/secrets",
                "/w/secrets/",
                "/../w/secrets/a/b/c",
                "../w/secrets/k",
                "/w/secrets/é\"k",
            ] {
                assert!(said(&rules, tool, &path(spelt)).await.is_denied(), "{tool} {spelt}");
            }
            for other in ["/w/secretsX/k", "/w/secrets/../k", "secret", "/w", "/x/w/secrets/k", "/w/secrets.txt"] {
                assert_eq!(said(&rules, tool, &path(other)).await, Said::Allowed, "{tool} {other}");
            }
        }
    }
}

#[tokio::test]
async fn b46_b62_a_path_that_leads_who_knows_where_is_asked_about() {
    let without_base = match Rules::builder().rules([Rule::allow("*"), secrets()]).build(&tools()) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    };
    for relative in ["secrets/k", "k", "../k", ".", ""] {
        let said = said(&without_base, "file_write", &path(relative)).await;
        assert!(said.is_asked_about(2, "path"), "{relative}: {said:?}");
    }
    assert_eq!(said(&without_base, "file_write", &path("/w/k")).await, Said::Allowed);
    let with_base = rules([Rule::allow("*"), secrets()]);
    for home in ["~", "~/secrets", "~root/x"] {
        assert!(said(&with_base, "file_write", &path(home)).await.is_asked_about(2, "path"), "{home}");
    }
    // NUL is refused where a path is declared, and unreadable where it isn't.
    assert!(said(&with_base, "file_write", r#"{"path":"/x\u0000"}"#).await.is_asked_about(2, "path"));
}

#[tokio::test]
async fn b62_an_alias_names_the_same_argument() {
    // By the alias in the rule, and by the alias in the call.
    let rule = Rule::deny("file_read").because("secrets stay").when("file", Test::under("/w/secrets"));
    let rules = rules([Rule::allow("*"), rule]);
    for arguments in [r#"{"file":"secrets/k"}"#, r#"{"path":"secrets/k"}"#, r#"{"p\u0061th":"secrets/k"}"#] {
        assert!(said(&rules, "file_read", arguments).await.is_denied(), "{arguments}");
    }
    assert_eq!(said(&rules, "file_read", r#"{"file":"k"}"#).await, Said::Allowed);
}

// ---- B63: look-alike names

#[test]
fn b63_a_rule_that_can_match_no_legal_name_is_refused() {
    for pattern in
        ["gіt", "git\u{200b}", "ｇｉｔ", "git ", "gi?", "g[i]t", "a b*", "fi/le", r"git\*", r"\\git", "\u{202e}*"]
    {
        let error = refused([Rule::deny(pattern).because("no")]);
        assert!(error.to_string().contains("no tool can have such a name: U+"), "{pattern}: {error}");
        assert!(!error.to_string().contains(['\u{200b}', '\u{202e}']), "{error}");
    }
    assert_eq!(
        refused([Rule::deny("gіt").because("no")]).to_string(),
        "rule 1: tool \"gіt\": no tool can have such a name: U+0456 is no ASCII letter, digit, `_`, `-` or `.`"
    );
}

#[tokio::test]
async fn b63_a_name_that_looks_alike_is_no_tools_name() {
    for name in ["gіt", "git\u{200b}", "ｇｉｔ", "git ", "GIT"] {
        let built = DynamicTool::builder(name, "Does it.").output("true").run(|text, _| async { Ok(text) });
        assert_eq!(built.is_ok(), name == "GIT", "{name}");
        let rules = rules([Rule::allow("*"), Rule::deny("git").because("no")]);
        let harness = Harness::new(tools(), rules);
        let settled = harness.run_settled([ToolCall::new("1", name, r#"{"command":""}"#)], None).await;
        assert_eq!(settled[0].record().code(), Code::UnknownTool, "{name}");
    }
}

#[test]
fn b63_a_rule_that_matches_no_tool_is_refused() {
    let error = refused([Rule::deny("file_raed").because("no"), Rule::allow("files_*"), Rule::allow("zzz*")]);
    assert_eq!(
        error.to_string(),
        "rule 1: tool \"file_raed\": no tool has such a name; did you mean `file_read`?\n\
         rule 2: tool \"files_*\": no tool has such a name; did you mean `filesystem_wipe`?\n\
         rule 3: tool \"zzz*\": no tool has such a name"
    );
}

// ---- B64, D22, D23: which rule wins

fn orders<T: Clone>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders_of_all = Vec::new();
    for (index, first) in of.iter().enumerate() {
        let rest = [&of[..index], &of[index + 1..]].concat();
        orders_of_all.extend(orders(&rest).into_iter().map(|order| [std::slice::from_ref(first), &order[..]].concat()));
    }
    orders_of_all
}

#[tokio::test]
async fn b64_deny_beats_ask_beats_allow_in_all_6_orders() {
    let of = [
        Rule::deny("git").because("no pushes").when("command", Test::matches("push *")),
        Rule::ask("git*").because("it is git"),
        Rule::allow("*"),
    ];
    let orders = orders(&of);
    assert_eq!(orders.len(), 6);
    for order in orders {
        let rules = rules(order);
        let push = said(&rules, "git", r#"{"command":"push origin"}"#).await;
        assert_eq!(push, Said::Denied("no pushes".to_owned()));
        let pull = said(&rules, "git", r#"{"command":"pull"}"#).await;
        assert_eq!(pull, Said::Asked("it is git".to_owned()));
        assert_eq!(said(&rules, "free", "{}").await, Said::Allowed);
    }
}

#[tokio::test]
async fn d23_all_rules_of_the_winning_kind_give_their_reasons_in_order() {
    let of = [
        Rule::deny("git").because("first no"),
        Rule::allow("*"),
        Rule::ask("*").because("first question"),
        Rule::deny("g*").because("second no"),
        Rule::ask("f*").because("second question"),
    ];
    let forwards = rules(of.clone());
    let git = r#"{"command":""}"#;
    assert_eq!(said(&forwards, "git", git).await, Said::Denied("first no; second no".to_owned()));
    assert_eq!(said(&forwards, "free", "{}").await, Said::Asked("first question; second question".to_owned()));
    let backwards = rules(of.into_iter().rev());
    assert_eq!(said(&backwards, "git", git).await, Said::Denied("second no; first no".to_owned()));
}

#[tokio::test]
async fn d23_where_no_rule_applies_there_is_no_opinion() {
    let rules = rules([Rule::allow("git")]);
    assert_eq!(said(&rules, "free", "{}").await, Said::Asked(String::new()));
    assert_eq!(said(&from_toml(""), "free", "{}").await, Said::Asked(String::new()));
    assert!(from_toml("").is_empty());
    // Another policy may have one.
    let harness = Harness::new(tools(), Policies::new().and(rules).and(|_: &CallFacts<'_>| Decision::Allow));
    let results = harness.run([ToolCall::new("1", "free", "{}")]).await;
    assert!(!results[0].is_error());
}

#[tokio::test]
async fn d22_a_guard_forbids_what_rules_allow() {
    let harness = Harness::new(tools(), rules([Rule::allow("*")])).guard(|_: &CallFacts<'_>| Some("not today".into()));
    let settled = harness.run_settled([ToolCall::new("1", "free", "{}")], None).await;
    assert_eq!(settled[0].record().code(), Code::Denied);
}

#[tokio::test]
async fn a_call_of_a_tool_that_no_rule_was_made_for_is_asked_about() {
    let allow_all = rules([Rule::allow("*")]);
    // A new tool, one with other parameters, and one with other hints.
    let mut hints = tool_runtime::Hints::default();
    hints.destructive = true;
    let build = |hints| {
        DynamicTool::builder("free", "Does it.")
            .parameters(r#"{"type":"object","properties":{"value":{},"list":{"type":"array"}}}"#)
            .output("true")
            .hints(hints)
            .run(|text, _| async { Ok(text) })
    };
    let changed = any("free", r#"{"type":"object","properties":{"other":{}}}"#);
    let (Ok(hinted), Ok(same)) = (build(hints), build(tool_runtime::Hints::default())) else { panic!("no tool") };
    for (tool, code) in [
        (any("new", r#"{"type":"object","properties":{}}"#), Code::ApprovalUnavailable),
        (changed, Code::ApprovalUnavailable),
        (hinted, Code::ApprovalUnavailable),
        (same, Code::Ok),
    ] {
        let name = tool.name().to_owned();
        let harness = Harness::new(registry([tool]), allow_all.clone());
        let settled = harness.run_settled([ToolCall::new("1", name, "{}")], None).await;
        assert_eq!(settled[0].record().code(), code);
    }
}

#[tokio::test]
async fn a_yes_to_a_rule_that_asks_runs_the_call_once() {
    let ran = Ran::default();
    let Ok(registry) = Registry::builder().tool(FileReadTool::host()).state(ran.clone()).build() else { panic!() };
    let rules = match Rules::builder().rule(Rule::ask("*").because("sure?")).build(&registry) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    };
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let harness = Harness::new(registry, rules).approver(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(set.questions.iter().flat_map(|question| question.reasons.clone()));
        Box::pin(async { vec![Answer::Yes] })
    });
    let results = harness.run([ToolCall::new("1", "file_read", path("a"))]).await;
    assert_eq!(results[0].text(), "a");
    assert_eq!(ran.0.load(Ordering::SeqCst), 1);
    assert_eq!(*asked.lock().unwrap_or_else(PoisonError::into_inner), ["sure?"]);
}

// ---- B65: patterns

#[tokio::test]
async fn b65_a_pattern_is_exact_but_for_its_stars() {
    let wild = rules([Rule::allow("file_*")]);
    assert_eq!(said(&wild, "file_read", &path("a")).await, Said::Allowed);
    assert_eq!(said(&wild, "filesystem_wipe", "{}").await, Said::Asked(String::new()));
    let tools =
        [any("git", r#"{"type":"object","properties":{}}"#), any("git_push", r#"{"type":"object","properties":{}}"#)];
    let registry = registry(tools);
    let Ok(exact) = Rules::builder().rule(Rule::allow("git")).build(&registry) else { panic!() };
    let harness = Harness::new(registry, exact);
    let results = harness.run([ToolCall::new("1", "git", ""), ToolCall::new("2", "git_push", "")]).await;
    assert_eq!([results[0].is_error(), results[1].is_error()], [false, true]);
}

#[tokio::test]
async fn b65_the_same_patterns_are_for_values() {
    for (pattern, command, matches) in [
        ("rm -rf*", "rm -rf /tmp/x", true),
        ("rm -rf*", "sudo rm -rf /tmp/x", false),
        ("*rm -rf*", "sudo rm -rf /tmp/x\n", true),
        ("rm", "rm -rf /", false),
        ("a?c", "a?c", true),
        ("a?c", "abc", false),
        ("[ab]", "[ab]", true),
        ("[ab]", "a", false),
        (r"echo \*", "echo *", true),
        (r"echo \*", "echo x", false),
        (r"C:\\*", r"C:\x", true),
        ("a \"*\" b", "a \"\t\" b", true),
    ] {
        let rules = rules([Rule::allow("*"), Rule::deny("git").because("no").when("command", Test::matches(pattern))]);
        let call = serde_json::json!({ "command": command }).to_string();
        assert_eq!(said(&rules, "git", &call).await.is_denied(), matches, "{pattern} and {command}");
    }
}

#[test]
fn b65_a_bad_pattern_is_refused() {
    for pattern in ["", r"a\", r"a\b", r"\"] {
        let error =
            refused([Rule::deny("git").because("no").when("command", Test::matches(pattern)), Rule::allow(pattern)]);
        let rules: Vec<_> = error.faults().map(FileFault::entry).collect();
        assert_eq!(rules, [Some(1), Some(2)], "{pattern}: {error}");
    }
}

#[test]
fn b65_a_hostile_text_takes_no_longer() {
    let pattern = "*a".repeat(500) + "*b";
    let rules = rules([Rule::deny("git").because("no").when("command", Test::matches(pattern))]);
    let call = serde_json::json!({ "command": "a".repeat(1_000_000) }).to_string();
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { panic!("no runtime") };
    assert_eq!(runtime.block_on(said(&rules, "git", &call)), Said::Asked(String::new()));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

// ---- B73: what is missing widens nothing

#[tokio::test]
async fn b73_missing_arguments_widen_no_rule() {
    for (absent, of_nothing) in [(Absent::NoMatch, Said::Asked(String::new())), (Absent::Match, Said::Allowed)] {
        let rules = rules([Rule::allow("free").when("value", Test::equals("a")).absent(absent)]);
        assert_eq!(said(&rules, "free", r#"{"value":"a"}"#).await, Said::Allowed);
        for arguments in ["", "null", "{}", r#"{"value":null}"#, r#"{"list":[]}"#] {
            assert_eq!(said(&rules, "free", arguments).await, of_nothing, "{arguments}");
        }
        for arguments in [r#"{"value":"b"}"#, r#"{"value":["a"]}"#, r#"{"value":{"value":"a"}}"#, r#"{"value":""}"#] {
            assert_eq!(said(&rules, "free", arguments).await, Said::Asked(String::new()), "{arguments}");
        }
    }
}

#[test]
fn b73_what_may_be_absent_has_to_say_what_that_means() {
    let error = refused([
        Rule::deny("file_write").because("no").when("text", Test::matches("*")),
        Rule::deny("pay").because("no").when("payment.invoice", Test::above(1)),
        Rule::deny("pay").because("no").when("payment.copies[*]", Test::equals("x")),
        Rule::deny("pay").because("no").when("payment.copies[3]", Test::equals("x")),
        Rule::deny("free").because("no").when("value.deeper", Test::equals("x")),
        // These are always there.
        Rule::deny("pay").because("no").when("payment.currency", Test::equals("usd")),
        Rule::deny("pay").because("no").when("payment.amount", Test::above(1)),
        secrets(),
    ]);
    let rules: Vec<_> = error.faults().filter_map(FileFault::entry).collect();
    assert_eq!(rules, [1, 2, 3, 4, 5], "{error}");
    assert!(error.faults().all(|fault| fault.what().contains("may be absent")), "{error}");
}

// ---- Invariant 15: exact numbers, and what can't be read

#[tokio::test]
async fn inv15_numbers_are_compared_exactly() {
    let payment = |amount: &str| format!(r#"{{"payment":{{"amount":{amount},"copies":[]}}}}"#);
    let rules =
        rules([Rule::allow("*"), Rule::deny("pay").because("too much").when("payment.amount", Test::above(999_999))]);
    for (amount, denied) in [
        ("999999", false),
        ("999999.0", false),
        ("9.99999e5", false),
        ("999998.999", false),
        ("-1e300", false),
        ("999999.5", true),
        ("1e6", true),
        ("1E+6", true),
        ("9999995e-1", true),
        ("123456789012345678901234567890", true),
    ] {
        assert_eq!(said(&rules, "pay", &payment(amount)).await.is_denied(), denied, "{amount}");
    }
    let invoice = |invoice: &str| format!(r#"{{"payment":{{"amount":1,"invoice":{invoice},"copies":[]}}}}"#);
    for (test, yes, no) in [
        (Test::equals(9_007_199_254_740_993_u64), "9007199254740993", "9007199254740992"),
        (Test::above(9_007_199_254_740_992_u64), "9007199254740993", "9007199254740992"),
        (
            Test::at_least(u128::MAX),
            "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211454",
        ),
        (Test::below(Scalar::number("1e400")), "340282366920938463463374607431768211455", "null"),
        (Test::at_most(Scalar::number("1.5")), "1", "2"),
        (Test::one_of([1, 3]), "3", "2"),
    ] {
        let shown = format!("{test:?}");
        let deny = Rule::deny("pay").because("no").when("payment.invoice", test).absent(Absent::NoMatch);
        let rules = self::rules([Rule::allow("*"), deny]);
        assert!(said(&rules, "pay", &invoice(yes)).await.is_denied(), "{shown} {yes}");
        assert_eq!(said(&rules, "pay", &invoice(no)).await, Said::Allowed, "{shown} {no}");
    }
}

#[tokio::test]
async fn inv15_a_value_that_a_rule_cannot_read_asks() {
    let tests = [
        (Test::above(10), "11", &["\"11\"", "true", "[11]", "{\"value\":11}"][..]),
        (Test::equals(10), "10", &["\"10\"", "false", "[10]"]),
        (Test::equals("x"), "\"x\"", &["1", "true", "[\"x\"]", "{}"]),
        (Test::equals(true), "true", &["\"true\"", "1"]),
        (Test::one_of([Scalar::from("x"), Scalar::from(2)]), "2.0", &["true", "[]"]),
        (Test::matches("x*"), "\"xy\"", &["1", "[\"x\"]"]),
        (Test::under("/w/secrets"), "\"secrets/k\"", &["1", "[\"/w/secrets\"]", "\"~/x\""]),
    ];
    for (test, yes, unreadable) in tests {
        let (deny, ask, allow) = (Rule::deny("free"), Rule::ask("free"), Rule::allow("free"));
        let when = |rule: Rule| rule.because("so").when("value", test.clone()).absent(Absent::NoMatch);
        let call = |value: &str| format!(r#"{{"value":{value}}}"#);
        let denying = rules([Rule::allow("*"), when(deny)]);
        let asking = rules([Rule::allow("*"), when(ask)]);
        let allowing = rules([when(allow)]);
        assert!(said(&denying, "free", &call(yes)).await.is_denied(), "{test:?}");
        assert_eq!(said(&asking, "free", &call(yes)).await, Said::Asked("so".to_owned()), "{test:?}");
        assert_eq!(said(&allowing, "free", &call(yes)).await, Said::Allowed, "{test:?}");
        for value in unreadable {
            for rules in [&denying, &asking] {
                let said = said(rules, "free", &call(value)).await;
                assert!(said.is_asked_about(2, "value"), "{test:?} {value}: {said:?}");
                // The value isn't told.
                assert!(!matches!(&said, Said::Asked(why) if why.contains(value.trim_matches('"')) && value.len() > 2));
            }
            assert_eq!(said(&allowing, "free", &call(value)).await, Said::Asked(String::new()), "{test:?} {value}");
        }
    }
}

#[tokio::test]
async fn inv15_what_is_sure_is_not_undone_by_what_is_not() {
    let unreadable = |rule: Rule| rule.because("large").when("value", Test::above(10)).absent(Absent::NoMatch);
    let rules = rules([
        Rule::allow("*"),
        unreadable(Rule::deny("free")),
        Rule::ask("free").because("always asked"),
        Rule::deny("free").because("empty list").when("list[*]", Test::equals(1)).absent(Absent::Match),
        // One condition that fails is enough.
        unreadable(Rule::deny("free").when("list[0]", Test::equals(0)).absent(Absent::NoMatch)),
    ]);
    let denied = said(&rules, "free", r#"{"value":"x","list":[]}"#).await;
    assert_eq!(denied, Said::Denied("empty list".to_owned()));
    let Said::Asked(why) = said(&rules, "free", r#"{"value":"x","list":[2]}"#).await else { panic!() };
    assert!(why.contains("rule 2 forbids") && why.ends_with("; always asked") && !why.contains("rule 5"), "{why}");
}

#[tokio::test]
async fn a_value_where_an_object_should_be_is_unreadable_and_null_is_absent() {
    let rules = rules([
        Rule::allow("*"),
        Rule::deny("free").because("no").when("value.to[0].name", Test::equals("x")).absent(Absent::NoMatch),
    ]);
    for (value, expected) in [
        (r#"{"to":[{"name":"x"}]}"#, Some(true)),
        (r#"{"to":[{"name":"y"}]}"#, Some(false)),
        (r#"{"to":[{}]}"#, Some(false)),
        (r#"{"to":[]}"#, Some(false)),
        (r#"{"to":null}"#, Some(false)),
        ("{}", Some(false)),
        ("null", Some(false)),
        (r#"{"to":["x"]}"#, None),
        (r#"{"to":{"0":{"name":"x"}}}"#, None),
        ("\"x\"", None),
        ("[]", None),
    ] {
        let said = said(&rules, "free", &format!(r#"{{"value":{value}}}"#)).await;
        match expected {
            Some(denied) => assert_eq!(said.is_denied(), denied, "{value}: {said:?}"),
            None => assert!(said.is_asked_about(2, "value.to[0].name"), "{value}: {said:?}"),
        }
    }
}

#[tokio::test]
async fn null_is_a_value_only_for_a_rule_about_null() {
    let null = Rule::deny("free").because("null").when("value", Test::equals(Scalar::NULL)).absent(Absent::NoMatch);
    let rules = rules([Rule::allow("*"), null]);
    let three =
        any("three", r#"{"type":"object","properties":{"value":{"type":["null","string"]}},"required":["value"]}"#);
    let registry = registry([three]);
    let built = Rules::builder()
        .rule(Rule::allow("*"))
        .rule(Rule::deny("three").because("null").when("value", Test::equals(Scalar::NULL)));
    let built = match built.build(&registry) {
        Ok(built) => built,
        Err(error) => panic!("{error}"),
    };
    let harness = Harness::new(registry, built);
    let calls = [r#"{"value":null}"#, r#"{"value":"x"}"#].map(|arguments| ToolCall::new("1", "three", arguments));
    let [null, text] = calls;
    assert!(harness.run([null]).await[0].is_error());
    assert!(!harness.run([text]).await[0].is_error());
    // Where it means absence, it isn't in the text that is judged.
    assert_eq!(said(&rules, "free", "{}").await, Said::Allowed);
    assert_eq!(said(&rules, "free", r#"{"value":1}"#).await, Said::Allowed);
}

// ---- Elements

#[tokio::test]
async fn any_element_is_denied_and_every_element_allowed() {
    let list = |list: &str| format!(r#"{{"list":{list}}}"#);
    let public = || Test::under("/w/public");
    let denying = rules([
        Rule::allow("*"),
        Rule::deny("free").because("no").when("list[*]", Test::under("/w/secrets")).absent(Absent::NoMatch),
    ]);
    let allowing = rules([Rule::allow("free").when("list[*]", public()).absent(Absent::NoMatch)]);
    assert!(said(&denying, "free", &list(r#"["a","secrets/k","b"]"#)).await.is_denied());
    assert!(said(&denying, "free", &list(r#"[1,"secrets/k"]"#)).await.is_denied());
    assert!(said(&denying, "free", &list(r#"["a",1]"#)).await.is_asked_about(2, "list[*]"));
    assert_eq!(said(&denying, "free", &list(r#"["a","b",null]"#)).await, Said::Allowed);
    assert_eq!(said(&denying, "free", &list("[]")).await, Said::Allowed);
    assert_eq!(said(&allowing, "free", &list(r#"["public/a","public/b"]"#)).await, Said::Allowed);
    for some in [r#"["public/a","secrets/k"]"#, r#"["public/a",1]"#, r#"["public/a",null]"#, "[]", "null"] {
        assert_eq!(said(&allowing, "free", &list(some)).await, Said::Asked(String::new()), "{some}");
    }
}

// ---- Hints

#[tokio::test]
async fn hints_choose_among_tools() {
    let rules = rules([
        Rule::allow("*").read_only(),
        Rule::deny("*").hint(Hint::Destructive).because("it stays"),
        Rule::ask("*").no_hint(Hint::ReadOnly).no_hint(Hint::Destructive).because("who knows"),
    ]);
    assert_eq!(said(&rules, "file_read", &path("a")).await, Said::Allowed);
    assert_eq!(said(&rules, "filesystem_wipe", "{}").await, Said::Denied("it stays".to_owned()));
    assert_eq!(said(&rules, "free", "{}").await, Said::Asked("who knows".to_owned()));
}

#[tokio::test]
async fn a_tool_that_lacks_an_argument_is_no_matter_of_a_rule_about_it() {
    let rules = rules([
        Rule::allow("*"),
        Rule::deny("*s*").or_tool("file_*").because("no").when("path", Test::under("/")).absent(Absent::Match),
    ]);
    assert_eq!(said(&rules, "filesystem_wipe", "{}").await, Said::Allowed);
    assert!(said(&rules, "file_read", &path("a")).await.is_denied());
}

// ---- What is refused, all at once

#[test]
fn every_fault_is_told_at_once() {
    let error = refused([
        Rule::deny("git").because(" "),
        Rule::ask("file_read").because("a").when("pth", Test::equals("x")),
        Rule::ask("pay").because("a").when("payment.amuont", Test::above(1)),
        Rule::ask("pay").because("a").when("payment.amount.x", Test::above(1)).absent(Absent::Match),
        Rule::ask("file_read").because("a").when("path", Test::above(1)),
        Rule::ask("file_*").because("a").when("path", Test::equals(5)),
        Rule::ask("pay").because("a").when("payment.amount", Test::under("/w")),
        Rule::ask("pay").because("a").when("payment.currency", Test::equals("usb")),
        Rule::ask("pay").because("a").when("payment.currency", Test::matches("x*")),
        Rule::ask("pay").because("a").when("payment.amount", Test::above("x")),
        Rule::ask("pay").because("a").when("payment.amount", Test::above(f64::NAN)),
        Rule::ask("pay").because("a").when("payment.invoice", Test::equals(1.5)).absent(Absent::Match),
        Rule::ask("pay").because("a").when("payment..amount", Test::above(1)),
        Rule::ask("file_read").because("a").when("path", Test::under("secrets")),
        Rule::ask("file_read").because("a").when("path", Test::one_of([0; 0])),
        Rule::allow("*").read_only().no_hint(Hint::ReadOnly),
        Rule::allow("*").absent(Absent::Match),
        Rule::allow("pay").when("payment", Test::equals("x")),
        Rule::allow("git").when("b\u{1b}[2K\u{202e}", Test::equals("x")),
    ]);
    assert_eq!(
        error.to_string().lines().collect::<Vec<_>>(),
        [
            "rule 1: needs a `reason`, which the model or a person reads",
            "rule 2: `file_read` has no argument `pth`; did you mean `path`?",
            "rule 3: `pay` has no argument `payment.amuont`; did you mean `payment.amount`?",
            "rule 4: `pay` has no argument `payment.amount.x`",
            "rule 5: `path` of `file_read` is string, and `above` needs number",
            "rule 6: `path` of `file_read`, `file_write` is string, and can't be 5",
            "rule 7: `payment.amount` of `pay` is number, and `under` needs string",
            "rule 8: `payment.currency` is never \"usb\"; did you mean \"usd\"?",
            "rule 9: `matches`: nothing that `payment.currency` can be passes: it is one of `\"eur\"`, `\"usd\"`",
            "rule 10: `above`: needs a number, and \"x\" is none",
            "rule 11: `above`: NaN is no number that can be compared",
            "rule 12: `payment.invoice` of `pay` is integer or null, and can't be 1.5",
            "rule 13: argument \"payment..amount\" lacks a name after a point",
            "rule 14: `under`: a relative path needs `base`, the directory that it is in",
            "rule 15: `one_of`: needs at least one value",
            "rule 16: no tool both has the hint `read_only` and doesn't have it",
            "rule 17: `absent` has to follow the condition that it is about",
            "rule 18: `payment` of `pay` is object, and can't be \"x\"",
            "rule 19: argument \"b\\u{1b}[2K\\u{202e}\" has a name that has to stand in brackets and quotes: [\"b\\u{1b}\"]",
        ]
    );
    let Err(error) = Rules::builder().base("w").rule(secrets()).build(&tools()) else { panic!() };
    assert_eq!(error.to_string(), "`base` \"w\": it has to be an absolute path");
}

// ---- Rules in a file

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
            "line 28, column 12: rule 4: `one_of` has to be text, a number or a boolean, and is a list",
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

// ---- What it costs

#[test]
fn fifty_rules_cost_little() {
    let many = (0..50)
        .map(|n| Rule::deny("pay").because("no").when("payment.amount", Test::equals(Scalar::from(1_000_000 + n))));
    let rules = rules(many.chain([Rule::allow("*")]));
    let harness = Harness::new(tools(), rules);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { panic!("no runtime") };
    let call = r#"{"payment":{"amount":12.5,"copies":["a","b"]}}"#;
    let begun = Instant::now();
    for _ in 0..1000 {
        let results = runtime.block_on(harness.run([ToolCall::new("1", "pay", call)]));
        assert!(!results[0].is_error());
    }
    // A machine under load is slow too: a bound that only a mistake goes beyond.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn rules_for_tools_that_come_and_go_may_name_some_that_are_not_there() {
    let registry = Registry::builder().build().expect("an empty registry");
    let rules = "[[rule]]\ndecision = \"deny\"\ntool = \"later_*\"\nreason = \"no\"\n\n[[rule.when]]\nargument = \"path\"\nunder = \"/w\"\n";
    assert!(Rules::from_toml(rules, &registry).is_err());
    let (_, absent) = Rules::from_toml_for_some(rules, &registry).expect("rules");
    assert_eq!(absent[0].to_string(), "line 3, column 8: rule 1: tool \"later_*\": no tool has such a name");
    // What is wrong in itself is wrong.
    assert!(Rules::from_toml_for_some(&rules.replace("reason", "reasom"), &registry).is_err());
    assert!(Rules::from_toml_for_some(&rules.replace("later_*", "später"), &registry).is_err());
}
