//! OpenAI's Chat Completions, and the servers that speak it.
//!
//! ```
//! use tool_runtime::wire::openai_chat;
//!
//! let message = r#"{"role":"assistant","content":null,"tool_calls":[
//!     {"id":"call_1","type":"function","function":{"name":"add","arguments":"{\"a\":1,\"b\":2}"}}]}"#;
//! let calls = openai_chat::calls(message)?;
//! assert_eq!(calls[0].name(), "add");
//! # Ok::<(), openai_chat::MessageError>(())
//! ```

mod stream;

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

pub use super::MessageError;
use super::common::{
    Fail, Listed, Value, array_of, as_text, changed, identified, ids_of, mended, object, of_changed, of_id, of_name,
    of_text_arguments, quoted, reported,
};
use super::export::openai::NAMES;
use crate::call::{Content, ToolCall, ToolResult};
use crate::schema::DeclaredTool;
use crate::schema::json::{Json, write_string};
pub use stream::Stream;

/// The `tools` of a request, as bytes that are made once and sent as often as you like: names and schemas as they are.
///
/// What a provider doesn't take of them, an [`Export`](super::export::Export) brings into its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declarations {
    /// A JSON array, without its closing bracket.
    open: String,
}

impl Declarations {
    /// None.
    pub fn new() -> Self {
        Declarations { open: "[".to_owned() }
    }

    /// Of several tools, such as all of a registry's.
    pub fn of(schemas: impl IntoIterator<Item: DeclaredTool>) -> Self {
        let mut declarations = Declarations::new();
        schemas.into_iter().for_each(|schema| declarations.push(&schema));
        declarations
    }

    /// Adds a tool: what a model sees of it.
    pub fn push(&mut self, tool: &(impl DeclaredTool + ?Sized)) {
        let schema = tool.declared();
        if self.open.len() > 1 {
            self.open.push(',');
        }
        self.open.push_str(r#"{"type":"function","function":{"name":"#);
        write_string(&mut self.open, schema.name());
        self.open.push_str(r#","description":"#);
        write_string(&mut self.open, schema.description());
        self.open.push_str(r#","parameters":"#);
        self.open.push_str(schema.parameters());
        self.open.push_str("}}");
    }

    /// The JSON array, compact: the same bytes in every process.
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.open.len() + 1);
        self.write(&mut json);
        json
    }

    /// Appends the JSON array to a request that is being written.
    pub fn write(&self, request: &mut String) {
        request.push_str(&self.open);
        request.push(']');
    }
}

impl Default for Declarations {
    fn default() -> Self {
        Declarations::new()
    }
}

/// The calls of a model's turn, in order: from an assistant message, or from a whole response, of
/// which the first choice counts.
///
/// Arguments may be text, as OpenAI sends them, or an object, as some servers do; either way they reach the call
/// as they were sent. If the turn was stopped before its end (`length`, `content_filter`, and what other servers call
/// it), its last call is marked as possibly cut off, and will not run.
///
/// # Errors
/// If the text isn't JSON, or its `tool_calls` aren't an array of named functions; or with what the
/// provider says if it reports an error.
pub fn calls(message: &str) -> Result<Vec<ToolCall>, MessageError> {
    read_calls(message).map_err(|fail| fail.of(FORMAT))
}

/// What the model says besides: the text of its message, or of its refusal, or nothing.
///
/// ```
/// use tool_runtime::wire::openai_chat;
///
/// assert_eq!(openai_chat::text(r#"{"role":"assistant","content":"Let me see."}"#)?, "Let me see.");
/// # Ok::<(), openai_chat::MessageError>(())
/// ```
///
/// # Errors
/// As [`calls`].
pub fn text(message: &str) -> Result<String, MessageError> {
    read_text(message).map_err(|fail| fail.of(FORMAT))
}

/// The assistant message of a response as it came, but for what [would be refused](super), for the next request's
/// `messages`: put it before the [`messages`] that answer it.
///
/// ```
/// use tool_runtime::wire::openai_chat;
///
/// let response = r#"{"choices":[{"message":{"role":"assistant", "content":"Hi"},"finish_reason":"stop"}]}"#;
/// assert_eq!(openai_chat::history(response)?, r#"{"role":"assistant", "content":"Hi"}"#);
/// # Ok::<(), openai_chat::MessageError>(())
/// ```
///
/// Escapes of unpaired surrogates become `\ufffd`: with one of them, every later request would be refused.
///
/// # Errors
/// As [`calls`].
pub fn history(message: &str) -> Result<String, MessageError> {
    read_history(message).map_err(|fail| fail.of(FORMAT))
}

const FORMAT: &str = "Chat Completions";

struct Turn<'a> {
    message: Value<'a>,
    stopped: Option<Value<'a>>,
}

fn turn(text: &str) -> Result<Turn<'_>, Fail> {
    let root = Value::parse(text)?;
    if !root.is_object() {
        return Err(Fail::form("has to be an object"));
    }
    let [choices, error, role, content, tool_calls, stopped] =
        root.members(["choices", "error", "role", "content", "tool_calls", "finish_reason"])?;
    if let Some(choices) = choices {
        let choice = choices.elements().next().ok_or_else(|| Fail::form("`choices` has to be an array of some"))?;
        let [message, stopped] = choice.members(["message", "finish_reason"])?;
        let message = message.filter(|message| message.is_object());
        let message = message.ok_or_else(|| Fail::form("`choices[0]` has no `message`"))?;
        return Ok(Turn { message, stopped });
    }
    if role.or(content).or(tool_calls).is_some() {
        return Ok(Turn { message: root, stopped });
    }
    Err(error.map_or_else(|| Fail::form("has neither `choices` nor what a message has"), reported))
}

