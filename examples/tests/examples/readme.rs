//! What the README says beside its snippets, which are compiled, is so.

use std::collections::BTreeSet;

use examples::quickstart::{self, Style};
use tool_runtime::{Code, DynamicTool, Harness, Registry, Rules, ToolCall};

const README: &str = include_str!("../../../README.md");
const RUNTIME: &str = include_str!("../../../tool-runtime/Cargo.toml");
const EXAMPLES: &str = include_str!("../../Cargo.toml");

/// The blocks of one language, without their fences.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("\n```{language}\n");
    README.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The block that begins so.
fn block(language: &str, begins: &str) -> &'static str {
    let found = blocks(language).into_iter().find(|block| block.starts_with(begins));
    found.unwrap_or_else(|| panic!("no block begins with {begins:?}"))
}

/// The rows of the table below a heading, a list of cells each, without its head.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let section = README.split(&format!("\n## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ")));
    rows.skip(1).map(Iterator::collect).collect()
}

/// The words of a text that stand in backticks.
fn quoted(text: &'static str) -> Vec<&'static str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The entries of a section of a manifest, with what stands behind each name. An entry may have several lines.
fn section(manifest: &'static str, name: &str) -> Vec<(&'static str, String)> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    let section = manifest.split(&format!("\n[{name}]\n")).nth(1).unwrap().split("\n[").next().unwrap();
    for line in section.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once([' ', '.']).filter(|(name, _)| !name.is_empty() && *name != "]") {
            Some((name, value)) => entries.push((name, value.to_owned())),
            None => entries.last_mut().into_iter().for_each(|(_, value)| value.push_str(line.trim())),
        }
    }
    entries
}

#[test]
fn a_model_reads_of_mistakes_what_it_is_shown_to_read() {
    let settled = quickstart::run(&mut Vec::new(), Style::plain()).unwrap();
    let refused = settled.iter().map(|settled| settled.result()).find(|result| result.call_id().as_str() == "call_Xq4");
    assert_eq!(refused.unwrap().text(), block("text", "The arguments of").trim_end());
}

/// As the compiler says it, without what differs from place to place.
#[test]
fn the_compiler_says_of_a_leak_what_it_is_shown_to_say() {
    let mut said = include_str!("../../../tests/ui/split/fail/declare_host_tool.stderr").lines();
    for line in block("text", "error[E0277]").lines() {
        assert!(said.any(|said| said == line), "{line}");
    }
}

