//! What becomes of the schemas of our own.

use tool_runtime::wire::export::{Export, Fit, Provider, Strict, check};
use tool_runtime::{HostTool, JsonPath, Registry, ToolCall, ToolSchema};

use crate::properties::{there_and_back, twice_is_once};
use crate::schemas::{all, typed};
use crate::support::{export, forms, is_refused, parse};

#[test]
fn there_are_sixty() {
    assert!(all().len() >= 60, "{}", all().len());
}

#[test]
fn every_form_of_every_schema_is_a_schema_with_a_plain_root() {
    for tool in all() {
        for form in forms() {
            let export = export(form, &tool);
            let exported = &export.tools()[0];
            let Some(parameters) = exported.parameters() else {
                assert_eq!(form.1, Strict::Require, "{}: {:?}", tool.name(), exported.fit());
                continue;
            };
            let schema = parse(parameters);
            assert!(jsonschema::meta::is_valid(&schema), "{form:?} {parameters}");
            assert_eq!(schema["type"], "object", "{form:?} {parameters}");
            for keyword in
                ["oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref", "$schema", "title", "definitions"]
            {
                assert!(schema.get(keyword).is_none(), "{form:?} {parameters}");
            }
            assert!(parameters.len() < 1_000_000, "{form:?} of `{}`", tool.name());
            parse(&export.to_json());
        }
    }
}

/// The pointers of what is lost lead into the schema that the host has.
#[test]
fn what_is_lost_is_there() {
    for tool in typed() {
        let schema = parse(tool.schema().parameters());
        for form in forms() {
            let export = export(form, &tool);
            if let Fit::Widened(losses) = export.tools()[0].fit() {
                for loss in losses {
                    assert!(JsonPath::from_pointer(&loss.pointer).is_some());
                    let through_reference = loss.pointer.contains("/anyOf/") || loss.pointer.contains("/oneOf/");
                    assert!(
                        schema.pointer(&loss.pointer).is_some() || through_reference || loss.keyword == "$ref",
                        "{form:?} {loss} in {schema}"
                    );
                }
            }
        }
    }
}

#[test]
fn normalised_twice_is_once() {
    for tool in all() {
        twice_is_once(&tool).unwrap_or_else(|error| panic!("`{}`: {error}", tool.name()));
    }
}

