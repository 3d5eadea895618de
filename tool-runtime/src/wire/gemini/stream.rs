use std::borrow::Cow;

use super::pieces::Pieces;
use super::{FORMAT, MessageError, Miscall, NAMES, chunk, cuts_off, sent_back};
use crate::call::CallId;
use crate::call::ToolCall;
use crate::schema::json::write_string;
use crate::wire::common::{
    Fail, Gathered, Kept, Listed, NOTHING, Value, assembled, given, id_of, identified, ids, mended, quoted,
};

/// A response that comes in pieces, put together: push the `data` of each event, and finish.
///
/// ```
/// use tool_runtime::wire::gemini::{MessageError, Stream};
///
/// let mut stream = Stream::new();
/// for data in [
///     r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see."}]}}]}"#,
///     r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"add","args":{"a":1}}}]},
///         "finishReason":"STOP"}]}"#,
/// ] {
///     stream.push(data)?;
/// }
/// assert_eq!(stream.text(), "Let me see.");
/// assert_eq!(stream.finish()[0].name(), "add");
/// # Ok::<(), MessageError>(())
/// ```
///
/// Calls come whole, so a stream that ends early has those that came; or with `streamFunctionCallArguments` each in
/// parts of its own (`willContinue`), whose `partialArgs` are put together. Of these, one is marked as possibly cut off
/// whose end did not come, or of whose values one did not; and all calls are if something could not be read, such as a
/// piece of which it can't be told to what it belongs.
#[derive(Clone, Default)]
pub struct Stream {
    calls: Vec<Call>,
    /// Of which of them more is to come: of one, as a rule, of however many.
    going: Vec<usize>,
    parts: Vec<Part>,
    text: Gathered,
    miscall: Option<Miscall>,
    cut_off: bool,
    broken: bool,
    kept: Kept,
}

#[derive(Clone)]
struct Call {
    listed: Listed,
    /// What it is made of, if it comes in parts.
    pieces: Option<Pieces>,
    /// Which part it began with.
    part: usize,
}

#[derive(Clone)]
enum Part {
    AsItCame(String),
    /// A call that came whole.
    WholeCall(String),
    /// A call that comes in parts, and what stood beside it in these, such as its signature.
    Call {
        at: usize,
        beside: Vec<(String, String)>,
    },
}

assembled! {
    /// The `data` of the next event.
    ///
    /// # Errors
    /// If it isn't of this format, if the provider reports an error, or if the stream keeps more than 256 MiB.
    push;
    /// What the model has said so far, without its thoughts.
    text;
}

impl Stream {
    /// Of a response that is there already, so that there is nothing to bound.
    pub(super) fn of_whole() -> Self {
        Stream { kept: Kept::unbounded(), ..Stream::default() }
    }

    /// The calls, in order.
    pub fn finish(mut self) -> Vec<ToolCall> {
        for at in self.going {
            if let Some(call) = self.calls.get_mut(at) {
                call.listed.truncated = true;
            }
        }
        let broken = self.broken;
        let listed = |call: Call| {
            let mut listed = call.listed;
            listed.truncated |= broken;
            if let Some(pieces) = &call.pieces {
                listed.truncated |= !pieces.are_whole();
                listed.arguments = pieces.to_json().into();
            }
            listed
        };
        identified(self.calls.into_iter().map(listed).collect(), self.cut_off)
    }

