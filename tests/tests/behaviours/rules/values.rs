//! What a rule reads of arguments: what is absent, what is exact, what can't be read.

use tool_runtime::{Absent, FileFault, Harness, Hint, Rule, Rules, Scalar, Test, ToolCall};

use super::{Said, any, path, refused, registry, rules, said, secrets};

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

// ---- Names

/// Two forms of a call, in one of which a name is another's alias.
fn either() -> tool_runtime::HostTool {
    let parameters = r#"{"type":"object","oneOf":[
        {"type":"object","required":["file_path"],"additionalProperties":false,
         "properties":{"file_path":{"type":"string","x-tool-alias":["path"]}}},
        {"type":"object","required":["kind","path"],"additionalProperties":false,
         "properties":{"kind":{"const":"short"},"path":{"type":"string"}}}]}"#;
    let built = tool_runtime::DynamicTool::builder("either", "Does it.").parameters(parameters).composed_root();
    match built.output("true").run(|text, _| async { Ok(text) }) {
        Ok(tool) => tool,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn inv05_a_rule_reads_an_argument_in_every_form_that_a_call_can_have() {
    let registry = registry([either()]);
    let rules = Rules::builder()
        .rule(Rule::allow("*"))
        .rule(Rule::deny("either").because("it stays").when("path", Test::equals("k")).absent(Absent::NoMatch))
        .build(&registry);
    let harness = Harness::new(registry, rules.unwrap_or_else(|error| panic!("{error}")));
    for (arguments, denied) in [
        (r#"{"file_path":"k"}"#, true),
        (r#"{"path":"k"}"#, true),
        (r#"{"kind":"short","path":"k"}"#, true),
        (r#"{"path":"k","kind":"short"}"#, true),
        (r#"{"kind":"short","path":"l"}"#, false),
    ] {
        let results = harness.run([ToolCall::new("1", "either", arguments)]).await;
        assert_eq!(results[0].is_error(), denied, "{arguments}: {}", results[0].text());
        assert_eq!(results[0].text().contains("it stays"), denied, "{arguments}: {}", results[0].text());
    }
}
