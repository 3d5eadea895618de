//! Types, bounds, formats, and what is told.

use super::*;

#[test]
fn b25_dialect_marker_and_titles_are_dropped_and_data_is_not() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T","type":"object",
        "properties":{"$schema":{"type":"string","title":"S"},"type":{"type":"integer"},"properties":{"enum":[{"title":"kept","$ref":"#/x"}]}},
        "required":["properties"],"default":{"title":"kept","oneOf":[]}}"##;
    assert_eq!(
        shown(&openai::PLAIN, schema),
        concat!(
            r#"{"type":"object","properties":{"$schema":{"type":"string"},"type":{"type":"integer"},"#,
            r##""properties":{"type":"object","enum":[{"title":"kept","$ref":"#/x"}]}},"required":["properties"],"##,
            r#""default":{"title":"kept","oneOf":[]}}"#
        )
    );
}

#[test]
fn b22_an_option_is_nullable_in_the_form_of_each() {
    let number = r#"{"type":["integer","null"]}"#;
    assert_eq!(shown(&openai::PLAIN, number), number);
    assert_eq!(shown(&openai::STRICT, number), number);
    assert_eq!(shown(&anthropic::PLAIN, number), number);
    assert_eq!(shown(&gemini::SCHEMA, number), r#"{"type":"integer","nullable":true}"#);
    let object = r#"{"anyOf":[{"type":"object","description":"Inner.","properties":{"a":{"type":"string"}}},{"type":"null"}],"description":"Outer."}"#;
    assert_eq!(
        shown(&ollama::PLAIN, object),
        r#"{"type":["object","null"],"description":"Outer.\nInner.","properties":{"a":{"type":"string"}}}"#
    );
    assert_eq!(
        shown(&gemini::SCHEMA, object),
        r#"{"type":"object","description":"Outer.\nInner.","properties":{"a":{"type":"string"}},"nullable":true}"#
    );
    // `null` as a word of its own stays one.
    assert_eq!(
        shown(&openai::PLAIN, r#"{"enum":["print",null]}"#),
        r#"{"type":["string","null"],"enum":["print",null]}"#
    );
    assert_eq!(
        shown(&gemini::SCHEMA, r#"{"enum":["print",null]}"#),
        r#"{"type":"string","enum":["print"],"nullable":true}"#
    );
}

#[test]
fn several_types_are_a_union_where_there_is_one_type() {
    let decimal = r#"{"type":["string","number"],"pattern":"^1","minimum":1}"#;
    assert_eq!(shown(&openai::PLAIN, decimal), decimal);
    for dialect in [&gemini::SCHEMA, &openai::STRICT] {
        assert_eq!(
            shown(dialect, decimal),
            r#"{"anyOf":[{"type":"string","pattern":"^1"},{"type":"number","minimum":1}]}"#
        );
    }
}

#[test]
fn bounds_of_wide_types_are_noise_and_all_others_are_kept_or_told() {
    for (schema, form) in [
        (r#"{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}"#, r#"{"type":"integer"}"#),
        (r#"{"type":"integer","minimum":0,"maximum":18446744073709551615}"#, r#"{"type":"integer","minimum":0}"#),
        (r#"{"type":"integer","minimum":0,"maximum":255}"#, r#"{"type":"integer","minimum":0,"maximum":255}"#),
        (r#"{"type":"number","minimum":-3.4028235e+38,"maximum":3.4028235e+38}"#, r#"{"type":"number"}"#),
    ] {
        assert_eq!(property(&openai::PLAIN, schema).unwrap(), (form.to_owned(), Vec::new()));
    }
    assert_eq!(
        property(&anthropic::STRICT, r#"{"type":"integer","description":"How many.","minimum":1,"maximum":9}"#)
            .unwrap(),
        (
            r#"{"type":"integer","description":"How many.\nAt least 1.\nAt most 9."}"#.to_owned(),
            vec!["/properties/p/maximum".to_owned(), "/properties/p/minimum".to_owned()]
        )
    );
    assert_eq!(
        shown(&gemini::SCHEMA, r#"{"type":"integer","exclusiveMinimum":0}"#),
        r#"{"type":"integer","minimum":1}"#
    );
}

#[test]
fn formats_that_a_provider_does_not_know_are_told() {
    let time = r#"{"type":"string","format":"date-time"}"#;
    for dialect in [&openai::STRICT, &anthropic::STRICT, &gemini::SCHEMA] {
        assert_eq!(shown(dialect, time), time);
        assert_eq!(
            shown(dialect, r#"{"type":"string","format":"ip"}"#),
            r#"{"type":"string","description":"Format: ip."}"#
        );
    }
}

#[test]
fn b28_defaults_are_shown_or_told() {
    let list = tool("list", r#"{"type":"object","properties":{"limit":{"type":"integer","default":10}}}"#);
    for &provider in Provider::all() {
        for strict in [Strict::No, Strict::Prefer] {
            let export = Export::with(provider).strict(strict).tools([&list]);
            let shown = export.tools()[0].parameters().unwrap();
            assert!(shown.contains(r#""default":10"#) || shown.contains("Default: 10."), "{provider}: {shown}");
        }
    }
}

#[test]
fn not_if_and_contains_are_told() {
    let schema = r#"{"type":"array","items":{"type":"integer"},"contains":{"const":1},"not":{"maxItems":0},"if":{"minItems":3},"then":{"maxItems":9}}"#;
    for dialect in [&openai::PLAIN, &openai::STRICT, &anthropic::PLAIN, &gemini::SCHEMA, &ollama::PLAIN] {
        let (form, lost) = property(dialect, schema).unwrap();
        assert!(form.contains("Must not match") && form.contains("Has an element that matches"), "{form}");
        assert_eq!(lost.len(), 4, "{lost:?}");
    }
}
