//! The property for sources.

use super::*;

#[test]
fn sources_are_asked_for_beside_the_arguments_and_are_none() {
    let pay = r#"{"type":"object","properties":{"$to":{"type":"string"},"memo":{"type":"string"}},"required":["$to"],"additionalProperties":false}"#;
    let pay = tool("pay", pay);
    let asks = |provider, strict| {
        Export::with(provider).strict(strict).sources(Sources::new().changes(["paid", "paid"])).tools([&pay])
    };
    for &provider in Provider::all() {
        for strict in [Strict::No, Strict::Prefer] {
            let export = asks(provider, strict);
            let exported = &export.tools()[0];
            assert_eq!(
                (exported.fit(), exported.fell_back().is_some()),
                (Fit::Exact, strict == Strict::Prefer && !provider.has_strict())
            );
            let shown = Json::parse(exported.parameters().unwrap()).unwrap();
            let required = names(shown.get("required").unwrap());
            assert_eq!(required.last().map(String::as_str), Some("sources"), "{provider}");
            let property = shown.pointer("/properties/sources").unwrap().to_string();
            assert!(property.contains(r#"["paid"]"#) && property.contains("@when"), "{property}");
            if let Some(order) = shown.get("propertyOrdering") {
                assert_eq!(names(order).last().map(String::as_str), Some("sources"));
            }

            let given = ToolCall::new("c", "pay", r#"{"$to":"DE1"}"#).with_reported(Reported::new([
                ("@change", "paid"),
                ("/$to", "u3"),
                ("/memo", "no result"),
            ]));
            let wire = export.to_wire(given.clone());
            assert!(wire.arguments().to_string_lossy().contains(r#""location":"u3""#));
            let back = export.restore(wire);
            assert_eq!(back.arguments(), given.arguments(), "{provider}");
            assert_eq!(back.reported(), given.reported(), "{provider}");
            assert_eq!(back.no_result, [JsonPath::from_pointer("/memo").unwrap()]);
        }
    }
}

#[test]
fn whatever_stands_in_the_place_of_sources_is_taken_out() {
    let pay =
        r#"{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}"#;
    let export = Export::with(Provider::OpenAiChat).sources(Sources::new()).tools([tool("pay", pay)]);
    let cases: [(&str, &[(&str, &str)]); 9] = [
        (r#"[]"#, &[]),
        (r#"null"#, &[]),
        (r#"7"#, &[]),
        (r#""u3""#, &[]),
        (r#"[1,{"slot":"/to"},{"slot":1,"location":"u1"},{"slot":"/to","location":"u3","more":1}]"#, &[("/to", "u3")]),
        (r#"{"/to":"u3","@when":7}"#, &[("/to", "u3")]),
        (r#""[{\"slot\":\"/to\",\"location\":\"u3\"}]""#, &[("/to", "u3")]),
        (r#"[{"slot":"/0/~1/","location":""}]"#, &[("/0/~1/", "")]),
        (r#"[{"slot":"/to","location":"a"},{"slot":"/to","location":"b"}]"#, &[("/to", "a"), ("/to", "b")]),
    ];
    for (sources, pairs) in cases {
        let call = ToolCall::new("c", "pay", format!(r#"{{"sources":{sources},"to":"DE1"}}"#));
        let call = export.restore(call);
        assert_eq!(call.arguments().to_string_lossy(), r#"{"to":"DE1"}"#, "{sources}");
        assert_eq!(call.reported(), &Reported::new(pairs.iter().copied()), "{sources}");
        assert!(!format!("{call:?} {:?}", call.reported()).contains("u3"));
    }
    // Arguments in quotes are what they hold, here too.
    let quoted = r#""{\"to\":\"DE1\",\"sources\":[]}""#;
    assert_eq!(export.restore(ToolCall::new("c", "pay", quoted)).arguments().to_string_lossy(), r#"{"to":"DE1"}"#);
    // Nothing is taken from a tool that wasn't asked.
    let export = Export::new(Provider::OpenAiChat, [tool("pay", pay)]);
    let call = export.restore(ToolCall::new("c", "pay", r#"{"sources":[],"to":"DE1"}"#));
    assert_eq!(call.arguments().to_string_lossy(), r#"{"sources":[],"to":"DE1"}"#);
}

#[test]
fn an_argument_named_sources_stays_one() {
    let cite = r#"{"type":"object","properties":{"sources":{"type":"string"},"sources_":{"type":"string"}},"maxProperties":2}"#;
    let export = Export::with(Provider::OpenAiChat).sources(Sources::new()).tools([tool("cite", cite)]);
    let shown = Json::parse(export.tools()[0].parameters().unwrap()).unwrap();
    assert_eq!(shown.get("required").unwrap().to_string(), r#"["sources__"]"#);
    assert_eq!(shown.get("maxProperties").and_then(Json::as_number), Some("3"));
    let call = ToolCall::new("c", "cite", r#"{"sources":"a","sources__":[{"slot":"/sources","location":"u1"}]}"#);
    let call = export.restore(call);
    assert_eq!(call.arguments().to_string_lossy(), r#"{"sources":"a"}"#);
    assert_eq!(call.reported().get("/sources"), Some("u1"));
}
