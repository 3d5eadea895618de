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

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::call::{Block, Content, RawArguments, ToolCall, ToolResult};
use crate::schema::json::{Json, write_string};
use crate::schema::{DeclaredTool, text};

/// The `tools` of a request, as bytes that are made once and sent as often as you like.
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
/// Arguments may be text, as OpenAI sends them, or an object, as some servers do. If the turn was
/// stopped for its length, its last call is marked as possibly cut off, and will not run.
///
/// # Errors
/// If the text isn't JSON, or its `tool_calls` aren't an array of named functions.
pub fn calls(message: &str) -> Result<Vec<ToolCall>, MessageError> {
    let root = Json::parse(message).map_err(|error| {
        let (line, column) = error.line_column(message);
        MessageError(format!("not valid JSON: {error} (line {line}, column {column})"))
    })?;
    if root.as_object().is_none() {
        return Err(MessageError("has to be an object".to_owned()));
    }
    let choice = root.get("choices").and_then(Json::as_array).and_then(<[Json]>::first);
    let message = choice.and_then(|choice| choice.get("message")).unwrap_or(&root);
    let stopped = choice.or(Some(&root)).and_then(|choice| choice.get("finish_reason")).and_then(Json::as_str);
    let listed = match message.get("tool_calls") {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Array(listed)) => listed,
        Some(_) => return Err(MessageError("`tool_calls` has to be an array".to_owned())),
    };
    let mut calls =
        listed.iter().enumerate().map(|(index, call)| read_call(index, call)).collect::<Result<Vec<_>, _>>()?;
    if stopped == Some("length")
        && let Some(last) = calls.pop()
    {
        calls.push(last.truncated());
    }
    Ok(calls)
}

fn read_call(index: usize, call: &Json) -> Result<ToolCall, MessageError> {
    let wrong = |what: &str| MessageError(format!("`tool_calls[{index}]` {what}"));
    let function = call.get("function").ok_or_else(|| wrong("has no `function`"))?;
    let name = function.get("name").and_then(Json::as_str).ok_or_else(|| wrong("has no name"))?;
    let arguments = match function.get("arguments") {
        None | Some(Json::Null) => RawArguments::absent(),
        Some(Json::String(text)) => text.as_str().into(),
        Some(value) => value.to_string().into(),
    };
    // Some servers send no identifier; the position is as good within one turn.
    let id = call.get("id").and_then(Json::as_str).map_or_else(|| format!("call_{index}"), str::to_owned);
    Ok(ToolCall::new(id, name, arguments))
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
        match self {
            Message::Tool(message) => message.to_json(),
            Message::Aside(content) => {
                let mut json = String::from(r#"{"role":"user","content":"#);
                write_string(&mut json, &as_text(content));
                json.push('}');
                json
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
        let mut json = String::from(r#"{"role":"tool","tool_call_id":"#);
        write_string(&mut json, self.0.call_id().as_str());
        json.push_str(r#","content":"#);
        write_string(&mut json, &self.content());
        json.push('}');
        json
    }

    fn content(&self) -> String {
        as_text(self.0.content())
    }
}

/// Text alone: a tool message takes no images.
fn as_text(content: &Content) -> String {
    if let Some(text) = content.as_text() {
        return text.to_owned();
    }
    let lines: Vec<String> = content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.to_string(),
            Block::Image { media_type, .. } => {
                format!("[an image ({}), which can't be sent here]", text::shown(media_type, 64))
            }
        })
        .collect();
    lines.join("\n")
}

impl Serialize for ToolMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolMessage", 3)?;
        fields.serialize_field("role", "tool")?;
        fields.serialize_field("tool_call_id", self.0.call_id())?;
        fields.serialize_field("content", &self.content())?;
        fields.end()
    }
}

/// A message is not of this format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError(String);

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a Chat Completions message: {}", self.0)
    }
}

impl std::error::Error for MessageError {}
