use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use super::ask::Ask;
use super::builder::ChecklistBuilder;
use super::condition::Registered;
use super::examine::Around;
use super::file::Principle;
use super::given::{Answers, Consent, Kept, Memory, text_of};
use super::location::{Location, Pointer};
use super::notices::Notices;
use super::shape::Shape;
use super::snapshot::Snapshot;
use super::source::Source;
use super::texts::{ChecklistError, Seen, Text, read};
use crate::call::{CallId, Content};
use crate::registry::Registry;
use crate::schema::json::Json;
use crate::schema::{Day, Digest, JsonPath};
use crate::tool::{CatchPanic, HostTool, caught};

/// What has to be known before a call runs, and where it is looked up.
///
/// A list has lines from three hands, handled alike: what tools themselves ask for (labels in descriptions, extension
/// keywords in schemas), what users ask for, and internal rules. A line is data: adding one needs no code.
///
/// [`Checklist::new`] has only what tools ask for: who is to be asked for a `[confirm]` is asked, and values aren't
/// looked up. [`Checklist::builder`] adds sources, conditions and files.
///
/// ```
/// use tool_runtime::{AllowAll, Checklist, Harness, Registry, SourceKind, ToolCall, source_fn, tool};
/// use tool_runtime::{Ask, Hit, Location, Lookup, Normalisation, Pointer};
///
/// /// Pays.
/// #[tool(host(inline))]
/// fn pay(
///     /// The account that is paid.
///     iban: String,
/// ) -> String {
///     format!("paid {iban}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::builder().tool(PayTool::host()).build()?;
/// // One preset. A host has its conversation instead.
/// let presets = source_fn(SourceKind::Preset, |ask: Ask| async move {
///     match ask.value() {
///         Some("\"DE1\"") => {
///             let location = Location::whole(Pointer::Preset("rent".into()), "DE1");
///             Lookup::Hit(Hit::new(location, "\"DE1\"", Normalisation::Exact))
///         }
///         _ => Lookup::NoResult,
///     }
/// });
/// let checklist = Checklist::builder().source(presets).build(&registry)?;
/// let harness = Harness::new(registry, AllowAll).checklist(checklist);
///
/// let results = harness.run([
///     ToolCall::new("call_1", "pay", r#"{"iban": "DE1"}"#),
///     ToolCall::new("call_2", "pay", r#"{"iban": "DE2"}"#),
/// ]);
/// let results = results.await;
/// assert_eq!(results[0].text(), "paid DE1");
/// // Invented.
/// assert!(results[1].is_error() && results[1].text().contains("The account that is paid."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Checklist(pub(super) Arc<Inner>, pub(super) Notices);

pub(super) struct Inner {
    pub(super) sources: Vec<Arc<dyn Source>>,
    pub(super) answers: Option<Answers>,
    pub(super) memory: Option<Arc<dyn Memory>>,
    pub(super) registered: Arc<Registered>,
    pub(super) texts: Vec<Text>,
    pub(super) clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
    pub(super) current: Current,
    /// What the files were when they were read last.
    pub(super) seen: Mutex<Seen>,
    pub(super) fault: Mutex<Option<Arc<ChecklistError>>>,
}

/// The list as it is now. Most have no files, and are asked for it with every turn.
pub(super) enum Current {
    Fixed(Arc<Snapshot>),
    /// Read anew for the tools of a registry.
    OfFiles(RwLock<Arc<Snapshot>>, Registry),
}

impl Current {
    pub(super) fn of(snapshot: Snapshot, texts: &[Text], registry: &Registry) -> Self {
        let snapshot = Arc::new(snapshot);
        match texts.iter().any(Text::is_file) {
            true => Current::OfFiles(RwLock::new(snapshot), registry.clone()),
            false => Current::Fixed(snapshot),
        }
    }
}

impl Checklist {
    /// Eight principles for models, as lines in JSON: `Checklist::builder().json("principles", Checklist::PRINCIPLES)`.
    /// Each names what catches a violation, or is a residual risk.
    pub const PRINCIPLES: &str = include_str!("principles.json");

    /// What tools themselves ask for: `[confirm]`, `[notice]` and conditions in their schemas. There are no sources, so
    /// values aren't looked up.
    pub fn new() -> Self {
        Checklist(
            Arc::new(Inner {
                sources: Vec::new(),
                answers: None,
                memory: None,
                registered: Arc::default(),
                texts: Vec::new(),
                clock: None,
                current: Current::Fixed(Arc::new(Snapshot::of_labels())),
                seen: Mutex::default(),
                fault: Mutex::default(),
            }),
            Notices::default(),
        )
    }

    /// Sets what becomes of calls whose `[notice]` lines nobody could be shown: they don't run, unless it is set.
    #[must_use]
    pub fn with_notices(self, notices: Notices) -> Self {
        Checklist(self.0, notices)
    }

    /// A list with sources, conditions and lines.
    pub fn builder() -> ChecklistBuilder {
        ChecklistBuilder::default()
    }

