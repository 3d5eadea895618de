//! What a request holds.

use super::*;

#[test]
fn declared_are_those_that_are_asked_for_in_that_order() {
    let none = r#"{"type":"object","properties":{}}"#;
    let deferred = ToolSchema::new("c".to_owned(), "Does it.".to_owned(), Json::parse(none).unwrap(), true);
    let tools = [tool("a", none), tool("b", none), deferred];
    let export = Export::new(Provider::Anthropic, &tools);
    assert_eq!(
        export.declare(["c", "nobody", "a"]),
        format!("[{},{}]", export.tools()[2].as_json().unwrap(), export.tools()[0].as_json().unwrap())
    );
    assert!(!export.to_json().contains("defer_loading"));
    for provider in [Provider::Anthropic, Provider::OpenAiResponses] {
        let export = Export::with(provider).deferral(Deferral::Provider).tools(&tools);
        assert_eq!(export.to_json().matches(r#""defer_loading":true"#).count(), 1);
    }
    assert!(!Export::with(Provider::OpenAiChat).deferral(Deferral::Provider).tools(&tools).to_json().contains("defer"));
}

#[test]
fn each_provider_has_its_shape() {
    let schema = tool("f", r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#);
    let written = |provider| Export::new(provider, [&schema]).to_json();
    let body = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#;
    for (provider, form) in [
        (Provider::OpenAiChat, format!(r#"[{{"type":"function","function":{{"name":"f","description":"Does it.","parameters":{body}}}}}]"#)),
        (Provider::Ollama, format!(r#"[{{"type":"function","function":{{"name":"f","description":"Does it.","parameters":{body}}}}}]"#)),
        (Provider::OpenAiResponses, format!(r#"[{{"type":"function","name":"f","description":"Does it.","parameters":{body},"strict":false}}]"#)),
        (Provider::Anthropic, format!(r#"[{{"name":"f","description":"Does it.","input_schema":{body}}}]"#)),
        (
            Provider::Gemini,
            r#"[{"functionDeclarations":[{"name":"f","description":"Does it.","parameters":{"type":"object","propertyOrdering":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}}}]}]"#.to_owned(),
        ),
    ] {
        assert_eq!(written(provider), form);
    }
}
