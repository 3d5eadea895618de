use super::{FORMAT, MessageError, NAMES, is_reasoning, of_response, qualified, sent_back};
use crate::call::ToolCall;
use crate::schema::json::write_string;
use crate::wire::common::{
    Fail, Gathered, Kept, Listed, Places, Value, assembled, id_of, identified, ids, mended, quoted, reported,
    text_arguments,
};

/// A response that comes in pieces, put together: push the `data` of each event, and finish.
///
/// ```
/// use tool_runtime::wire::openai_responses::{MessageError, Stream};
///
/// let mut stream = Stream::new();
/// for data in [
///     r#"{"type":"response.output_item.added","output_index":0,"item":
///         {"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":""}}"#,
///     r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1"}"#,
///     r#"{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}"#,
///     r#"{"type":"response.output_item.done","output_index":0,"item":
///         {"type":"function_call","id":"fc_1","call_id":"call_1","name":"add","arguments":"{\"a\":1}"}}"#,
///     r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
/// ] {
///     stream.push(data)?;
/// }
/// assert_eq!(stream.finish()[0].name(), "add");
/// # Ok::<(), MessageError>(())
/// ```
///
/// A call whose end did not come is marked as possibly cut off, and will not run; so are all if something could not be
/// read.
#[derive(Clone, Default)]
pub struct Stream {
    /// By their place in the output.
    items: Places<Item>,
    text: Gathered,
    cut_off: bool,
    broken: bool,
    kept: Kept,
}

#[derive(Clone, Default)]
struct Item {
    done: bool,
    /// As it came when it was done.
    raw: Option<String>,
    call: Option<Call>,
    /// Of a message.
    text: Gathered,
}

#[derive(Clone, Default)]
struct Call {
    id: Option<String>,
    namespace: Option<String>,
    name: String,
    arguments: Gathered,
    ended: bool,
}