fn read_calls(text: &str) -> Result<Vec<ToolCall>, Fail> {
    let turn = turn(text)?;
    let listed = read_listed(&turn)?;
    Ok(identified(listed, turn.stopped.is_some_and(cuts_off)))
}

fn read_listed(turn: &Turn<'_>) -> Result<Vec<Listed>, Fail> {
    let [listed] = turn.message.members(["tool_calls"])?;
    if listed.is_some_and(|listed| !listed.is_array()) {
        return Err(Fail::form("`tool_calls` has to be an array"));
    }
    let elements = listed.into_iter().flat_map(Value::elements).enumerate();
    elements.map(|(index, call)| read_call(index, call)).collect()
}

fn read_history(text: &str) -> Result<String, Fail> {
    let turn = turn(text)?;
    let ids = ids_of(&read_listed(&turn)?);
    let [role, content, calls, refusal] = turn.message.members(["role", "content", "tool_calls", "refusal"])?;
    let sent: Vec<_> =
        calls.into_iter().flat_map(Value::elements).zip(&ids).map(|(call, id)| sent_back(call, id)).collect();
    let is_told = role.is_some_and(|role| role.is("assistant"));
    let role = (!is_told).then(|| ("role", Some(quoted("assistant"))));
    // A message of nothing has no text either, and an empty list of calls is refused.
    let is_silent = sent.is_empty() && content.or(refusal).is_none();
    let content = is_silent.then(|| ("content", Some(quoted(""))));
    let calls = match sent.is_empty() {
        true => calls.map(|_| ("tool_calls", None)),
        false => array_of(&sent).map(|calls| ("tool_calls", Some(calls))),
    };
    Ok(mended(&changed(turn.message, [role, calls, content])).into_owned())
}

/// A call as it can be sent back.
fn sent_back<'a>(call: Value<'a>, id: &str) -> Cow<'a, str> {
    let [came, function] = call.members(["id", "function"]).unwrap_or_default();
    let [name, arguments] =
        function.and_then(|function| function.members(["name", "arguments"]).ok()).unwrap_or_default();
    let of_function = [of_name("name", name, NAMES), of_text_arguments("arguments", arguments)];
    let function = function.and_then(|function| of_changed("function", function, of_function));
    changed(call, [of_id("id", came, id), function])
}

fn read_call(index: usize, call: Value<'_>) -> Result<Listed, Fail> {
    let wrong = |what: &str| Fail::Form(format!("`tool_calls[{index}]` {what}"));
    let [id, function] = call.members(["id", "function"])?;
    let [name, arguments] = function.ok_or_else(|| wrong("has no `function`"))?.members(["name", "arguments"])?;
    let name = name.and_then(Value::text).ok_or_else(|| wrong("has no name"))?;
    Ok(Listed::new(id, name, arguments))
}

fn read_text(text: &str) -> Result<String, Fail> {
    let [content, refusal] = turn(text)?.message.members(["content", "refusal"])?;
    let mut all = content.and_then(Value::text).unwrap_or_default();
    for part in content.into_iter().flat_map(Value::elements) {
        let [text, refusal] = part.members(["text", "refusal"])?;
        all.extend(text.or(refusal).and_then(Value::text));
    }
    all.extend(refusal.and_then(Value::text));
    Ok(all)
}

/// Does a turn that stopped for this reason lack its end?
fn cuts_off(reason: Value<'_>) -> bool {
    // OpenAI has the first two. Mistral the next two, DeepSeek `insufficient_system_resource`, vLLM and SGLang `abort`.
    let cut = ["length", "content_filter", "model_length", "error", "insufficient_system_resource", "abort"];
    cut.iter().any(|cut| reason.is(cut))
}

/// The messages that answer a turn, in the order in which they go to the model: one `role: tool`
/// message a call, and behind all of them the asides, as `role: user` messages.
pub fn messages(results: &[ToolResult]) -> Vec<Message<'_>> {
    let asides = results.iter().flat_map(ToolResult::asides).map(Message::Aside);
    results.iter().map(|result| Message::Tool(message(result))).chain(asides).collect()
}

/// See [`messages`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Message<'a> {
    /// What answers a call.
    Tool(ToolMessage<'a>),
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
            Message::Tool(message) => message.json(),
            Message::Aside(content) => {
                object([("role", Json::string("user")), ("content", Json::string(as_text(content)))])
            }
        }
    }
}

/// A `role: tool` message that answers one call.
///
/// This format has no flag for errors: what went wrong stands in the text.
pub fn message(result: &ToolResult) -> ToolMessage<'_> {
    ToolMessage(result)
}

/// See [`message`].
#[derive(Debug, Clone, Copy)]
pub struct ToolMessage<'a>(&'a ToolResult);

impl ToolMessage<'_> {
    /// The message as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(self) -> Json {
        // Text alone: a tool message takes no images.
        object([
            ("role", Json::string("tool")),
            ("tool_call_id", Json::string(self.0.call_id().as_str())),
            ("content", Json::string(as_text(self.0.content()))),
        ])
    }
}

impl Serialize for ToolMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
