//! One message as a peer wrote it: what `rmcp` is to read of it, and a call's arguments as they stand.

use std::borrow::Cow;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetExtensions, JsonRpcMessage};

use crate::call::RawArguments;
use crate::schema::text;
use crate::wire::{Fail, Value};

/// A message that a server received.
#[derive(Debug)]
pub(super) enum Received {
    /// `rmcp` can read it.
    Message {
        message: Box<ClientJsonRpcMessage>,
        /// Of a request: its id as it stands.
        id: Option<String>,
    },
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
    /// For `rmcp`: without the arguments, unless they are to stay.
    text: Cow<'a, str>,
    /// Of a request.
    id: Option<&'a str>,
    method: Option<String>,
    /// Of a call.
    arguments: Option<RawArguments>,
}

impl<'a> Envelope<'a> {
    /// Cuts a message up. With `keep`, arguments that `rmcp` can read stay in what it gets, for whoever compares them
    /// with headers.
    pub(super) fn open(bytes: &'a [u8], keep: bool) -> Result<Self, Refusal> {
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
        Self::of_object(text, value, keep)
    }

    fn of_object(text: &'a str, value: Value<'a>, keep: bool) -> Result<Self, Refusal> {
        let twice = |_| Refusal::new(found_id(text.as_bytes()), ErrorCode::INVALID_REQUEST, "a member is given twice");
        let mut has_id = false;
        for (key, _) in value.entries() {
            has_id |= key.name() == "id";
        }
        let [id, method, params] = value.members(["id", "method", "params"]).map_err(twice)?;
        let Some(method) = method else {
            // A response, if anything.
            return Ok(Envelope { text: text.into(), id: None, method: None, arguments: None });
        };
        let id = match id {
            Some(id) if is_id(id) => Some(id.raw()),
            None if !has_id => None,
            _ => {
                let what = "`id` has to be text or an integer of 64 bits";
                return Err(Refusal::new(None, ErrorCode::INVALID_REQUEST, what));
            }
        };
        let refuse = |code, message: &str| Err(Refusal::new(id, code, message));
        let Some(method) = method.text() else {
            return refuse(ErrorCode::INVALID_REQUEST, "`method` has to be text");
        };
        if method != "tools/call" || id.is_none() {
            return Ok(Envelope { text: text.into(), id, method: Some(method), arguments: None });
        }
        let Some(params) = params.filter(|params| params.is_object()) else {
            return refuse(ErrorCode::INVALID_PARAMS, "`params` has to be an object with the `name` of a tool");
        };
        let Ok([name, arguments]) = params.members(["name", "arguments"]) else {
            return refuse(ErrorCode::INVALID_PARAMS, "`name` or `arguments` is given twice");
        };
        if name.and_then(Value::text).is_none() {
            return refuse(ErrorCode::INVALID_PARAMS, "`name` has to be the name of a tool");
        }
        let Some(arguments) = arguments else {
            let arguments = Some(RawArguments::absent());
            return Ok(Envelope { text: text.into(), id, method: Some(method), arguments });
        };
        let stays = keep && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments.raw()).is_ok();
        let text = match stays {
            true => text.into(),
            false => without(text, arguments.raw()).into(),
        };
        // The value itself: text that looks like an object is text here, and refused as such.
        let arguments = Some(RawArguments::from(arguments.raw()));
        Ok(Envelope { text, id, method: Some(method), arguments })
    }

    /// Has `rmcp` read it.
    pub(super) fn read(self) -> Received {
        let message = match serde_json::from_str::<ClientJsonRpcMessage>(&self.text) {
            Ok(message) => message,
            Err(error) => return self.unread(&error.to_string()),
        };
        match message {
            JsonRpcMessage::Request(mut request) => {
                if matches!(request.request, ClientRequest::CustomRequest(_)) && self.is_known() {
                    return self.unread("its parameters aren't what the method takes");
                }
                if let Some(arguments) = self.arguments {
                    request.request.extensions_mut().insert(arguments);
                }
                let message = Box::new(JsonRpcMessage::Request(request));
                Received::Message { message, id: self.id.map(str::to_owned) }
            }
            // A request whose parameters can't be read must not pass as something that nobody answers.
            _ if self.id.is_some() => self.unread("its parameters aren't what the method takes"),
            message => Received::Message { message: Box::new(message), id: None },
        }
    }

    /// What `rmcp` is to read, and the arguments for whoever is to have them.
    pub(super) fn into_parts(self) -> (String, Option<RawArguments>) {
        (self.text.into_owned(), self.arguments)
    }

    fn is_known(&self) -> bool {
        self.method.as_deref().is_some_and(|method| READ.contains(&method))
    }

    fn unread(self, why: &str) -> Received {
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

/// Ids that can be sent back: text, and integers that `rmcp` keeps.
fn is_id(id: Value<'_>) -> bool {
    id.escaped().is_some_and(|_| serde_json::from_str::<String>(id.raw()).is_ok()) || id.raw().parse::<i64>().is_ok()
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
        match Envelope::open(text.as_bytes(), false).map(Envelope::read) {
            Err(refusal) | Ok(Received::Refused(refusal)) => refusal,
            Ok(other) => panic!("{text}: {other:?}"),
        }
    }

    fn arguments(text: &str) -> String {
        match Envelope::open(text.as_bytes(), false).map(Envelope::read) {
            Ok(Received::Message { message, .. }) => match *message {
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
            let received = Envelope::open(text.as_bytes(), false).map(Envelope::read);
            assert!(matches!(received, Ok(Received::Ignored(_))), "{text}: {received:?}");
        }
    }
}
