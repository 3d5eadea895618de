//! Turns, how each provider would write them, and results to answer them with.

use tool_runtime::path::Reviewed;
pub(crate) use tool_runtime::wire::MessageError;
use tool_runtime::wire::{anthropic, gemini, ollama, openai_chat, openai_responses};
use tool_runtime::{
    AllowAll, Block, CallContext, Content, Harness, Registry, StoredResult, ToolCall, ToolResult, tool,
};

/// A turn of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) calls: Vec<Called>,
    pub(crate) cut_off: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Called {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// JSON, or with `Provider::of_text` any text.
    pub(crate) arguments: String,
}

pub(crate) fn called(id: &str, name: &str, arguments: &str) -> Called {
    Called { id: Some(id.to_owned()), name: name.to_owned(), arguments: arguments.to_owned() }
}

pub(crate) fn unnamed(name: &str, arguments: &str) -> Called {
    Called { id: None, ..called("", name, arguments) }
}

impl Said {
    pub(crate) fn of(calls: impl IntoIterator<Item = Called>) -> Self {
        Said { calls: calls.into_iter().collect(), ..Said::default() }
    }

    pub(crate) fn has_id(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.id.as_deref() == Some(id))
    }

    /// The calls as they should be read. An identifier that another call before has is none.
    pub(crate) fn expected(&self) -> Vec<ToolCall> {
        let last = self.calls.len();
        let mut seen = std::collections::HashSet::new();
        let call = |(index, call): (usize, &Called)| {
            let id = call.id.clone().filter(|id| seen.insert(id.clone()));
            let id = id.unwrap_or_else(|| format!("call_without_id_{index}"));
            let read = ToolCall::new(id, &call.name, call.arguments.as_str());
            if self.cut_off && index + 1 == last { read.truncated() } else { read }
        };
        self.calls.iter().enumerate().map(call).collect()
    }
}

/// What comes of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Streamed {
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) text: String,
    pub(crate) history: String,
    /// What could not be read.
    pub(crate) errors: Vec<MessageError>,
}

/// Cuts a text into pieces.
pub(crate) type Cut<'a> = &'a mut dyn FnMut(&str) -> Vec<String>;

pub(crate) struct Provider {
    pub(crate) name: &'static str,
    pub(crate) calls: fn(&str) -> Result<Vec<ToolCall>, MessageError>,
    pub(crate) text: fn(&str) -> Result<String, MessageError>,
    pub(crate) history: fn(&str) -> Result<String, MessageError>,
    pub(crate) messages: fn(&[ToolResult]) -> Vec<String>,
    pub(crate) stream: fn(&[String]) -> Streamed,
    /// A whole response.
    pub(crate) whole: fn(&Said) -> String,
    /// The events of a stream.
    pub(crate) pieces: fn(&Said, Cut<'_>) -> Vec<String>,
    /// Arguments are text here.
    pub(crate) of_text: bool,
}

macro_rules! provider {
    ($module:ident, $of_text:literal) => {
        Provider {
            name: stringify!($module),
            calls: $module::calls,
            text: $module::text,
            history: $module::history,
            messages: |results| {
                let messages = $module::messages(results);
                let json: Vec<String> = messages.iter().map(|message| message.to_json()).collect();
                for (message, json) in messages.iter().zip(&json) {
                    let serialised: serde_json::Value = serde_json::to_value(message).expect("messages are JSON");
                    assert_eq!(serialised, serde_json::from_str::<serde_json::Value>(json).expect("messages are JSON"));
                }
                json
            },
            stream: |events| {
                let mut stream = $module::Stream::new();
                let errors = events.iter().filter_map(|event| stream.push(event).err()).collect();
                let (text, history) = (stream.text().to_owned(), stream.history());
                Streamed { calls: stream.finish(), text, history, errors }
            },
            whole: write::$module,
            pieces: write_pieces::$module,
            of_text: $of_text,
        }
    };
}

pub(crate) const ALL: [Provider; 5] = [
    provider!(openai_chat, true),
    provider!(openai_responses, true),
    provider!(anthropic, false),
    provider!(gemini, false),
    provider!(ollama, false),
];

pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text can be written")
}

