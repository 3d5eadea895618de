//! What is read and checked in one go is accepted by the walk as well, as the same text and the same value.

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::{HostTool, ToolCall};

use crate::accept::Accept;
use crate::hostile::mutated;
use crate::json::sorted;
use crate::tape::{Tape, tapes};
use crate::{schema, zoo};

/// The canonical text and what the body saw, in which maps and sets have the order of a hash; `None` if it was refused.
fn outcome(accept: &Accept, tool: &HostTool, text: &[u8]) -> Option<(String, Option<Value>)> {
    let canonical = accept.accept(tool.name(), text.to_vec()).ok();
    let settled = accept.run(vec![ToolCall::new("call", tool.name(), text.to_vec())]);
    let seen = accept.seen.take();
    assert_eq!(settled.len(), 1);
    assert!(canonical.is_some() || seen.is_none(), "refused, and ran: {}", String::from_utf8_lossy(text));
    let value = |seen: String| {
        // Too deep for `serde_json`, it is text.
        let value = serde_json::from_str(&seen).unwrap_or(Value::String(seen));
        if zoo::has_sets(tool.name()) { sorted(&value) } else { value }
    };
    canonical.map(|canonical| (canonical, seen.map(value)))
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn i05_what_is_read_in_one_go_is_what_is_walked(choices in tapes(120), changes in tapes(12)) {
        thread_local!(static ZOO: Accept = Accept::new(zoo::tools()));
        ZOO.with(|accept| {
            for tool in accept.tools() {
                let shown: Value = serde_json::from_str(tool.schema().parameters()).expect("schemas are JSON");
                let tree = schema::arguments(&shown, &mut Tape::new(&choices));
                let mut texts = vec![tree.text().into_bytes(), mutated(&tree, &mut Tape::new(&changes))];
                texts.extend(accept.accept(tool.name(), tree.text()).ok().map(String::into_bytes));
                for text in texts {
                    // Nothing but the arguments is what is read in one go.
                    let walked = [&text[..], b" "].concat();
                    let (quick, walked) = (outcome(accept, &tool, &text), outcome(accept, &tool, &walked));
                    assert_eq!(quick, walked, "`{}` {}", tool.name(), String::from_utf8_lossy(&text));
                }
            }
        });
    }
}
