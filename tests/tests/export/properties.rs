//! Properties on generated schemas and values.

use proptest::prelude::*;
use serde_json::{Value, json};
use tests::config;
use tool_runtime::wire::export::{Fit, Provider, Strict};
use tool_runtime::{HostTool, Registry, ToolCall};

use crate::instance::instance;
use crate::json::Tree;
use crate::oracle::{has_exempt_number, validator};
use crate::schema::{arguments, parameters};
use crate::support::{accept, dynamic, export, forms, in_json_schema, is_refused, parse};
use crate::tape::{Tape, tapes};

/// What is accepted has a form on the wire that fits what was declared, and comes back as it was.
pub(crate) fn there_and_back(tool: &HostTool, registry: &Registry, given: &str) -> Result<usize, TestCaseError> {
    let Some(canonical) = accept(registry, ToolCall::new("call", tool.name(), given)) else { return Ok(0) };
    let mut tried = 0;
    for form in forms() {
        let export = export(form, tool);
        let exported = &export.tools()[0];
        if is_refused(exported) {
            continue;
        }
        // Where both `null` and absence are values, `null` has one meaning only.
        if form.1 == Strict::Require && tool.schema().parameters().contains(r#""default":null"#) {
            continue;
        }
        let wire = export.to_wire(ToolCall::new("call", tool.name(), canonical.as_str()));
        prop_assert_eq!(wire.name(), exported.wire_name());
        let arguments = wire.arguments().to_string_lossy().into_owned();
        let shown = parse(exported.parameters().unwrap_or_default());
        // A strict form closes what nothing said is open.
        if exported.closed().is_empty() && exact(&canonical) {
            let validator = validator(&in_json_schema(&shown));
            let value = parse(&arguments);
            prop_assert!(
                validator.is_valid(&value),
                "{form:?}\nof {}\nis {shown}\nwhich refuses {value}: {:?}",
                tool.schema().parameters(),
                validator.iter_errors(&value).map(|error| error.to_string()).collect::<Vec<_>>()
            );
        }
        let back = accept(registry, export.restore(wire));
        prop_assert_eq!(back.as_ref(), Some(&canonical), "{:?}: {} of {}", form, arguments, tool.schema().parameters());
        tried += 1;
    }
    Ok(tried)
}

/// What is shown as the default of an argument is what a model would write for it: brought back, it is the host's.
fn defaults_come_back(tool: &HostTool) -> Result<usize, TestCaseError> {
    let full = parse(tool.schema().parameters());
    let mut tried = 0;
    for form in forms() {
        let export = export(form, tool);
        let Some(parameters) = export.tools()[0].parameters() else { continue };
        for (name, property) in full["properties"].as_object().into_iter().flatten() {
            let Some(default) = property.get("default") else { continue };
            let given = json!({ name: default }).to_string();
            let wire = export.to_wire(ToolCall::new("call", tool.name(), given.as_str()));
            let written = parse(&wire.arguments().to_string_lossy());
            // Strict forms have the same names, and add what may be left out.
            let members = written.as_object().unwrap();
            let (wire_name, written) = members.get_key_value(name).or_else(|| members.iter().next()).unwrap();
            let shown = &parse(parameters)["properties"][wire_name];
            let told = shown["description"].as_str().into_iter().flat_map(str::lines);
            let mut told = told.filter_map(|line| line.strip_prefix("Default: ")?.strip_suffix('.'));
            let told = told.find_map(|text| serde_json::from_str::<Value>(text).ok());
            // What is long is told in part.
            let Some(shown) = shown.get("default").or(told.as_ref()) else { continue };
            prop_assert_eq!(shown, written, "{:?} of {}", form, full);
            let call = ToolCall::new("call", wire.name(), json!({ wire_name: shown }).to_string());
            let back = parse(&export.restore(call).arguments().to_string_lossy());
            if form.1 == Strict::No {
                prop_assert_eq!(&back, &parse(&given), "{:?} of {}", form, full);
            }
            tried += 1;
        }
    }
    Ok(tried)
}

/// Both readers see the same numbers.
fn exact(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| !has_exempt_number(&Tree::from(&value)))
}

/// Forms don't change any more once they are normal.
pub(crate) fn twice_is_once(tool: &HostTool) -> Result<(), TestCaseError> {
    for form in forms() {
        let first = export(form, tool);
        let Some(once) = first.tools()[0].parameters() else { continue };
        // Gemini has two forms, and what one of them says may be for the other.
        if form.0 == Provider::Gemini && first.to_json().contains("parametersJsonSchema") {
            continue;
        }
        let again = export(form, &dynamic(tool.name(), once));
        if again.to_json().contains("parametersJsonSchema") {
            continue;
        }
        let twice = again.tools()[0].parameters().unwrap_or_default();
        let from = once.chars().zip(twice.chars()).take_while(|(a, b)| a == b).count().saturating_sub(300);
        let part = |text: &str| text.chars().skip(from).take(600).collect::<String>();
        prop_assert!(once == twice, "{form:?}\n{}\n{}\nof {}", part(once), part(twice), tool.schema().parameters());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn what_is_accepted_goes_there_and_back(choices in tapes(400)) {
        let mut tape = Tape::new(&choices);
        let schema = parameters(&mut tape);
        let tool = dynamic("tried", &schema.to_string());
        let Ok(registry) = Registry::builder().tool(tool.clone()).build() else { return Ok(()) };
        for _ in 0..4 {
            let given = arguments(&schema, &mut tape).text();
            there_and_back(&tool, &registry, &given)?;
        }
    }

    #[test]
    fn defaults_are_what_a_model_writes(choices in tapes(400)) {
        let mut tape = Tape::new(&choices);
        let mut schema = parameters(&mut tape);
        let root = schema.clone();
        for (_, property) in schema["properties"].as_object_mut().into_iter().flatten() {
            let default = serde_json::from_str(&instance(&root, property, &mut tape, 3).text()).unwrap_or_default();
            if let Some(property) = property.as_object_mut() {
                property.insert("default".to_owned(), default);
            }
        }
        defaults_come_back(&dynamic("tried", &schema.to_string()))?;
    }

    #[test]
    fn normalised_twice_is_once(choices in tapes(400)) {
        let mut tape = Tape::new(&choices);
        tape.foreign = true;
        twice_is_once(&dynamic("tried", &parameters(&mut tape).to_string()))?;
    }

    /// Only strict forms refuse, and the same schema gives the same bytes.
    #[test]
    fn nothing_is_refused_unless_strict(choices in tapes(400)) {
        let mut tape = Tape::new(&choices);
        tape.foreign = true;
        let tool = dynamic("tried", &parameters(&mut tape).to_string());
        for form in forms() {
            let exported = export(form, &tool);
            prop_assert_eq!(exported.to_json(), export(form, &tool).to_json());
            if form.1 == Strict::No {
                let exported = &exported.tools()[0];
                prop_assert!(!matches!(exported.fit(), Fit::Refused(_)), "{:?}", exported.fit());
            }
        }
    }
}
