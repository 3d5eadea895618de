//! A row of what is known of providers, a test.

use super::merge::names;
use super::normalise::normalise;
use super::*;
use crate::schema::{JsonPath, Segment};

fn tool(name: &str, parameters: &str) -> ToolSchema {
    ToolSchema::new(name.to_owned(), "Does it.".to_owned(), Json::parse(parameters).unwrap(), false)
}

/// The form of one property, and what is lost.
fn property(dialect: &Dialect, schema: &str) -> Result<(String, Vec<String>), Refusal> {
    let root =
        format!(r#"{{"type":"object","properties":{{"p":{schema}}},"required":["p"],"additionalProperties":false}}"#);
    let made = normalise(&Json::parse(&root).unwrap(), dialect)?;
    let schema = made.schema.pointer("/properties/p").unwrap().to_string();
    Ok((schema, made.losses.into_iter().map(|loss| loss.pointer).collect()))
}

fn shown(dialect: &Dialect, schema: &str) -> String {
    property(dialect, schema).unwrap().0
}

fn root(dialect: &Dialect, schema: &str) -> Normalised {
    normalise(&Json::parse(schema).unwrap(), dialect).unwrap()
}

fn reason(dialect: &Dialect, schema: &str) -> (String, Reason) {
    let refusal = property(dialect, schema).unwrap_err();
    (refusal.pointer, refusal.reason)
}

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

const TREE: &str = r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/Tree","description":"The root."}},"required":["tree"],"additionalProperties":false,
    "$defs":{"Tree":{"type":"object","description":"A tree.","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name"],"additionalProperties":false}}}"##;

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

#[test]
fn not_if_and_contains_are_told() {
    let schema = r#"{"type":"array","items":{"type":"integer"},"contains":{"const":1},"not":{"maxItems":0},"if":{"minItems":3},"then":{"maxItems":9}}"#;
    for dialect in [&openai::PLAIN, &openai::STRICT, &anthropic::PLAIN, &gemini::SCHEMA, &ollama::PLAIN] {
        let (form, lost) = property(dialect, schema).unwrap();
        assert!(form.contains("Must not match") && form.contains("Has an element that matches"), "{form}");
        assert_eq!(lost.len(), 4, "{lost:?}");
    }
}

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
fn what_is_too_large_for_a_strict_form_is_refused() {
    let mut schema = r#"{"type":"string"}"#.to_owned();
    for _ in 0..12 {
        schema = format!(r#"{{"type":"object","properties":{{"a":{schema}}},"additionalProperties":false}}"#);
    }
    assert_eq!(reason(&openai::STRICT, &schema).1, Reason::TooLarge { what: "levels", count: 13, limit: 10 });
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
