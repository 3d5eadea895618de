//! Google's Gemini: `generateContent`.
//!
//! ```
//! use tool_runtime::wire::gemini;
//!
//! let response = r#"{"candidates":[{"content":{"role":"model","parts":[
//!     {"functionCall":{"name":"add","args":{"a":1,"b":2}}}]},"finishReason":"STOP"}]}"#;
//! let calls = gemini::calls(response)?;
//! assert_eq!(calls[0].arguments().to_string_lossy(), r#"{"a":1,"b":2}"#);
//! # Ok::<(), gemini::MessageError>(())
//! ```

mod miscall;
mod pieces;
mod stream;

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

pub use super::MessageError;
use super::common::{
    Fail, Value, changed, given, images, mended, object, of_changed, of_given_id, of_name, of_object_arguments,
    parts_of, reported, text_beside,
};
use super::export::gemini::NAMES;
use crate::call::{Content, ToolCall, ToolResult};
use crate::schema::json::Json;
pub use miscall::Miscall;
pub use stream::Stream;

const FORMAT: &str = "Gemini";

/// Which images a model may be sent.
const IMAGES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];

/// The calls of a model's turn, in order: from a whole response, of which the first candidate counts, or from its
/// `content`. An array of responses, as `streamGenerateContent` gives without `alt=sse`, is one response.
///
/// A call is a `functionCall`. Its arguments reach the call as they were sent, or are put together from its
/// `partialArgs`, and it gets an [identifier](super) if it has none. If the turn was stopped before its end (`MAX_TOKENS`, and every `finishReason`
/// but `STOP`, `FUNCTION_CALL`, `TOO_MANY_TOOL_CALLS` and `UNEXPECTED_TOOL_CALL`), its last call is marked as possibly cut off, and will
/// not run.
///
/// # Errors
/// If the text isn't JSON, or is no response whose calls have names; or with what the provider says if it reports an
/// error, or that it refuses the request.
pub fn calls(response: &str) -> Result<Vec<ToolCall>, MessageError> {
    read(response).map(Stream::finish)
}

/// What the model says besides: the text of its parts without its thoughts, or nothing.
///
/// # Errors
/// As [`calls`].
pub fn text(response: &str) -> Result<String, MessageError> {
    read(response).map(|stream| stream.text().to_owned())
}

/// Why a turn that looks empty has no call: Gemini could not make one of what its model wrote. `None` if there are calls,
/// whose results tell the model what is wrong.
///
/// # Errors
/// As [`calls`].
pub fn miscall(response: &str) -> Result<Option<Miscall>, MessageError> {
    read(response).map(|stream| stream.miscall().cloned())
}

/// The content of a response as it came, thoughts and their signatures included, but for what
/// [would be refused](super), for the next request's `contents`: put it before the [`messages`] that answer it.
///
/// ```
/// use tool_runtime::wire::gemini;
///
/// let response = r#"{"candidates":[{"content":{"role":"model", "parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}"#;
/// assert_eq!(gemini::history(response)?, r#"{"role":"model", "parts":[{"text":"Hi"}]}"#);
/// # Ok::<(), gemini::MessageError>(())
/// ```
///
/// Escapes of unpaired surrogates become `\ufffd`: with one of them, every later request would be refused.
///
/// # Errors
/// As [`calls`].
pub fn history(response: &str) -> Result<String, MessageError> {
    let stream = read(response)?;
    let as_it_came = || {
        let root = Value::parse(response)?;
        let content = if root.is_array() { None } else { chunk(root)?.content };
        let [role, parts] = content.map(|content| content.members(["role", "parts"])).transpose()?.unwrap_or_default();
        let is_fine =
            role.is_some_and(|role| role.is("model")) && parts.is_some_and(|parts| parts.elements().next().is_some());
        Ok(content.filter(|_| is_fine && stream.is_sent_as_it_came()))
    };
    match as_it_came().map_err(|fail: Fail| fail.of(FORMAT))? {
        Some(content) => Ok(mended(content.raw()).into_owned()),
        None => Ok(stream.history()),
    }
}

/// A part with a call as it can be sent back.
fn sent_back<'a>(part: Value<'a>, id: &str) -> Cow<'a, str> {
    let [call] = part.members(["functionCall"]).unwrap_or_default();
    let [came, name, args] = call.and_then(|call| call.members(["id", "name", "args"]).ok()).unwrap_or_default();
    // None are none, also here.
    let args = args.and_then(|args| of_object_arguments("args", Some(args)));
    let changes = [of_given_id("id", came, id), of_name("name", name, NAMES), args];
    changed(part, [call.and_then(|call| of_changed("functionCall", call, changes))])
}

/// A response, or a part of one.
struct Chunk<'a> {
    content: Option<Value<'a>>,
    stopped: Option<Value<'a>>,
    /// What is said about that.
    said: Option<Value<'a>>,
}

