//! Every ending becomes one result and one record.

use std::sync::Arc;

use super::ending::{End, Ending};
use super::record::append;
use super::state::State;
use crate::call::{Block, Code, Content, ToolResult};
use crate::ledger::{Entry, Ledger, Record, RecordParts};
use crate::schema::text;
use crate::tool::{Card, ErasedArgs, Final, HostTool, NO_OUTPUT, StoredResult, caught};

/// How many bytes of text a model reads of one result, unless the host says otherwise.
pub const DEFAULT_RESULT_CAP: usize = 100_000;

/// One result for the model, and one record for the host.
#[derive(Debug, Clone)]
#[must_use = "the model waits for its result"]
pub struct Settled {
    result: ToolResult,
    value: Option<Arc<str>>,
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

    pub(crate) fn shared_record(&self) -> &Arc<Record> {
        &self.record
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
        let settled = self.prepared(cap);
        // Whoever wants to know of it has a harness, which tells.
        let _ = record_end(ledger, settled.entry()).await;
        settled
    }

    /// All of it but the writing down.
    pub(super) fn prepared(mut self, cap: usize) -> Settled {
        self.end();
        let Ending(mut state) = self;
        let (card, whole) = prepare(&mut state, cap);
        if let Some(end) = &mut state.end {
            cut_asides(&mut end.asides, cap);
        }
        let State { place, call, verdict, end, lineage, .. } = *state;
        let End { code, error_code, content, value, started, took, detail, asides, card_data } =
            end.unwrap_or_else(End::lost);
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: content.clone(),
            is_error: code != Code::Ok,
            asides,
        };
        let record = Arc::new(Record::new(RecordParts {
            place,
            call_id: call.id,
            tool: call.name,
            code,
            error_code,
            started,
            took,
            verdict,
            content,
            whole,
            detail,
            card,
            card_data,
            parent: lineage.map(|lineage| lineage.parent.clone()),
        }));
        Settled { result, value, record }
    }
}

impl From<&Record> for StoredResult {
    /// As a log has it, so that a card can be made years later.
    fn from(record: &Record) -> Self {
        StoredResult {
            code: record.code(),
            error_code: record.error_code().map(Into::into),
            content: record.content().clone(),
            is_error: record.code() != Code::Ok,
            started: record.started(),
            card_data: record.card_data().cloned(),
        }
    }
}

impl Settled {
    pub(super) fn entry(&self) -> Entry {
        Entry::End(Arc::clone(&self.record))
    }
}

/// Writes an end down. Whether that fails is the host's to know; the result stands.
pub(super) async fn record_end(ledger: &dyn Ledger, entry: Entry) -> Result<(), String> {
    let written = append(ledger, entry).await;
    if let Err(error) = &written {
        tracing::error!(target: "tool_runtime", error, "the end of a call could not be recorded");
    }
    written
}

/// The last changes to the content, and the card. Gives the whole of a content that was cut.
fn prepare(state: &mut State, cap: usize) -> (Option<Card>, Option<Content>) {
    let tool = state.tool.clone();
    // A call of a tool's own is shown by the call that made it.
    let present = tool.as_ref().filter(|_| state.lineage.is_none()).and_then(HostTool::present_result);
    // The body has used its arguments up; who presents or finalises reads them from the record's text.
    let args = match (&tool, state.args.take()) {
        (_, Some(args)) => Some(args),
        (Some(tool), None) if present.is_some() || tool.finalize().is_some() => {
            state.verdict.as_ref().and_then(|_| tool.read_again(state.canonical()))
        }
        _ => None,
    };
    let mut said = Vec::new();
    let Some(end) = &mut state.end else { return (None, None) };
    if let Some(tool) = &tool {
        said.extend(finalize(tool, args.as_ref(), end));
    }
    let whole = cut(&mut end.content, cap, Mark(Some(state.call.id.as_str())));
    let card = args.as_ref().zip(present).and_then(|(args, present)| {
        caught(|| present(args, &end.stored())).map_err(|panic| said.push(("present_result", panic))).ok()
    });
    // A panic or a cause may quote what it was given.
    let mut detail = end.detail.take();
    if detail.is_some() || !said.is_empty() {
        state.without_secrets(detail.iter_mut().chain(said.iter_mut().map(|(_, panic)| panic)));
    }
    if let Some(end) = &mut state.end {
        end.detail = detail;
    }
    for (renderer, panic) in said {
        tracing::error!(target: "tool_runtime", tool = &*state.call.name, renderer, panic, "a renderer panicked");
    }
    (card, whole)
}

