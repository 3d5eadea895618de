use super::{FORMAT, MessageError, NAMES, cuts_off};
use crate::call::ToolCall;
use crate::schema::json::write_string;
use crate::wire::common::{
    Fail, Gathered, Kept, Listed, Places, Value, assembled, id_of, identified, ids, mended, reported, text_arguments,
};

/// A response that comes in pieces, put together: push the `data` of each event, and finish.
///
/// ```
/// use tool_runtime::wire::openai_chat::{MessageError, Stream};
///
/// let mut stream = Stream::new();
/// for data in [
///     r#"{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[
///         {"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":""}}]}}]}"#,
///     r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1,"}}]}}]}"#,
///     r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\":2}"}}]}}]}"#,
///     r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
///     "[DONE]",
/// ] {
///     stream.push(data)?;
/// }
/// let calls = stream.finish();
/// assert_eq!(calls[0].arguments().to_string_lossy(), r#"{"a":1,"b":2}"#);
/// # Ok::<(), MessageError>(())
/// ```
///
/// A call whose end did not come is marked as possibly cut off, and will not run; so are all calls of a stream that
/// ended without `finish_reason` and `[DONE]`, and all if something could not be read.
#[derive(Clone, Default)]
pub struct Stream {
    calls: Places<Call>,
    text: Gathered,
    /// The text is that of a refusal.
    refused: bool,
    extras: Extras,
    ended: bool,
    cut_off: bool,
    broken: bool,
    kept: Kept,
}

#[derive(Clone, Default)]
struct Call {
    id: Option<String>,
    name: Option<String>,
    arguments: Gathered,
    extras: Extras,
}

assembled! {
    /// The `data` of the next event.
    ///
    /// # Errors
    /// If it isn't of this format, if the provider reports an error, or if the stream keeps more than 256 MiB.
    push;
    /// What the model has said so far.
    text;
}

impl Stream {
    /// The calls, in order.
    pub fn finish(self) -> Vec<ToolCall> {
        let whole = self.ended && !self.broken;
        let cut_off = self.cut_off;
        let listed = self.calls.in_order().into_iter().map(|call| Listed {
            id: call.id.clone(),
            name: call.name.clone().unwrap_or_default(),
            arguments: call.arguments.clone().into_arguments(),
            truncated: !whole,
        });
        identified(listed.collect(), cut_off)
    }

