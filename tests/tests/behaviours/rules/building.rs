//! What is refused when rules are built, and what building costs.

use std::time::{Duration, Instant};

use tool_runtime::{Absent, Harness, Hint, Registry, Rule, Rules, Scalar, Test, ToolCall};

use super::{refused, rules, secrets, tools};

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

#[test]
fn a_rule_that_can_never_apply_is_refused() {
    let error = refused([
        Rule::deny("pay").because("no").hint(Hint::Destructive),
        Rule::deny("file_*").because("no").hint(Hint::Idempotent),
        // One tool has the one argument, another the other.
        Rule::deny("pay")
            .or_tool("file_write")
            .because("no")
            .when("payment.amount", Test::above(1))
            .when("path", Test::matches("x*")),
        // Each of these applies to some tool.
        Rule::deny("file_*").because("no").hint(Hint::Destructive),
        Rule::deny("file_*")
            .because("no")
            .when("path", Test::equals("x"))
            .when("text", Test::equals("x"))
            .absent(Absent::Match),
    ]);
    assert_eq!(
        error.to_string().lines().collect::<Vec<_>>(),
        [
            "rule 1: none of the tools that it names has these hints",
            "rule 2: none of the tools that it names has these hints",
            "rule 3: none of the tools that it names has all of its arguments",
        ]
    );
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
    let hinted = "[[rule]]\ndecision = \"allow\"\ntool = \"git\"\nhints = [\"read_only\"]\n";
    assert!(Rules::from_toml(hinted, &tools()).is_err());
    let (_, absent) = Rules::from_toml_for_some(hinted, &tools()).expect("rules");
    assert_eq!(absent[0].to_string(), "line 1, column 1: rule 1: none of the tools that it names has these hints");
    // What is wrong in itself is wrong.
    assert!(Rules::from_toml_for_some(&rules.replace("reason", "reasom"), &registry).is_err());
    assert!(Rules::from_toml_for_some(&rules.replace("later_*", "später"), &registry).is_err());
}
