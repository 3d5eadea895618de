//! Invariants 3 and 14: whatever a model sends, each call has exactly one result.

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::{Code, RawArguments, ToolCall};

use crate::accept::Accept;
use crate::instance::anything;
use crate::json::Tree;
use crate::tape::{Tape, tapes};
use crate::{schema, zoo};

/// Every tool gets the bytes; each call has one result, in order, and nothing panicked.
fn each_has_one_result(accept: &Accept, arguments: &[(String, Vec<u8>)]) {
    let calls: Vec<ToolCall> = arguments
        .iter()
        .enumerate()
        .map(|(index, (tool, bytes))| {
            // Ids need not differ.
            ToolCall::new(format!("call {}", index % 7), tool.as_str(), RawArguments::from_bytes(bytes.clone()))
        })
        .collect();
    let settled = accept.run(calls.clone());
    assert_eq!(settled.len(), calls.len());
    for (call, settled) in calls.iter().zip(&settled) {
        let code = settled.record().code();
        let said = || format!("{call:?} {:?}\n{settled:?}", call.arguments().to_string_lossy());
        assert_eq!(settled.result().call_id(), call.id());
        assert_eq!(settled.record().call_id(), call.id());
        assert!(!settled.result().text().is_empty(), "{}", said());
        assert!(matches!(code, Code::Ok | Code::InvalidArguments), "{}", said());
        assert_eq!(settled.result().is_error(), code != Code::Ok, "{}", said());
    }
}

fn with_zoo(test: impl FnOnce(&Accept)) {
    thread_local!(static ZOO: Accept = Accept::new(zoo::tools()));
    ZOO.with(test);
}

fn for_all(accept: &Accept, bytes: &[u8]) {
    let arguments: Vec<_> = accept.tools().iter().map(|tool| (tool.name().to_owned(), bytes.to_vec())).collect();
    each_has_one_result(accept, &arguments);
}

/// Replaces a part of a valid value by what a reader may stumble over.
pub(crate) fn mutated(tree: &Tree, tape: &mut Tape<'_>) -> Vec<u8> {
    const DEPTHS: [usize; 10] = [1, 2, 50, 124, 125, 126, 127, 128, 1_000, 100_000];
    const TEXTS: [&str; 22] = [
        "1e999999999",
        "-1E+400",
        "1e-999999999",
        "00",
        "-",
        "1.",
        ".5",
        "+1",
        "0x10",
        "NaN",
        "Infinity",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u12\"",
        "\"\u{1}\"",
        "\"\n\"",
        "\"\\x\"",
        "'a'",
        "nul",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,}",
        "[1,]",
    ];
    let raw = match tape.pick(8) {
        0 => {
            let depth = tape.of(&DEPTHS);
            let (open, close) = tape.of(&[("[", "]"), ("{\"a\":", "}"), ("{\"next\":", "}"), ("{\"left\":", "}")]);
            let inner = tape.of(&["1", "", "[]", "{}"]);
            let closed = if tape.once_in(4) { depth / 2 } else { depth };
            format!("{}{inner}{}", open.repeat(depth), close.repeat(closed))
        }
        1 => "9".repeat(tape.of(&[20, 39, 40, 309, 5_000])),
        2 => format!("0.{}1", "0".repeat(tape.of(&[10, 400, 5_000]))),
        _ => tape.of(&TEXTS).to_owned(),
    };
    let mut tree = tree.clone();
    match tape.pick(4) {
        // A marker that becomes the raw text.
        0 | 1 => {
            let mut index = tape.pick(tree.count());
            tree.change_at(&mut index, &mut |place| *place = Tree::Number("MARK".into()));
        }
        2 => {
            let mut index = tape.pick(tree.count());
            tree.change_at(&mut index, &mut |place| {
                if let Tree::Object(members) = place
                    && let Some(first) = members.first().cloned()
                {
                    members.push(first);
                }
            });
        }
        _ => {}
    }
    let mut bytes = tree.text().replace("MARK", &raw).into_bytes();
    match tape.pick(6) {
        0 => bytes.truncate(tape.pick(bytes.len() + 1)),
        1 => {
            for _ in 0..=tape.pick(3) {
                let (at, bit) = (tape.pick(bytes.len()), tape.pick(8));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
        }
        2 => {
            let at = tape.pick(bytes.len() + 1);
            let part = bytes[at..].to_vec();
            bytes.splice(tape.pick(at + 1)..at, part);
        }
        3 => bytes = serde_json::to_vec(&String::from_utf8_lossy(&bytes)).expect("text can be written"),
        _ => {}
    }
    bytes
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn i03_i14_any_bytes_have_one_result(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        with_zoo(|accept| for_all(accept, &bytes));
    }

    #[test]
    fn i03_i14_any_json_has_one_result(choices in tapes(100), spelling in tapes(200)) {
        let tree = anything(&mut Tape::new(&choices), 6);
        with_zoo(|accept| for_all(accept, tree.respelt(&mut Tape::new(&spelling)).as_bytes()));
    }

    #[test]
    fn i03_i14_nearly_valid_json_has_one_result(choices in tapes(120), changes in tapes(12)) {
        with_zoo(|accept| {
            let arguments: Vec<_> = accept
                .tools()
                .iter()
                .map(|tool| {
                    let shown: Value = serde_json::from_str(tool.schema().parameters()).expect("schemas are JSON");
                    let tree = schema::arguments(&shown, &mut Tape::new(&choices));
                    (tool.name().to_owned(), mutated(&tree, &mut Tape::new(&changes)))
                })
                .collect();
            each_has_one_result(accept, &arguments);
        });
    }
}