    /// The content for the next request's `contents`, as [`history`](super::history) gives it for a whole response:
    /// all parts as they came, and a call that came in parts as one, as far as it got.
    pub fn history(&self) -> String {
        // Each call has one part, in the same order.
        let mut ids = self.ids().into_iter();
        let mut part = |part: &Part| match part {
            Part::AsItCame(raw) => mended(raw).into_owned(),
            Part::WholeCall(raw) => {
                let id = ids.next().unwrap_or_default();
                let sent = Value::parse(raw).map(|part| sent_back(part, &id));
                mended(&sent.unwrap_or_else(|_| raw.into())).into_owned()
            }
            Part::Call { at, beside } => {
                let id = CallId::from(ids.next().unwrap_or_default());
                let mut json = String::from(r#"{"functionCall":{"#);
                if let Some(Call { listed, pieces, .. }) = self.calls.get(*at) {
                    if let Some(id) = given(&id) {
                        json.push_str(r#""id":"#);
                        write_string(&mut json, id);
                        json.push(',');
                    }
                    json.push_str(r#""name":"#);
                    write_string(&mut json, &NAMES.spell(&listed.name));
                    json.push_str(r#","args":"#);
                    json.push_str(&pieces.as_ref().map_or_else(|| "{}".to_owned(), Pieces::to_json));
                }
                json.push('}');
                beside.iter().for_each(|(key, value)| json.extend([",\"", key, "\":", value]));
                json.push('}');
                mended(&json).into_owned()
            }
        };
        let mut parts: Vec<String> = self.parts.iter().map(&mut part).collect();
        if parts.is_empty() {
            let said = self.miscall().and_then(Miscall::said).unwrap_or(NOTHING);
            parts.push(format!(r#"{{"text":{}}}"#, quoted(said)));
        }
        format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(","))
    }

    /// Why a turn that looks empty has no call, as [`miscall`](super::miscall) has it for a whole response.
    pub fn miscall(&self) -> Option<&Miscall> {
        self.miscall.as_ref().filter(|_| self.calls.is_empty())
    }

    /// The identifiers of the calls.
    fn ids(&self) -> Vec<String> {
        let given: Vec<Option<&str>> = self.calls.iter().map(|call| call.listed.id.as_deref()).collect();
        ids(&given)
    }

    /// The parts go into the history as they came.
    pub(super) fn is_sent_as_it_came(&self) -> bool {
        let mut ids = self.ids().into_iter();
        self.parts.iter().all(|part| match part {
            Part::AsItCame(_) => true,
            Part::WholeCall(raw) => {
                let id = ids.next().unwrap_or_default();
                Value::parse(raw).is_ok_and(|part| matches!(sent_back(part, &id), Cow::Borrowed(_)))
            }
            Part::Call { .. } => false,
        })
    }

    fn read(&mut self, data: &str) -> Result<(), Fail> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        self.take(Value::parse(data)?)
    }

    pub(super) fn take(&mut self, part: Value<'_>) -> Result<(), Fail> {
        let chunk = chunk(part)?;
        let [parts] = chunk.content.map(|content| content.members(["parts"])).transpose()?.unwrap_or_default();
        for part in parts.into_iter().flat_map(Value::elements) {
            let [call, text, thought] = part.members(["functionCall", "text", "thought"])?;
            self.kept.add(128 + 2 * part.raw().len())?;
            if let Some(text) = text.filter(|_| !thought.is_some_and(Value::is_true)).and_then(Value::escaped) {
                self.text.push_escaped(text);
            }
            match call {
                Some(call) => self.take_call(part, call)?,
                None => self.parts.push(Part::AsItCame(part.raw().to_owned())),
            }
        }
        if let Some(reason) = chunk.stopped {
            self.kept.add(chunk.said.map_or(0, |said| said.raw().len()))?;
            self.miscall = Miscall::of(reason, chunk.said).or(self.miscall.take());
            self.cut_off |= cuts_off(reason);
        }
        Ok(())
    }

    fn take_call(&mut self, part: Value<'_>, call: Value<'_>) -> Result<(), Fail> {
        let [id, name, args, pieces, more] = call.members(["id", "name", "args", "partialArgs", "willContinue"])?;
        let (id, name) = (id.and_then(id_of), name.and_then(Value::text));
        let goes_on = more.is_some_and(Value::is_true);
        let wrong = |at: usize, what: &str| Fail::Form(format!("call {at} {what}"));
        if pieces.is_some_and(|pieces| !pieces.is_array()) {
            return Err(wrong(self.calls.len(), "has `partialArgs` that are no array"));
        }
        let at = match (self.begun(id.as_deref(), name.as_deref())?, name) {
            (Some(at), _) => at,
            (None, None) => return Err(wrong(self.calls.len(), "has no name")),
            (None, Some(name)) => {
                let at = self.calls.len();
                let in_parts = goes_on || pieces.is_some();
                let arguments = args.filter(|_| !in_parts);
                let listed = Listed { id: id.clone(), ..Listed::new(None, name, arguments) };
                let pieces = in_parts.then(Pieces::new);
                self.calls.push(Call { listed, pieces, part: self.parts.len() });
                self.parts.push(match in_parts {
                    true => Part::Call { at, beside: Vec::new() },
                    false => Part::WholeCall(part.raw().to_owned()),
                });
                at
            }
        };
        let Some(begun) = self.calls.get_mut(at) else { return Ok(()) };
        let Some(known) = &mut begun.pieces else { return Ok(()) };
        if begun.listed.id.is_none() {
            begun.listed.id = id;
        }
        self.going.retain(|&other| other != at);
        self.going.extend(goes_on.then_some(at));
        let mut read = || {
            args.map_or(Ok(()), |args| known.begin_with(args, &mut self.kept))?;
            pieces.into_iter().flat_map(Value::elements).try_for_each(|piece| known.put(piece, &mut self.kept))
        };
        read().map_err(|fail| match fail {
            Fail::Form(what) => wrong(at, &what),
            fail => fail,
        })?;
        for (key, value) in part.entries().filter(|(key, _)| !key.is("functionCall")) {
            if let Some(Part::Call { beside, .. }) = self.parts.get_mut(begun.part)
                && beside.iter().all(|(known, _)| known != key.raw())
            {
                beside.push((key.raw().to_owned(), value.raw().to_owned()));
            }
        }
        Ok(())
    }

    /// Which of the calls that go on a part belongs to; `None` if it begins one.
    ///
    /// # Errors
    /// If that can't be told. What would be put together then, nobody might have written.
    fn begun(&self, id: Option<&str>, name: Option<&str>) -> Result<Option<usize>, Fail> {
        let going = || self.going.iter().filter_map(|&at| Some((at, self.calls.get(at)?)));
        let alone = || going().next().filter(|_| self.going.len() == 1);
        let found = match (id, name) {
            (Some(id), name) => {
                let same = going().find(|(_, call)| call.listed.id.as_deref() == Some(id));
                let nameless = || alone().filter(|(_, call)| call.listed.id.is_none() && name.is_none());
                same.or_else(nameless)
            }
            (None, Some(name)) if going().any(|(_, call)| call.listed.name == name) => {
                return Err(Fail::Form(format!("call {} begins before one of its name has ended", self.calls.len())));
            }
            (None, Some(_)) => None,
            (None, None) if self.going.len() > 1 => {
                return Err(Fail::form("has a part of one of several calls that go on"));
            }
            (None, None) => alone(),
        };
        Ok(found.map(|(at, _)| at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let mut stream = Stream { kept: Kept::at_most(2_000), ..Stream::new() };
        let piece = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{}}}]}}]}"#;
        let error = (0..100).find_map(|_| stream.push(piece).err()).unwrap();
        assert_eq!(error.to_string(), "Gemini: the stream is longer than 2000 bytes");
        assert!(stream.finish().iter().all(ToolCall::is_truncated));
    }
}
