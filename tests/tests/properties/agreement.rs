//! Invariant 6: what is accepted is what is valid under the schema that is shown.
//!
//! The `jsonschema` crate is the oracle (2020-12, formats asserted). These leniencies are meant,
//! and exempt:
//!
//! - `null` for an optional member means that it is absent: compared without such members. A
//!   required member that has a default may be absent. Else a value has to be valid both as it was
//!   given and with its defaults. Where only a reader of unions could tell which members these
//!   are, only what was accepted is checked;
//! - aliases, which the schema doesn't show;
//! - a whole number beyond 2^53 in float spelling is no integer, and numbers that `serde_json`
//!   reads inexactly are another number to the oracle;
//! - what no keyword can say is refused all the same: a name in a map with number keys that is
//!   beyond the key's width, a path with NUL, and one that is too short or long once normalised;
//! - `""`, `null` and nothing mean `{}`, and a string that holds an object is that object, at the
//!   root only.

use std::collections::HashMap;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::{DynamicTool, HostTool};

use crate::accept::Accept;
use crate::json::Tree;
use crate::oracle::{Defaults, as_judged, has_exempt_number, validator};
use crate::tape::{Tape, tapes};
use crate::{schema, zoo};

/// A tool with this schema for its arguments.
pub(crate) fn dynamic(schema: &Value) -> HostTool {
    DynamicTool::builder("dynamic", "Gives back what it is given.")
        .parameters(schema.to_string())
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) })
        .expect("a legal tool")
}

/// `None` where the registry says, with a reason that it may have, that it can't enforce the schema.
pub(crate) fn registered(schema: &Value) -> Option<Accept> {
    const REASONS: [&str; 7] = [
        "that only the `jsonschema` crate enforces",
        "a reference that leads only to itself",
        "is enforced only with the feature `jsonschema`",
        "is required and can't be given",
        "doesn't match its own schema",
        "too large or nests too deeply",
        "lead to each other without end",
    ];
    match Accept::try_new(vec![dynamic(schema)]) {
        Ok(accept) => Some(accept),
        Err(error) => {
            for line in error.to_string().lines() {
                assert!(REASONS.iter().any(|reason| line.contains(reason)), "{schema} was refused: {line}");
            }
            None
        }
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Is there a name that not every type of number can hold?
fn has_wide_name(tree: &Tree) -> bool {
    tree.any(&mut |tree| match tree {
        Tree::Object(members) => members.iter().any(|(name, _)| name.parse::<i64>().is_ok_and(|name| name > 255)),
        _ => false,
    })
}

/// Checks one value against both.
pub(crate) fn agree(accept: &Accept, tool: &str, shown: &Value, oracle: &Validator, tree: &Tree) {
    let text = tree.text();
    let accepted = accept.accept(tool, text.as_str());
    if has_exempt_number(tree) {
        return;
    }
    let beyond_schema = match tool {
        "number_keys" => has_wide_name(tree),
        "limited" | "parameters" => {
            tree.any(&mut |tree| matches!(tree, Tree::String(text) if text.contains(['\0', '/', '.'])))
        }
        _ => false,
    };
    let value = parse(&text);
    let (given, filled) =
        (as_judged(shown, shown, &value, Defaults::Required), as_judged(shown, shown, &value, Defaults::All));
    if let (Some(given), Some(filled), false) = (given, filled, beyond_schema) {
        let errors: Vec<String> = [&given, &filled]
            .into_iter()
            .flat_map(|value| oracle.iter_errors(value).map(|error| error.to_string()))
            .collect();
        assert_eq!(
            accepted.is_ok(),
            errors.is_empty(),
            "accepted and valid differ\nschema {shown}\nvalue {text}\n{accepted:?}\n{errors:?}",
        );
    }
    if let Ok(canonical) = accepted {
        assert!(
            oracle.is_valid(&parse(&canonical)),
            "the canonical text isn't valid\nschema {shown}\nvalue {text}\ncanonical {canonical}"
        );
    }
}

/// Checks values made of `choices` against a schema, if it can be registered.
fn agree_on(parameters: &Value, choices: &[Vec<u16>]) {
    if let Some(accept) = registered(parameters) {
        let tool = accept.tools().remove(0);
        let shown = parse(tool.schema().parameters());
        let oracle = validator(&shown);
        for choices in choices {
            let tree = schema::arguments(&shown, &mut Tape::new(choices));
            agree(&accept, tool.name(), &shown, &oracle, &tree);
        }
    }
}

proptest! {
    #![proptest_config(config(256))]

    /// Of types.
    #[test]
    fn i06_accepted_is_valid_for_types(choices in tapes(120)) {
        thread_local! {
            static ZOO: (Accept, HashMap<String, (Value, Validator)>) = {
                let accept = Accept::new(zoo::tools());
                let mut oracles = HashMap::new();
                for tool in accept.tools() {
                    let shown = parse(tool.schema().parameters());
                    let oracle = validator(&shown);
                    oracles.insert(tool.name().to_owned(), (shown, oracle));
                }
                (accept, oracles)
            };
        }
        ZOO.with(|(accept, oracles)| {
            for tool in accept.tools() {
                let (shown, oracle) = &oracles[tool.name()];
                let tree = schema::arguments(shown, &mut Tape::new(&choices));
                agree(accept, tool.name(), shown, oracle, &tree);
            }
        });
    }
}

proptest! {
    #![proptest_config(config(1024))]

    /// Of schemas that somebody else wrote.
    #[test]
    fn i06_accepted_is_valid_for_schemas(described in tapes(240), values in proptest::collection::vec(tapes(60), 8)) {
        let parameters = schema::parameters(&mut Tape::new(&described));
        agree_on(&parameters, &values);
    }
}

proptest! {
    #![proptest_config(config(512))]

    /// Of keywords that the walker doesn't know: enforced with the feature `jsonschema`, and refused
    /// at the registry without it.
    #[test]
    fn i06_accepted_is_valid_for_foreign_keywords(
        described in tapes(160),
        values in proptest::collection::vec(tapes(60), 8),
    ) {
        let mut tape = Tape::new(&described);
        tape.foreign = true;
        let parameters = schema::parameters(&mut tape);
        agree_on(&parameters, &values);
    }
}