assembled! {
    /// The `data` of the next event. Events of types that tell nothing of calls, text or items pass.
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
        let calls = self.items.in_order().into_iter().filter_map(|item| item.call.as_ref());
        let listed = calls.map(|call| Listed {
            id: call.id.clone(),
            name: qualified(call.namespace.clone(), call.name.clone()),
            arguments: call.arguments.clone().into_arguments(),
            truncated: !call.ended || self.broken,
        });
        identified(listed.collect(), self.cut_off)
    }

    /// The items for the next request's `input`, as one JSON array, as [`history`](super::history) gives it for a whole
    /// response. Items as they came, and those calls and messages whose end did not come as far as they got.
    pub fn history(&self) -> String {
        let items = self.items.in_order();
        let given: Vec<Option<&str>> =
            items.iter().filter_map(|item| item.call.as_ref()).map(|call| call.id.as_deref()).collect();
        let mut ids = ids(&given).into_iter();
        let mut sent: Vec<String> = Vec::new();
        // How many items there are up to the last one that isn't reasoning.
        let mut whole = 0;
        for item in items {
            let id = item.call.as_ref().and_then(|_| ids.next()).unwrap_or_default();
            let raw = item.raw.as_deref().and_then(|raw| Value::parse(raw).ok());
            sent.push(match (item, raw) {
                (Item { call: Some(_), .. }, Some(raw)) => mended(&sent_back(raw, &id)).into_owned(),
                (_, Some(raw)) => mended(raw.raw()).into_owned(),
                (Item { call: Some(call), .. }, None) => call.sent_back(&id),
                (Item { text, .. }, None) if text.len() > 0 => {
                    format!(r#"{{"role":"assistant","content":{}}}"#, quoted(text.as_str()))
                }
                // Reasoning that was cut off is taken back by nobody.
                _ => continue,
            });
            if !raw.is_some_and(is_reasoning) {
                whole = sent.len();
            }
        }
        sent.truncate(whole);
        format!("[{}]", sent.join(","))
    }

    fn read(&mut self, data: &str) -> Result<(), Fail> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event = Value::parse(data)?;
        let [kind, index, item, delta, arguments, response, error] =
            event.members(["type", "output_index", "item", "delta", "arguments", "response", "error"])?;
        let kind = match (kind.and_then(Value::text), error) {
            (_, Some(error)) => return Err(reported(error)),
            (Some(kind), None) => kind,
            (None, None) => return Err(Fail::form("has to be an object with a `type`")),
        };
        let index = index.and_then(Value::as_index);
        match kind.as_str() {
            // Its message may stand beside its type.
            "error" => Err(reported(event)),
            "response.output_item.added" => self.read_item(index, item, false),
            "response.output_item.done" => self.read_item(index, item, true),
            "response.function_call_arguments.delta" => {
                let piece = delta.and_then(Value::escaped).unwrap_or_default();
                self.kept.add(piece.len())?;
                if let Some(call) = self.call(index) {
                    call.arguments.push_escaped(piece);
                }
                Ok(())
            }
            "response.function_call_arguments.done" => {
                self.kept.add(arguments.map_or(0, |arguments| arguments.raw().len()))?;
                if let Some(call) = self.call(index) {
                    call.set_arguments(arguments);
                    call.ended = true;
                }
                Ok(())
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let piece = delta.and_then(Value::escaped).unwrap_or_default();
                self.kept.add(2 * piece.len())?;
                self.text.push_escaped(piece);
                let place = match self.items.find(index) {
                    Some(place) => place,
                    None => self.begin(index)?,
                };
                if let Some(item) = self.items.get_mut(place) {
                    item.text.push_escaped(piece);
                }
                Ok(())
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let turn = of_response(response.ok_or_else(|| Fail::form("has no `response`"))?)?;
                self.cut_off |= turn.cut_off || kind == "response.incomplete";
                if self.items.is_empty() {
                    for (index, item) in turn.items().enumerate() {
                        self.read_item(Some(index as u64), Some(item), true)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The call at an index, or the last one.
    fn call(&mut self, index: Option<u64>) -> Option<&mut Call> {
        let place = self.items.find(index)?;
        self.items.get_mut(place)?.call.as_mut()
    }

    fn begin(&mut self, index: Option<u64>) -> Result<usize, Fail> {
        self.kept.add(256)?;
        Ok(self.items.begin(index, Item::default()))
    }

    fn read_item(&mut self, index: Option<u64>, item: Option<Value<'_>>, done: bool) -> Result<(), Fail> {
        let item = item.filter(|item| item.is_object()).ok_or_else(|| Fail::form("has no `item`"))?;
        let [kind, call_id, namespace, name, arguments, status] =
            item.members(["type", "call_id", "namespace", "name", "arguments", "status"])?;
        self.kept.add(2 * item.raw().len())?;
        // What is done is what was begun, unless a server counts everything as the first.
        let id = call_id.and_then(id_of);
        let same = |begun: &Item| {
            let other = begun.call.as_ref().is_some_and(|call| call.id.is_some() && id.is_some() && call.id != id);
            done && !begun.done && !other
        };
        let known = self.items.find(index).filter(|&place| self.items.get(place).is_some_and(same));
        let place = match known {
            Some(place) => place,
            None => self.begin(index)?,
        };
        let Some(entry) = self.items.get_mut(place) else { return Ok(()) };
        entry.done = done;
        if !kind.is_some_and(|kind| kind.is("function_call")) {
            entry.raw = done.then(|| item.raw().to_owned());
            return Ok(());
        }
        let call = entry.call.get_or_insert_default();
        if id.is_some() {
            call.id = id;
        }
        if let Some(name) = name.and_then(Value::text) {
            call.name = name;
        }
        call.namespace = namespace.and_then(Value::text).or(call.namespace.take());
        // An item that doesn't repeat the arguments that came before it is no item for the history.
        let whole = call.set_arguments(arguments) && call.id.is_some();
        if done {
            call.ended = status.is_none_or(|status| status.is("completed"));
            entry.raw = whole.then(|| item.raw().to_owned());
        }
        Ok(())
    }
}

impl Call {
    /// As an item, as far as it got.
    fn sent_back(&self, id: &str) -> String {
        let mut json = format!(r#"{{"type":"function_call","call_id":{}"#, quoted(id));
        if let Some(namespace) = &self.namespace {
            json.push_str(r#","namespace":"#);
            write_string(&mut json, namespace);
        }
        json.push_str(r#","name":"#);
        write_string(&mut json, &NAMES.spell(&self.name));
        json.push_str(r#","arguments":"#);
        write_string(&mut json, &text_arguments(self.arguments.as_str()));
        json.push('}');
        json
    }

    /// All of them, if they are there. Is this now what is known?
    fn set_arguments(&mut self, arguments: Option<Value<'_>>) -> bool {
        let all = arguments.map(Value::gathered).unwrap_or_default();
        if all.len() == 0 {
            return self.arguments.len() == 0;
        }
        self.arguments = all;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let mut stream = Stream { kept: Kept::at_most(2_000), ..Stream::new() };
        stream.push(r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"a"}}"#).unwrap();
        let piece = r#"{"type":"response.function_call_arguments.delta","delta":"aaaaaaaa"}"#;
        let error = (0..100).find_map(|_| stream.push(piece).err()).unwrap();
        assert_eq!(error.to_string(), "Responses: the stream is longer than 2000 bytes");
        assert!(stream.finish()[0].is_truncated());
    }
}
