//! Ollama's own chat: `/api/chat`.
//!
//! ```
//! use tool_runtime::wire::ollama;
//!
//! let response = r#"{"message":{"role":"assistant","content":"","tool_calls":[
//!     {"function":{"name":"add","arguments":{"a":1,"b":2}}}]},"done":true,"done_reason":"stop"}"#;
//! let calls = ollama::calls(response)?;
//! assert_eq!(calls[0].arguments().to_string_lossy(), r#"{"a":1,"b":2}"#);
//! # Ok::<(), ollama::MessageError>(())
//! ```

mod stream;

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

pub use super::MessageError;
use super::common::{
    Fail, Listed, Value, array_of, as_text, changed, given, identified, ids_of, images, mended, object, of_changed,
    of_given_id, of_object_arguments, quoted, reported, text_beside,
};
use crate::call::{Content, ToolCall, ToolResult};
use crate::schema::json::Json;
pub use stream::Stream;

const FORMAT: &str = "Ollama";

/// Which images a model may be sent.
const IMAGES: [&str; 2] = ["image/png", "image/jpeg"];

/// The calls of a model's turn, in order: from a whole response, or from its message.
///
/// Arguments reach the call as they were sent, be they an object or text, and a call gets an [identifier](super) if it
/// has none. If the turn was stopped for its length, its last call is marked as possibly cut off, and will not run.
///
/// # Errors
/// If the text isn't JSON, or is no response whose calls have names; or with what Ollama says if it reports an error.
pub fn calls(response: &str) -> Result<Vec<ToolCall>, MessageError> {
    read_calls(response).map_err(|fail| fail.of(FORMAT))
}

/// What the model says besides, without what it thinks; or nothing.
///
/// # Errors
/// As [`calls`].
pub fn text(response: &str) -> Result<String, MessageError> {
    read_text(response).map_err(|fail| fail.of(FORMAT))
}

/// The message of a response as it came, but for what [would be refused](super), for the next request's `messages`: put
/// it before the [`messages`] that answer it.
///
/// ```
/// use tool_runtime::wire::ollama;
///
/// let response = r#"{"message":{"role":"assistant", "content":"Hi"},"done":true}"#;
/// assert_eq!(ollama::history(response)?, r#"{"role":"assistant", "content":"Hi"}"#);
/// # Ok::<(), ollama::MessageError>(())
/// ```
///
/// Escapes of unpaired surrogates become `\ufffd`: with one of them, every later request would be refused.
///
/// # Errors
/// As [`calls`].
pub fn history(response: &str) -> Result<String, MessageError> {
    read_history(response).map_err(|fail| fail.of(FORMAT))
}

struct Turn<'a> {
    message: Value<'a>,
    stopped: Option<Value<'a>>,
}

fn turn(root: Value<'_>) -> Result<Turn<'_>, Fail> {
    if !root.is_object() {
        return Err(Fail::form("has to be an object"));
    }
    let [message, stopped, error, role, content, tool_calls] =
        root.members(["message", "done_reason", "error", "role", "content", "tool_calls"])?;
    match message {
        Some(message) if message.is_object() => Ok(Turn { message, stopped }),
        None if role.or(content).or(tool_calls).is_some() => Ok(Turn { message: root, stopped }),
        _ => Err(error.map_or_else(|| Fail::form("has neither a `message` nor what a message has"), reported)),
    }
}

fn read_calls(text: &str) -> Result<Vec<ToolCall>, Fail> {
    let turn = turn(Value::parse(text)?)?;
    let listed = read_listed(&turn)?;
    Ok(identified(listed, turn.stopped.is_some_and(|reason| reason.is("length"))))
}

fn read_listed(turn: &Turn<'_>) -> Result<Vec<Listed>, Fail> {
    elements(turn.message)?.enumerate().map(|(index, call)| read_call(index, call)).collect()
}

fn read_history(text: &str) -> Result<String, Fail> {
    let turn = turn(Value::parse(text)?)?;
    let ids = ids_of(&read_listed(&turn)?);
    let sent: Vec<_> = elements(turn.message)?.zip(&ids).map(|(call, id)| sent_back(call, id)).collect();
    let [role] = turn.message.members(["role"])?;
    let is_told = role.is_some_and(|role| role.is("assistant"));
    let role = (!is_told).then(|| ("role", Some(quoted("assistant"))));
    let calls = array_of(&sent).map(|calls| ("tool_calls", Some(calls)));
    Ok(mended(&changed(turn.message, [role, calls])).into_owned())
}

/// A call as it can be sent back. Ollama takes every name.
fn sent_back<'a>(call: Value<'a>, id: &str) -> Cow<'a, str> {
    let [came, function] = call.members(["id", "function"]).unwrap_or_default();
    let [arguments] = function.and_then(|function| function.members(["arguments"]).ok()).unwrap_or_default();
    let arguments = of_object_arguments("arguments", arguments);
    let function = function.and_then(|function| of_changed("function", function, [arguments]));
    changed(call, [of_given_id("id", came, id), function])
}

