//! Objects and arrays.

use super::*;

#[test]
fn b24_tuples_are_lists_of_one_length() {
    let same = r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2,"maxItems":2}"#;
    let mixed = r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"minItems":2,"maxItems":2}"#;
    for dialect in [&openai::PLAIN, &openai::STRICT, &gemini::SCHEMA] {
        assert_eq!(
            property(dialect, same).unwrap(),
            (r#"{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}"#.to_owned(), Vec::new())
        );
        let (form, lost) = property(dialect, mixed).unwrap();
        assert!(
            form.contains(r#""items":{"anyOf":[{"type":"integer"},{"type":"string"}]},"minItems":2,"maxItems":2"#),
            "{form}"
        );
        assert!(form.contains("in this order"), "{form}");
        assert_eq!(lost, ["/properties/p/prefixItems"]);
    }
    // An array always says of what.
    assert_eq!(shown(&openai::PLAIN, r#"{"type":"array"}"#), r#"{"type":"array","items":{}}"#);
    assert_eq!(reason(&openai::STRICT, r#"{"type":"array"}"#), ("/properties/p/items".to_owned(), Reason::FreeForm));
}

#[test]
fn sets_are_told() {
    let set = r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#;
    assert_eq!(shown(&openai::PLAIN, set), set);
    let told = r#"{"type":"array","description":"No element twice.","items":{"type":"string"}}"#;
    for dialect in [&openai::STRICT, &anthropic::STRICT, &gemini::SCHEMA, &gemini::JSON_SCHEMA] {
        assert_eq!(property(dialect, set).unwrap(), (told.to_owned(), vec!["/properties/p/uniqueItems".to_owned()]));
    }
}

#[test]
fn b27_maps_have_no_strict_form_and_gemini_says_them_in_json_schema() {
    let map = r#"{"type":"object","additionalProperties":{"type":"integer"}}"#;
    assert_eq!(shown(&openai::PLAIN, map), map);
    for dialect in [&openai::STRICT, &anthropic::STRICT] {
        assert_eq!(reason(dialect, map), ("/properties/p/additionalProperties".to_owned(), Reason::OpenObject));
        assert_eq!(reason(dialect, r#"{"type":"object"}"#), ("/properties/p".to_owned(), Reason::OpenObject));
    }
    let (form, lost) = property(&gemini::SCHEMA, map).unwrap();
    assert!(!form.contains("additionalProperties") && form.contains("Any other member matches"), "{form}");
    assert_eq!(lost, ["/properties/p/additionalProperties"]);
    let schema = tool(
        "m",
        r#"{"type":"object","properties":{"p":{"type":"object","additionalProperties":{"type":"integer"}}}}"#,
    );
    let export = Export::new(Provider::Gemini, [&schema]);
    assert_eq!(export.tools()[0].fit(), Fit::Exact);
    assert!(export.to_json().contains(r#""parametersJsonSchema":{"type":"object""#));
    // A closed object is one without a word.
    assert_eq!(
        shown(
            &gemini::SCHEMA,
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#
        ),
        r#"{"type":"object","properties":{"a":{"type":"string"}}}"#
    );
    // A map with number keys: its names are told.
    let numbered = r#"{"type":"object","patternProperties":{"^\\d+$":{"type":"string"}},"additionalProperties":false}"#;
    let (form, lost) = property(&openai::PLAIN, numbered).unwrap();
    assert!(form.ends_with(r#""additionalProperties":{"type":"string"}}"#), "{form}");
    assert_eq!(lost, ["/properties/p/patternProperties"]);
    assert!(
        shown(&openai_compatible::PLAIN, r#"{"type":"object","properties":{}}"#)
            .ends_with(r#""additionalProperties":true}"#)
    );
}

#[test]
fn b23_any_json_is_an_empty_schema_and_has_no_strict_form() {
    for any in ["true", "{}", r#"{"description":"Anything."}"#] {
        assert!(!shown(&openai::PLAIN, any).contains("true"));
        for dialect in [&openai::STRICT, &anthropic::STRICT] {
            assert_eq!(reason(dialect, any), ("/properties/p".to_owned(), Reason::FreeForm));
        }
    }
    let schema = tool("set", r#"{"type":"object","properties":{"value":{}}}"#);
    let export = Export::new(Provider::Gemini, [&schema]);
    assert!(export.to_json().contains("parametersJsonSchema") && export.tools()[0].fit() == Fit::Exact);
}

#[test]
fn b18_a_tool_without_arguments() {
    let none = tool("now", r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    let written = |provider| Export::new(provider, [&none]).to_json();
    assert!(
        written(Provider::OpenAiChat)
            .contains(r#""parameters":{"type":"object","properties":{},"additionalProperties":false}"#)
    );
    assert_eq!(written(Provider::Gemini), r#"[{"functionDeclarations":[{"name":"now","description":"Does it."}]}]"#);
    let strict = Export::with(Provider::OpenAiChat).strict(Strict::Require).tools([&none]);
    assert!(
        strict.to_json().contains(r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#)
    );
}

#[test]
fn an_object_without_members_has_no_empty_list_of_them_for_gemini() {
    let nothing = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    assert_eq!(property(&gemini::SCHEMA, nothing).unwrap(), (r#"{"type":"object"}"#.to_owned(), Vec::new()));
    assert_eq!(shown(&gemini::JSON_SCHEMA, nothing), nothing);
}