/// `,"key":"id"`, if there is one.
fn id(key: &str, call: &Called) -> String {
    call.id.as_ref().map_or_else(String::new, |id| format!(r#","{key}":{}"#, quoted(id)))
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(",")
}

mod write {
    use super::{Said, id, joined, quoted};

    pub(super) fn openai_chat(said: &Said) -> String {
        let calls = said.calls.iter().map(|call| {
            let (name, arguments) = (quoted(&call.name), quoted(&call.arguments));
            format!(r#"{{"type":"function"{},"function":{{"name":{name},"arguments":{arguments}}}}}"#, id("id", call))
        });
        let reason = if said.cut_off { "length" } else { "tool_calls" };
        format!(
            r#"{{"id":"x","choices":[{{"index":0,"message":{{"role":"assistant","content":{},"tool_calls":[{}]}},"finish_reason":"{reason}"}}]}}"#,
            quoted(&said.text),
            joined(calls)
        )
    }

    pub(super) fn openai_responses(said: &Said) -> String {
        let calls = said.calls.iter().map(|call| {
            let (name, arguments) = (quoted(&call.name), quoted(&call.arguments));
            format!(
                r#"{{"type":"function_call","id":"fc"{},"name":{name},"arguments":{arguments}}}"#,
                id("call_id", call)
            )
        });
        let text = format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{}}}]}}"#,
            quoted(&said.text)
        );
        let status = if said.cut_off { "incomplete" } else { "completed" };
        let items = joined([r#"{"type":"reasoning","summary":[]}"#.to_owned(), text].into_iter().chain(calls));
        format!(r#"{{"id":"x","error":null,"status":"{status}","output":[{items}]}}"#)
    }

    pub(super) fn anthropic(said: &Said) -> String {
        let calls = said.calls.iter().map(|call| {
            let (name, arguments) = (quoted(&call.name), &call.arguments);
            format!(r#"{{"type":"tool_use"{},"name":{name},"input":{arguments}}}"#, id("id", call))
        });
        let text = (!said.text.is_empty()).then(|| format!(r#"{{"type":"text","text":{}}}"#, quoted(&said.text)));
        let reason = if said.cut_off { "max_tokens" } else { "tool_use" };
        let blocks = joined(text.into_iter().chain(calls));
        format!(r#"{{"type":"message","role":"assistant","content":[{blocks}],"stop_reason":"{reason}"}}"#)
    }

    pub(super) fn gemini(said: &Said) -> String {
        let calls = said.calls.iter().map(|call| {
            let (name, arguments) = (quoted(&call.name), &call.arguments);
            format!(
                r#"{{"functionCall":{{"name":{name}{},"args":{arguments}}},"thoughtSignature":"c2ln"}}"#,
                id("id", call)
            )
        });
        let thought = r#"{"text":"hm","thought":true}"#.to_owned();
        let text = format!(r#"{{"text":{}}}"#, quoted(&said.text));
        let reason = if said.cut_off { "MAX_TOKENS" } else { "STOP" };
        let parts = joined([thought, text].into_iter().chain(calls));
        format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finishReason":"{reason}"}}]}}"#)
    }

    pub(super) fn ollama(said: &Said) -> String {
        let calls = said.calls.iter().map(|call| {
            let (name, arguments) = (quoted(&call.name), &call.arguments);
            let id = id("id", call);
            format!(r#"{{"type":"function"{id},"function":{{"name":{name},"arguments":{arguments}}}}}"#)
        });
        let reason = if said.cut_off { "length" } else { "stop" };
        format!(
            r#"{{"model":"m","message":{{"role":"assistant","content":{},"tool_calls":[{}]}},"done":true,"done_reason":"{reason}"}}"#,
            quoted(&said.text),
            joined(calls)
        )
    }
}

mod write_pieces {
    use super::{Cut, Said, id, quoted};

    pub(super) fn openai_chat(said: &Said, cut: Cut<'_>) -> Vec<String> {
        let chunk = |delta: String| format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#);
        let mut events = vec![chunk(r#"{"role":"assistant","content":""}"#.to_owned())];
        events.extend(cut(&said.text).iter().map(|piece| chunk(format!(r#"{{"content":{}}}"#, quoted(piece)))));
        for (index, call) in said.calls.iter().enumerate() {
            let (name, id) = (quoted(&call.name), id("id", call));
            events.push(chunk(format!(
                r#"{{"tool_calls":[{{"index":{index}{id},"type":"function","function":{{"name":{name},"arguments":""}}}}]}}"#
            )));
            events.extend(cut(&call.arguments).iter().map(|piece| {
                let piece = quoted(piece);
                chunk(format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{piece}}}}}]}}"#))
            }));
        }
        let reason = if said.cut_off { "length" } else { "tool_calls" };
        events.push(format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#));
        events.extend([r#"{"choices":[],"usage":{}}"#.to_owned(), "[DONE]".to_owned()]);
        events
    }

    pub(super) fn openai_responses(said: &Said, cut: Cut<'_>) -> Vec<String> {
        let mut events = vec![
            r#"{"type":"response.created","response":{"status":"in_progress","output":[]}}"#.to_owned(),
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}"#
                .to_owned(),
        ];
        events.extend(cut(&said.text).iter().map(|piece| {
            format!(r#"{{"type":"response.output_text.delta","output_index":0,"delta":{}}}"#, quoted(piece))
        }));
        events.push(format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{}}}]}}}}"#,
            quoted(&said.text)
        ));
        for (index, call) in said.calls.iter().enumerate() {
            let index = index + 1;
            let item = |event: &str, arguments: &str| {
                let (id, name, arguments) = (id("call_id", call), quoted(&call.name), quoted(arguments));
                format!(
                    r#"{{"type":"response.output_item.{event}","output_index":{index},"item":{{"type":"function_call"{id},"name":{name},"arguments":{arguments}}}}}"#
                )
            };
            events.push(item("added", ""));
            events.extend(cut(&call.arguments).iter().map(|piece| {
                let piece = quoted(piece);
                format!(r#"{{"type":"response.function_call_arguments.delta","output_index":{index},"delta":{piece}}}"#)
            }));
            events.push(format!(
                r#"{{"type":"response.function_call_arguments.done","output_index":{index},"arguments":{}}}"#,
                quoted(&call.arguments)
            ));
            events.push(item("done", &call.arguments));
        }
        let status = if said.cut_off { "incomplete" } else { "completed" };
        events.push(format!(r#"{{"type":"response.{status}","response":{{"status":"{status}","output":[]}}}}"#));
        events
    }

    pub(super) fn anthropic(said: &Said, cut: Cut<'_>) -> Vec<String> {
        let mut events = vec![
            r#"{"type":"message_start","message":{"role":"assistant","content":[]}}"#.to_owned(),
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
            r#"{"type":"ping"}"#.to_owned(),
        ];
        let delta = |index: usize, delta: String| {
            format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
        };
        let stop = |index: usize| format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
        let text = |piece: &String| delta(0, format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(piece)));
        events.extend(cut(&said.text).iter().map(text));
        events.push(stop(0));
        for (index, call) in said.calls.iter().enumerate() {
            let index = index + 1;
            let (id, name) = (id("id", call), quoted(&call.name));
            events.push(format!(
                r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use"{id},"name":{name},"input":{{}}}}}}"#
            ));
            events.extend(cut(&call.arguments).iter().map(|piece| {
                delta(index, format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quoted(piece)))
            }));
            events.push(stop(index));
        }
        let reason = if said.cut_off { "max_tokens" } else { "tool_use" };
        events.push(format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#));
        events.push(r#"{"type":"message_stop"}"#.to_owned());
        events
    }

    pub(super) fn gemini(said: &Said, cut: Cut<'_>) -> Vec<String> {
        let chunk = |part: String, reason: &str| {
            format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{part}]}}{reason}}}]}}"#)
        };
        let mut events: Vec<String> =
            cut(&said.text).iter().map(|piece| chunk(format!(r#"{{"text":{}}}"#, quoted(piece)), "")).collect();
        events.extend(said.calls.iter().map(|call| {
            let (name, id, arguments) = (quoted(&call.name), id("id", call), &call.arguments);
            chunk(
                format!(r#"{{"functionCall":{{"name":{name}{id},"args":{arguments}}},"thoughtSignature":"c2ln"}}"#),
                "",
            )
        }));
        let reason = if said.cut_off { "MAX_TOKENS" } else { "STOP" };
        events.push(chunk(String::new(), &format!(r#","finishReason":"{reason}""#)));
        events
    }

    pub(super) fn ollama(said: &Said, cut: Cut<'_>) -> Vec<String> {
        let message = |content: &str, calls: String| {
            format!(
                r#"{{"message":{{"role":"assistant","content":{},"tool_calls":[{calls}]}},"done":false}}"#,
                quoted(content)
            )
        };
        let mut events: Vec<String> = cut(&said.text).iter().map(|piece| message(piece, String::new())).collect();
        events.extend(said.calls.iter().map(|call| {
            let (name, id, arguments) = (quoted(&call.name), id("id", call), &call.arguments);
            message("", format!(r#"{{"type":"function"{id},"function":{{"name":{name},"arguments":{arguments}}}}}"#))
        }));
        let reason = if said.cut_off { "length" } else { "stop" };
        events
            .push(format!(r#"{{"message":{{"role":"assistant","content":""}},"done":true,"done_reason":"{reason}"}}"#));
        events
    }
}

/// Says something of several kinds.
#[tool]
fn show(
    /// What.
    what: String,
    #[host] cx: &CallContext,
) -> Result<String, String> {
    if what == "aside" {
        cx.aside(Content::blocks([Block::Text("by the way".into()), image("image/png")]));
        cx.aside("and this");
    }
    if what.starts_with("fail") { Err(what) } else { Ok(what) }
}

pub(crate) fn image(media_type: &str) -> Block {
    Block::Image { media_type: media_type.into(), base64: "aW1n".into() }
}

/// What the host makes of what was said.
fn review(result: &StoredResult) -> Reviewed {
    let said = result.content.to_text();
    let types: &[&str] = match said.as_str() {
        "image" | "fail with image" | "\n" => &["image/png"],
        "tiff" => &["image/tiff"],
        "both" => &["image/png", "image/tiff"],
        _ => return Reviewed::Accept,
    };
    let images = types.iter().map(|media_type| image(media_type));
    Reviewed::Replace(Content::blocks(std::iter::once(Block::Text(said.as_str().into())).chain(images)))
}

/// The results of calls of `show`, by identifier and argument.
pub(crate) fn results_of(calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
    let registry = Registry::builder().tool(ShowTool::host()).build().expect("the tool is fine");
    let harness = Harness::new(registry, AllowAll).review(review);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made");
    runtime.block_on(harness.run(calls))
}

pub(crate) fn results(calls: &[(&str, &str)]) -> Vec<ToolResult> {
    results_of(calls.iter().map(|(id, what)| ToolCall::new(*id, "show", format!(r#"{{"what":{}}}"#, quoted(what)))))
}

/// Of a stream, each event as it stands.
pub(crate) fn streamed(provider: &str, events: &[&str]) -> Streamed {
    let provider = ALL.iter().find(|known| known.name == provider).expect("a provider");
    (provider.stream)(&events.iter().map(|event| (*event).to_owned()).collect::<Vec<_>>())
}

pub(crate) fn arguments(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| call.arguments().to_string_lossy().into_owned()).collect()
}

pub(crate) fn ids(calls: &[ToolCall]) -> Vec<&str> {
    calls.iter().map(|call| call.id().as_str()).collect()
}

pub(crate) fn truncated(calls: &[ToolCall]) -> Vec<bool> {
    calls.iter().map(ToolCall::is_truncated).collect()
}
