use std::borrow::Cow;

use super::{FORMAT, MessageError, content_of, cuts_off, message_of, sent_back};
use crate::call::ToolCall;
use crate::schema::json::write_string;
use crate::wire::common::{
    Fail, Gathered, Kept, Listed, Places, Value, assembled, id_of, identified, ids, mended, reported,
};

/// A response that comes in pieces, put together: push the `data` of each event, and finish.
///
/// ```
/// use tool_runtime::wire::anthropic::{MessageError, Stream};
///
/// let mut stream = Stream::new();
/// for data in [
///     r#"{"type":"content_block_start","index":0,"content_block":
///         {"type":"tool_use","id":"toolu_1","name":"add","input":{}}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
///     r#"{"type":"content_block_stop","index":0}"#,
///     r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
///     r#"{"type":"message_stop"}"#,
/// ] {
///     stream.push(data)?;
/// }
/// assert_eq!(stream.finish()[0].arguments().to_string_lossy(), r#"{"a":1}"#);
/// # Ok::<(), MessageError>(())
/// ```
///
/// A call whose block did not end is marked as possibly cut off, and will not run; so is the last one as long as it is
/// not known why the turn ended, since a block that was cut off ends like any other; and so are all if something could
/// not be read.
#[derive(Clone, Default)]
pub struct Stream {
    /// By their place in the content.
    blocks: Places<Block>,
    text: Gathered,
    /// Does the turn lack its end, if it is known why it ended?
    cut_off: Option<bool>,
    broken: bool,
    kept: Kept,
}

/// A block as it began, and what came for it since.
#[derive(Clone, Default)]
struct Block {
    began: String,
    text: Gathered,
    thinking: Gathered,
    signature: Gathered,
    input: Gathered,
    citations: Vec<String>,
    ended: bool,
}

