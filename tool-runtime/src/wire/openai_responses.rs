//! OpenAI's Responses.
//!
//! ```
//! use tool_runtime::wire::openai_responses;
//!
//! let response = r#"{"status":"completed","output":[
//!     {"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":"{\"a\":1,\"b\":2}"}]}"#;
//! let calls = openai_responses::calls(response)?;
//! assert_eq!(calls[0].id().as_str(), "call_1");
//! # Ok::<(), openai_responses::MessageError>(())
//! ```

mod stream;

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};

pub use super::MessageError;
use super::common::{
    Fail, Listed, Value, array_of, as_text, changed, has_images, identified, ids_of, mended, object, of_id, of_name,
    of_text_arguments, parts_of, reported,
};
use super::export::openai::NAMES;
use crate::call::{Content, ToolCall, ToolResult};
use crate::schema::json::Json;
pub use stream::Stream;

const FORMAT: &str = "Responses";

/// Which images a model may be sent.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The calls of a model's turn, in order: from a whole response, its `output`, or a single item of that.
///
/// A call is its `function_call`, by its name, or `namespace.name` if it is one of a tool in a
/// [namespace](super::export::Namespace); items of other types, such as reasoning and what OpenAI's own tools did, are no
/// calls. If the response isn't `completed`, its last call is marked as possibly cut off, and so is each that says
/// so of itself; these will not run.
///
/// # Errors
/// If the text isn't JSON, or is no response whose calls have names; or with what the provider says if it reports an
/// error.
pub fn calls(response: &str) -> Result<Vec<ToolCall>, MessageError> {
    read_calls(response).map_err(|fail| fail.of(FORMAT))
}

/// What the model says besides: the text of its messages, refusals included, or nothing.
///
/// # Errors
/// As [`calls`].
pub fn text(response: &str) -> Result<String, MessageError> {
    read_text(response).map_err(|fail| fail.of(FORMAT))
}

/// The items of a response as they came, but for what [would be refused](super), as one JSON array: add its elements to
/// the next request's `input`, before the [`messages`] that answer them. Reasoning is among them, without which OpenAI
/// refuses their calls; but for reasoning with nothing behind it, as of a response that was cut off, which it refuses.
///
/// ```
/// use tool_runtime::wire::openai_responses;
///
/// let output = r#"[ {"type":"reasoning","id":"rs_1","summary":[]}, {"role":"assistant","content":"Hi"} ]"#;
/// let response = format!(r#"{{"status":"completed","output":{output}}}"#);
/// assert_eq!(openai_responses::history(&response)?, output);
/// # Ok::<(), openai_responses::MessageError>(())
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
    /// An array of items, or one item.
    output: Value<'a>,
    cut_off: bool,
}

impl<'a> Turn<'a> {
    fn items(&self) -> impl Iterator<Item = Value<'a>> {
        let one = (!self.output.is_array()).then_some(self.output);
        self.output.elements().chain(one)
    }
}

fn turn(text: &str) -> Result<Turn<'_>, Fail> {
    of_response(Value::parse(text)?)
}