    /// Reads its files anew, all or none. A call that is on its way keeps the list that it began with.
    ///
    /// # Errors
    /// With everything that is wrong; the list stays what it was.
    pub fn reload(&self) -> Result<(), ChecklistError> {
        let Current::OfFiles(current, registry) = &self.0.current else { return Ok(()) };
        let (snapshot, seen) = read(&self.0.texts, &self.0.registered, registry)?;
        *current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        *lock(&self.0.seen) = seen;
        *lock(&self.0.fault) = None;
        Ok(())
    }

    /// Reads its files anew if one of them has changed. A turn does so by itself before its first call.
    ///
    /// A file that can't be read leaves the list what it was: [`fault`](Self::fault) has it.
    pub fn refresh(&self) {
        let Current::OfFiles(..) = self.0.current else { return };
        let seen: Seen = self.0.texts.iter().map(Text::state).collect();
        if seen == *lock(&self.0.seen) {
            return;
        }
        if let Err(error) = self.reload() {
            tracing::error!(target: "tool_runtime", %error, "the checklist has changed and can't be read; it stays what it was");
            *lock(&self.0.fault) = Some(Arc::new(error));
            // Not read again before it changes again.
            *lock(&self.0.seen) = seen;
        }
    }

    /// What is wrong with its files as they are now, since they were changed last.
    pub fn fault(&self) -> Option<Arc<ChecklistError>> {
        lock(&self.0.fault).clone()
    }

    /// Identifies the list as it is now. Each verdict has that of the list it was judged by.
    pub fn digest(&self) -> Digest {
        self.snapshot().digest
    }

    /// What the model is to be told with every turn that involves a tool, besides its prompt.
    pub fn principles(&self) -> Vec<Principle> {
        self.snapshot().principles.clone()
    }

    /// The principles as one text, to be put after the last message of every request that offers tools: outside of the
    /// system prompt, where it isn't diluted as the conversation grows. `None` without any.
    ///
    /// Not part of the declarations, which would change their bytes, and not of what the user wrote.
    pub fn reminder(&self) -> Option<Content> {
        let list = self.snapshot();
        let lines: Vec<String> = list.principles.iter().map(|principle| format!("- {}", principle.text)).collect();
        (!lines.is_empty()).then(|| Content::text(lines.join("\n")))
    }

    /// Can what users give be kept beyond their conversation? That takes a place to keep it, and one where it can be read
    /// that they agreed.
    pub(crate) fn keeps_values(&self) -> bool {
        self.0.memory.is_some() && self.0.answers.is_some()
    }

    /// Keeps values to which users have agreed.
    pub(crate) async fn keep(&self, values: Vec<Kept>) {
        let Some(memory) = &self.0.memory else { return };
        for kept in values {
            let key = kept.key().to_owned();
            let kept = CatchPanic::of(|| memory.keep(kept)).await.unwrap_or_else(Err);
            // Then it is asked for again.
            if let Err(error) = kept {
                tracing::error!(target: "tool_runtime", key, error, "a value could not be kept");
            }
        }
    }

    /// Notes what a person has given for a call, if there is a place for it, and gives it as it is to be kept beyond the
    /// conversation if the person wants that. Secrets are neither.
    pub(crate) fn answered(
        &self,
        tool: &HostTool,
        call: &CallId,
        (path, value): (&JsonPath, &Json),
        keep: bool,
    ) -> Option<Kept> {
        let answers = self.0.answers.as_ref()?;
        if tool.built().said_of(path).secret {
            return None;
        }
        let slot = path.to_pointer();
        let ask = Ask::new(tool.name(), &*slot, Shape::of_argument(tool.schema(), &slot)).of_call(call.clone());
        let text = value.to_string();
        let number = answers.give(&ask, &text)?;
        let consent = Consent::at(Location::whole(Pointer::Answer(number), &text_of(value)))?;
        // One value for each argument of a tool: a newer one takes its place.
        let kept = || Kept::new(format!("{}{slot}", tool.name()), &ask, text, consent).ok();
        keep.then(kept).flatten()
    }

    pub(crate) fn snapshot(&self) -> Cow<'_, Arc<Snapshot>> {
        match &self.0.current {
            Current::Fixed(current) => Cow::Borrowed(current),
            Current::OfFiles(current, _) => {
                Cow::Owned(Arc::clone(&current.read().unwrap_or_else(PoisonError::into_inner)))
            }
        }
    }

    /// The host's time.
    fn now(&self) -> Option<SystemTime> {
        match &self.0.clock {
            Some(clock) => caught(|| clock()).ok(),
            None => Some(SystemTime::now()),
        }
    }

    /// The host's date.
    pub(crate) fn today(&self) -> Option<Day> {
        self.now().and_then(Day::of)
    }

    /// What calls are examined by.
    pub(crate) fn around<'a>(&'a self, list: &'a Snapshot) -> Around<'a> {
        let now = self.now();
        Around { list, sources: &self.0.sources, registered: &self.0.registered, now, notices: self.1, recorded: None }
    }
}

/// Nothing of ours panics while it holds such a lock.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Checklist {
    fn default() -> Self {
        Checklist::new()
    }
}

impl fmt::Debug for Checklist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checklist").field("list", &self.snapshot()).finish_non_exhaustive()
    }
}
