//! Anthropic's Messages.
//!
//! ```
//! use tool_runtime::wire::anthropic;
//!
//! let response = r#"{"role":"assistant","stop_reason":"tool_use","content":[
//!     {"type":"tool_use","id":"toolu_1","name":"add","input":{"a":1,"b":2}}]}"#;
//! let calls = anthropic::calls(response)?;
//! assert_eq!(calls[0].arguments().to_string_lossy(), r#"{"a":1,"b":2}"#);
//! # Ok::<(), anthropic::MessageError>(())
//! ```

mod stream;

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

pub use super::MessageError;
use super::common::{
    Fail, Listed, NOTHING, Value, array_of, as_text, changed, has_images, identified, ids_of, mended, object, of_id,
    of_name, of_object_arguments, parts_of, quoted, reported,
};
use super::export::anthropic::NAMES;
use crate::call::{Content, ToolCall, ToolResult};
use crate::schema::json::Json;
pub use stream::Stream;

const FORMAT: &str = "Anthropic";

/// Which images a model may be sent.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The calls of a model's turn, in order: from a whole response, an assistant message, or its `content`.
///
/// A call is a `tool_use` block; blocks of other types, such as thinking and what Anthropic's own tools did, are no
/// calls. The input reaches the call as it was sent. If the turn was stopped before its end (`max_tokens`, and every
/// `stop_reason` but `tool_use`, `end_turn`, `stop_sequence` and `pause_turn`), its last call is marked as possibly cut
/// off, and will not run.
///
/// # Errors
/// If the text isn't JSON, or is no message whose calls have names; or with what the provider says if it reports an
/// error.
pub fn calls(response: &str) -> Result<Vec<ToolCall>, MessageError> {
    read_calls(response).map_err(|fail| fail.of(FORMAT))
}

/// What the model says besides: the text of its message, or nothing.
///
/// # Errors
/// As [`calls`].
pub fn text(response: &str) -> Result<String, MessageError> {
    read_text(response).map_err(|fail| fail.of(FORMAT))
}

/// The assistant message for the next request's `messages`: its role, and its `content` as it came, thinking and
/// signatures included, but for what [would be refused](super). Put it before the [`messages`] that answer it.
///
/// ```
/// use tool_runtime::wire::anthropic;
///
/// let response = r#"{"id":"msg_1","role":"assistant","content":[ {"type":"text","text":"Hi"} ],"usage":{}}"#;
/// let message = r#"{"role":"assistant","content":[ {"type":"text","text":"Hi"} ]}"#;
/// assert_eq!(anthropic::history(response)?, message);
/// # Ok::<(), anthropic::MessageError>(())
/// ```
///
/// Escapes of unpaired surrogates become `\ufffd`, and blocks of blank text are left out: with one of them, every later
/// request would be refused.
///
/// # Errors
/// As [`calls`].
pub fn history(response: &str) -> Result<String, MessageError> {
    let content = turn(response).and_then(|turn| read_history(turn.content)).map_err(|fail| fail.of(FORMAT))?;
    Ok(message_of(&content))
}

/// The message with this content, which is one of blocks.
fn message_of(content: &str) -> String {
    format!(r#"{{"role":"assistant","content":{content}}}"#)
}

fn read_history(content: Value<'_>) -> Result<String, Fail> {
    if let Some(text) = content.text() {
        return Ok(quoted(if text.trim().is_empty() { NOTHING } else { &text }));
    }
    let listed = content.elements().enumerate().map(|(index, block)| read_call(index, block));
    let mut ids = ids_of(&listed.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?).into_iter();
    let mut blocks = Vec::new();
    let mut left_out = false;
    for block in content.elements() {
        let [kind, text] = block.members(["type", "text"])?;
        let is = |name| kind.is_some_and(|kind| kind.is(name));
        let is_blank = |text: Option<Value<'_>>| text.and_then(Value::text).is_none_or(|text| text.trim().is_empty());
        match () {
            () if is("text") && is_blank(text) => left_out = true,
            () if is("tool_use") => blocks.push(sent_back(block, &ids.next().unwrap_or_default())),
            () => blocks.push(Cow::Borrowed(block.raw())),
        }
    }
    let content = match array_of(&blocks) {
        Some(changed) => Cow::Owned(changed),
        None if blocks.is_empty() || left_out => Cow::Owned(content_of(&blocks)),
        None => Cow::Borrowed(content.raw()),
    };
    Ok(mended(&content).into_owned())
}

/// A content of these blocks. None at all nobody takes.
fn content_of(blocks: &[Cow<'_, str>]) -> String {
    match blocks {
        [] => format!(r#"[{{"type":"text","text":"{NOTHING}"}}]"#),
        blocks => format!("[{}]", blocks.join(",")),
    }
}

/// A call as it can be sent back.
fn sent_back<'a>(block: Value<'a>, id: &str) -> Cow<'a, str> {
    let [came, name, input] = block.members(["id", "name", "input"]).unwrap_or_default();
    changed(block, [of_id("id", came, id), of_name("name", name, NAMES), of_object_arguments("input", input)])
}

struct Turn<'a> {
    /// An array of blocks, or text.
    content: Value<'a>,
    stopped: Option<Value<'a>>,
}