#[tokio::test]
async fn the_file_of_rules_holds_what_it_says() {
    let tool = |name: &str, key: &str| {
        let parameters =
            format!(r#"{{"type":"object","properties":{{"{key}":{{"type":"string"}}}},"required":["{key}"]}}"#);
        let tool = DynamicTool::builder(name, "Does it.").parameters(parameters).output("true");
        tool.run(|_, _| async { Ok("1".to_owned()) }).unwrap()
    };
    let registry = || Registry::builder().tools([tool("read_file", "path"), tool("write_file", "path")]).build();
    let text = block("toml", "base = ");
    let rules = Rules::from_toml(text, &registry().unwrap());
    // No tool here only reads.
    assert!(rules.unwrap_err().to_string().contains("none of the tools that it names has these hints"));
    let (rules, _) = Rules::from_toml_for_some(text, &registry().unwrap()).unwrap();
    let harness = Harness::new(registry().unwrap(), rules);
    for (path, code) in [("secrets/key", Code::Denied), ("other/key", Code::ApprovalUnavailable)] {
        let call = ToolCall::new("1", "read_file", format!(r#"{{"path":"{path}"}}"#));
        let settled = harness.run_settled([call], None).await;
        assert_eq!(settled[0].record().code(), code, "{path}");
        assert_eq!(settled[0].result().text().contains("secrets stay"), code == Code::Denied);
    }
    // The other tests that its comment names, where each can be asked.
    let (_, others) = text.split_once("# also ").unwrap();
    let others = quoted(others.lines().next().unwrap());
    assert_eq!(others.len(), 7);
    for test in others {
        let (value, of) = match test {
            "equals" | "matches" => ("\"x\"", "path"),
            "one_of" => ("[\"x\"]", "path"),
            _ => ("1", "count"),
        };
        let rule = format!(
            "[[rule]]\ndecision = \"deny\"\ntool = \"*\"\nreason = \"so\"\n[[rule.when]]\nargument = \"{of}\"\n{test} = {value}\n"
        );
        let count = r#"{"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer"}},"required":["path","count"]}"#;
        let tool = DynamicTool::builder("count", "Counts.").parameters(count).output("true");
        let registry = Registry::builder().tool(tool.run(|_, _| async { Ok("1".to_owned()) }).unwrap()).build();
        Rules::from_toml(&rule, &registry.unwrap()).unwrap_or_else(|error| panic!("{test}: {error}"));
    }
}

#[test]
fn features_are_those_that_there_are() {
    let features = section(RUNTIME, "features");
    let default = features.iter().find(|(name, _)| *name == "default").unwrap().1.clone();
    let expected: BTreeSet<(&str, bool)> = features
        .iter()
        .filter(|(name, _)| *name != "default")
        .map(|(name, _)| (*name, default.contains(&format!("{name:?}"))))
        .collect();
    let mut said = BTreeSet::new();
    for row in table("Features") {
        said.extend(quoted(row[0]).into_iter().map(|name| (name, row[1] == "yes")));
    }
    assert_eq!(said, expected);
    // A feature that turns another on says so.
    for row in table("Features") {
        for name in quoted(row[0]) {
            let (_, turns_on) = features.iter().find(|(feature, _)| *feature == name).unwrap();
            for (other, _) in &features {
                if turns_on.contains(&format!("{other:?}")) {
                    assert!(row[2].contains(&format!("`{other}`")), "`{name}` turns `{other}` on");
                }
            }
        }
    }
}

#[test]
fn dependencies_are_those_that_there_are() {
    let mut said = BTreeSet::new();
    for row in table("Dependencies") {
        let names: Vec<&str> = quoted(row[0].split(" (feature").next().unwrap());
        let is_optional = row[0].contains(" (feature");
        for name in row[0].split(" (").next().into_iter().flat_map(quoted) {
            said.insert((name, is_optional));
        }
        // What follows in parentheses are features of the dependency.
        let (_, value) = section(RUNTIME, "dependencies").into_iter().find(|(name, _)| *name == names[0]).unwrap();
        for feature in names.iter().filter(|name| !said.contains(&(**name, is_optional))) {
            assert!(value.contains(&format!("{feature:?}")), "{row:?}");
        }
        if !is_optional && value.contains("features") {
            assert_eq!(value.matches('"').count() / 2, names.len() - 1, "{row:?}");
        }
    }
    for (name, value) in section(RUNTIME, "dependencies") {
        let is_optional = value.contains("optional = true");
        assert!(said.remove(&(name, is_optional)), "`{name}` isn't in the table as it is in the manifest");
        // A dependency of everybody may be there for a feature once more.
        said.remove(&(name, true));
    }
    assert_eq!(said, BTreeSet::new());
}

#[test]
fn every_code_is_told() {
    let told = README.split("```").step_by(2).flat_map(str::lines).flat_map(quoted);
    let codes: BTreeSet<&str> = told.filter(|word| word.parse::<Code>().is_ok()).collect();
    let all = [
        "unknown_tool",
        "not_loaded",
        "invalid_arguments",
        "approval_pending",
        "not_recorded",
        "blocked",
        "condition_not_met",
        "unanswered",
        "denied",
        "plan_rejected",
        "rejected",
        "approval_unavailable",
        "approval_expired",
        "approval_void",
        "timeout",
        "cancelled",
        "cancelled_before_start",
        "not_started",
        "outcome_unknown",
        "panicked",
        "tool_error",
        "busy",
        "host_error",
        "withheld",
        "invalid_output",
    ];
    assert_eq!(codes, BTreeSet::from(all));
}

#[test]
fn examples_that_are_run_are_there() {
    let run: BTreeSet<&str> =
        README.split("--example ").skip(1).filter_map(|rest| rest.split([' ', '`', '\n']).next()).collect();
    assert!(run.len() > 8, "{run:?}");
    for name in run {
        assert!(EXAMPLES.contains(&format!("\nname = \"{name}\"\n")), "there is no example `{name}`");
    }
}
