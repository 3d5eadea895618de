use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::binding::Binding;
use super::declaration::Standing;
use super::form::FormEnd;
use super::limits::LimitUse;
use super::micros::from_micros;
use super::ruled::RulingRecord;
use crate::call::{Block, CallId, CaseId, Code, Content};
use crate::checklist::{Location, Slot};
use crate::gate::{Addressee, Answer, Blank, QuestionId, Signer};
use crate::schema::Digest;
use crate::schema::json::Json;

/// An entry as a ledger has it: the text that was written, read back. Cheap to clone.
///
/// Reads nothing into it: what an entry doesn't say is `None` or empty here. For what later versions
/// write there is [`get`](Self::get).
#[derive(Clone)]
pub struct Stored(Arc<Parts>);

struct Parts {
    text: Box<str>,
    json: Json,
    kind: StoredKind,
    case: CaseId,
    call_id: CallId,
    at: Option<SystemTime>,
    owner: Option<Owner>,
    key_id: Option<Box<str>>,
}

/// Which kind of [`Entry`](crate::Entry) it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoredKind {
    /// A person was about to be asked.
    Asked,
    /// What came of a question.
    Answered,
    /// What was decided.
    Verdict,
    /// What came of the call.
    End,
    /// A body ended after its call.
    LateEnd,
    /// What was found out after the host had stopped.
    Repaired,
    /// A running call had a person fill in a form.
    Form,
    /// A tool's declaration went into quarantine, or came out of it. About no call.
    Declaration,
}

/// Which host wrote an entry, and which of its starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    host: Arc<str>,
    boot: Arc<str>,
}

impl Owner {
    /// A host by its name, and a name for this start of it that no other has.
    ///
    /// Two processes that run at a time have different names of hosts: a host's new start says that
    /// its last one is over.
    pub fn new(host: impl Into<Arc<str>>, boot: impl Into<Arc<str>>) -> Self {
        Owner { host: host.into(), boot: boot.into() }
    }

    /// The name of the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Which start of it.
    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// Read back from what [`Display`](fmt::Display) writes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (host, boot) = text.rsplit_once('/')?;
        Some(Owner::new(host, boot))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.boot)
    }
}

impl Stored {
    /// Reads an entry.
    ///
    /// # Errors
    /// If the text is none that this crate writes.
    pub fn read(text: impl Into<Box<str>>) -> Result<Self, StoredError> {
        let text = text.into();
        let json = Json::parse(&text).map_err(|error| StoredError(error.what))?;
        Stored::of(text, json)
    }

    pub(super) fn of(text: Box<str>, json: Json) -> Result<Self, StoredError> {
        let word = |name: &str| json.get(name).and_then(Json::as_str);
        let kind = match word("entry") {
            Some("asked") => StoredKind::Asked,
            Some("answered") => StoredKind::Answered,
            Some("verdict") => StoredKind::Verdict,
            Some("end") => StoredKind::End,
            Some("late_end") => StoredKind::LateEnd,
            Some("repaired") => StoredKind::Repaired,
            Some("form") => StoredKind::Form,
            Some("declaration") => StoredKind::Declaration,
            _ => return Err(StoredError("it is of no known kind")),
        };
        let case = word("case").and_then(|case| case.parse().ok()).ok_or(StoredError("it has no `case`"))?;
        let call_id = match (word("call_id"), kind) {
            (Some(call_id), _) => CallId::from(call_id),
            // It is about no call.
            (None, StoredKind::Declaration) => CallId::from(""),
            (None, _) => return Err(StoredError("it has no `call_id`")),
        };
        let verdict_is_known = match (kind, word("verdict")) {
            (StoredKind::Verdict, Some(word)) => word == "cleared" || word.parse::<Code>().is_ok(),
            (StoredKind::Verdict, None) => false,
            _ => true,
        };
        if !verdict_is_known {
            return Err(StoredError("its verdict is none"));
        }
        Ok(Stored(Arc::new(Parts { text, json, kind, case, call_id, at: None, owner: None, key_id: None })))
    }

