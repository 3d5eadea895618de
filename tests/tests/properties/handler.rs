//! What a body gets is what was accepted, and what it returns is what is shown.

use proptest::prelude::*;
use serde_json::Value;
use tests::config;
use tool_runtime::{Code, HostTool, ToolCall};

use crate::accept::Accept;
use crate::json::{Tree, says_the_same, sorted};
use crate::oracle::validator;
use crate::tape::{Tape, tapes};
use crate::{schema, zoo};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn instance(tool: &HostTool, choices: &[u16]) -> Tree {
    schema::arguments(&parse(tool.schema().parameters()), &mut Tape::new(choices))
}

proptest! {
    #![proptest_config(config(256))]

    /// Invariant 5.
    #[test]
    fn i05_the_body_gets_what_the_canonical_text_says(choices in tapes(120)) {
        thread_local!(static ZOO: Accept = Accept::new(zoo::tools()));
        ZOO.with(|accept| {
            for tool in accept.tools().iter().filter(|tool| !zoo::is_lossy(tool.name())) {
                let text = instance(tool, &choices).text();
                let canonical = accept.accept(tool.name(), text.as_str());
                let settled = accept.run(vec![ToolCall::new("call", tool.name(), text.as_str())]).remove(0);
                let seen = accept.seen.take();
                let (Ok(canonical), Some(seen)) = (&canonical, &seen) else {
                    assert!(seen.is_none(), "{text} was refused and ran");
                    assert!(canonical.is_err() || tool.name() == "nothing", "{text} was accepted and did not run: {settled:?}");
                    continue;
                };
                let value = |text: &str| if zoo::has_sets(tool.name()) { sorted(&parse(text)) } else { parse(text) };
                assert!(
                    says_the_same(&value(canonical), &value(seen)),
                    "`{}` got another value\ntext {text}\ncanonical {canonical}\nseen {seen}",
                    tool.name(),
                );
            }
        });
    }

    /// Invariants 6 and 13, of outputs.
    #[test]
    fn i06_outputs_are_what_serde_says_and_their_schema_asks_for(choices in tapes(120)) {
        thread_local!(static ZOO: Accept = Accept::new(zoo::tools()));
        ZOO.with(|accept| {
            for tool in accept.tools().iter().filter(|tool| tool.name() != "nothing") {
                let text = instance(tool, &choices).text();
                let call = || ToolCall::new("call", tool.name(), text.as_str());
                // The maps of two calls have their own hash orders each.
                let settled = accept.run(vec![call(), call()]);
                let Some(seen) = accept.seen.take() else { continue };
                let said = || format!("`{}` {text}\n{seen}\n{settled:?}", tool.name());
                for settled in &settled {
                    assert_eq!(settled.record().code(), Code::Ok, "{}", said());
                    let value = settled.value().expect("a success has a value");
                    assert_eq!(settled.result().text(), value, "{}", said());
                    let parsed = |text: &str| if zoo::has_sets(tool.name()) { sorted(&parse(text)) } else { parse(text) };
                    assert!(says_the_same(&parsed(value), &parsed(&seen)), "{}", said());
                    assert!(says_the_same(&parsed(&seen), &parsed(value)), "{}", said());
                    assert!(validator(&parse(tool.output_schema())).is_valid(&parse(value)), "{}", said());
                }
                assert_eq!(settled[0].value(), settled[1].value(), "hash order shows: {}", said());
            }
        });
    }
}
