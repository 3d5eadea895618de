use super::{FORMAT, MessageError, chunk, cuts_off, read_call};
use crate::call::ToolCall;
use crate::wire::common::{Fail, Gathered, Kept, Listed, Value, assembled, identified, mended};

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
/// Calls come whole, so a stream that ends early has those that came. All calls are marked as possibly cut off if
/// something could not be read.
#[derive(Clone, Default)]
pub struct Stream {
    calls: Vec<Listed>,
    /// As they came.
    parts: Vec<String>,
    text: Gathered,
    cut_off: bool,
    broken: bool,
    kept: Kept,
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
        self.calls.iter_mut().for_each(|call| call.truncated |= self.broken);
        identified(self.calls, self.cut_off)
    }

    /// The content for the next request's `contents`, as [`history`](super::history) gives it for a whole response:
    /// all parts as they came.
    pub fn history(&self) -> String {
        let parts: Vec<_> = self.parts.iter().map(|part| mended(part)).collect();
        format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(","))
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
            if let Some(call) = call {
                self.calls.push(read_call(self.calls.len(), call)?);
            }
            if let Some(text) = text.filter(|_| !thought.is_some_and(Value::is_true)).and_then(Value::escaped) {
                self.text.push_escaped(text);
            }
            self.parts.push(part.raw().to_owned());
        }
        if let Some(reason) = chunk.stopped {
            self.cut_off |= cuts_off(reason);
        }
        Ok(())
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
