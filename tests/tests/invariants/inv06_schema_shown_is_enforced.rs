//! Every keyword that a model is shown is checked before the gate, every one of the output before the model reads it,
//! and a schema with one that this build can't enforce is refused with the registry.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tool_runtime::{CallFacts, Code, Decision, DynamicTool, Harness, HostTool, Registry, ToolCall, tool, tool_type};

use crate::support::{echo, one, registry};

/// A schema, values that are valid under it, and values that aren't.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Every keyword that is enforced in every build.
const CASES: &[Case] = &[
    (r#"{"type":"null"}"#, &["null"], &["0", "\"null\"", "false", "{}"]),
    (r#"{"type":"boolean"}"#, &["true", "false"], &["1", "0", "\"true\"", "null"]),
    (r#"{"type":"integer"}"#, &["3", "-3", "30.0", "3e2", "18446744073709551617"], &["3.5", "\"3\"", "true", "[3]"]),
    (r#"{"type":"number"}"#, &["3", "3.5", "-1e-9"], &["\"3.5\"", "true", "null", "[]"]),
    (r#"{"type":"string"}"#, &["\"\"", "\"null\"", "\"{}\""], &["3", "true", "null", "{}", "[]"]),
    (r#"{"type":"array"}"#, &["[]", "[1,\"a\",null]"], &["{}", "\"[]\"", "1"]),
    (r#"{"type":"object"}"#, &["{}", "{\"a\":[1]}"], &["[]", "\"x\"", "1"]),
    (r#"{"type":["string","null","integer"]}"#, &["\"a\"", "null", "3"], &["3.5", "true", "{}"]),
    (
        r#"{"enum":["a",1,null,{"k":[2]}]}"#,
        &["\"a\"", "1", "1.0", "null", "{\"k\":[2]}"],
        &["\"A\"", "\"1\"", "2", "{\"k\":[3]}"],
    ),
    // Numbers are compared by value, in whatever spelling.
    (
        r#"{"enum":[1e20,-0.0,2.50,-25e22]}"#,
        &["100000000000000000000", "1e20", "1.0e+20", "0", "-0", "0e7", "2.5", "25e-1", "-250000000000000000000000"],
        &["100000000000000000001", "1e21", "\"1e20\"", "2.5000001", "1e400", "-1e20"],
    ),
    (r#"{"enum":[100000000000000000000]}"#, &["1e20", "100000000000000000000.0"], &["100000000000000000001"]),
    (r#"{"const":1e20}"#, &["100000000000000000000"], &["100000000000000000001", "10000000000000000000"]),
    (r#"{"const":1.0}"#, &["1", "1.0", "10e-1"], &["true", "\"1\"", "1.5"]),
    (r#"{"const":-0}"#, &["0", "-0.0", "0e999"], &["false", "\"-0\"", "5e-324"]),
    (
        r#"{"enum":[{"a":[1e20],"e+":"1e+20"}]}"#,
        &["{\"e+\":\"1e+20\",\"a\":[100000000000000000000]}", "{\"a\":[1E20],\"e+\":\"1e+20\"}"],
        &["{\"a\":[1e20],\"e+\":\"100000000000000000000\"}"],
    ),
    (r#"{"enum":[1e20,5],"const":100000000000000000000}"#, &["1e20", "100000000000000000000"], &["5"]),
    (r#"{"allOf":[{"enum":[1e20,5]},{"enum":[100000000000000000000]}]}"#, &["1e20"], &["5"]),
    (r#"{"allOf":[{"const":1e20},{"const":100000000000000000000}]}"#, &["1e20"], &["5"]),
    (r#"{"type":"array","uniqueItems":true}"#, &["[1e20,100000000000000000001]"], &["[1e20,100000000000000000000]"]),
    (
        r#"{"oneOf":[
            {"type":"object","properties":{"kind":{"const":1e20},"x":{"type":"integer"}},"required":["kind","x"]},
            {"type":"object","properties":{"kind":{"const":2},"y":{"type":"string"}},"required":["kind","y"]}]}"#,
        &["{\"kind\":100000000000000000000,\"x\":1}", "{\"kind\":1e20,\"x\":1}"],
        &["{\"kind\":100000000000000000000,\"y\":\"\"}"],
    ),
    // These two forms can't be told apart by `kind`.
    (
        r#"{"oneOf":[
            {"type":"object","properties":{"kind":{"const":1e20},"x":{"type":"integer"}},"required":["kind","x"]},
            {"type":"object","properties":{"kind":{"const":100000000000000000000},"y":{"type":"string"}},"required":["kind","y"]}]}"#,
        &["{\"kind\":1e20,\"y\":\"\"}"],
        &["{\"kind\":1e20,\"x\":1,\"y\":\"\"}"],
    ),
    (r#"{"const":{"a":1}}"#, &["{\"a\":1}"], &["{\"a\":2}", "{}", "1"]),
    (r#"{"type":"integer","minimum":3}"#, &["3", "4"], &["2", "-9"]),
    (r#"{"type":"number","minimum":0.1}"#, &["0.1", "1e9"], &["0.09999999999999999", "0"]),
    (r#"{"type":"integer","maximum":3}"#, &["3", "-4"], &["4", "1e9"]),
    (r#"{"type":"integer","maximum":18446744073709551615}"#, &["18446744073709551615"], &["18446744073709551616"]),
    (r#"{"type":"number","exclusiveMinimum":0}"#, &["0.001"], &["0", "-0.0", "-1"]),
    (r#"{"type":"number","exclusiveMaximum":1}"#, &["0.999", "-1"], &["1", "1.0", "2"]),
    (r#"{"type":"integer","multipleOf":5}"#, &["0", "-15", "20.0"], &["7", "21"]),
    (r#"{"type":"string","minLength":2}"#, &["\"ab\"", "\"äö\"", "\"🍸🍸\""], &["\"a\"", "\"\"", "\"🍸\""]),
    (r#"{"type":"string","maxLength":2}"#, &["\"ab\"", "\"🍸🍸\"", "\"\\u00e4b\""], &["\"abc\"", "\"🍸🍸🍸\""]),
    (r#"{"type":"array","items":{"type":"integer"}}"#, &["[]", "[1,2]"], &["[1,\"2\"]", "[null]"]),
    (
        r#"{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":1}}}"#,
        &["[[1],[]]"],
        &["[[1],[0]]"],
    ),
    (r#"{"type":"array","minItems":2}"#, &["[1,1]"], &["[1]", "[]"]),
    (r#"{"type":"array","maxItems":2}"#, &["[]", "[1,1]"], &["[1,1,1]"]),
    (
        r#"{"type":"array","uniqueItems":true}"#,
        &["[1,\"1\",true,[1]]", "[{\"a\":1},{\"a\":2}]"],
        &["[1,1]", "[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"],
    ),
    (
        r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
        &["[\"a\",1]"],
        &["[1,\"a\"]", "[\"a\",1,2]"],
    ),
    (
        r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#,
        &["{}", "{\"a\":1}", "{\"b\":\"x\"}"],
        &["{\"a\":\"1\"}"],
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#,
        &["{\"a\":0}", "{\"a\":null}"],
        &["{}", "{\"b\":1}"],
    ),
    (
        r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
        &["{}", "{\"a\":1}"],
        &["{\"b\":1}", "{\"a\":1,\"A\":1}"],
    ),
    (
        r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
        &["{\"x\":1,\"y\":2}"],
        &["{\"x\":1,\"y\":\"2\"}"],
    ),
    (r#"{"type":"object","minProperties":2}"#, &["{\"a\":1,\"b\":1}"], &["{\"a\":1}", "{}"]),
    (r#"{"type":"object","maxProperties":1}"#, &["{}", "{\"a\":1}"], &["{\"a\":1,\"b\":1}"]),
    (r#"{"type":"string","format":"date"}"#, &["\"2024-02-29\""], &["\"2023-02-29\"", "\"today\""]),
    (
        r#"{"type":"string","format":"date-time"}"#,
        &["\"2026-01-31T09:30:00Z\""],
        &["\"2026-01-31\"", "\"2026-01-31T25:00:00Z\""],
    ),
    (r#"{"type":"string","format":"uuid"}"#, &["\"123e4567-e89b-12d3-a456-426614174000\""], &["\"123e4567\""]),
    (r#"{"type":"string","format":"ipv4"}"#, &["\"10.0.0.1\""], &["\"10.0.0.256\"", "\"::1\""]),
    (r#"{"type":"string","format":"ipv6"}"#, &["\"::1\""], &["\"10.0.0.1\"", "\":::\""]),
    (r##"{"$ref":"#/$defs/positive"}"##, &["1"], &["0", "\"1\""]),
    (r##"{"type":"array","items":{"$ref":"#/$defs/positive"}}"##, &["[1,2]"], &["[1,0]"]),
    (
        r##"{"$ref":"#/$defs/list"}"##,
        &["{\"head\":1}", "{\"head\":1,\"tail\":{\"head\":2}}"],
        &["{\"head\":1,\"tail\":{\"head\":\"2\"}}", "{\"tail\":{\"head\":1}}"],
    ),
    (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, &["\"a\"", "null"], &["1", "[]"]),
    (
        r#"{"oneOf":[
            {"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"integer"}},"required":["kind","x"],"additionalProperties":false},
            {"type":"object","properties":{"kind":{"const":"b"},"y":{"type":"string"}},"required":["kind","y"],"additionalProperties":false}]}"#,
        &["{\"kind\":\"a\",\"x\":1}", "{\"kind\":\"b\",\"y\":\"\"}"],
        &[
            "{\"kind\":\"a\",\"y\":\"\"}",
            "{\"kind\":\"b\",\"x\":1}",
            "{\"kind\":\"c\"}",
            "{\"x\":1}",
            "{\"kind\":\"a\",\"x\":1,\"y\":\"\"}",
        ],
    ),
    (r#"{"oneOf":[{"type":"integer","multipleOf":2},{"type":"integer","multipleOf":3}]}"#, &["2", "9"], &["6", "5"]),
    (r#"{"allOf":[{"type":"integer","minimum":1},{"maximum":5}]}"#, &["1", "5"], &["0", "6", "\"3\""]),
];

/// Definitions that some cases refer to.
const DEFS: &str = r##"{"positive":{"type":"integer","minimum":1},
    "list":{"type":"object","properties":{"head":{"type":"integer"},"tail":{"$ref":"#/$defs/list"}},"required":["head"]}}"##;

/// Below what a value may stand, as a schema and as a value around `@`.
const PLACES: [(&str, &str); 4] = [
    ("@", "@"),
    (r#"{"type":"array","items":@}"#, "[@]"),
    (
        r#"{"type":"object","properties":{"in":{"type":"object","properties":{"deep":@},"required":["deep"],"additionalProperties":false}},"required":["in"]}"#,
        r#"{"in":{"deep":@}}"#,
    ),
    (r#"{"type":"object","additionalProperties":@}"#, r#"{"any name":@}"#),
];

/// Counts who gets as far as the gate.
fn harness(tool: HostTool) -> (Harness, Arc<AtomicUsize>) {
    let judged = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&judged);
    let policy = move |_: &CallFacts<'_>| {
        counted.fetch_add(1, Ordering::SeqCst);
        Decision::Allow
    };
    (Harness::new(registry([tool]), policy), judged)
}

#[tokio::test]
async fn inv06_every_keyword_of_the_arguments_is_checked_before_the_gate() {
    for (schema, valid, invalid) in CASES {
        for (place, around) in PLACES {
            let schema = place.replace('@', schema);
            let parameters =
                format!(r#"{{"type":"object","properties":{{"v":{schema}}},"required":["v"],"$defs":{DEFS}}}"#);
            let (harness, judged) = harness(echo("check", &parameters));
            let call = |value: &str| ToolCall::new("1", "check", format!(r#"{{"v":{}}}"#, around.replace('@', value)));
            for value in *valid {
                let settled = one(&harness, call(value)).await;
                assert_eq!(settled.record().code(), Code::Ok, "{schema}: {value}: {}", settled.result().text());
            }
            assert_eq!(judged.load(Ordering::SeqCst), valid.len(), "{schema}");
            for value in *invalid {
                let settled = one(&harness, call(value)).await;
                assert_eq!(settled.record().code(), Code::InvalidArguments, "{schema} took {value}");
                assert!(!settled.record().started());
            }
            assert_eq!(judged.load(Ordering::SeqCst), valid.len(), "{schema}: the gate saw invalid arguments");
        }
    }
}

#[tokio::test]
async fn inv06_every_keyword_of_the_output_is_checked_before_the_model_reads_it() {
    for (schema, valid, invalid) in CASES {
        for (place, around) in PLACES {
            let schema = place.replace('@', schema);
            let output =
                format!(r#"{{"type":"object","properties":{{"v":{schema}}},"required":["v"],"$defs":{DEFS}}}"#);
            let tool = DynamicTool::builder("give", "Gives what it is told to.")
                .parameters(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#)
                .output(output)
                .run(|arguments, _| async move {
                    let value: Value = serde_json::from_str(&arguments)?;
                    Ok(value["text"].as_str().unwrap_or_default().to_owned())
                });
            let (harness, _) = harness(tool.unwrap_or_else(|error| panic!("{schema}: {error}")));
            let call = |value: &str| {
                let text = format!(r#"{{"v":{},"canary":"unread"}}"#, around.replace('@', value));
                ToolCall::new("1", "give", serde_json::json!({ "text": text }))
            };
            for value in *valid {
                let settled = one(&harness, call(value)).await;
                assert_eq!(settled.record().code(), Code::Ok, "{schema}: {value}: {}", settled.result().text());
            }
            for value in *invalid {
                let settled = one(&harness, call(value)).await;
                let text = settled.result().text();
                assert_eq!(settled.record().code(), Code::InvalidOutput, "{schema} gave {value}: {text}");
                assert!(!text.contains("unread"), "{text}");
                assert!(text.contains("effects may have happened"), "{text}");
                assert_eq!(settled.value(), None);
            }
        }
    }
}

/// A model's `null` may leave an argument out; a tool's own output is what its schema says.
#[tokio::test]
async fn inv06_an_output_has_null_only_where_its_schema_does() {
    for (schema, code) in [
        (r#"{"type":"boolean"}"#, Code::InvalidOutput),
        (r#"{"type":"object","properties":{}}"#, Code::InvalidOutput),
        (r#"{"type":["boolean","null"]}"#, Code::Ok),
        ("{}", Code::Ok),
    ] {
        let tool = DynamicTool::builder("give", "Gives null.")
            .output(format!(r#"{{"type":"object","properties":{{"v":{schema}}}}}"#))
            .run(|_, _| async { Ok(r#"{"v":null}"#.to_owned()) });
        let (harness, _) = harness(tool.unwrap_or_else(|error| panic!("{error}")));
        let settled = one(&harness, ToolCall::new("1", "give", "")).await;
        assert_eq!(settled.record().code(), code, "{schema}: {}", settled.result().text());
    }
}

/// A number that has a limit, however deep it stands.
#[tool_type]
struct Part {
    /// How many.
    #[arg(range = 1..=9)]
    count: u8,
    /// Of which sort.
    sort: Sort,
    /// Parts of it.
    #[arg(default, length = 0..=2)]
    parts: Vec<Part>,
}

/// A sort.
#[tool_type]
enum Sort {
    Round,
    Square { edge: u16 },
}

/// Builds.
#[tool]
async fn build(
    /// What.
    #[arg(length = 1..=3)]
    parts: Vec<Part>,
    /// Under which name.
    #[arg(length = 2..=4, default = "none".to_owned())]
    name: String,
) -> usize {
    let deep = |part: &Part| match part.sort {
        Sort::Round => usize::from(part.count),
        Sort::Square { edge } => usize::from(edge),
    };
    parts.iter().map(deep).sum::<usize>() + name.len() + parts.iter().map(|part| part.parts.len()).sum::<usize>()
}

/// What authors write at their types holds, at every depth; serde alone would take most of these.
#[tokio::test]
async fn inv06_what_authors_write_is_enforced_at_every_depth() {
    let (harness, judged) = harness(BuildTool::host());
    let good = r#"{"count":1,"sort":"Round"}"#;
    let within = |part: &str| format!(r#"{{"parts":[{good},{{"count":2,"sort":"Round","parts":[{part}]}}]}}"#);
    let plain = |part: &str| format!(r#"{{"parts":[{part}]}}"#);
    for wrap in [&within as &dyn Fn(&str) -> String, &plain] {
        for part in [
            good,
            r#"{"count":9.0,"sort":{"Square":{"edge":2}},"parts":[]}"#,
            r#"{"count":1,"sort":"Round","parts":null}"#,
        ] {
            let settled = one(&harness, ToolCall::new("1", "build", wrap(part))).await;
            assert_eq!(settled.record().code(), Code::Ok, "{part}: {}", settled.result().text());
        }
        let before = judged.load(Ordering::SeqCst);
        for part in [
            r#"{"count":0,"sort":"Round"}"#,
            r#"{"count":10,"sort":"Round"}"#,
            r#"{"count":1.5,"sort":"Round"}"#,
            r#"{"count":"1","sort":"Round"}"#,
            r#"{"sort":"Round"}"#,
            r#"{"count":1}"#,
            r#"{"count":1,"sort":"round"}"#,
            r#"{"count":1,"sort":{"Round":null}}"#,
            r#"{"count":1,"sort":{"Square":{"edge":65536}}}"#,
            r#"{"count":1,"sort":{"Square":[1]}}"#,
            r#"{"count":1,"sort":{"Square":{"edge":1},"Round":null}}"#,
            r#"{"count":1,"sort":"Round","colour":"red"}"#,
            r#"[1,"Round",[]]"#,
            r#"{"count":1,"sort":"Round","parts":[{"count":1,"sort":"Round"},{"count":1,"sort":"Round"},{"count":1,"sort":"Round"}]}"#,
        ] {
            let settled = one(&harness, ToolCall::new("1", "build", wrap(part))).await;
            assert_eq!(settled.record().code(), Code::InvalidArguments, "{part} was taken");
        }
        assert_eq!(judged.load(Ordering::SeqCst), before, "the gate saw invalid arguments");
    }
    for refused in [
        r#"{"parts":[]}"#.to_owned(),
        format!(r#"{{"parts":[{good}],"name":"a"}}"#),
        format!(r#"{{"parts":[{good}],"name":"abcde"}}"#),
    ] {
        let settled = one(&harness, ToolCall::new("1", "build", refused.as_str())).await;
        assert_eq!(settled.record().code(), Code::InvalidArguments, "{refused} was taken");
    }
}

/// Keywords that the `jsonschema` crate enforces, with a valid and an invalid value.
const FOREIGN: &[(&str, &str, &str)] = &[
    (r#"{"type":"string","pattern":"^a+$"}"#, "\"aa\"", "\"ab\""),
    (r#"{"type":"number","multipleOf":0.5}"#, "1.5", "1.3"),
    (r#"{"type":"string","format":"email"}"#, "\"a@example.org\"", "\"a\""),
    (r#"{"type":"string","format":"uri"}"#, "\"https://example.org\"", "\"no uri\""),
    (r#"{"type":"object","patternProperties":{"^a":{"type":"integer"}}}"#, r#"{"ab":1}"#, r#"{"ab":"1"}"#),
    (r#"{"type":"object","propertyNames":{"maxLength":2}}"#, r#"{"ab":1}"#, r#"{"abc":1}"#),
    (r#"{"type":"object","dependentRequired":{"a":["b"]}}"#, r#"{"a":1,"b":1}"#, r#"{"a":1}"#),
    (r#"{"type":"array","contains":{"const":1}}"#, "[1]", "[2]"),
    (r#"{"type":"integer","not":{"const":5}}"#, "4", "5"),
    (r#"{"type":"integer","if":{"minimum":5},"then":{"maximum":7}}"#, "6", "9"),
    (r#"{"type":"array","prefixItems":[true],"unevaluatedItems":false}"#, "[1]", "[1,2]"),
];

fn foreign(schema: &str) -> [Result<HostTool, tool_runtime::DynamicToolError>; 2] {
    let object = format!(r#"{{"type":"object","properties":{{"v":{schema}}},"required":["v"]}}"#);
    let input = DynamicTool::builder("input", "Takes it.").parameters(object.as_str()).output("true");
    let output = DynamicTool::builder("output", "Gives it.")
        .parameters(r#"{"type":"object","properties":{"v":{}},"required":["v"]}"#)
        .output(object.as_str());
    [input, output].map(|tool| tool.run(|arguments, _| async move { Ok(arguments) }))
}

#[cfg(not(feature = "jsonschema"))]
#[test]
fn inv06_what_this_build_cannot_enforce_is_refused_with_the_registry() {
    for (schema, ..) in FOREIGN {
        for tool in foreign(schema) {
            let tool = tool.unwrap_or_else(|error| panic!("{schema}: {error}"));
            let (name, place) = match tool.name() {
                "input" => ("input", "parameters/properties/v/"),
                _ => ("output", "output/properties/v/"),
            };
            let fine = echo("fine", r#"{"type":"object"}"#);
            match Registry::builder().tools([fine, tool]).build() {
                Ok(_) => panic!("{schema} is shown in the {name} and not enforced"),
                Err(error) => {
                    assert_eq!(error.tools().collect::<Vec<_>>(), [name]);
                    assert!(error.to_string().contains(place), "{error}");
                    assert!(error.to_string().contains("`jsonschema`"), "{error}");
                }
            }
        }
    }
    assert!(Registry::builder().tool(PatternedTool::host()).build().is_err());
}

#[cfg(feature = "jsonschema")]
#[tokio::test]
async fn inv06_what_the_walker_does_not_know_is_enforced_by_the_feature() {
    for (schema, valid, invalid) in FOREIGN {
        for (tool, code) in foreign(schema).into_iter().zip([Code::InvalidArguments, Code::InvalidOutput]) {
            let tool = tool.unwrap_or_else(|error| panic!("{schema}: {error}"));
            let name = tool.name().to_owned();
            let (harness, judged) = harness(tool);
            let call = |value: &str| ToolCall::new("1", name.as_str(), format!(r#"{{"v":{value}}}"#));
            let settled = one(&harness, call(valid)).await;
            assert_eq!(settled.record().code(), Code::Ok, "{schema}: {}", settled.result().text());
            let settled = one(&harness, call(invalid)).await;
            assert_eq!(settled.record().code(), code, "{schema}: {}", settled.result().text());
            let saw = if code == Code::InvalidArguments { 1 } else { 2 };
            assert_eq!(judged.load(Ordering::SeqCst), saw, "{schema}");
        }
    }
    let (harness, _) = harness(PatternedTool::host());
    assert_eq!(one(&harness, ToolCall::new("1", "patterned", r#"{"code":"AB12"}"#)).await.record().code(), Code::Ok);
    let refused = one(&harness, ToolCall::new("1", "patterned", r#"{"code":"ab12"}"#)).await;
    assert_eq!(refused.record().code(), Code::InvalidArguments);
    assert!(refused.result().text().contains("[A-Z]{2}[0-9]{2}"), "{}", refused.result().text());
}

/// Has a form that only a regular expression can say.
#[tool]
async fn patterned(
    /// Which.
    #[arg(pattern = "^[A-Z]{2}[0-9]{2}$")]
    code: String,
) -> String {
    code
}

/// What no build can enforce, or what no value can meet by the standard's own words, is never shown.
#[test]
fn inv06_what_no_build_can_enforce_is_refused() {
    for schema in [
        r#"{"type":"integer","minimun":3}"#,
        r##"{"$ref":"#/$defs/nowhere"}"##,
        r#"{"$ref":"https://example.org/schema.json"}"#,
        r#"{"type":"integer","minimum":"3"}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"object","properties":[]}"#,
        r#"{"type":"object","required":"a"}"#,
        r#"{"enum":{}}"#,
        r#"{"type":"string","maxLength":-1}"#,
        r#"{"type":"string","format":"no such format"}"#,
        r#"{"type":"integer","minimum":0,"default":-1}"#,
    ] {
        for tool in foreign(schema) {
            let tool = tool.unwrap_or_else(|error| panic!("{schema}: {error}"));
            let name = tool.name().to_owned();
            // A default stands for an argument: outputs have none.
            let is_of_inputs = name == "output" && schema.contains("default");
            assert!(Registry::builder().tool(tool).build().is_err() || is_of_inputs, "{schema} is shown in the {name}");
        }
    }
}

/// Somebody.
#[tool_type]
#[derive(Clone)]
struct Person {
    /// Their name.
    name: String,
    /// Where they read mail.
    #[arg(format = "email")]
    mail: Option<String>,
    /// Who leads them.
    boss: Option<Box<Person>>,
}

/// Adds somebody.
#[tool]
fn add_person(
    /// Who.
    person: Person,
) -> Person {
    person
}

/// A type that holds itself can be told from `null`, and so may hold what only the feature enforces.
#[tokio::test]
async fn inv06_a_type_that_holds_itself_is_told_from_null() {
    let built = Registry::builder().tool(AddPersonTool::host()).build();
    if !cfg!(feature = "jsonschema") {
        let error = built.expect_err("it has a format that this build can't enforce").to_string();
        assert!(error.contains("/format`") && !error.contains("told apart"), "{error}");
        return;
    }
    let (harness, _) = harness(AddPersonTool::host());
    let person = |mail: &str| {
        format!(r#"{{"person":{{"name":"a","mail":null,"boss":{{"name":"b","mail":"{mail}","boss":null}}}}}}"#)
    };
    for (mail, code) in [("b@example.org", Code::Ok), ("b", Code::InvalidArguments)] {
        let settled = one(&harness, ToolCall::new("1", "add_person", person(mail))).await;
        assert_eq!(settled.record().code(), code, "{}", settled.result().text());
    }
}

/// Cuts.
#[tool]
fn cut(
    /// The first.
    #[arg(range = 1..=3)]
    text: String,
    /// The second.
    #[arg(length = 1..=3)]
    number: Option<u8>,
    /// The third.
    parts: Vec<Cut>,
) -> bool {
    drop((text, number, parts));
    true
}

/// A cut.
#[tool_type]
struct Cut {
    /// Where.
    #[arg(range = ..3)]
    at: String,
    /// How often.
    #[arg(format = "date")]
    times: Option<bool>,
}

/// A limit above an argument of a type that has no such limit limits nothing.
#[test]
fn inv06_limits_are_of_the_type_that_they_stand_at() {
    let error = Registry::builder().tool(CutTool::host()).build().expect_err("limits of nothing").to_string();
    for place in [
        "parameters/properties/text/minimum`: a limit of numbers stands at a value of type string",
        "parameters/properties/text/maximum`",
        "parameters/properties/number/minLength`: a limit of strings stands at a value of type integer or null",
        "parameters/properties/number/maxLength`",
        "/properties/at/exclusiveMaximum`",
        "/properties/times/format`: a limit of strings stands at a value of type boolean or null",
    ] {
        assert!(error.contains(place), "{place}: {error}");
    }
}