fn chunk(root: Value<'_>) -> Result<Chunk<'_>, Fail> {
    if !root.is_object() {
        return Err(Fail::form("has to be an object"));
    }
    let [candidates, feedback, error, parts, usage] =
        root.members(["candidates", "promptFeedback", "error", "parts", "usageMetadata"])?;
    if parts.is_some() {
        return of_content(root, None, None);
    }
    if let Some(error) = error {
        return Err(reported(error));
    }
    if candidates.is_some_and(|candidates| !candidates.is_array()) {
        return Err(Fail::form("`candidates` has to be an array"));
    }
    if let Some(candidate) = candidates.and_then(|candidates| candidates.elements().next()) {
        let [content, stopped, said] = candidate.members(["content", "finishReason", "finishMessage"])?;
        return match content {
            Some(content) => of_content(content, stopped, said),
            None => Ok(Chunk { content: None, stopped, said }),
        };
    }
    let [blocked] = feedback.map(|feedback| feedback.members(["blockReason"])).transpose()?.unwrap_or_default();
    match blocked.and_then(Value::text) {
        Some(reason) => Err(Fail::Reported(format!("the request is refused: {reason}"))),
        None if candidates.or(feedback).or(usage).is_some() => Ok(Chunk { content: None, stopped: None, said: None }),
        None => Err(Fail::form("has neither `candidates` nor `parts`")),
    }
}

fn of_content<'a>(content: Value<'a>, stopped: Option<Value<'a>>, said: Option<Value<'a>>) -> Result<Chunk<'a>, Fail> {
    let [parts] = content.members(["parts"])?;
    if !content.is_object() || parts.is_some_and(|parts| !parts.is_array()) {
        return Err(Fail::form("`content` has to be an object, and its `parts` an array"));
    }
    Ok(Chunk { content: Some(content), stopped, said })
}

fn read(response: &str) -> Result<Stream, MessageError> {
    let mut stream = Stream::of_whole();
    let read = |stream: &mut Stream| {
        let root = Value::parse(response)?;
        let one = (!root.is_array()).then_some(root);
        one.into_iter().chain(root.elements()).try_for_each(|part| stream.take(part))
    };
    read(&mut stream).map_err(|fail| fail.of(FORMAT)).map(|()| stream)
}

/// Does a turn that stopped for this reason lack its end? Reasons that we don't know do.
fn cuts_off(reason: Value<'_>) -> bool {
    // `FUNCTION_CALL` is what servers say that translate from other formats.
    let whole = ["STOP", "FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL"];
    !whole.iter().any(|whole| reason.is(whole))
}

/// The content that answers a turn, if there is anything to answer: one `functionResponse` a call, in the order of the
/// calls, and behind them the asides.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build()?, AllowAll);
/// use tool_runtime::wire::gemini;
///
/// let calls = gemini::calls(r#"{"role":"model","parts":[{"functionCall":{"name":"ad"}}]}"#)?;
/// let results = harness.run(calls).await;
/// let content = gemini::messages(&results)[0].to_json();
/// assert!(content.starts_with(r#"{"role":"user","parts":[{"functionResponse":{"name":"ad","response":{"error":""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub fn messages(results: &[ToolResult]) -> Vec<Message<'_>> {
    if results.is_empty() { Vec::new() } else { vec![Message { results, images: true }] }
}

/// A content of the next request's `contents`; see [`messages`].
///
/// A result is the `output` of its response, or the `error`. Identifiers are sent back if the model gave them. PNG, JPEG
/// and WebP images are sent, others are named.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    results: &'a [ToolResult],
    images: bool,
}

impl Message<'_> {
    /// With images named instead of sent: for models before Gemini 3, which refuse a request with an image in a
    /// `functionResponse`.
    #[must_use]
    pub fn without_images(self) -> Self {
        Message { images: false, ..self }
    }

    /// The content as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(&self) -> Json {
        let types: &[&str] = if self.images { &IMAGES } else { &[] };
        let responses = self.results.iter().map(|result| response(result, types));
        let asides = self.results.iter().flat_map(ToolResult::asides).flat_map(|aside| parts(aside, types));
        object([("role", Json::string("user")), ("parts", Json::Array(responses.chain(asides).collect()))])
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

fn response(result: &ToolResult, types: &[&str]) -> Json {
    let content = result.content();
    let key = if result.is_error() { "error" } else { "output" };
    let said = object([(key, Json::string(text_beside(content, types)))]);
    let images: Vec<Json> = images(content, types).map(|(media_type, base64)| inline(media_type, base64)).collect();
    let id = given(result.call_id()).map(|id| ("id", Json::string(id)));
    // As it stands in the history.
    let members = [("name", Json::string(NAMES.spell(result.name()))), ("response", said)];
    let images = (!images.is_empty()).then_some(("parts", Json::Array(images)));
    object([("functionResponse", object(id.into_iter().chain(members).chain(images)))])
}

fn inline(media_type: &str, base64: &str) -> Json {
    object([("inlineData", object([("mimeType", Json::string(media_type)), ("data", Json::string(base64))]))])
}

fn parts(content: &Content, types: &[&str]) -> Vec<Json> {
    let image = |media_type: &str, base64: &str| types.contains(&media_type).then(|| inline(media_type, base64));
    parts_of(content, |text| object([("text", Json::string(text))]), image)
}
