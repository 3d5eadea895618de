//! Unions, and the root.

use super::*;

#[test]
fn words_with_meanings_are_one_enum() {
    let schema = r#"{"oneOf":[{"type":"string","enum":["Up","Down"]},{"const":"North","description":"Go north"}],"description":"Where."}"#;
    let form = r#"{"type":"string","description":"Where.\n- North: Go north","enum":["Up","Down","North"]}"#;
    for dialect in
        [&openai::PLAIN, &openai::STRICT, &anthropic::STRICT, &gemini::SCHEMA, &gemini::JSON_SCHEMA, &ollama::PLAIN]
    {
        assert_eq!(property(dialect, schema).unwrap(), (form.to_owned(), Vec::new()));
    }
}

#[test]
fn forms_that_exclude_each_other_are_any_of_them() {
    let tagged = r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind"],"additionalProperties":false},
        {"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false}]}"#;
    let (form, lost) = property(&openai::PLAIN, tagged).unwrap();
    assert!(
        form.starts_with(r#"{"anyOf":[{"type":"object","properties":{"kind":{"type":"string","enum":["a"]}"#),
        "{form}"
    );
    assert!(lost.is_empty());
    // A result: each form has a name of its own.
    let result = r#"{"oneOf":[
        {"type":"object","properties":{"Ok":{"type":"integer"}},"required":["Ok"],"additionalProperties":false},
        {"type":"object","properties":{"Err":{"type":"string"}},"required":["Err"],"additionalProperties":false}]}"#;
    assert!(property(&openai::PLAIN, result).unwrap().1.is_empty());
    // These don't, so it is told.
    let (form, lost) =
        property(&openai::PLAIN, r#"{"oneOf":[{"type":"integer"},{"type":"number","minimum":3}]}"#).unwrap();
    assert!(form.contains("Matches exactly one of these forms."), "{form}");
    assert_eq!(lost, ["/properties/p/oneOf"]);
}

#[test]
fn properties_beside_a_union_are_in_each_form() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"unevaluatedProperties":false,
        "oneOf":[{"type":"object","properties":{"k":{"const":"x"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"y"}},"required":["k"]}]}"#;
    assert_eq!(
        property(&openai::PLAIN, schema).unwrap(),
        (
            concat!(
                r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"k":{"type":"string","enum":["x"]}},"required":["a","k"],"additionalProperties":false},"#,
                r#"{"type":"object","properties":{"a":{"type":"string"},"k":{"type":"string","enum":["y"]}},"required":["a","k"],"additionalProperties":false}]}"#
            )
            .to_owned(),
            Vec::new()
        )
    );
}

#[test]
fn b21_a_root_of_several_forms_is_one_object() {
    let schema = r#"{"type":"object","oneOf":[
        {"properties":{"kind":{"const":"add"},"n":{"type":"integer"}},"required":["kind","n"]},
        {"properties":{"kind":{"const":"del"},"id":{"type":"string"}},"required":["kind"]}]}"#;
    for dialect in [&openai::PLAIN, &anthropic::PLAIN, &gemini::JSON_SCHEMA, &ollama::PLAIN] {
        let made = root(dialect, schema);
        let keywords: Vec<&str> =
            made.schema.as_object().unwrap().iter().map(|(keyword, _)| keyword.as_str()).collect();
        assert!(!keywords.iter().any(|keyword| ["oneOf", "anyOf", "allOf"].contains(keyword)), "{keywords:?}");
        assert_eq!(made.schema.get("required").unwrap().to_string(), r#"["kind"]"#);
        assert_eq!(made.schema.pointer("/properties/kind/enum").unwrap().to_string(), r#"["add","del"]"#);
        assert!(made.schema.get("description").unwrap().to_string().contains("Give one of these"));
        assert_eq!(made.losses.iter().map(|loss| loss.pointer.as_str()).collect::<Vec<_>>(), ["/oneOf"]);
    }
    let all = root(
        &openai::PLAIN,
        r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}],"not":{"required":["c"]}}"#,
    );
    assert_eq!(all.schema.get("properties").unwrap().to_string(), r#"{"a":{"type":"string"},"b":{"type":"string"}}"#);
    assert_eq!(all.losses.len(), 1);
    for other in [r#"{"type":"string"}"#, r#"{"enum":["a"]}"#, r#"{"anyOf":[{"type":"string"}]}"#] {
        for &provider in Provider::all() {
            let export = Export::new(provider, [tool("t", other)]);
            assert!(matches!(export.tools()[0].fit(), Fit::Refused(refusal) if refusal.reason == Reason::NotAnObject));
        }
    }
}

#[test]
fn forms_that_lead_to_one_another_in_very_many_ways_are_looked_at_once() {
    // Forty ways on each of thirty levels, of which none leads to anything that an object could be: whoever tries all ways
    // never comes to an end.
    let level = |n: usize| {
        let way = format!(r##"{{"$ref":"#/$defs/l{}"}}"##, n + 1);
        format!(r#""l{n}":{{"anyOf":[{}]}}"#, vec![way; 40].join(","))
    };
    let levels: Vec<String> = (0..30).map(level).collect();
    let schema = format!(
        r##"{{"type":"object","properties":{{"p":{{"$ref":"#/$defs/l0"}},"q":{{"type":"string"}}}},"required":["p"],
            "additionalProperties":false,"$defs":{{{},"l30":{{"type":"object","properties":{{"n":{{"type":"string"}}}},
            "required":["n"],"additionalProperties":false}}}}}}"##,
        levels.join(",")
    );
    let export = Export::with(Provider::OpenAiChat).strict(Strict::Require).tools([tool("deep", &schema)]);
    assert!(!matches!(export.tools()[0].fit(), Fit::Refused(_)), "{:?}", export.tools()[0].fit());
    // An object that no form takes: a model wrote it before the schema was another.
    let call = export.to_wire(ToolCall::new("c", "deep", r#"{"p":{"m":1}}"#));
    assert_eq!(call.arguments().to_string_lossy(), r#"{"p":{"m":1},"q":null}"#);
}
