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

#[test]
fn a_providers_search_is_declared_with_what_it_may_find() {
    let none = r#"{"type":"object","properties":{}}"#;
    let tools =
        [tool("a", none), ToolSchema::new("b".to_owned(), "Does it.".to_owned(), Json::parse(none).unwrap(), true)];
    for (provider, search) in [
        (Provider::OpenAiResponses, r#"{"type":"tool_search"}"#),
        (Provider::Anthropic, r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#),
    ] {
        let export = Export::with(provider).deferral(Deferral::Provider).tools(&tools);
        assert!(export.to_json().ends_with(&format!(",{search}]")), "{provider}");
        // Without anything that it could find, it is not there.
        assert!(!export.declare(["a"]).contains("tool_search"), "{provider}");
        assert!(!Export::new(provider, &tools).to_json().contains("tool_search"), "{provider}");
    }
    // Its name is taken, but only where it is declared.
    let tools = [&tools[..], &[tool("tool_search_tool_bm25", none)]].concat();
    let export = Export::with(Provider::Anthropic).deferral(Deferral::Provider).tools(&tools);
    let taken = Reason::NameTaken { by: "tool_search_tool_bm25".to_owned() };
    assert!(matches!(export.tools()[2].fit(), Fit::Refused(refusal) if refusal.reason == taken));
    assert_eq!(Export::new(Provider::Anthropic, &tools).tools()[2].fit(), Fit::Exact);
}

#[test]
fn tools_in_namespaces_stand_together_and_come_back() {
    let none = r#"{"type":"object","properties":{}}"#;
    let deferred =
        |name: &str| ToolSchema::new(name.to_owned(), "Does it.".to_owned(), Json::parse(none).unwrap(), true);
    let tools = [
        deferred("crm.find"),
        tool("find", none),
        deferred("list"),
        tool("erp", none),
        deferred("mail.send"),
        deferred("größe"),
    ];
    let namespaces = |export: ExportOptions| {
        let crm = Namespace::new("crm", "Customers.").tools(["list", "crm.find", "nobody", "größe"]);
        let erp = Namespace::new("erp", "Orders.").tools(["erp", "list"]);
        let more = Namespace::new("crm", "Ignored.").tools(["mail.send"]);
        export.namespace(crm).namespace(erp).namespace(more).deferral(Deferral::Provider)
    };
    let export = namespaces(Export::with(Provider::OpenAiResponses)).tools(&tools);
    let made = Json::parse(&export.to_json()).unwrap();
    let name = |tool: &Json| tool.get("name").and_then(Json::as_str).unwrap_or("search").to_owned();
    let outer: Vec<String> = made.as_array().unwrap().iter().map(name).collect();
    assert_eq!(outer, ["crm", "find", "erp", "search"]);
    let inner: Vec<String> = made.pointer("/0/tools").and_then(Json::as_array).unwrap().iter().map(name).collect();
    let size = openai::CHAT.names.spell("größe");
    assert_eq!(inner, ["find", "list", &openai::CHAT.names.spell("mail.send"), &size]);
    for tool in export.tools() {
        let call = export.restore(ToolCall::new("c", tool.wire_name(), "{}"));
        assert_eq!(call.name(), tool.name());
        assert_eq!(export.to_wire(call).name(), tool.wire_name());
    }
    assert_eq!(export.wire_name("crm.find"), Some("crm.find"));
    assert_eq!(export.wire_name("list"), Some("crm.list"));
    // A tool of the name of its namespace stands beside it.
    assert_eq!(export.wire_name("erp"), Some("erp"));
    assert_eq!(export.found(["crm.list", "crm.find", "erp.list", "list", "find"]), ["list", "crm.find"]);
    // Whoever has the name of another namespace's tool is nobody.
    for name in ["erp.list", "erp.find", "list"] {
        assert_eq!(export.restore(ToolCall::new("c", name, "{}")).name(), name);
    }
    // Two that would be one are never one.
    let same = Namespace::new("a", "A.").tools(["x", "a.x"]);
    let export = Export::with(Provider::OpenAiResponses).namespace(same).tools([tool("x", none), tool("a.x", none)]);
    let taken = Reason::NameTaken { by: "x".to_owned() };
    assert!(matches!(export.tools()[1].fit(), Fit::Refused(refusal) if refusal.reason == taken));
    // Elsewhere nothing changes.
    for &provider in Provider::all().iter().filter(|provider| **provider != Provider::OpenAiResponses) {
        let plain = Export::with(provider).deferral(Deferral::Provider).tools(&tools);
        assert_eq!(namespaces(Export::with(provider)).tools(&tools).to_json(), plain.to_json());
    }
}
