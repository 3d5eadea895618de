//! Strict forms.

use super::*;

#[test]
fn b50_in_strict_openai_what_may_be_absent_is_null() {
    let schema = r##"{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer","default":10},"tag":{"type":["string","null"]},"at":{"$ref":"#/$defs/P"}},
        "required":["q"],"additionalProperties":false,"$defs":{"P":{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false}}}"##;
    let tool = tool("s", schema);
    let export = Export::with(Provider::OpenAiChat).strict(Strict::Require).tools([&tool]);
    assert_eq!(
        export.tools()[0].parameters().unwrap(),
        concat!(
            r#"{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":["integer","null"],"description":"Default: 10."},"#,
            r##""tag":{"type":["string","null"]},"at":{"anyOf":[{"$ref":"#/$defs/P"},{"type":"null"}]}},"required":["q","limit","tag","at"],"additionalProperties":false,"##,
            r#""$defs":{"P":{"type":"object","properties":{"x":{"type":["integer","null"]}},"required":["x"],"additionalProperties":false}}}"#
        )
    );
    assert_eq!(export.tools()[0].fit(), Fit::Exact);
    let call = export.restore(ToolCall::new("c", "s", r#"{"q":"a","limit":null,"tag":null,"at":{"x":null}}"#));
    // `null` of `tag` is a value of its own; whether it is another than absence, accepting knows.
    assert_eq!(call.arguments().to_string_lossy(), r#"{"q":"a","tag":null,"at":{}}"#);
    // Elsewhere nothing has to be restored.
    let plain = Export::new(Provider::OpenAiChat, [&tool]);
    let same = r#"{"q":"a", "limit":null}"#;
    assert_eq!(plain.restore(ToolCall::new("c", "s", same)).arguments().to_string_lossy(), same);
}

#[test]
fn strict_is_preferred_or_required_of_each_tool_alone() {
    let tools = [
        tool("map", r#"{"type":"object","properties":{"m":{"type":"object","additionalProperties":true}}}"#),
        tool("one", r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#),
    ];
    let export = Export::with(Provider::OpenAiChat).strict(Strict::Prefer).tools(&tools);
    assert!(!export.tools()[0].strict() && export.tools()[1].strict());
    assert_eq!(export.tools()[0].fell_back().unwrap().reason, Reason::OpenObject);
    assert_eq!(export.tools()[1].closed(), [""]);
    assert_eq!(export.to_json().matches(r#""strict":true"#).count(), 1);
    let export = Export::with(Provider::OpenAiChat).strict(Strict::Require).tools(&tools);
    assert!(matches!(export.tools()[0].fit(), Fit::Refused(_)));
    assert!(!export.to_json().contains("\"map\"") && export.to_json().contains("\"one\""));
    let export = Export::with(Provider::Ollama).strict(Strict::Require).tools(&tools);
    assert_eq!(export.to_json(), "[]");
}

#[test]
fn strict_tools_of_anthropic_have_to_fit_together() {
    let tools: Vec<ToolSchema> = (0..25)
        .map(|number| tool(&format!("t{number}"), r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#))
        .collect();
    let export = Export::with(Provider::Anthropic).strict(Strict::Prefer).tools(&tools);
    assert_eq!(export.tools().iter().filter(|tool| tool.strict()).count(), 20);
    assert_eq!(export.tools()[20].fell_back().unwrap().reason, Reason::RequestFull { what: "tools", limit: 20 });
}

#[test]
fn what_is_too_large_for_a_strict_form_is_refused() {
    let mut schema = r#"{"type":"string"}"#.to_owned();
    for _ in 0..12 {
        schema = format!(r#"{{"type":"object","properties":{{"a":{schema}}},"additionalProperties":false}}"#);
    }
    assert_eq!(reason(&openai::STRICT, &schema).1, Reason::TooLarge { what: "levels", count: 13, limit: 10 });
}
