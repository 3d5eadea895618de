//! One message as a peer wrote it: what `rmcp` is to read of it, and a call's arguments as they stand.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode, GetExtensions,
    JsonRpcMessage, RequestId, RequestMetaObject,
};

use crate::call::RawArguments;
use crate::schema::text;
use crate::wire::{Fail, Value};

/// A message that a server received.
#[derive(Debug)]
pub(super) enum Received {
    /// It can be read.
    Message(Box<ClientJsonRpcMessage>),
    /// It has to be answered with an error.
    Refused(Refusal),
    /// Nobody waits for an answer: a notification or a response that can't be read.
    Ignored(&'static str),
}

/// What can't be taken, and what is to be said about it.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The id as it stands, if there is one.
    pub(super) id: Option<String>,
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    fn new(id: Option<&str>, code: ErrorCode, message: impl Into<String>) -> Self {
        Refusal { id: id.map(str::to_owned), code, message: message.into() }
    }

    /// The answer, as JSON-RPC has it.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::from(r#"{"jsonrpc":"2.0","id":"#);
        out.push_str(self.id.as_deref().unwrap_or("null"));
        out.push_str(r#","error":{"code":"#);
        out.push_str(&self.code.0.to_string());
        out.push_str(r#","message":"#);
        crate::schema::json::write_string(&mut out, &self.message);
        out.push_str("}}");
        out
    }
}

/// Methods whose parameters `rmcp` reads; of others it doesn't know what is in them.
const READ: [&str; 4] = ["server/discover", "subscriptions/listen", "tools/call", "tools/list"];

/// A message cut up, before anybody reads what is in it.
#[derive(Debug, Clone)]
pub(super) struct Envelope<'a> {
    text: &'a str,
    /// Of a request.
    id: Option<&'a str>,
    method: Option<Cow<'a, str>>,
    /// Of a call.
    call: Option<Call<'a>>,
}

/// What is in a call.
#[derive(Debug, Clone, Copy)]
struct Call<'a> {
    name: Value<'a>,
    arguments: Option<Value<'a>>,
    meta: Option<Value<'a>>,
    /// The message has no members but those that most calls have.
    is_plain: bool,
}