    /// The assistant message for the next request's `messages`, as [`history`](super::history) gives it for a
    /// whole response. What else came with the pieces (`reasoning_content`, `extra_content`) is in it.
    pub fn history(&self) -> String {
        let calls = self.calls.in_order();
        let mut json = String::from(r#"{"role":"assistant","content":"#);
        match self.text.as_str() {
            "" if !calls.is_empty() => json.push_str("null"),
            text if self.refused => {
                json.push_str(r#"null,"refusal":"#);
                write_string(&mut json, text);
            }
            text => write_string(&mut json, text),
        }
        self.extras.write(&mut json);
        let given: Vec<Option<&str>> = calls.iter().map(|call| call.id.as_deref()).collect();
        for (index, (call, id)) in calls.iter().zip(ids(&given)).enumerate() {
            json.push_str(if index == 0 { r#","tool_calls":[{"id":"# } else { r#",{"id":"# });
            write_string(&mut json, &id);
            json.push_str(r#","type":"function","function":{"name":"#);
            write_string(&mut json, &NAMES.spell(call.name.as_deref().unwrap_or_default()));
            json.push_str(r#","arguments":"#);
            write_string(&mut json, &text_arguments(call.arguments.as_str()));
            json.push('}');
            call.extras.write(&mut json);
            json.push('}');
        }
        json.push_str(if calls.is_empty() { "}" } else { "]}" });
        json
    }

    fn read(&mut self, data: &str) -> Result<(), Fail> {
        match data.trim() {
            "" => return Ok(()),
            "[DONE]" => {
                self.ended = true;
                return Ok(());
            }
            _ => {}
        }
        let event = Value::parse(data)?;
        let [choices, error] = event.members(["choices", "error"])?;
        if let Some(error) = error {
            return Err(reported(error));
        }
        if !event.is_object() || choices.is_some_and(|choices| !choices.is_array()) {
            return Err(Fail::form("has to be an object with `choices`"));
        }
        for choice in choices.into_iter().flat_map(Value::elements) {
            let [index, delta, stopped] = choice.members(["index", "delta", "finish_reason"])?;
            // As of a whole response, the first choice counts.
            if index.and_then(Value::as_index).unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = delta {
                self.read_delta(delta)?;
            }
            // Some servers say "" as long as it goes on.
            if let Some(reason) = stopped.filter(|reason| !reason.is("")) {
                self.ended = true;
                self.cut_off |= cuts_off(reason);
            }
        }
        Ok(())
    }

    fn read_delta(&mut self, delta: Value<'_>) -> Result<(), Fail> {
        let [content, refusal, listed] = delta.members(["content", "refusal", "tool_calls"])?;
        for part in content.into_iter().flat_map(|content| content.elements().chain([content])) {
            let [text] = part.members(["text"])?;
            if let Some(text) = text.unwrap_or(part).escaped() {
                self.kept.add(text.len())?;
                self.text.push_escaped(text);
            }
        }
        if let Some(text) = refusal.and_then(Value::escaped) {
            self.kept.add(text.len())?;
            self.text.push_escaped(text);
            self.refused |= !text.is_empty();
        }
        self.extras.read(delta, &["role", "content", "refusal", "tool_calls"], &mut self.kept)?;
        for call in listed.into_iter().flat_map(Value::elements) {
            self.read_call(call)?;
        }
        Ok(())
    }

    fn read_call(&mut self, delta: Value<'_>) -> Result<(), Fail> {
        let [index, id, function] = delta.members(["index", "id", "function"])?;
        let function = function.map(|function| function.members(["name", "arguments"])).transpose()?;
        let [name, arguments] = function.unwrap_or_default();
        let id = id.and_then(id_of);
        let name = name.and_then(Value::text).filter(|name| !name.is_empty());
        // Some servers leave the index out, and some count every call as the first; then a name beside an identifier
        // of its own begins a call.
        let index = index.and_then(Value::as_index);
        let goes_on = |call: &Call| name.is_none() || id.is_none() || call.id.is_none() || call.id == id;
        let known = if index.is_some() || name.is_none() { self.calls.find(index) } else { None };
        let known = known.filter(|&place| self.calls.get(place).is_some_and(goes_on));
        let place = match known {
            Some(place) => place,
            None => {
                self.kept.add(256)?;
                self.calls.begin(index, Call::default())
            }
        };
        let Some(call) = self.calls.get_mut(place) else { return Ok(()) };
        for (part, slot) in [(id, &mut call.id), (name, &mut call.name)] {
            if let (Some(part), None) = (part, &slot) {
                self.kept.add(part.len())?;
                *slot = Some(part);
            }
        }
        if let Some(arguments) = arguments {
            self.kept.add(arguments.raw().len())?;
            match arguments.escaped() {
                Some(piece) => call.arguments.push_escaped(piece),
                None => call.arguments.push(arguments.raw()),
            }
        }
        call.extras.read(delta, &["index", "id", "type", "function"], &mut self.kept)
    }
}

/// What comes with pieces beside what the format has, such as a model's reasoning or signatures. Some servers want it
/// back.
#[derive(Clone, Default)]
struct Extras(Vec<(String, Extra)>);

#[derive(Clone)]
enum Extra {
    Text(Gathered),
    Elements(Vec<String>),
    Other(String),
}

impl Extras {
    fn read(&mut self, piece: Value<'_>, without: &[&str], kept: &mut Kept) -> Result<(), Fail> {
        for (key, value) in piece.entries() {
            if without.iter().any(|name| key.is(name)) || value.raw() == "null" {
                continue;
            }
            kept.add(value.raw().len() + key.raw().len())?;
            let name = Gathered::of_escaped(key.raw()).into_text();
            let known = self.0.iter_mut().find(|(known, _)| *known == name).map(|(_, extra)| extra);
            match (known, value.escaped()) {
                (Some(Extra::Text(text)), Some(piece)) => text.push_escaped(piece),
                (Some(Extra::Elements(elements)), None) if value.is_array() => {
                    elements.extend(value.elements().map(|element| element.raw().to_owned()));
                }
                (known, text) => {
                    let extra = match text {
                        Some(piece) => Extra::Text(Gathered::of_escaped(piece)),
                        None if value.is_array() => {
                            Extra::Elements(value.elements().map(|element| element.raw().to_owned()).collect())
                        }
                        None => Extra::Other(value.raw().to_owned()),
                    };
                    match known {
                        Some(known) => *known = extra,
                        None => self.0.push((name, extra)),
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&self, json: &mut String) {
        for (name, extra) in &self.0 {
            json.push(',');
            write_string(json, name);
            json.push(':');
            match extra {
                Extra::Text(text) => write_string(json, text.as_str()),
                Extra::Elements(elements) => json.push_str(&mended(&format!("[{}]", elements.join(",")))),
                Extra::Other(raw) => json.push_str(&mended(raw)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let mut stream = Stream { kept: Kept::at_most(2_000), ..Stream::new() };
        let piece = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"aaaaaaaa"}}]}}]}"#;
        let error = (0..100).find_map(|_| stream.push(piece).err()).unwrap();
        assert_eq!(error.to_string(), "Chat Completions: the stream is longer than 2000 bytes");
        assert!(stream.finish()[0].is_truncated());
    }
}