fn of_response(root: Value<'_>) -> Result<Turn<'_>, Fail> {
    if root.is_array() {
        return Ok(Turn { output: root, cut_off: false });
    }
    if !root.is_object() {
        return Err(Fail::form("has to be an object, or an array of items"));
    }
    let [output, status, error, kind] = root.members(["output", "status", "error", "type"])?;
    if let Some(error) = error {
        return Err(reported(error));
    }
    if status.is_some_and(|status| status.is("failed")) {
        return Err(Fail::Reported("the response has failed".to_owned()));
    }
    if let Some(output) = output.filter(|output| output.is_array()) {
        return Ok(Turn { output, cut_off: status.is_some_and(|status| !status.is("completed")) });
    }
    // An item by itself says what it is.
    let item = kind.is_some_and(|kind| !kind.is("error")) && output.is_none();
    if item { Ok(Turn { output: root, cut_off: false }) } else { Err(Fail::form("has no `output` that is an array")) }
}

fn read_calls(text: &str) -> Result<Vec<ToolCall>, Fail> {
    let turn = turn(text)?;
    let listed = read_listed(&turn)?.into_iter().flatten().collect();
    Ok(identified(listed, turn.cut_off))
}

/// Of each item, the call that it is.
fn read_listed(turn: &Turn<'_>) -> Result<Vec<Option<Listed>>, Fail> {
    turn.items().enumerate().map(|(index, item)| read_call(index, item)).collect()
}

fn read_history(text: &str) -> Result<String, Fail> {
    let turn = turn(text)?;
    let listed = read_listed(&turn)?;
    let is_call: Vec<bool> = listed.iter().map(Option::is_some).collect();
    let listed: Vec<Listed> = listed.into_iter().flatten().collect();
    let mut ids = ids_of(&listed).into_iter();
    let sent = |(item, is_call)| match is_call {
        true => sent_back(item, &ids.next().unwrap_or_default()),
        false => Cow::Borrowed(item.raw()),
    };
    let mut items: Vec<Cow<'_, str>> = turn.items().zip(is_call).map(sent).collect();
    let all = items.len();
    items.truncate(all - turn.items().fold(0, |behind, item| if is_reasoning(item) { behind + 1 } else { 0 }));
    let output = match turn.output.is_array() && items.len() == all {
        true => array_of(&items).unwrap_or_else(|| turn.output.raw().to_owned()),
        false => format!("[{}]", items.join(",")),
    };
    Ok(mended(&output).into_owned())
}

/// Behind such an item another has to come.
fn is_reasoning(item: Value<'_>) -> bool {
    let [kind] = item.members(["type"]).unwrap_or_default();
    kind.is_some_and(|kind| kind.is("reasoning"))
}

/// A call as it can be sent back.
fn sent_back<'a>(item: Value<'a>, id: &str) -> Cow<'a, str> {
    let [came, name, arguments] = item.members(["call_id", "name", "arguments"]).unwrap_or_default();
    changed(item, [of_id("call_id", came, id), of_name("name", name, NAMES), of_text_arguments("arguments", arguments)])
}

/// The names of tools that the provider's own search has found in this turn, as they were declared, and with their
/// namespaces as [`calls`] has them. Of a
/// [`Stream`], those of its [`history`](Stream::history).
///
/// [`Export::found`](super::export::Export::found) tells which tools these are, to be marked as loaded.
///
/// ```
/// use tool_runtime::wire::openai_responses;
///
/// let response = r#"{"output":[
///     {"type":"tool_search_call","execution":"server","arguments":{"query":"rain"},"status":"completed"},
///     {"type":"tool_search_output","execution":"server","status":"completed","tools":[
///         {"type":"function","name":"get_weather","parameters":{"type":"object"}},
///         {"type":"namespace","name":"crm","tools":[{"type":"function","name":"find_customer"}]}]}]}"#;
/// assert_eq!(openai_responses::found(response)?, ["get_weather", "crm.find_customer"]);
/// # Ok::<(), openai_responses::MessageError>(())
/// ```
///
/// # Errors
/// As [`calls`].
pub fn found(response: &str) -> Result<Vec<String>, MessageError> {
    read_found(response).map_err(|fail| fail.of(FORMAT))
}

fn read_found(text: &str) -> Result<Vec<String>, Fail> {
    let mut found = Vec::new();
    for item in turn(text)?.items() {
        let [kind, tools] = item.members(["type", "tools"])?;
        let tools = tools.filter(|_| kind.is_some_and(|kind| kind.is("tool_search_output")));
        for tool in tools.into_iter().flat_map(Value::elements) {
            // A function, or a namespace of functions.
            let [name, inner] = tool.members(["name", "tools"])?;
            let name = name.and_then(Value::text);
            let Some(inner) = inner else {
                found.extend(name);
                continue;
            };
            for tool in inner.elements() {
                let [own] = tool.members(["name"])?;
                found.extend(own.and_then(Value::text).map(|own| qualified(name.clone(), own)));
            }
        }
    }
    Ok(found)
}