    /// With what a ledger has beside it.
    pub(super) fn written(self, at: Option<SystemTime>, owner: Option<Owner>, key_id: Option<&str>) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(parts) => Stored(Arc::new(Parts { at, owner, key_id: key_id.map(Into::into), ..parts })),
            Err(shared) => Stored(shared),
        }
    }

    /// The very text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Which kind of entry it is.
    pub fn kind(&self) -> StoredKind {
        self.0.kind
    }

    /// The call's way through the host.
    pub fn case(&self) -> CaseId {
        self.0.case
    }

    /// The call.
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// When it was written, by the ledger's clock.
    pub fn at(&self) -> Option<SystemTime> {
        self.0.at
    }

    /// The name of the key under which it was written, if the ledger has one.
    pub fn key_id(&self) -> Option<&str> {
        self.0.key_id.as_deref()
    }

    /// Who wrote it.
    pub fn owner(&self) -> Option<&Owner> {
        self.0.owner.as_ref()
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.0.json.get(name)?.as_str()
    }

    fn words(&self, name: &str) -> Vec<&str> {
        let list = self.0.json.get(name).and_then(Json::as_array).unwrap_or_default();
        list.iter().filter_map(Json::as_str).collect()
    }

    fn is(&self, name: &str) -> bool {
        self.0.json.get(name) == Some(&Json::Bool(true))
    }

    /// The conversation that the call belongs to.
    pub fn conversation(&self) -> Option<&str> {
        self.word("conversation")
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        self.word("tool").unwrap_or_default()
    }

    /// Which definition of the tool it was.
    pub fn definition(&self) -> Option<Digest> {
        self.word("definition")?.parse().ok()
    }

    /// Of a verdict: which revision of the call was judged.
    pub fn revision(&self) -> Option<u32> {
        self.0.json.get("revision")?.as_number()?.parse().ok()
    }

    /// The accepted arguments, secrets redacted.
    pub fn arguments(&self) -> Option<&str> {
        self.word("arguments")
    }

    /// Of a verdict: the call may run.
    pub fn is_cleared(&self) -> bool {
        self.0.kind == StoredKind::Verdict && self.word("verdict") == Some("cleared")
    }

    /// Of a verdict: why it may not run. Of an end: how it ended.
    pub fn code(&self) -> Option<Code> {
        let name = if self.0.kind == StoredKind::Verdict { "verdict" } else { "code" };
        self.word(name)?.parse().ok()
    }

    /// Every rule that applied, or every reason for asking.
    pub fn reasons(&self) -> Vec<&str> {
        self.words("reasons")
    }

    /// JSON pointers of the arguments that nobody had given.
    pub fn open(&self) -> Vec<&str> {
        self.words("open")
    }

    /// Of a verdict: every line of the checklist that was about the call, and what came of it.
    pub fn slots(&self) -> Vec<Slot> {
        let slots = self.0.json.get("slots").and_then(Json::as_array).unwrap_or_default();
        slots.iter().filter_map(Slot::read).collect()
    }

    /// Of a cleared verdict: what the call takes of which limits.
    pub fn uses(&self) -> Vec<LimitUse> {
        let uses = self.0.json.get("limits").and_then(Json::as_array).unwrap_or_default();
        uses.iter().filter_map(LimitUse::read).collect()
    }

    /// Of a verdict: who has agreed, each in which question.
    pub fn approvals(&self) -> Vec<(Addressee, QuestionId)> {
        let approvals = self.0.json.get("approvals").and_then(Json::as_object).unwrap_or_default();
        let read = |(by, question): &(String, Json)| Some((Addressee::from_word(by)?, question.as_str()?.into()));
        approvals.iter().filter_map(read).collect()
    }

    /// Of a question: who is asked.
    pub fn addressee(&self) -> Addressee {
        self.word("to").and_then(Addressee::from_word).unwrap_or(Addressee::Approver)
    }

    /// Of a verdict: the earlier question whose answer spared one about this call.
    pub fn grant(&self) -> Option<QuestionId> {
        self.word("grant").map(QuestionId::from)
    }

    /// The question that it is or is about.
    pub fn question(&self) -> Option<QuestionId> {
        self.word("question").map(QuestionId::from)
    }

    /// Of a verdict: the questions that the call waits for. Empty if it doesn't wait.
    pub fn waits_for(&self) -> Vec<QuestionId> {
        if self.0.kind != StoredKind::Verdict || self.code() != Some(Code::ApprovalPending) {
            return Vec::new();
        }
        self.question().into_iter().chain(self.words("besides").into_iter().map(QuestionId::from)).collect()
    }

    /// Of a verdict: what was ruled of the sampled plans that the call is from.
    pub fn plan(&self) -> Option<RulingRecord> {
        RulingRecord::read(self.0.json.get("plan")?)
    }

    /// Of a declaration: whether it is in quarantine.
    pub fn standing(&self) -> Option<Standing> {
        Standing::read(self.word("standing")?)
    }

    /// Of a declaration: why.
    pub fn why(&self) -> Option<&str> {
        self.word("why")
    }

    /// Of an answer: what was said. `None`: the question was withdrawn.
    pub fn answer(&self) -> Option<Answer> {
        self.word("answer")?.parse().ok()
    }

    /// Of a form: what became of it.
    pub fn form(&self) -> Option<FormEnd> {
        FormEnd::read(self.word("form")?)
    }

    /// Of an answer or a form: what was given for the blanks of the question, as JSON texts by slot, or for the fields of
    /// the form, by their names, secrets redacted.
    pub fn filled(&self) -> Vec<(&str, &str)> {
        let filled = self.0.json.get("filled").and_then(Json::as_object).unwrap_or_default();
        filled.iter().filter_map(|(slot, text)| Some((slot.as_str(), text.as_str()?))).collect()
    }

    /// Of an answer: where the user said what was given, where that was in a turn of a conversation.
    pub fn filled_at(&self) -> Vec<(&str, Location)> {
        let places = self.0.json.get("filled_at").and_then(Json::as_object).unwrap_or_default();
        places.iter().filter_map(|(slot, at)| Some((slot.as_str(), super::fills::place(at)?))).collect()
    }

    /// Of an answer: the slots of what the user agreed to have kept for later calls.
    pub fn kept(&self) -> Vec<&str> {
        self.words("kept")
    }

    /// Of a question: the arguments that a person had confirmed before, each with the question that was answered then.
    pub fn confirmed(&self) -> Vec<(&str, QuestionId)> {
        let confirmed = self.0.json.get("confirmed").and_then(Json::as_object).unwrap_or_default();
        confirmed.iter().filter_map(|(slot, question)| Some((slot.as_str(), question.as_str()?.into()))).collect()
    }

    /// Of a question: its blanks.
    pub fn blanks(&self) -> Vec<Blank> {
        let blanks = self.0.json.get("blanks").and_then(Json::as_array).unwrap_or_default();
        blanks.iter().filter_map(blank).collect()
    }

    /// Of a question: JSON Pointers of the arguments that the model had not written.
    pub(crate) fn defaults(&self) -> Vec<&str> {
        self.words("defaults")
    }

    /// Of an answer, and of a declaration: who said so.
    pub fn signer(&self) -> Option<Signer> {
        Some(Signer::new(self.word("by")?, self.word("channel")?))
    }

    /// Of a question: what a yes is for.
    pub fn binding(&self) -> Option<Binding> {
        Binding::read(self.0.json.get("binding")?)
    }

    /// Of an answer: the digest of the [`Binding`] that it was given for.
    pub fn binds(&self) -> Option<Digest> {
        self.word("binds")?.parse().ok()
    }

    /// Of a question or an answer: identifies what would run.
    pub fn what(&self) -> Option<Digest> {
        self.word("digest")?.parse().ok()
    }

    /// Of a verdict that waits: until when.
    pub fn expires(&self) -> Option<SystemTime> {
        self.0.json.get("expires_us")?.as_number()?.parse().ok().and_then(from_micros)
    }

    /// Running the call twice does no harm, its author says.
    pub fn is_repeatable(&self) -> bool {
        self.is("repeatable")
    }

    /// Of an end: the body had begun.
    pub fn started(&self) -> bool {
        self.is("started")
    }

    /// Of an end: what the model read.
    pub fn content(&self) -> Option<Content> {
        match self.0.json.get("content")? {
            Json::String(text) => Some(Content::text(text.as_str())),
            Json::Array(blocks) => {
                let block = |block: &Json| {
                    let word = |name: &str| block.get(name)?.as_str().map(Arc::from);
                    match block.get("type")?.as_str()? {
                        "text" => Some(Block::Text(word("text")?)),
                        "image" => Some(Block::Image { media_type: word("media_type")?, base64: word("data")? }),
                        _ => None,
                    }
                };
                blocks.iter().map(block).collect::<Option<Vec<_>>>().map(Content::blocks)
            }
            _ => None,
        }
    }

    /// The JSON text of any part of it, by its JSON Pointer (RFC 6901).
    pub fn get(&self, pointer: &str) -> Option<String> {
        self.0.json.pointer(pointer).map(ToString::to_string)
    }
}

/// A blank as the record of a question has it.
fn blank(json: &Json) -> Option<Blank> {
    let word = |name: &str| json.get(name).and_then(Json::as_str);
    let words = |name: &str| {
        let list = json.get(name).and_then(Json::as_array).unwrap_or_default();
        list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let is = |name: &str| json.get(name) == Some(&Json::Bool(true));
    let mut blank = Blank::new(word("slot")?, word("asks").unwrap_or_default());
    blank.types = word("types").unwrap_or_default().to_owned();
    blank.format = word("format").unwrap_or_default().to_owned();
    (blank.says, blank.choices) = (words("says"), words("choices"));
    (blank.secret, blank.keepable) = (is("secret"), is("keepable"));
    Some(blank)
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored").field("kind", &self.0.kind).field("case", &self.0.case).finish_non_exhaustive()
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text && self.0.at == other.0.at && self.0.owner == other.0.owner
    }
}

impl Eq for Stored {}

/// A text is no entry of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredError(&'static str);

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an entry of a ledger: {}", self.0)
    }
}

impl std::error::Error for StoredError {}
