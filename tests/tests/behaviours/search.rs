//! Deferred tools: found by the built-in search tool, loaded by it, and refused before.

use serde_json::Value;
use tool_runtime::path::Settled;
use tool_runtime::{
    AllowAll, CallFacts, Code, Decision, DynamicTool, Harness, HostTool, Loaded, Policy, Registry, ToolCall, ToolSchema,
};

use crate::registry::{assert_absent, deferred, fine, named, names, refused, unfit};

/// A host that keeps a handle of what its conversation has loaded.
struct Conversation {
    harness: Harness,
    loaded: Loaded,
}

impl Conversation {
    fn new(registry: &Registry) -> Self {
        Self::under(registry, AllowAll)
    }

    fn under(registry: &Registry, policy: impl Policy + 'static) -> Self {
        let loaded = Loaded::new();
        Conversation { harness: Harness::new(registry.clone(), policy).loaded(loaded.clone()), loaded }
    }

    async fn call(&self, name: &str, arguments: &str) -> Settled {
        let mut settled = self.harness.run_settled([ToolCall::new("c", name, arguments)], None).await;
        match (settled.pop(), settled.is_empty()) {
            (Some(only), true) => only,
            _ => panic!("one call has one result"),
        }
    }

    async fn code(&self, name: &str) -> Code {
        self.call(name, "{}").await.record().code()
    }

    /// What a search says.
    async fn search(&self, query: &str) -> Value {
        self.search_by(&serde_json::json!({ "query": query })).await
    }

    async fn search_by(&self, arguments: &Value) -> Value {
        let settled = self.call(Registry::SEARCH_TOOL, &arguments.to_string()).await;
        let text = settled.result().text();
        assert_eq!(settled.record().code(), Code::Ok, "{text}");
        fine(serde_json::from_str(&text))
    }

    fn declared(&self) -> Vec<&str> {
        self.harness.registry().declared(&self.loaded).map(ToolSchema::name).collect()
    }
}