/// Calls the tool's `finalize`, once for every call of a known tool. Gives the words of its panic.
fn finalize(tool: &HostTool, args: Option<&ErasedArgs>, end: &mut End) -> Option<(&'static str, String)> {
    let mut panicked = None;
    if let Some(finalize) = tool.finalize() {
        let last = Final { code: end.code, content: &end.content, is_error: end.code != Code::Ok };
        match caught(|| finalize(args, &last)) {
            Ok(None) => {}
            Ok(Some(content)) => end.content = content,
            Err(panic) => {
                // What it was about to change may be what must not be read.
                let effects = if end.started { " Its effects may have happened." } else { "" };
                let said = format!("The result of `{}` could not be prepared.{effects}", tool.name());
                let detail = format!("`finalize` panicked: {panic}");
                end.become_instead(End::new(Code::InvalidOutput, said).with_detail(detail));
                panicked = Some(("finalize", panic));
            }
        }
    }
    if end.content.is_empty() {
        end.content = Content::text(NO_OUTPUT);
    }
    panicked
}

/// Cuts a content that is too long. Gives the whole of it for the host.
fn cut(content: &mut Content, cap: usize, mark: Mark<'_>) -> Option<Content> {
    let mut behind = size_of(content);
    if behind <= cap {
        return None;
    }
    // Whatever is kept, there is room for the words that something is missing.
    let reserved = mark.of(behind).len();
    let mut room = cap;
    let mut blocks = Vec::with_capacity(content.iter().len());
    for block in content.iter() {
        let size = size(block);
        behind -= size;
        if size + reserved <= room {
            room -= size;
            blocks.push(block.clone());
            continue;
        }
        let cut = match block {
            Block::Text(text) => cut_text(text, behind, room, mark),
            // Half an image is none.
            Block::Image { .. } | Block::Embedded { .. } => text::head(mark.of(size + behind).trim(), room).to_owned(),
        };
        blocks.push(Block::Text(cut.into()));
        break;
    }
    Some(std::mem::replace(content, Content::blocks(blocks)))
}

fn size(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::Image { base64, .. } => base64.len(),
        Block::Embedded { text, json } => text.len() + json.len(),
    }
}

fn size_of(content: &Content) -> usize {
    content.iter().map(size).sum()
}

/// Cuts what is said beside a result: all of it together may be as long as the result.
fn cut_asides(asides: &mut Vec<Content>, cap: usize) {
    let mut room = cap;
    let fits = |aside: &Content| room.checked_sub(size_of(aside)).inspect(|left| room = *left).is_some();
    let kept = asides.iter().map(fits).take_while(|fits| *fits).count();
    if kept < asides.len() {
        let mut rest =
            Content::blocks(asides.drain(kept..).flat_map(|aside| aside.iter().cloned().collect::<Vec<_>>()));
        // Nobody has the whole of it.
        cut(&mut rest, room, Mark(None));
        if !rest.is_empty() {
            asides.push(rest);
        }
    }
}

/// Says how much is missing, and under which handle the host has the whole, if it has.
#[derive(Clone, Copy)]
struct Mark<'a>(Option<&'a str>);

impl Mark<'_> {
    fn of(self, left_out: usize) -> String {
        match self.0 {
            Some(handle) => {
                format!("\n[… {left_out} bytes left out; the host has the whole as `{}` …]\n", text::shown(handle, 64))
            }
            None => format!("\n[… {left_out} bytes left out …]\n"),
        }
    }
}

/// The head and the tail of a text, and between them how much is missing. If more than the text is,
/// which is `behind` it, that it ends in: a tail would be none.
fn cut_text(whole: &str, behind: usize, cap: usize, mark: Mark<'_>) -> String {
    let room = cap.saturating_sub(mark.of(whole.len() + behind).len());
    let for_tail = if behind == 0 { room / 3 } else { 0 };
    let head = text::head(whole, room - for_tail);
    let tail = text::tail(whole, for_tail);
    let mut cut = String::with_capacity(cap);
    cut.push_str(head);
    cut.push_str(&mark.of(whole.len() + behind - head.len() - tail.len()));
    cut.push_str(tail);
    // A cap that hasn't even room for the mark gets as much of it as fits.
    cut.truncate(text::head(&cut, cap).len());
    cut
}