fn turn(text: &str) -> Result<Turn<'_>, Fail> {
    let root = Value::parse(text)?;
    if root.is_array() {
        return Ok(Turn { content: root, stopped: None });
    }
    if !root.is_object() {
        return Err(Fail::form("has to be an object, or an array of blocks"));
    }
    let [content, stopped, error] = root.members(["content", "stop_reason", "error"])?;
    match (content, error) {
        (Some(content), _) if content.is_array() || content.escaped().is_some() => Ok(Turn { content, stopped }),
        (None, Some(error)) => Err(reported(error)),
        _ => Err(Fail::form("has no `content` that is text or an array of blocks")),
    }
}

fn read_calls(text: &str) -> Result<Vec<ToolCall>, Fail> {
    let turn = turn(text)?;
    let mut listed = Vec::new();
    for (index, block) in turn.content.elements().enumerate() {
        listed.extend(read_call(index, block)?);
    }
    Ok(identified(listed, turn.stopped.is_some_and(cuts_off)))
}

fn read_call(index: usize, block: Value<'_>) -> Result<Option<Listed>, Fail> {
    let [kind, id, name, input] = block.members(["type", "id", "name", "input"])?;
    if !kind.is_some_and(|kind| kind.is("tool_use")) {
        return Ok(None);
    }
    let name = name.and_then(Value::text).ok_or_else(|| Fail::Form(format!("`content[{index}]` has no name")))?;
    Ok(Some(Listed::new(id, name, input)))
}

fn read_text(text: &str) -> Result<String, Fail> {
    let content = turn(text)?.content;
    let mut all = content.text().unwrap_or_default();
    for block in content.elements() {
        let [kind, text] = block.members(["type", "text"])?;
        if kind.is_some_and(|kind| kind.is("text")) {
            all.extend(text.and_then(Value::text));
        }
    }
    Ok(all)
}

/// The names of tools that the provider's own search has found in this turn, as they were declared. Of a
/// [`Stream`], those of its [`history`](Stream::history).
///
/// [`Export::found`](super::export::Export::found) tells which tools these are, to be marked as loaded.
///
/// ```
/// use tool_runtime::wire::anthropic;
///
/// let response = r#"{"role":"assistant","content":[
///     {"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"rain"}},
///     {"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result",
///         "tool_references":[{"type":"tool_reference","tool_name":"get_weather"}]}}]}"#;
/// assert_eq!(anthropic::found(response)?, ["get_weather"]);
/// # Ok::<(), anthropic::MessageError>(())
/// ```
///
/// # Errors
/// As [`calls`].
pub fn found(response: &str) -> Result<Vec<String>, MessageError> {
    read_found(response).map_err(|fail| fail.of(FORMAT))
}

fn read_found(text: &str) -> Result<Vec<String>, Fail> {
    let mut found = Vec::new();
    for block in turn(text)?.content.elements() {
        let [kind, content] = block.members(["type", "content"])?;
        // Of a search that failed, the content has no references.
        if let Some(content) = content.filter(|_| kind.is_some_and(|kind| kind.is("tool_search_tool_result"))) {
            let [references] = content.members(["tool_references"])?;
            for reference in references.into_iter().flat_map(Value::elements) {
                let [name] = reference.members(["tool_name"])?;
                found.extend(name.and_then(Value::text));
            }
        }
    }
    Ok(found)
}

/// Does a turn that stopped for this reason lack its end? Reasons that we don't know do.
fn cuts_off(reason: Value<'_>) -> bool {
    !["tool_use", "end_turn", "stop_sequence", "pause_turn"].iter().any(|whole| reason.is(whole))
}

/// The message that answers a turn, if there is anything to answer: one message of the user with all results, in the
/// order of the calls, and behind them the asides.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build()?, AllowAll);
/// use tool_runtime::wire::anthropic;
///
/// let results = harness.run([ToolCall::new("toolu_1", "ad", "{}")]).await;
/// let message = anthropic::messages(&results)[0].to_json();
/// assert!(message.starts_with(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1""#));
/// # Ok::<(), tool_runtime::RegistryError>(())
/// # }).unwrap();
/// ```
pub fn messages(results: &[ToolResult]) -> Vec<Message<'_>> {
    if results.is_empty() { Vec::new() } else { vec![Message(results)] }
}

/// A message of the next request's `messages`; see [`messages`].
///
/// PNG, JPEG, WebP and GIF images are sent, others are named; so are those of a failure, which may hold nothing but
/// text.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a>(&'a [ToolResult]);

impl Message<'_> {
    /// The message as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(&self) -> Json {
        let results = self.0.iter().map(result);
        let asides = self.0.iter().flat_map(ToolResult::asides).flat_map(blocks);
        object([("role", Json::string("user")), ("content", Json::Array(results.chain(asides).collect()))])
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

fn result(result: &ToolResult) -> Json {
    let content = if has_images(result.content(), &IMAGES) && !result.is_error() {
        Json::Array(blocks(result.content()))
    } else {
        Json::string(as_text(result.content()))
    };
    let block = [
        ("type", Json::string("tool_result")),
        ("tool_use_id", Json::string(result.call_id().as_str())),
        ("content", content),
    ];
    object(block.into_iter().chain(result.is_error().then_some(("is_error", Json::Bool(true)))))
}

fn blocks(content: &Content) -> Vec<Json> {
    let text = |text: &str| object([("type", Json::string("text")), ("text", Json::string(text))]);
    let image = |media_type: &str, base64: &str| {
        IMAGES.contains(&media_type).then(|| {
            let source = object([
                ("type", Json::string("base64")),
                ("media_type", Json::string(media_type)),
                ("data", Json::string(base64)),
            ]);
            object([("type", Json::string("image")), ("source", source)])
        })
    };
    parts_of(content, text, image)
}