fn read_call(index: usize, item: Value<'_>) -> Result<Option<Listed>, Fail> {
    let [kind, call_id, namespace, name, arguments, status] =
        item.members(["type", "call_id", "namespace", "name", "arguments", "status"])?;
    if !kind.is_some_and(|kind| kind.is("function_call")) {
        return Ok(None);
    }
    let name = name.and_then(Value::text).ok_or_else(|| Fail::Form(format!("`output[{index}]` has no name")))?;
    let mut call = Listed::new(call_id, qualified(namespace.and_then(Value::text), name), arguments);
    call.truncated = status.is_some_and(|status| !status.is("completed"));
    Ok(Some(call))
}

/// The name of a tool together with its namespace. One by the tool's own name says that it is in none: so the calls of
/// tools come that were deferred by themselves.
fn qualified(namespace: Option<String>, name: String) -> String {
    match namespace.filter(|namespace| !namespace.is_empty() && *namespace != name) {
        Some(namespace) => format!("{namespace}.{name}"),
        None => name,
    }
}

fn read_text(text: &str) -> Result<String, Fail> {
    let mut all = String::new();
    for item in turn(text)?.items() {
        let [kind, content] = item.members(["type", "content"])?;
        if !kind.is_some_and(|kind| kind.is("message")) {
            continue;
        }
        for part in content.into_iter().flat_map(Value::elements) {
            let [kind, text, refusal] = part.members(["type", "text", "refusal"])?;
            let is = |name| kind.is_some_and(|kind| kind.is(name));
            let said = if is("output_text") { text } else { refusal.filter(|_| is("refusal")) };
            all.extend(said.and_then(Value::text));
        }
    }
    Ok(all)
}

/// The items that answer a turn, in the order in which they go to the model: one `function_call_output` a call, and
/// behind all of them the asides, as messages of the user.
///
/// ```
/// # use tool_runtime::{AllowAll, Harness, Registry, ToolCall};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let harness = Harness::new(Registry::builder().build()?, AllowAll);
/// use tool_runtime::wire::openai_responses;
///
/// let results = harness.run([ToolCall::new("call_1", "ad", "{}")]).await;
/// let item = openai_responses::messages(&results)[0].to_json();
/// assert!(item.starts_with(r#"{"type":"function_call_output","call_id":"call_1","output":""#));
/// # Ok::<(), tool_runtime::RegistryError>(())
/// # }).unwrap();
/// ```
pub fn messages(results: &[ToolResult]) -> Vec<Message<'_>> {
    let asides = results.iter().flat_map(ToolResult::asides).map(Message::Aside);
    results.iter().map(Message::Output).chain(asides).collect()
}

/// An item of the next request's `input`; see [`messages`].
///
/// This format has no flag for errors: what went wrong stands in the text. PNG, JPEG, WebP and GIF images are sent,
/// others are named.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Message<'a> {
    /// What answers a call.
    Output(&'a ToolResult),
    /// What is said besides.
    Aside(&'a Content),
}

impl Message<'_> {
    /// The item as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(&self) -> Json {
        match self {
            Message::Output(result) => object([
                ("type", Json::string("function_call_output")),
                ("call_id", Json::string(result.call_id().as_str())),
                ("output", content(result.content())),
            ]),
            Message::Aside(aside) => object([("role", Json::string("user")), ("content", content(aside))]),
        }
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// Text, or parts if there is an image.
fn content(content: &Content) -> Json {
    if !has_images(content, &IMAGES) {
        return Json::string(as_text(content));
    }
    let text = |text: &str| object([("type", Json::string("input_text")), ("text", Json::string(text))]);
    let image = |media_type: &str, base64: &str| {
        IMAGES.contains(&media_type).then(|| {
            object([
                ("type", Json::string("input_image")),
                ("detail", Json::string("auto")),
                ("image_url", Json::string(format!("data:{media_type};base64,{base64}"))),
            ])
        })
    };
    Json::Array(parts_of(content, text, image))
}