assembled! {
    /// The `data` of the next event. Events of types that tell nothing of blocks pass.
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
        let listed = self.blocks.in_order().into_iter().filter_map(|block| {
            let [_, id, name, _] = block.head();
            block.is_call().then(|| Listed {
                truncated: !block.ended || self.broken,
                arguments: block.input().into_arguments(),
                ..Listed::new(id, name.and_then(Value::text).unwrap_or_default(), None)
            })
        });
        identified(listed.collect(), self.cut_off.unwrap_or(true))
    }

    /// The assistant message for the next request's `messages`, as [`history`](super::history) gives it for a whole
    /// response. An input that was cut off, which would be no JSON, is `{}` in it; thinking that was cut off and text
    /// that is blank are left out, since nobody takes them back.
    pub fn history(&self) -> String {
        let blocks = self.blocks.in_order();
        let given: Vec<Option<String>> =
            blocks.iter().filter(|block| block.is_call()).map(|block| block.id()).collect();
        let mut ids = ids(&given.iter().map(Option::as_deref).collect::<Vec<_>>()).into_iter();
        let sent = |block: &Block| {
            let id = if block.is_call() { ids.next() } else { None };
            let whole = block.whole()?;
            Some(match (id, Value::parse(&whole)) {
                (Some(id), Ok(call)) => Cow::Owned(sent_back(call, &id).into_owned()),
                _ => Cow::Owned(whole),
            })
        };
        let blocks: Vec<Cow<'_, str>> = blocks.into_iter().filter_map(sent).collect();
        message_of(&content_of(&blocks))
    }

    fn read(&mut self, data: &str) -> Result<(), Fail> {
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event = Value::parse(data)?;
        let [kind, index, block, delta, error] = event.members(["type", "index", "content_block", "delta", "error"])?;
        if let Some(error) = error {
            return Err(reported(error));
        }
        let kind = kind.and_then(Value::text).ok_or_else(|| Fail::form("has to be an object with a `type`"))?;
        let index = index.and_then(Value::as_index);
        match kind.as_str() {
            "content_block_start" => {
                let block = block.filter(|block| block.is_object()).ok_or_else(|| Fail::form("has no block"))?;
                let [kind, text, name] = block.members(["type", "text", "name"])?;
                if kind.is_some_and(|kind| kind.is("tool_use")) && name.and_then(Value::escaped).is_none() {
                    return Err(Fail::form("has a call without a name"));
                }
                self.kept.add(512 + 2 * block.raw().len())?;
                if let Some(text) = text.filter(|_| kind.is_some_and(|kind| kind.is("text"))).and_then(Value::escaped) {
                    self.text.push_escaped(text);
                }
                self.blocks.begin(index, Block { began: block.raw().to_owned(), ..Block::default() });
                Ok(())
            }
            "content_block_delta" => {
                let delta = delta.ok_or_else(|| Fail::form("has no `delta`"))?;
                self.read_delta(index, delta)
            }
            "content_block_stop" => {
                if let Some(block) = self.blocks.find(index).and_then(|place| self.blocks.get_mut(place)) {
                    block.ended = true;
                }
                Ok(())
            }
            "message_delta" => {
                let [reason] = delta.map(|delta| delta.members(["stop_reason"])).transpose()?.unwrap_or_default();
                if let Some(reason) = reason {
                    self.cut_off = Some(cuts_off(reason));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_delta(&mut self, index: Option<u64>, delta: Value<'_>) -> Result<(), Fail> {
        let block = self.blocks.find(index).and_then(|place| self.blocks.get_mut(place));
        let block = block.ok_or_else(|| Fail::form("a `delta` of a block that has not begun"))?;
        let [kind, text, thinking, signature, input, citation] =
            delta.members(["type", "text", "thinking", "signature", "partial_json", "citation"])?;
        self.kept.add(2 * delta.raw().len())?;
        let is = |name| kind.is_some_and(|kind| kind.is(name));
        let (into, piece) = if is("text_delta") {
            self.text.push_escaped(text.and_then(Value::escaped).unwrap_or_default());
            (&mut block.text, text)
        } else if is("input_json_delta") {
            (&mut block.input, input)
        } else if is("thinking_delta") {
            (&mut block.thinking, thinking)
        } else if is("signature_delta") {
            (&mut block.signature, signature)
        } else {
            block.citations.extend(citation.map(|citation| citation.raw().to_owned()));
            return Ok(());
        };
        into.push_escaped(piece.and_then(Value::escaped).unwrap_or_default());
        Ok(())
    }
}

impl Block {
    fn began(&self) -> Option<Value<'_>> {
        Value::parse(&self.began).ok()
    }

    /// Type, identifier, name and input of its beginning.
    fn head(&self) -> [Option<Value<'_>>; 4] {
        let head = self.began().and_then(|began| began.members(["type", "id", "name", "input"]).ok());
        head.unwrap_or_default()
    }

    fn is_call(&self) -> bool {
        let [kind, ..] = self.head();
        kind.is_some_and(|kind| kind.is("tool_use"))
    }

    fn id(&self) -> Option<String> {
        let [_, id, ..] = self.head();
        id.and_then(id_of)
    }

    /// What came in pieces, or else what it began with.
    fn input(&self) -> Gathered {
        let [.., input] = self.head();
        if self.input.len() > 0 { self.input.clone() } else { input.map(Value::gathered).unwrap_or_default() }
    }

    /// The block as it would have come whole, unless there is nothing of it to send back.
    fn whole(&self) -> Option<String> {
        let began = self.began()?;
        let [kind, text] = began.members(["type", "text"]).unwrap_or_default();
        let is = |name| kind.is_some_and(|kind| kind.is(name));
        let is_blank = |text: &str| text.trim().is_empty();
        let began_blank = || text.and_then(Value::text).is_none_or(|text| is_blank(&text));
        if is("thinking") && !self.ended || is("text") && is_blank(self.text.as_str()) && began_blank() {
            return None;
        }
        let mut json = String::from("{");
        let mut written: [bool; 5] = [false; 5];
        for (index, (key, value)) in began.entries().enumerate() {
            if index > 0 {
                json.push(',');
            }
            write_string(&mut json, &Gathered::of_escaped(key.raw()).into_text());
            json.push(':');
            let place = MEMBERS.iter().position(|name| key.is(name));
            let came = place.is_some_and(|place| self.write_member(MEMBERS[place], Some(value), &mut json));
            if let Some(place) = place {
                written[place] = true;
            }
            if !came {
                json.push_str(&mended(value.raw()));
            }
        }
        for (name, _) in MEMBERS.iter().zip(written).filter(|(_, written)| !written) {
            let before = json.len();
            json.push_str(if json.ends_with('{') { "\"" } else { ",\"" });
            json.push_str(name);
            json.push_str("\":");
            if !self.write_member(name, None, &mut json) {
                json.truncate(before);
            }
        }
        json.push('}');
        Some(json)
    }

    /// What came in pieces for a member, behind what it began with. `false` if nothing did.
    fn write_member(&self, name: &str, began: Option<Value<'_>>, json: &mut String) -> bool {
        let pieces = match name {
            "text" => &self.text,
            "thinking" => &self.thinking,
            "signature" => &self.signature,
            "input" if self.input.len() > 0 => {
                let input = self.input.as_str();
                let whole = Value::parse(input).is_ok_and(Value::is_object);
                json.push_str(&mended(if whole { input } else { "{}" }));
                return true;
            }
            "citations" if !self.citations.is_empty() => {
                let came = began.into_iter().flat_map(Value::elements).map(Value::raw);
                let all: Vec<&str> = came.chain(self.citations.iter().map(String::as_str)).collect();
                json.push_str(&mended(&format!("[{}]", all.join(","))));
                return true;
            }
            _ => return false,
        };
        if pieces.len() == 0 {
            return false;
        }
        let mut all = began.and_then(Value::text).unwrap_or_default();
        all.push_str(pieces.as_str());
        write_string(json, &all);
        true
    }
}

/// What comes in pieces.
const MEMBERS: [&str; 5] = ["text", "thinking", "signature", "input", "citations"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let mut stream = Stream { kept: Kept::at_most(2_000), ..Stream::new() };
        stream.push(r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"a"}}"#).unwrap();
        let piece = r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"aaaaaaaa"}}"#;
        let error = (0..100).find_map(|_| stream.push(piece).err()).unwrap();
        assert_eq!(error.to_string(), "Anthropic: the stream is longer than 2000 bytes");
        assert!(stream.finish()[0].is_truncated());
    }
}
