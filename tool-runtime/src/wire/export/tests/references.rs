//! References and recursion.

use super::*;

const TREE: &str = r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/Tree","description":"The root."}},"required":["tree"],"additionalProperties":false,
    "$defs":{"Tree":{"type":"object","description":"A tree.","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name"],"additionalProperties":false}}}"##;

#[test]
fn b19_references_are_inlined_where_they_are_refused_and_descriptions_stay() {
    let weather = tool(
        "weather",
        r##"{"type":"object","properties":{
            "at":{"$ref":"#/$defs/Place","description":"Where."},
            "alt":{"anyOf":[{"$ref":"#/$defs/Place"},{"type":"null"}],"description":"Or there."},
            "unit":{"$ref":"#/$defs/Unit","default":"C"}},"required":["at"],
            "$defs":{"Unit":{"type":"string","enum":["C","F"]},
                "Place":{"type":"object","properties":{"city":{"type":"string"},"unit":{"$ref":"#/$defs/Unit"}},"required":["city"]}}}"##,
    );
    for &provider in Provider::all() {
        let export = Export::new(provider, [&weather]);
        assert_eq!(export.tools()[0].fit(), Fit::Exact, "{provider}");
        let shown = export.tools()[0].parameters().unwrap();
        assert!(shown.contains("Where.") && shown.contains("Or there."), "{provider}: {shown}");
        assert!(shown.contains(r#""default":"C""#) || shown.contains(r#"Default: \"C\""#), "{provider}: {shown}");
        let schema = Json::parse(shown).unwrap();
        if matches!(provider, Provider::Gemini | Provider::Ollama) {
            assert!(!shown.contains("$ref") && !shown.contains("$defs"), "{provider}: {shown}");
            assert!(schema.pointer("/properties/at/properties/unit/enum").is_some(), "{provider}: {shown}");
        }
    }
}

#[test]
fn b20_recursion_is_kept_cut_or_refused() {
    for dialect in [&openai::PLAIN, &openai::STRICT, &anthropic::PLAIN, &gemini::JSON_SCHEMA] {
        let made = root(dialect, TREE);
        assert!(made.losses.is_empty());
        assert_eq!(
            made.schema.pointer("/$defs/Tree/properties/kids").map(|kids| kids.to_string().contains("#/$defs/Tree")),
            Some(true)
        );
        // A reference has no siblings.
        assert_eq!(made.schema.pointer("/properties/tree/description"), Some(&Json::string("The root.")));
    }
    for dialect in [&ollama::PLAIN, &openai_compatible::PLAIN, &gemini::SCHEMA] {
        let made = root(dialect, TREE);
        let text = made.schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
        assert_eq!(text.matches("\"kids\"").count(), text.matches("propertyOrdering").count() + 2, "{text}");
        assert!(text.contains("Nested further in the same way."));
        assert_eq!(made.losses.last().map(|loss| loss.keyword.as_str()), Some("$ref"));
    }
    assert_eq!(normalise(&Json::parse(TREE).unwrap(), &anthropic::STRICT).unwrap_err().reason, Reason::Recursive);
    // Back to the root, and through each other.
    let itself = r##"{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#"}}}"##;
    let mutual = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"null"}]}}},"B":{"allOf":[{"$ref":"#/$defs/A"}],"description":"B."}}}"##;
    for schema in [itself, mutual] {
        for &provider in Provider::all() {
            let export =
                Export::new(provider, [tool("t", schema), tool("ping", r#"{"type":"object","properties":{}}"#)]);
            assert!(!matches!(export.tools()[0].fit(), Fit::Refused(_)), "{provider}");
            assert!(export.to_json().contains("\"ping\""));
        }
    }
    assert!(root(&openai::PLAIN, itself).schema.to_string().contains(r##""next":{"$ref":"#/$defs/Root"}"##));
}

#[test]
fn b20_deep_schemas_and_bombs_of_parts_come_to_an_end() {
    let deep = |open: &str, close: &str, levels: usize| {
        format!(r#"{{"type":"object","properties":{{"p":{}{{}}{}}}}}"#, open.repeat(levels), close.repeat(levels))
    };
    let mut schemas = vec![
        deep(r#"{"type":"array","items":"#, "}", 120),
        deep(r#"{"type":"object","properties":{"a":"#, "}}", 60),
        deep(r#"{"anyOf":[{"type":"string"},"#, "]}", 60),
        deep(r#"{"description":"d","allOf":[{"minLength":1},"#, "]}", 60),
    ];
    for content in [
        r##"{"allOf":[{"$ref":"#/$defs/DN"},{"$ref":"#/$defs/DN"}]}"##,
        r##"{"anyOf":[{"$ref":"#/$defs/DN","minLength":1},{"$ref":"#/$defs/DN","minLength":2}]}"##,
        r##"{"type":"array","items":{"$ref":"#/$defs/DN"}}"##,
        r##"{"$ref":"#/$defs/DN"}"##,
    ] {
        let definitions: Vec<String> = (1..200)
            .map(|level| format!(r#""D{level}":{}"#, content.replace("DN", &format!("D{}", level - 1))))
            .collect();
        schemas.push(format!(
            r##"{{"type":"object","properties":{{"p":{{"$ref":"#/$defs/D199"}}}},"$defs":{{"D0":{{"type":"string"}},{}}}}}"##,
            definitions.join(",")
        ));
    }
    for schema in schemas {
        for &provider in Provider::all() {
            for strict in [Strict::No, Strict::Prefer] {
                let made = Export::with(provider).strict(strict).tools([tool("deep", &schema)]).to_json();
                assert!(made.contains("deep") && made.len() < 3_000_000, "{provider}: {} bytes", made.len());
            }
        }
    }
}

#[test]
fn a_bomb_of_references_stays_small() {
    for (inner, beside) in [("", ""), (r#","description":"d""#, ""), ("", r#""description":"d","#)] {
        let mut definitions = String::from(r#""D0":{"type":"string"}"#);
        for level in 1..40 {
            let below = level - 1;
            definitions.push_str(&format!(
                r##","D{level}":{{{beside}"type":"object","properties":{{"a":{{"$ref":"#/$defs/D{below}"{inner}}},"b":{{"$ref":"#/$defs/D{below}"{inner}}}}}}}"##
            ));
        }
        let schema =
            format!(r##"{{"type":"object","properties":{{"p":{{"$ref":"#/$defs/D39"}}}},"$defs":{{{definitions}}}}}"##);
        for &provider in Provider::all() {
            let export = Export::new(provider, [tool("bomb", &schema)]);
            let made = export.to_json();
            assert!(made.contains("bomb") && made.len() < 2_000_000, "{provider}: {} bytes", made.len());
        }
    }
}