#[test]
fn arguments_go_there_and_back() {
    let given = [
        ("takes_text", r#"{"value":"x","$top":3}"#),
        ("takes_u64", r#"{"value":18446744073709551615}"#),
        ("takes_i64", r#"{"value":-9223372036854775808,"$top":null}"#),
        ("takes_option", r#"{"value":7}"#),
        ("takes_option", "{}"),
        ("takes_option_of_type", r#"{"value":{"city":"Paris","größe":3}}"#),
        ("takes_option_of_type", r#"{"value":null}"#),
        ("takes_option_of_enum", r#"{"value":"Kelvin"}"#),
        ("takes_lists", r#"{"value":[[1,null],[]]}"#),
        ("takes_set", r#"{"value":["a","b"]}"#),
        ("takes_map", r#"{"value":{"$top":1,"größe":2}}"#),
        ("takes_map_of_types", r#"{"value":{"$top":{"city":"Paris","größe":3}},"$top":1}"#),
        ("takes_numbered_map", r#"{"value":{"1":"a","20":"b"}}"#),
        ("takes_json", r#"{"value":{"$top":[1,null]}}"#),
        ("takes_mixed", r#"{"value":["a",0.5,true]}"#),
        ("takes_pairs", r#"{"value":[["a",1],["b",2]]}"#),
        ("takes_array", r#"{"value":[1,2,3]}"#),
        ("takes_unit", r#"{"value":"Celsius"}"#),
        ("takes_external", r#"{"value":"Nothing"}"#),
        ("takes_external", r#"{"value":{"Both":[1,"a"]}}"#),
        ("takes_external", r#"{"value":{"Named":{"a":1}}}"#),
        ("takes_internal", r#"{"value":{"kind":"Delete","id":3}}"#),
        ("takes_adjacent", r#"{"value":{"t":"Empty"}}"#),
        ("takes_adjacent", r#"{"value":{"t":"Named","c":{"a":1}}}"#),
        ("takes_untagged", r#"{"value":{"x":1,"y":2}}"#),
        ("takes_untagged", r#"{"value":"x"}"#),
        ("takes_places", r#"{"value":[{"city":"Paris","größe":3},{"city":"Rome","unit":"Kelvin"}]}"#),
        ("takes_tree", r#"{"value":{"name":"a","kids":[{"name":"b","kids":[{"name":"c","kids":[{"name":"d"}]}]}]}}"#),
        ("takes_ping", r#"{"value":{"pong":{"n":1,"ping":{"pong":{"n":2}}}}}"#),
        ("takes_paged", r#"{"value":{"city":"Paris","page":1,"größe":4}}"#),
        ("takes_nothing", "{}"),
        ("takes_limits", r#"{"text":"x"}"#),
        ("takes_limits", r#"{"text":"x","maybe":null,"count":5,"place":{"city":"Rome"}}"#),
        ("mutual", r#"{"a":{"b":{"a":null}}}"#),
        ("itself", r#"{"n":1,"next":{"next":{"n":3,"next":{"next":{"n":4}}}}}"#),
        ("keys", r#"{"$top":1,"größe":"x","sources":[{"a/b":1}]}"#),
        ("bomb", r#"{"p":{"a":{"b":{"a":{}}}}}"#),
        ("words_as_names", r#"{"type":"a","properties":{"$ref":"x"},"required":true}"#),
        ("null_is_a_value", r#"{"media":null,"must":null}"#),
        ("several_types", r#"{"a":5}"#),
        ("any_of_requires", r#"{"q":{"b":"x"}}"#),
        ("nested_unions", r#"{"q":[1,"all"]}"#),
        ("constants", r#"{"v":1,"n":null}"#),
        ("closed_in_all_of", r#"{"q":{"a":"x","b":2}}"#),
    ];
    let tools = all();
    for (name, arguments) in given {
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap_or_else(|| panic!("no tool `{name}`"));
        let registry = Registry::builder().tool(tool.clone()).build().unwrap_or_else(|error| panic!("{error}"));
        let tried = there_and_back(tool, &registry, arguments).unwrap_or_else(|error| panic!("`{name}`: {error}"));
        assert!(tried >= 5, "`{name}` took {arguments} in {tried} forms");
    }
}

/// Each declared name reaches the tool that it was declared for.
#[test]
fn b31_what_is_declared_can_be_called() {
    let tools = all();
    for &provider in Provider::all() {
        let export = Export::new(provider, tools.iter().map(HostTool::schema));
        for exported in export.tools() {
            assert!(!is_refused(exported));
            let call = export.restore(ToolCall::new("call", exported.wire_name(), "{}"));
            assert_eq!(call.name(), exported.name());
            let json = export.declare([exported.name()]);
            assert!(
                json.contains(exported.wire_name()) && export.to_json().contains(exported.as_json().unwrap_or("?"))
            );
        }
        assert_eq!(export.to_json(), export.declare(tools.iter().map(HostTool::name)));
    }
}

#[test]
fn strict_forms_are_refused_for_what_is_open_and_for_nothing_else() {
    let open = [
        "takes_map",
        "takes_map_of_types",
        "takes_numbered_map",
        "takes_json",
        "takes_jsons",
        "takes_option_of_json",
        "takes_json_map",
        "takes_extended",
        "keys_in_data",
        "root_map",
        "true_and_false",
        "data_like_schemas",
        "sizes",
        "untyped",
    ];
    let recursive = ["takes_tree", "takes_ping", "mutual", "itself"];
    for tool in all() {
        let refused = |provider| {
            let export = export((provider, Strict::Require), &tool);
            matches!(export.tools()[0].fit(), Fit::Refused(_))
        };
        let name = tool.name();
        if name == "bomb" {
            continue;
        }
        assert_eq!(refused(Provider::OpenAiChat), open.contains(&name), "{name}");
        assert_eq!(refused(Provider::Anthropic), open.contains(&name) || recursive.contains(&name), "{name}");
    }
}

#[test]
fn findings_read_well() {
    let tools: Vec<_> =
        typed().into_iter().filter(|tool| ["takes_map", "takes_nothing"].contains(&tool.name())).collect();
    let findings: Vec<String> = check(tools.iter().map(HostTool::schema)).iter().map(ToString::to_string).collect();
    let text = findings.join("\n");
    assert!(text.contains("tool `takes_map` for OpenAI Chat Completions, strict: refused at `/properties/value/additionalProperties`: an object with members of any name has no strict form"), "{text}");
    assert!(!text.contains("takes_nothing"), "{text}");
    assert!(check(std::iter::empty::<ToolSchema>()).is_empty());
}
