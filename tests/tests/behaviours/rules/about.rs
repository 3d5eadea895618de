//! Which calls a rule is about: paths, names and patterns in all their spellings.

use std::time::{Duration, Instant};

use tool_runtime::{Code, DynamicTool, FileFault, Harness, Rule, Rules, Test, ToolCall};

use super::{Said, any, path, refused, registry, rules, said, secrets, tools};

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
