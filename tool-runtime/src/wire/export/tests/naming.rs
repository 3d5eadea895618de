//! Names of tools and keys.

use super::*;

#[test]
fn b26_keys_are_spelt_and_come_back() {
    let long = "k".repeat(65);
    let schema = format!(
        r#"{{"type":"object","properties":{{"$top":{{"type":"integer"}},"größe":{{"type":"object","properties":{{"$top":{{"type":"string"}}}}}},"{long}":{{"type":"string"}},
        "map":{{"type":"object","additionalProperties":{{"type":"object","properties":{{"$top":{{"type":"integer"}}}}}}}},
        "any":{{"anyOf":[{{"type":"object","properties":{{"a b":{{"type":"integer"}}}},"required":["a b"]}},{{"type":"object","properties":{{"c d":{{"type":"integer"}}}}}}]}},
        "sources":{{"type":"string"}}}},"required":["$top"],"dependentRequired":{{"größe":["$top"]}}}}"#
    );
    let schema = tool("list", &schema);
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let export = Export::new(provider, [&schema]);
        let shown = export.tools()[0].parameters().unwrap();
        assert!(!shown.contains("\"$top\"") && !shown.contains("\"größe\""), "{shown}");
        assert!(shown.contains(r#""required":["_top_"#) && shown.contains("\"sources\""), "{shown}");
        let given = format!(
            r#"{{"$top":1,"größe":{{"$top":"x"}},"{long}":"l","map":{{"$top":{{"$top":2}},"_top_00000000":{{}}}},"any":{{"c d":3}},"sources":"s"}}"#
        );
        let wire = export.to_wire(ToolCall::new("c", "list", given.as_str()));
        let text = wire.arguments().to_string_lossy().into_owned();
        // Keys of an open map are data.
        assert!(text.contains(r#""map":{"$top":{"_top_"#) && text.matches("$top").count() == 1, "{text}");
        assert_eq!(export.restore(wire).arguments().to_string_lossy(), given);
        // And so do the places of what the model could not find.
        let rule = if provider == Provider::Gemini { gemini::SCHEMA.keys } else { anthropic::PLAIN.keys }.unwrap();
        let place = |keys: [&str; 2]| JsonPath::from_segments(keys.map(|key| Segment::Key(key.to_owned())).to_vec());
        let spelt = place([&rule.spell("größe"), &rule.spell("$top")]);
        let call = ToolCall::new("c", "list", "{}").with_no_result([spelt]);
        assert_eq!(export.restore(call).no_result, [place(["größe", "$top"])]);
    }
    assert_eq!(
        Export::new(Provider::OpenAiChat, [&schema]).tools()[0].parameters().unwrap().matches("\"$top\"").count(),
        5
    );
}

#[test]
fn two_keys_are_never_one() {
    let spelt =
        Export::new(Provider::Gemini, [tool("t", r#"{"type":"object","properties":{"$top":{"type":"string"}}}"#)]);
    let taken =
        spelt.tools()[0].parameters().unwrap().split('"').find(|part| part.starts_with("_top_")).unwrap().to_owned();
    let both = tool(
        "t",
        &format!(r#"{{"type":"object","properties":{{"$top":{{"type":"string"}},"{taken}":{{"type":"string"}}}}}}"#),
    );
    let export = Export::new(Provider::Gemini, [both]);
    assert!(
        matches!(export.tools()[0].fit(), Fit::Refused(refusal) if matches!(refusal.reason, Reason::KeyTaken { .. }))
    );
}

#[test]
fn b31_names_are_spelt_and_come_back() {
    let none = r#"{"type":"object","properties":{}}"#;
    let long = format!("files.{}", "read_".repeat(14));
    let tools = [tool("ns:act", none), tool(&long, none), tool("9lives", none), tool("read", none)];
    for &provider in Provider::all() {
        let export = Export::new(provider, &tools);
        for exported in export.tools() {
            let call = export.restore(ToolCall::new("c", exported.wire_name(), "{}"));
            assert_eq!(call.name(), exported.name(), "{provider}");
            assert_eq!(export.wire_name(exported.name()), Some(exported.wire_name()));
        }
        assert_eq!(export.wire_name("read"), Some("read"));
    }
    assert_eq!(Export::new(Provider::Gemini, &tools).wire_name("ns:act"), Some("ns:act"));
    assert_ne!(Export::new(Provider::Gemini, &tools).wire_name("9lives"), Some("9lives"));
    // Who comes later than one of that very name is refused.
    let spelt = Export::new(Provider::OpenAiChat, &tools).wire_name("ns:act").unwrap().to_owned();
    let export = Export::new(Provider::OpenAiChat, [tool(&spelt, none), tool("ns:act", none)]);
    assert!(
        matches!(export.tools()[1].fit(), Fit::Refused(refusal) if refusal.reason == Reason::NameTaken { by: spelt.clone() })
    );
    assert_eq!(export.restore(ToolCall::new("c", &spelt, "{}")).name(), spelt);
}

#[test]
fn errors_speak_the_names_of_the_wire() {
    let schema = tool(
        "ns.list",
        r#"{"type":"object","properties":{"$top":{"type":"integer"},"a b":{"type":"object","properties":{"$top":{"type":"string"}}}}}"#,
    );
    let export = Export::new(Provider::Anthropic, [&schema]);
    let top = export.to_wire(ToolCall::new("c", "ns.list", r#"{"$top":1}"#)).arguments().to_string_lossy().into_owned();
    let top = top.split('"').nth(1).unwrap().to_owned();
    let result = ToolResult {
        call_id: "c".into(),
        name: "ns.list".into(),
        content: "The arguments of `ns.list` were refused.\n- `$top`: expected integer\n- `[\"a b\"].$top`: $top stays, `x.y` too".into(),
        is_error: true,
        asides: Vec::new(),
    };
    let shown = export.in_wire_words(&result);
    let wire = export.wire_name("ns.list").unwrap();
    assert_eq!(shown.name(), wire);
    let text = shown.text();
    assert!(
        text.starts_with(&format!("The arguments of `{wire}` were refused.\n- `{top}`: expected integer\n- `a_b_")),
        "{text}"
    );
    assert!(text.ends_with(&format!(".{top}`: $top stays, `x.y` too")), "{text}");
    let plain = Export::new(Provider::OpenAiChat, [tool("list", r#"{"type":"object","properties":{}}"#)]);
    assert_eq!(plain.in_wire_words(&result), result);
}

#[test]
fn whatever_is_shown_speaks_the_names_of_the_wire() {
    let schema = r##"{"type":"object","properties":{
            "page":{"type":"object","properties":{"$top":{"type":"integer"},"$skip":{"type":"integer"}},
                "default":{"$top":3,"$other":1},"examples":[{"$top":7}],
                "if":{"required":["$skip"]},"then":{"required":["$top","$other"]},
                "not":{"properties":{"$top":{"const":13}}},"dependentRequired":{"$skip":["$top"]},
                "propertyNames":{"enum":["$top","$skip","$other"]}},
            "one":{"$ref":"#/$defs/Page","enum":[{"$top":1},{"$top":2,"deep":[{"$top":3}]}]},
            "also":{"$ref":"#/properties/page/properties/%24top"},
            "far":{"$ref":"#/components/Far"},
            "any":{"type":"object","additionalProperties":{"type":"integer"},"default":{"$top":1}},
            "$sort":{"const":{"$top":"asc"},"properties":{"$top":{"type":"string"}}}},
        "anyOf":[{"required":["$sort"]},{"properties":{"mode":{"const":1}},"required":["page","mode"]}],
        "$defs":{"Page":{"type":"object","properties":{"$top":{"type":"integer"},
            "deep":{"type":"array","items":{"$ref":"#/$defs/Page"}}}}},
        "components":{"Far":{"type":"object","properties":{"$top":{"type":"boolean"}},"default":{"$top":true}}}}"##;
    let [top, skip, sort] = ["$top", "$skip", "$sort"].map(on_the_wire);
    for provider in [Provider::Anthropic, Provider::Gemini] {
        let export = Export::new(provider, [tool("list", schema)]);
        let shown = export.tools()[0].parameters().unwrap();
        let parsed = Json::parse(shown).unwrap();
        // The keys of open objects are data, and stay.
        assert_eq!(shown.matches("$top").count(), 1, "{provider}: {shown}");
        assert!(shown.contains("{\"$top\":1}") || shown.contains("{\\\"$top\\\":1}"), "{shown}");
        assert!(!shown.contains("$skip") && !shown.contains("$sort"), "{provider}: {shown}");
        let described = |pointer: &str| parsed.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
        let page = described("/properties/page/description");
        for said in [
            format!(r#"if: {{"required":["{skip}"]}}."#),
            format!(r#"then: {{"required":["{top}","$other"]}}."#),
            format!(r#"Must not match {{"properties":{{"{top}":{{"const":13}}}}}}."#),
            format!(r#"The names of its members match {{"enum":["{top}","{skip}","$other"]}}."#),
        ] {
            assert!(page.contains(&said), "{provider}: {page}");
        }
        assert!(described("/description").contains(&format!("Give one of these: `{sort}`; or")), "{shown}");
        assert_eq!(shown.matches("{\"const\":13}").count() + shown.matches("\\\"const\\\":13").count(), 1);
        if let Some(values) = parsed.pointer("/properties/one/enum") {
            assert_eq!(values.to_string(), format!(r#"[{{"{top}":1}},{{"{top}":2,"deep":[{{"{top}":3}}]}}]"#));
        }
        // And what is lost is told by the host's.
        if let Fit::Widened(losses) = export.tools()[0].fit() {
            let full = Json::parse(schema).unwrap();
            for loss in losses.iter().filter(|loss| !loss.pointer.contains("/required")) {
                assert!(full.pointer(&loss.pointer).is_some(), "{provider}: {loss}");
            }
            assert!(losses.iter().any(|loss| loss.pointer == "/properties/page/not"), "{losses:?}");
        }
    }
}

#[test]
fn places_in_a_schema_are_told_by_the_hosts_names() {
    let schema = r##"{"type":"object","properties":{"$in":{"type":"object","properties":{"$of":{"type":"integer","minimum":1}},"required":["$of"],"additionalProperties":false},
        "$open":{"type":"object","additionalProperties":{"type":"string"}}},"required":["$in","$open"],"additionalProperties":false}"##;
    let export = Export::with(Provider::Anthropic).strict(Strict::Require).tools([tool("t", schema)]);
    let Fit::Refused(refusal) = export.tools()[0].fit() else { panic!("{:?}", export.tools()[0].fit()) };
    assert_eq!(refusal.pointer, "/properties/$open/additionalProperties");
    let closed =
        schema.replace(r#""additionalProperties":{"type":"string"}"#, r#""properties":{"$x":{"type":"string"}}"#);
    let export = Export::with(Provider::Anthropic).strict(Strict::Require).tools([tool("t", &closed)]);
    let Fit::Widened(losses) = export.tools()[0].fit() else { panic!("{:?}", export.tools()[0].fit()) };
    assert_eq!(losses[0].pointer, "/properties/$in/properties/$of/minimum");
    assert_eq!(export.tools()[0].closed(), ["/properties/$open"]);
}

/// A name as Anthropic and Gemini are shown it, which spell these alike.
fn on_the_wire(name: &str) -> String {
    let spelt = gemini::SCHEMA.keys.unwrap().spell(name).into_owned();
    assert_eq!(anthropic::PLAIN.keys.unwrap().spell(name), spelt);
    spelt
}
