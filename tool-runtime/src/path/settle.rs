//! Every ending becomes one result and one record.

use std::sync::Arc;

use super::ending::{End, Ended, Ending};
use super::record::append;
use crate::call::{Block, Code, Content, ToolResult};
use crate::ledger::{Entry, Ledger, Record, RecordParts};
use crate::schema::text;
use crate::tool::{ErasedArgs, Final, HostTool, NO_OUTPUT, StoredResult, caught};

/// How many bytes of text a model reads of one result, unless the host says otherwise.
pub const DEFAULT_RESULT_CAP: usize = 100_000;

/// One result for the model, and one record for the host.
#[derive(Debug, Clone)]
#[must_use = "the model waits for its result"]
pub struct Settled {
    result: ToolResult,
    value: Option<String>,
    record: Arc<Record>,
}

impl Settled {
    /// What the model reads.
    pub fn result(&self) -> &ToolResult {
        &self.result
    }

    /// What the model reads.
    pub fn into_result(self) -> ToolResult {
        self.result
    }

    /// Of a success: what the tool returned, as JSON text. The model read its narration.
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// What the host keeps.
    pub fn record(&self) -> &Record {
        &self.record
    }
}

impl Ending {
    /// Finalises the content, cuts it to `cap` bytes, and writes the record down.
    ///
    /// A record that can't be written is reported through `tracing`; the result stands.
    pub async fn settle(self, ledger: &dyn Ledger, cap: usize) -> Settled {
        let Ended {
            call,
            tool,
            args,
            verdict,
            end,
        } = *self.0;
        let end = match &tool {
            Some(tool) => finalize(tool, args.as_ref(), end),
            None => end,
        };
        let End {
            code,
            content,
            value,
            started,
            took,
            detail,
        } = end;
        let (content, whole) = capped(content, cap, call.id.as_str());
        let is_error = code != Code::Ok;
        let stored = StoredResult {
            code,
            content,
            is_error,
        };
        let card = tool.as_ref().zip(args.as_ref()).and_then(|(tool, args)| {
            let present = tool.present_result()?;
            caught(|| present(args, &stored))
                .map_err(|panic| broken(tool, "present_result", &panic))
                .ok()
        });
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: stored.content.clone(),
            is_error,
        };
        let record = Arc::new(Record::new(RecordParts {
            call_id: call.id,
            tool: call.name,
            code,
            started,
            took,
            verdict,
            content: stored.content,
            whole,
            detail,
            card,
        }));
        if let Err(error) = append(ledger, Entry::End(Arc::clone(&record))).await {
            tracing::error!(target: "tool_runtime", call_id = %record.call_id(), error, "the end of a call could not be recorded");
        }
        Settled { result, value, record }
    }
}

fn broken(tool: &HostTool, renderer: &'static str, panic: &str) {
    tracing::error!(target: "tool_runtime", tool = tool.name(), renderer, panic, "a renderer panicked");
}

/// Calls the tool's `finalize`, once for every call of a known tool.
fn finalize(tool: &HostTool, args: Option<&ErasedArgs>, mut end: End) -> End {
    if let Some(finalize) = tool.finalize() {
        let last = Final {
            code: end.code,
            content: &end.content,
            is_error: end.code != Code::Ok,
        };
        match caught(|| finalize(args, &last)) {
            Ok(None) => {}
            Ok(Some(content)) => end.content = content,
            Err(panic) => {
                broken(tool, "finalize", &panic);
                // What it was about to change may be what must not be read.
                let effects = if end.started {
                    " Its effects may have happened."
                } else {
                    ""
                };
                let said = format!("The result of `{}` could not be prepared.{effects}", tool.name());
                let detail = format!("`finalize` panicked: {panic}");
                return End {
                    started: end.started,
                    took: end.took,
                    ..End::new(Code::InvalidOutput, said).with_detail(detail)
                };
            }
        }
    }
    if end.content.is_empty() {
        end.content = Content::text(NO_OUTPUT);
    }
    end
}

/// The head and tail of a text that is too long, and the whole of it for the host.
fn capped(content: Content, cap: usize, handle: &str) -> (Content, Option<Content>) {
    let Some(whole) = content.as_text().filter(|text| text.len() > cap) else {
        return (content, None);
    };
    let mark = |left_out: usize| {
        format!(
            "\n[… {left_out} bytes left out; the host has the whole as `{}` …]\n",
            text::shown(handle, 64)
        )
    };
    let room = cap.saturating_sub(mark(whole.len()).len());
    let head = text::head(whole, room - room / 3);
    let tail = text::tail(whole, room / 3);
    let mut cut = String::with_capacity(cap);
    cut.push_str(head);
    cut.push_str(&mark(whole.len() - head.len() - tail.len()));
    cut.push_str(tail);
    // A cap that hasn't even room for the mark gets as much of it as fits.
    let cut: Arc<str> = text::head(&cut, cap).into();
    (Content::blocks([Block::Text(cut)]), Some(content))
}