/// What stands in `tool_calls`.
fn elements(message: Value<'_>) -> Result<impl Iterator<Item = Value<'_>>, Fail> {
    let [listed] = message.members(["tool_calls"])?;
    if listed.is_some_and(|listed| !listed.is_array()) {
        return Err(Fail::form("`tool_calls` has to be an array"));
    }
    Ok(listed.into_iter().flat_map(Value::elements))
}

fn read_call(index: usize, call: Value<'_>) -> Result<Listed, Fail> {
    let wrong = |what: &str| Fail::Form(format!("`tool_calls[{index}]` {what}"));
    let [id, function] = call.members(["id", "function"])?;
    let [name, arguments] = function.ok_or_else(|| wrong("has no `function`"))?.members(["name", "arguments"])?;
    let name = name.and_then(Value::text).ok_or_else(|| wrong("has no name"))?;
    Ok(Listed::new(id, name, arguments))
}

fn read_text(text: &str) -> Result<String, Fail> {
    let [content] = turn(Value::parse(text)?)?.message.members(["content"])?;
    Ok(content.and_then(Value::text).unwrap_or_default())
}

/// The messages that answer a turn, in the order in which they go to the model: one `role: tool` message a call, and
/// behind all of them the asides, as messages of the user.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build()?, AllowAll);
/// use tool_runtime::wire::ollama;
///
/// let calls = ollama::calls(r#"{"role":"assistant","tool_calls":[{"function":{"name":"ad"}}]}"#)?;
/// let results = harness.run(calls).await;
/// let message = ollama::messages(&results)[0].to_json();
/// assert!(message.starts_with(r#"{"role":"tool","tool_name":"ad","content":""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub fn messages(results: &[ToolResult]) -> Vec<Message<'_>> {
    let asides = results.iter().flat_map(ToolResult::asides).map(Message::Aside);
    results.iter().map(Message::Tool).chain(asides).collect()
}

/// A message of the next request's `messages`; see [`messages`].
///
/// This format has no flag for errors: what went wrong stands in the text. Identifiers are sent back if the model gave
/// them. PNG and JPEG images of an aside are sent; all others are named.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Message<'a> {
    /// What answers a call.
    Tool(&'a ToolResult),
    /// What is said besides.
    Aside(&'a Content),
}

impl Message<'_> {
    /// The message as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(&self) -> Json {
        match self {
            Message::Tool(result) => {
                let message = [
                    ("role", Json::string("tool")),
                    ("tool_name", Json::string(result.name())),
                    ("content", Json::string(as_text(result.content()))),
                ];
                let id = given(result.call_id()).map(|id| ("tool_call_id", Json::string(id)));
                object(message.into_iter().chain(id))
            }
            Message::Aside(aside) => {
                let images: Vec<Json> = images(aside, &IMAGES).map(|(_, base64)| Json::string(&**base64)).collect();
                let message = [("role", Json::string("user")), ("content", Json::string(text_beside(aside, &IMAGES)))];
                let images = (!images.is_empty()).then_some(("images", Json::Array(images)));
                object(message.into_iter().chain(images))
            }
        }
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
