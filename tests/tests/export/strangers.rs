//! Schemas that a stranger's server may send: a few lines of them are no reason to hang, or to end the process.

use tool_runtime::wire::export::Export;
use tool_runtime::{AllowAll, Harness, HostTool, Registry, ToolCall};

use crate::schemas::dynamic;
use crate::support::{export, forms};

/// Definitions of which each but the first holds the one before it in `step`, once for each `REF`.
fn tower(levels: usize, lowest: &str, step: &str) -> String {
    let lowest = lowest.replace("TOP", &format!(r##"{{"$ref":"#/$defs/D{levels}"}}"##));
    let mut definitions = vec![format!(r#""D0":{lowest}"#)];
    definitions.extend((1..=levels).map(|level| {
        let below = format!(r##"{{"$ref":"#/$defs/D{}"}}"##, level - 1);
        format!(r#""D{level}":{}"#, step.replace("REF", &below))
    }));
    // Each is reached by itself as well.
    let properties: Vec<String> =
        (0..=levels).map(|level| format!(r##""p{level}":{{"$ref":"#/$defs/D{level}"}}"##)).collect();
    format!(r#"{{"type":"object","properties":{{{}}},"$defs":{{{}}}}}"#, properties.join(","), definitions.join(","))
}

/// Ten ways from each definition to the one below it, so 10^9 to the lowest.
fn ladder(keyword: &str, lowest: &str) -> String {
    tower(9, lowest, &format!(r#"{{"{keyword}":[{}]}}"#, ["REF"; 10].join(",")))
}

/// What the tool says to each value of its highest argument; `None` if no registry takes it.
fn answers(tool: &HostTool, argument: &str, values: &[String]) -> Option<Vec<String>> {
    let registry = Registry::builder().tool(tool.clone()).build().ok()?;
    let harness = Harness::new(registry, AllowAll);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let call = |value: &String| ToolCall::new("1", tool.name(), format!(r#"{{"{argument}":{value}}}"#));
    let results = runtime.block_on(harness.run(values.iter().map(call)));
    assert_eq!(results.len(), values.len());
    Some(results.iter().map(|result| result.text()).collect())
}

fn exported(tool: &HostTool) {
    for form in forms() {
        let export: Export = export(form, tool);
        let there_and_back = export.restore(export.to_wire(ToolCall::new("1", tool.name(), r#"{"p9":{"a":"x"}}"#)));
        assert_eq!(there_and_back.name(), tool.name());
    }
}

#[test]
fn i14_forms_that_double_each_other_are_each_looked_at_once() {
    for lowest in [r#"{"type":"string"}"#, r#"{"type":"object","properties":{"a":{"type":"string"}}}"#] {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let tool = dynamic("ladder", &ladder(keyword, lowest));
            exported(&tool);
            let values = [r#""x""#, r#"{"a":"x"}"#, "1", "null"].map(str::to_owned);
            let said = answers(&tool, "p9", &values);
            assert_eq!(said.is_none(), keyword == "allOf", "{said:?}");
            // What was expected is said once, however many ways lead to it.
            let kind = if lowest.contains("object") { "object" } else { "string" };
            if let Some(said) = said {
                assert!(said[2].contains(&format!("expected {kind}, got number 1")), "{}", said[2]);
            }
        }
    }
}

#[test]
fn i14_parts_that_double_each_other_have_an_end() {
    let forms: Vec<String> =
        (0..20).map(|n| format!(r#"{{"anyOf":[{{"required":["a{n}"]}},{{"required":["b{n}"]}}]}}"#)).collect();
    let parameters = format!(
        r#"{{"type":"object","properties":{{"p":{{"type":"object","description":"{}","allOf":[{}]}}}}}}"#,
        "d".repeat(10_000),
        forms.join(",")
    );
    assert!(Registry::builder().tool(dynamic("product", &parameters)).build().is_err());
}

#[test]
fn i14_how_deep_forms_stand_in_each_other_is_not_for_the_stack() {
    let unions = r#"{"anyOf":[REF,{"type":"string","minLength":3},{"type":"null"}]}"#;
    let tool = dynamic("deep", &tower(600, r#"{"type":"string"}"#, unions));
    let said = answers(&tool, "p600", &[r#""x""#.to_owned(), "1".to_owned()]).expect("nothing is wrong with it");
    assert!(said[0].contains("expected a value that can be checked"), "{said:?}");
    assert!(said[1].contains("expected string or string of at least 3 characters or null"), "{said:?}");
    // Few of them, at each level of a value.
    let tool = dynamic("often", &tower(20, r#"{"type":"array","items":TOP}"#, r#"{"anyOf":[REF,{"type":"null"}]}"#));
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let said = answers(&tool, "p20", &[nested(3), nested(60), nested(120)]).expect("nothing is wrong with it");
    assert!(!said[0].contains("refused"), "{said:?}");
    assert!(said[1..].iter().all(|said| said.contains("refused")), "{said:?}");
}