/// The names that a search found.
fn found(answer: &Value) -> Vec<&str> {
    let tools = answer["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn with_search(tools: impl IntoIterator<Item = HostTool>) -> Registry {
    fine(Registry::builder().tools(tools).search().build())
}

fn office() -> [HostTool; 5] {
    let invoice = DynamicTool::builder("send_invoice", "Sends a bill to a customer.")
        .parameters(
            r#"{"type":"object","properties":{"customer":{"type":"string","description":"Who pays."},"cents":{"type":"integer","minimum":1}},"required":["customer"]}"#,
        )
        .output("true")
        .deferred()
        .run(|_, _| async { Ok("1".to_owned()) });
    [
        fine(invoice),
        deferred("list_invoices", "Lists all bills."),
        deferred("get_weather", "Tells the weather of a city."),
        deferred("get_forecast", "明日の天気を教えます。"),
        named("say_hello"),
    ]
}

#[tokio::test]
async fn a_model_searches_loads_and_calls() {
    let registry = with_search(office());
    let conversation = Conversation::new(&registry);
    assert_eq!(conversation.declared(), ["say_hello", "search_tools"]);

    let early = conversation.call("send_invoice", r#"{"customer":"Ada"}"#).await;
    assert_eq!(early.record().code(), Code::NotLoaded);
    assert!(!early.record().started());
    assert_eq!(
        early.result().text(),
        "`send_invoice` is not loaded yet, and it did not run. Search for it with `search_tools` first."
    );

    let answer = conversation.search("send an Invoice").await;
    assert_eq!(found(&answer), ["send_invoice", "list_invoices"]);
    assert_eq!(answer["note"], "These tools are loaded; call them by their names.");
    // All that a call needs, and nothing of the host's.
    let tool = &answer["tools"][0];
    assert_eq!(tool["description"], "Sends a bill to a customer.");
    let shown = registry.get("send_invoice").map_or("", |tool| tool.schema().parameters());
    assert_eq!(tool["parameters"], fine::<Value, _>(serde_json::from_str(shown)));
    assert_eq!(tool.as_object().map(serde_json::Map::len), Some(3));

    assert_eq!(conversation.declared(), ["list_invoices", "say_hello", "search_tools", "send_invoice"]);
    let settled = conversation.call("send_invoice", r#"{"customer":"Ada"}"#).await;
    assert_eq!(settled.record().code(), Code::Ok, "{}", settled.result().text());
    // What wasn't found is refused as before, and other conversations have nothing of this.
    assert_eq!(conversation.code("get_weather").await, Code::NotLoaded);
    assert_eq!(Conversation::new(&registry).code("list_invoices").await, Code::NotLoaded);
    // In whatever language.
    assert_eq!(found(&conversation.search("天気").await), ["get_forecast"]);
}

#[tokio::test]
async fn what_was_loaded_can_be_suggested_and_nothing_else_that_is_deferred() {
    let conversation = Conversation::new(&with_search([deferred("get_weather", "Tells the weather.")]));
    let misspelt = || async { conversation.call("get_wether", "{}").await.result().text() };
    assert!(!misspelt().await.contains("get_weather"));
    conversation.search("weather").await;
    assert!(misspelt().await.contains("did you mean `get_weather`?"));
}

#[tokio::test]
async fn calls_of_one_turn_are_judged_by_what_was_loaded_before_it() {
    let conversation = Conversation::new(&with_search([deferred("get_weather", "Tells the weather.")]));
    let turn =
        [ToolCall::new("1", Registry::SEARCH_TOOL, r#"{"query":"weather"}"#), ToolCall::new("2", "get_weather", "{}")];
    let settled = conversation.harness.run_settled(turn, None).await;
    let codes: Vec<Code> = settled.iter().map(|settled| settled.record().code()).collect();
    assert_eq!(codes, [Code::Ok, Code::NotLoaded]);
    assert_eq!(conversation.code("get_weather").await, Code::Ok);
}

#[tokio::test]
async fn d80_what_is_hidden_is_not_found() {
    let all = with_search([
        deferred("get_weather", "Tells the weather."),
        deferred("set_weather", "Makes the weather."),
        deferred("get_time", "Tells the time."),
    ]);
    let view = fine(all.without(["set_weather"]));
    for registry in [&view, &fine(all.only(["get_weather", "get_time"])), &fine(view.scope().build())] {
        let conversation = Conversation::new(registry);
        assert_eq!(found(&conversation.search("set weather").await), ["get_weather"]);
        assert_eq!(conversation.loaded.names().len(), 1);
        assert_absent(registry, "set_weather").await;
    }
    // Nor does it show in how the others are ranked: an answer is the one of a registry without it.
    let without = with_search([deferred("get_weather", "Tells the weather."), deferred("get_time", "Tells the time.")]);
    for query in ["weather", "time", "set", "tells", "makes weather", "get"] {
        let (here, there) =
            (Conversation::new(&view).search(query).await, Conversation::new(&without).search(query).await);
        assert_eq!(here, there, "{query}");
    }
    // What the view was made of is searched as before.
    assert_eq!(found(&Conversation::new(&all).search("set").await), ["set_weather"]);
}

#[tokio::test]
async fn d80_a_scope_is_searched_where_it_is_called() {
    let all = with_search([deferred("get_weather", "Tells the weather."), deferred("get_time", "Tells the time.")]);
    let scope = all
        .scope()
        .tools([deferred("get_weather", "Tells the weather here."), deferred("get_weather_map", "Draws the weather.")]);
    let answer = Conversation::new(&fine(scope.search().build())).search("weather").await;
    assert_eq!(found(&answer).len(), 2);
    let descriptions: Vec<_> = (0..2).filter_map(|index| answer["tools"][index]["description"].as_str()).collect();
    assert!(descriptions.contains(&"Tells the weather here."), "{descriptions:?}");
    assert_eq!(found(&Conversation::new(&all).search("weather").await), ["get_weather"]);
    // A scope's own tool that isn't deferred has nothing to be found for.
    let scope = fine(all.scope().tool(named("get_weather")).build());
    assert_eq!(found(&Conversation::new(&scope).search("weather").await), [""; 0]);
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_so() {
    let conversation = Conversation::new(&with_search([deferred("get_weather", "Tells the weather."), named("often")]));
    let long = "sql ".repeat(100_000);
    for query in ["sql", "", " \u{202e}\n…", "often", &long, "\u{0}"] {
        let answer = conversation.search(query).await;
        assert_eq!(found(&answer), [""; 0]);
        assert_eq!(answer["note"], "No tool fits these words. Try others, or do with the tools that you were given.");
    }
    assert_eq!(conversation.loaded, Loaded::new());
    let answer = Conversation::new(&with_search([named("often")])).search("often").await;
    assert_eq!(answer["note"], "There are no tools besides those that you were given.");
}

#[tokio::test]
async fn the_order_of_what_is_found_is_the_same_always() {
    let tool = |number: usize| deferred(&format!("tool_{number:02}"), "Does the same.");
    let forwards = with_search((0..30).map(tool));
    let backwards = with_search((0..30).rev().map(tool));
    let first = Conversation::new(&forwards).search("the same").await;
    assert_eq!(found(&first), ["tool_00", "tool_01", "tool_02", "tool_03", "tool_04"], "five, if nobody says");
    for _ in 0..3 {
        assert_eq!(Conversation::new(&forwards).search("the same").await, first);
        assert_eq!(Conversation::new(&backwards).search("the same").await, first);
    }
    let conversation = Conversation::new(&forwards);
    for limit in [1, 20] {
        let answer = conversation.search_by(&serde_json::json!({"query": "same", "limit": limit})).await;
        assert_eq!(found(&answer).len(), limit);
    }
    assert_eq!(conversation.loaded.names().len(), 20);
    for arguments in [r#"{"query":"same","limit":0}"#, r#"{"query":"same","limit":21}"#, "{}", r#"{"query":7}"#] {
        let settled = conversation.call(Registry::SEARCH_TOOL, arguments).await;
        assert_eq!(settled.record().code(), Code::InvalidArguments, "{arguments}");
    }
}

#[tokio::test]
async fn the_search_is_judged_like_any_call() {
    let policy = |call: &CallFacts<'_>| {
        assert!(call.hints().read_only && !call.hints().destructive);
        match call.tool() {
            Registry::SEARCH_TOOL => Decision::deny("not today"),
            _ => Decision::Allow,
        }
    };
    let conversation = Conversation::under(&with_search([deferred("get_weather", "Tells the weather.")]), policy);
    let settled = conversation.call(Registry::SEARCH_TOOL, r#"{"query":"weather"}"#).await;
    assert_eq!(settled.record().code(), Code::Denied);
    assert_eq!(conversation.loaded, Loaded::new(), "a search that did not run loads nothing");
}

#[test]
fn d82_the_search_tool_is_reserved_while_it_is_in_use() {
    let all = with_search([deferred("get_weather", "Tells the weather."), named("often")]);
    for builder in [
        Registry::builder().search().tool(named("search_tools")),
        all.scope().tool(named("search_tools")),
        Registry::builder().search().tool(named("search_tools")).replace(named("search_tools")),
    ] {
        assert_eq!(refused(builder).tools().collect::<Vec<_>>(), ["search_tools"]);
    }
    let error = refused(Registry::builder().search().replace(named("search_tools"))).to_string();
    assert!(error.contains("that `.replace(…)` could take the place of"), "{error}");
    assert!(unfit(all.without(["search_tools"])).contains("can't be filtered"));
    // It isn't among the names that a filter may have, and every view keeps it.
    assert!(unfit(all.only(["x"])).ends_with("there are: `get_weather`, `often`"));
    assert_eq!(names(&fine(all.only(["often"]))), ["often", "search_tools"]);
    assert_eq!(names(&fine(all.without(["often", "get_weather"]))), ["search_tools"]);
    // Said twice it is there once, and it has a place like any other.
    let twice = all.scope().search().search().order(["search_tools", "*"]);
    assert_eq!(names(&fine(twice.build())), ["search_tools", "get_weather", "often"]);
}
