//! One canonical text for each value, however it is spelt, and none for the canonical text but itself.

use proptest::prelude::*;
use serde_json::Value;
use tests::config;

use crate::accept::Accept;
use crate::agreement::registered;
use crate::tape::{Tape, tapes};
use crate::{schema, zoo};

fn has_one_spelling(accept: &Accept, tool: &str, shown: &str, choices: &[u16], spelling: &[u16]) {
    let shown: Value = serde_json::from_str(shown).expect("schemas are JSON");
    let tree = schema::arguments(&shown, &mut Tape::new(choices));
    let text = tree.text();
    let respelt = tree.respelt(&mut Tape::new(spelling));
    let (first, second) = (accept.accept(tool, text.as_str()), accept.accept(tool, respelt.as_str()));
    match (&first, &second) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first, second, "the spelling shows\nschema {shown}\n{text}\n{respelt}");
            let again = accept.accept(tool, first.as_str());
            assert_eq!(again.as_ref(), Ok(first), "the canonical text has another\nschema {shown}\n{text}");
        }
        (Err(_), Err(_)) => {}
        _ => panic!("accepted in one spelling only\nschema {shown}\n{text}\n{first:?}\n{respelt}\n{second:?}"),
    }
}

/// Aliases, which the schema doesn't show, stand for the name and can't stand beside it.
#[test]
fn aliases_are_spellings_of_a_name() {
    let accept = Accept::new(zoo::tools());
    let with = |name: &str| {
        format!(
            r#"{{"small":1,"fraction":1,"short":"a","few":[1,2],"path":"./a","type":"x","day":"2026-01-31","{name}":"Low"}}"#
        )
    };
    let canonical = accept.accept("limited", with("color").as_str()).expect("valid");
    for alias in ["colour", "hue"] {
        assert_eq!(accept.accept("limited", with(alias).as_str()).as_ref(), Ok(&canonical));
        let twice = with(alias).replace("{", r#"{"color":"Low","#);
        accept.accept("limited", twice.as_str()).expect_err("given twice");
    }
}

/// What it costs to tell forms apart is bounded, and the bound doesn't depend on white space.
#[test]
fn i14_nested_forms_are_judged_by_what_they_say() {
    let accept = Accept::new(zoo::tools());
    for depth in 0..120 {
        let text = format!(r#"{{"expression":{}1{}}}"#, r#"{"left":"#.repeat(depth), r#","than":2}"#.repeat(depth));
        let padded = format!("{text}{}", " ".repeat(50_000));
        assert_eq!(accept.accept("expressions", text), accept.accept("expressions", padded), "depth {depth}");
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn canonical_is_a_fixed_point_for_types(choices in tapes(120), spelling in tapes(400)) {
        thread_local!(static ZOO: Accept = Accept::new(zoo::tools()));
        ZOO.with(|accept| {
            for tool in accept.tools() {
                has_one_spelling(accept, tool.name(), tool.schema().parameters(), &choices, &spelling);
            }
        });
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn canonical_is_a_fixed_point_for_schemas(
        described in tapes(240),
        values in proptest::collection::vec((tapes(60), tapes(200)), 4),
    ) {
        let parameters = schema::parameters(&mut Tape::new(&described));
        if let Some(accept) = registered(&parameters) {
            let tool = accept.tools().remove(0);
            for (choices, spelling) in values {
                has_one_spelling(&accept, tool.name(), tool.schema().parameters(), &choices, &spelling);
            }
        }
    }
}