impl<'a> Envelope<'a> {
    /// Cuts a message up.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("not UTF-8: byte {}", error.valid_up_to());
                return Err(Refusal::new(found_id(bytes), ErrorCode::PARSE_ERROR, message));
            }
        };
        let value = Value::parse(text).map_err(|fail| {
            let message = match fail {
                Fail::Syntax { what, line, column } => format!("not valid JSON: {what} (line {line}, column {column})"),
                _ => "not valid JSON".to_owned(),
            };
            Refusal::new(found_id(bytes), ErrorCode::PARSE_ERROR, message)
        })?;
        if !value.is_object() {
            return Err(Refusal::new(None, ErrorCode::INVALID_REQUEST, "a message has to be an object"));
        }
        Self::of_object(text, value)
    }

    fn of_object(text: &'a str, value: Value<'a>) -> Result<Self, Refusal> {
        let twice = |_| Refusal::new(found_id(text.as_bytes()), ErrorCode::INVALID_REQUEST, "a member is given twice");
        let [id, method, params, version] = value.members(["id", "method", "params", "jsonrpc"]).map_err(twice)?;
        let Some(method) = method else {
            // A response, if anything.
            return Ok(Envelope { text, id: None, method: None, call: None });
        };
        let id = match id {
            Some(id) if is_id(id) => Some(id.raw()),
            None if value.entries().all(|(key, _)| key.name() != "id") => None,
            _ => {
                let what = "`id` has to be text or an integer of 64 bits";
                return Err(Refusal::new(None, ErrorCode::INVALID_REQUEST, what));
            }
        };
        let refuse = |code, message: &str| Err(Refusal::new(id, code, message));
        let method = match method.escaped() {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            Some(_) => Cow::Owned(method.text().unwrap_or_default()),
            None => return refuse(ErrorCode::INVALID_REQUEST, "`method` has to be text"),
        };
        if method != "tools/call" || id.is_none() {
            return Ok(Envelope { text, id, method: Some(method), call: None });
        }
        let Some(params) = params.filter(|params| params.is_object()) else {
            return refuse(ErrorCode::INVALID_PARAMS, "`params` has to be an object with the `name` of a tool");
        };
        let Ok([name, arguments, meta]) = params.members(["name", "arguments", "_meta"]) else {
            return refuse(ErrorCode::INVALID_PARAMS, "`name`, `arguments` or `_meta` is given twice");
        };
        let Some(name) = name.filter(|name| name.escaped().is_some()) else {
            return refuse(ErrorCode::INVALID_PARAMS, "`name` has to be the name of a tool");
        };
        let known = [Some(name), arguments, meta].iter().flatten().count();
        let is_plain = version.is_some_and(|version| version.is("2.0"))
            && value.entries().count() == 4
            && params.entries().count() == known;
        let call = Some(Call { name, arguments, meta, is_plain });
        Ok(Envelope { text, id, method: Some(method), call })
    }

    /// Has `rmcp` read it, unless it is a call like most: reading those once is enough.
    pub(super) fn read(&self) -> Received {
        if let Some(message) = self.plain_call() {
            return Received::Message(Box::new(message));
        }
        let message = match serde_json::from_str::<ClientJsonRpcMessage>(&self.for_rmcp(false)) {
            Ok(message) => message,
            Err(error) => return self.unread(&error.to_string()),
        };
        match message {
            JsonRpcMessage::Request(mut request) => {
                if matches!(request.request, ClientRequest::CustomRequest(_)) && self.is_known() {
                    return self.unread("its parameters aren't what the method takes");
                }
                if let Some(arguments) = self.arguments() {
                    request.request.extensions_mut().insert(arguments);
                }
                Received::Message(Box::new(JsonRpcMessage::Request(request)))
            }
            // A request whose parameters can't be read must not pass as something that nobody answers.
            _ if self.id.is_some() => self.unread("its parameters aren't what the method takes"),
            message => Received::Message(Box::new(message)),
        }
    }

    /// A call with a name, arguments and metadata, and nothing else.
    fn plain_call(&self) -> Option<ClientJsonRpcMessage> {
        let call = self.call.filter(|call| call.is_plain)?;
        let id = request_id(self.id?)?;
        let mut request = CallToolRequest::new(CallToolRequestParams::new(string(call.name)?));
        if let Some(meta) = call.meta {
            request.extensions.insert(serde_json::from_str::<RequestMetaObject>(meta.raw()).ok()?);
        }
        request.extensions.insert(self.arguments()?);
        Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
    }

    /// Of a call: its arguments as they were sent. Text that looks like an object is text here, and refused as such.
    pub(super) fn arguments(&self) -> Option<RawArguments> {
        let arguments = self.call?.arguments;
        Some(arguments.map_or_else(RawArguments::absent, |arguments| RawArguments::from(arguments.raw())))
    }

    /// What `rmcp` is to read: without the arguments. With `keep`, those that `rmcp` can read stay, for whoever compares
    /// them with headers.
    pub(super) fn for_rmcp(&self, keep: bool) -> Cow<'a, str> {
        let Some(arguments) = self.call.and_then(|call| call.arguments) else { return self.text.into() };
        let readable = || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments.raw()).is_ok();
        if keep && readable() { self.text.into() } else { without(self.text, arguments.raw()).into() }
    }

    fn is_known(&self) -> bool {
        self.method.as_deref().is_some_and(|method| READ.contains(&method))
    }

    fn unread(&self, why: &str) -> Received {
        match self.id {
            Some(id) => {
                let code = if self.is_known() { ErrorCode::INVALID_PARAMS } else { ErrorCode::INVALID_REQUEST };
                let message = format!("the message can't be read: {}", text::visible(why, 200));
                Received::Refused(Refusal::new(Some(id), code, message))
            }
            None => Received::Ignored("a notification or a response that can't be read"),
        }
    }
}

