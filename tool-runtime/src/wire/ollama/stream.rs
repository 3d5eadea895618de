use super::{FORMAT, MessageError, elements, read_call, sent_back, turn};
use crate::call::ToolCall;
use crate::schema::json::write_string;
use crate::wire::common::{Fail, Gathered, Kept, Listed, Value, assembled, identified, ids_of, mended};

/// A response that comes in pieces, put together: push each line, and finish.
///
/// ```
/// use tool_runtime::wire::ollama::{MessageError, Stream};
///
/// let mut stream = Stream::new();
/// for line in [
///     r#"{"message":{"role":"assistant","content":"Let me see."},"done":false}"#,
///     r#"{"message":{"role":"assistant","content":"","tool_calls":[
///         {"function":{"name":"add","arguments":{"a":1}}}]},"done":false}"#,
///     r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}"#,
/// ] {
///     stream.push(line)?;
/// }
/// assert_eq!(stream.text(), "Let me see.");
/// assert_eq!(stream.finish()[0].name(), "add");
/// # Ok::<(), MessageError>(())
/// ```
///
/// Calls come whole, so a stream that ends early has those that came. All calls are marked as possibly cut off if
/// something could not be read.
#[derive(Clone, Default)]
pub struct Stream {
    calls: Vec<Listed>,
    /// Calls as they came.
    raw: Vec<String>,
    text: Gathered,
    thinking: Gathered,
    cut_off: bool,
    broken: bool,
    kept: Kept,
}

assembled! {
    /// The next line.
    ///
    /// # Errors
    /// If it isn't of this format, if Ollama reports an error, or if the stream keeps more than 256 MiB.
    push;
    /// What the model has said so far, without what it thinks.
    text;
}

impl Stream {
    /// The calls, in order.
    pub fn finish(mut self) -> Vec<ToolCall> {
        self.calls.iter_mut().for_each(|call| call.truncated |= self.broken);
        identified(self.calls, self.cut_off)
    }

    /// The message for the next request's `messages`, as [`history`](super::history) gives it for a whole response: its
    /// calls as they came, and what the model said and thought.
    pub fn history(&self) -> String {
        let mut json = String::from(r#"{"role":"assistant","content":"#);
        write_string(&mut json, self.text.as_str());
        if self.thinking.len() > 0 {
            json.push_str(r#","thinking":"#);
            write_string(&mut json, self.thinking.as_str());
        }
        if !self.raw.is_empty() {
            let sent = |(raw, id): (&String, String)| match Value::parse(raw) {
                Ok(call) => mended(&sent_back(call, &id)).into_owned(),
                Err(_) => raw.clone(),
            };
            let calls: Vec<_> = self.raw.iter().zip(ids_of(&self.calls)).map(sent).collect();
            json.push_str(r#","tool_calls":["#);
            json.push_str(&calls.join(","));
            json.push(']');
        }
        json.push('}');
        json
    }

    fn read(&mut self, line: &str) -> Result<(), Fail> {
        if matches!(line.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let turn = turn(Value::parse(line)?)?;
        let [content, thinking] = turn.message.members(["content", "thinking"])?;
        for (piece, into) in [(content, &mut self.text), (thinking, &mut self.thinking)] {
            let piece = piece.and_then(Value::escaped).unwrap_or_default();
            self.kept.add(piece.len())?;
            into.push_escaped(piece);
        }
        for call in elements(turn.message)? {
            self.kept.add(128 + 2 * call.raw().len())?;
            self.calls.push(read_call(self.calls.len(), call)?);
            self.raw.push(call.raw().to_owned());
        }
        self.cut_off |= turn.stopped.is_some_and(|reason| reason.is("length"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let mut stream = Stream { kept: Kept::at_most(2_000), ..Stream::new() };
        let line = r#"{"message":{"tool_calls":[{"function":{"name":"a","arguments":{}}}]}}"#;
        let error = (0..100).find_map(|_| stream.push(line).err()).unwrap();
        assert_eq!(error.to_string(), "Ollama: the stream is longer than 2000 bytes");
        assert!(stream.finish().iter().all(ToolCall::is_truncated));
    }
}