/// `part` is a slice of `text`. Puts an empty object there.
fn without(text: &str, part: &str) -> String {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    let mut out = String::with_capacity(text.len() - part.len() + 2);
    out.push_str(&text[..start]);
    out.push_str("{}");
    out.push_str(&text[start + part.len()..]);
    out
}

/// The characters of a string, if all of them are some.
fn string(value: Value<'_>) -> Option<String> {
    match value.escaped()? {
        plain if !plain.contains('\\') => Some(plain.to_owned()),
        _ => serde_json::from_str(value.raw()).ok(),
    }
}

/// An id as `rmcp` keeps it: text, or an integer of 64 bits.
fn request_id(raw: &str) -> Option<RequestId> {
    match raw.parse() {
        Ok(number) => Some(RequestId::Number(number)),
        Err(_) => string(Value::beginning(raw)).map(|text| RequestId::String(text.into())),
    }
}

/// Ids that can be sent back.
fn is_id(id: Value<'_>) -> bool {
    id.raw().parse::<i64>().is_ok() || string(id).is_some()
}

/// The id of what is no JSON, if it stands before the place where it stops being JSON.
pub(super) fn found_id(bytes: &[u8]) -> Option<&str> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?,
    };
    let object = valid.trim_start();
    object.starts_with('{').then_some(())?;
    let mut ids = Value::beginning(object).entries().filter(|(key, _)| key.name() == "id").map(|(_, value)| value);
    let id = ids.next()?;
    // Twice: which of them it is nobody can tell.
    (ids.next().is_none() && is_id(id)).then_some(id.raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Refusal {
        match Envelope::open(text.as_bytes()).map(|envelope| envelope.read()) {
            Err(refusal) | Ok(Received::Refused(refusal)) => refusal,
            Ok(other) => panic!("{text}: {other:?}"),
        }
    }

    fn arguments(text: &str) -> String {
        match Envelope::open(text.as_bytes()).map(|envelope| envelope.read()) {
            Ok(Received::Message(message)) => match *message {
                JsonRpcMessage::Request(request) => match request.request.extensions().get::<RawArguments>() {
                    Some(arguments) => arguments.to_string_lossy().into_owned(),
                    None => panic!("{text}: no arguments"),
                },
                other => panic!("{text}: {other:?}"),
            },
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn b37_b38_b45_arguments_stay_as_they_were_sent() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for sent in [
            r#"{"n": 1e400}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"n":9007199254740993,"n":1.0}"#,
            "[1]",
            r#""{\"a\":1}""#,
            "7",
            &deep,
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{sent},"name":"t"}}}}"#
            );
            assert_eq!(arguments(&text), sent);
        }
        assert_eq!(arguments(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#), "");
        assert_eq!(
            arguments(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":null}}"#),
            ""
        );
    }

    #[test]
    fn i03_what_cant_be_read_is_refused_with_the_id_that_it_has() {
        for (text, id, code) in [
            ("not json", None, -32700),
            ("", None, -32700),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"#, Some("7"), -32700),
            (r#"{"jsonrpc":"2.0","id":"a\nb","method":}"#, Some(r#""a\nb""#), -32700),
            ("[]", None, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, None, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None, -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some("1"), -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Some("1"), -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, Some("1"), -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, Some("1"), -32602),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","requestState":7}}"#,
                Some("1"),
                -32602,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, Some("1"), -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#, Some("1"), -32602),
        ] {
            let refusal = refused(text);
            assert_eq!((refusal.id.as_deref(), refusal.code.0), (id, code), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(&refusal.to_json()).is_ok(), "{}", refusal.to_json());
        }
    }

    #[test]
    fn what_nobody_waits_for_is_ignored() {
        for text in [r#"{"jsonrpc":"2.0","result":7}"#, r#"{"jsonrpc":"2.0"}"#, "{}"] {
            let received = Envelope::open(text.as_bytes()).map(|envelope| envelope.read());
            assert!(matches!(received, Ok(Received::Ignored(_))), "{text}: {received:?}");
        }
    }
}
