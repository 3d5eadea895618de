use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use super::ask::Ask;
use super::condition::{Condition, Registered, State};
use super::examine::Around;
use super::file::{Principle, Whose, Written};
use super::given::{Answers, Consent, Kept, Memory, Prior, text_of};
use super::location::{Location, Pointer};
use super::notices::Notices;
use super::origin::ListKind;
use super::shape::Shape;
use super::snapshot::Snapshot;
use super::source::Source;
use crate::call::{CallId, Content};
use crate::document::{Fault, Faults, FileFault, Reader, Syntax, parse};
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
pub struct Checklist(Arc<Inner>, Notices);

struct Inner {
    sources: Vec<Arc<dyn Source>>,
    answers: Option<Answers>,
    memory: Option<Arc<dyn Memory>>,
    registered: Arc<Registered>,
    texts: Vec<Text>,
    registry: Option<Registry>,
    clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
    current: RwLock<Arc<Snapshot>>,
    /// What the files were when they were read last.
    seen: Mutex<Seen>,
    fault: Mutex<Option<Arc<ChecklistError>>>,
}

/// When each file was changed last, and its length. `None` for what is no file.
type Seen = Vec<Option<(SystemTime, u64)>>;

/// Lines as they were given.
#[derive(Debug, Clone)]
struct Text {
    syntax: Syntax,
    whose: Whose,
    given: Given,
}

#[derive(Debug, Clone)]
enum Given {
    Here(String),
    File(PathBuf),
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
                registry: None,
                clock: None,
                current: RwLock::new(Arc::new(Snapshot::of_labels())),
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
        let Some(registry) = &self.0.registry else { return Ok(()) };
        let (snapshot, seen) = read(&self.0.texts, &self.0.registered, registry)?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        *lock(&self.0.seen) = seen;
        *lock(&self.0.fault) = None;
        Ok(())
    }

    /// Reads its files anew if one of them has changed. A turn does so by itself before its first call.
    ///
    /// A file that can't be read leaves the list what it was: [`fault`](Self::fault) has it.
    pub fn refresh(&self) {
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

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
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

impl Text {
    /// What tells whether it has changed.
    fn state(&self) -> Option<(SystemTime, u64)> {
        let Given::File(path) = &self.given else { return None };
        let state = std::fs::metadata(path).ok()?;
        Some((state.modified().ok()?, state.len()))
    }

    fn name(&self) -> String {
        match &self.given {
            Given::Here(_) => self.whose.origin.clone(),
            Given::File(path) => path.display().to_string(),
        }
    }
}

/// All texts as one list.
fn read(texts: &[Text], registered: &Arc<Registered>, registry: &Registry) -> Result<(Snapshot, Seen), ChecklistError> {
    let mut seen = Vec::new();
    let mut faults: Vec<Vec<Fault>> = Vec::new();
    let mut sources = Vec::new();
    let mut written = Vec::new();
    for text in texts {
        // Before it is read: whoever writes meanwhile is seen the next time.
        seen.push(text.state());
        let source = match &text.given {
            Given::Here(text) => Ok(text.clone()),
            Given::File(path) => std::fs::read_to_string(path),
        };
        let mut wrong = Vec::new();
        let (source, list) = match source {
            Err(error) => {
                wrong.push(Fault { entry: None, at: None, what: format!("can't be read: {error}") });
                (String::new(), Written::default())
            }
            Ok(source) => {
                let mut reader = Reader::default();
                let list = match parse(&source, text.syntax) {
                    Ok(table) => reader.list(&table, text.whose.clone()),
                    Err(faults) => {
                        wrong.extend(faults);
                        Written::default()
                    }
                };
                wrong.extend(reader.faults);
                (source, list)
            }
        };
        faults.push(wrong);
        sources.push(source);
        written.push(list);
    }
    let built =
        Snapshot::build(written.into_iter().zip(sources.iter().map(String::as_str)).collect(), registered, registry);
    match built {
        Ok(snapshot) if faults.iter().all(Vec::is_empty) => return Ok((snapshot, seen)),
        Ok(_) => {}
        Err(more) => more.into_iter().for_each(|(file, fault)| faults[file].push(fault)),
    }
    let of_file = |((text, source), faults): ((&Text, &String), Vec<Fault>)| {
        (!faults.is_empty()).then(|| (text.name(), Faults::new(faults, Some(source), "line")))
    };
    Err(ChecklistError(texts.iter().zip(&sources).zip(faults).filter_map(of_file).collect()))
}

/// Makes a [`Checklist`].
#[derive(Clone, Default)]
#[must_use = "a checklist has to be built"]
pub struct ChecklistBuilder {
    sources: Vec<Arc<dyn Source>>,
    answers: Option<Answers>,
    memory: Option<Arc<dyn Memory>>,
    registered: Registered,
    texts: Vec<Text>,
    clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
}

impl ChecklistBuilder {
    /// Adds a source. Sources are searched in the fixed order of their kinds, whatever the order here.
    pub fn source(mut self, source: Arc<dyn Source>) -> Self {
        self.sources.push(source);
        self
    }

    /// Adds the user's answers as a source, and has what is filled into blanks kept there: what was answered once is
    /// looked up from then on. They are one conversation's: give each its own.
    pub fn answers(mut self, answers: &Answers) -> Self {
        self.answers = Some(answers.clone());
        self.source(Arc::new(answers.clone()))
    }

    /// Adds what a memory keeps as a source, and keeps there what users give and agree to have kept
    /// ([`QuestionSet::keep`](crate::QuestionSet::keep)), if their [answers](Self::answers) are at hand as well: a value is
    /// kept with the place where they agreed.
    pub fn memory(mut self, memory: Arc<dyn Memory>) -> Self {
        self.memory = Some(Arc::clone(&memory));
        self.source(Arc::new(Prior::new(memory)))
    }

    /// Registers a condition that code checks, for lines with `check = "name"`.
    pub fn condition(mut self, name: impl Into<String>, condition: impl Condition + 'static) -> Self {
        self.registered.conditions.insert(name.into(), Arc::new(condition));
        self
    }

    /// Registers a part of the world's state, which expressions read as `state.name`.
    pub fn state(mut self, name: impl Into<String>, state: impl State + 'static) -> Self {
        self.registered.states.insert(name.into(), Arc::new(state));
        self
    }

    /// Sets what time it is, for expressions and for dates that leave something out. The system's clock unless it is
    /// set.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    fn text(mut self, syntax: Syntax, origin: impl Into<String>, given: Given) -> Self {
        let whose = Whose { list: ListKind::Internal, origin: origin.into() };
        self.texts.push(Text { syntax, whose, given });
        self
    }

    /// Adds lines in TOML; see [`file`](Self::file) for what they are. `origin` says whose they are, for records.
    #[cfg(feature = "rules")]
    pub fn toml(self, origin: impl Into<String>, lines: impl Into<String>) -> Self {
        self.text(Syntax::Toml, origin, Given::Here(lines.into()))
    }

    /// Adds lines in JSON; the keys are those of [`file`](Self::file), with `"line"` as an array of objects.
    pub fn json(self, origin: impl Into<String>, lines: impl Into<String>) -> Self {
        self.text(Syntax::Json, origin, Given::Here(lines.into()))
    }

    /// Adds a file of lines, in JSON if its name ends in `.json` and in TOML otherwise (feature `rules`). It is read
    /// again when it changes.
    ///
    /// ```toml
    /// origin = "treasury policy 4"          # who asks for these lines
    /// list = "internal"                     # or "provider", "user"
    ///
    /// [scope]
    /// calls = "writes"                      # whose values are looked up: or "irreversible", "all", "none"
    /// off = ["draft_*"]                     # tools that are left out
    /// shadow = false                        # true: record what would be blocked, and block nothing
    ///
    /// [fixed]
    /// intent = true                         # what the user calls it and which change is wanted
    /// timing = true                         # when: asked, never taken for "now"
    ///
    /// [[principle]]                         # what the model is told with every turn
    /// text = "Point at the place of a value, not at the value."
    /// checked_by = "lookup"
    ///
    /// [[line]]                              # an argument
    /// tool = "pay"                          # a pattern or a list; left out: every tool
    /// argument = "iban"
    /// label = "required"                    # or "confirm", "notice"
    /// from = ["answer", "instruction"]      # where it may be found; left out: in every source
    /// says = ["account", "Konto"]           # words by which people speak of it
    /// aliases = { DE89 = ["the rent"] }     # values, and phrases that mean them
    /// ask = "Which account should the money go to?"
    ///
    /// [[line]]                              # an argument that may follow from others, if no source has it
    /// tool = "pay"
    /// argument = "fee"
    /// derive = "args.amount * state.rate"   # by CEL; never silent: the user is shown it, and has to agree
    ///
    /// [[line]]                              # a condition
    /// changes = "payment.*"                 # tools that can make such a change
    /// name = "balance"
    /// holds = "args.amount <= state.balance"   # or `prohibits`, `approve_if`; by CEL (feature `cel`)
    /// text = "the balance is sufficient"
    ///
    /// [[line]]                              # a condition that code checks
    /// tool = "pay"
    /// name = "recipient"
    /// check = "recipient_exists"            # registered by `condition`
    /// then = "holds"                        # or "prohibits", "approve_if"
    /// text = "the recipient exists"
    ///
    /// [[line]]                              # a limit
    /// tool = ["pay", "transfer"]
    /// name = "daily"
    /// at_most = 500                         # in all; of runs, unless there is a `sum`
    /// per = "day"                           # or second, minute, hour, week, "90s", "15m", "24h", "7d", "2w"
    /// sum = "amount"                        # a number that is always there, or `items[*].price`
    /// over = "block"                        # or "ask": somebody has to agree to more (`approver`; the user)
    /// text = "it is at most 500 a day"
    /// ```
    ///
    /// A formula derives a value only from arguments that are known themselves: found, given, left at their default, or
    /// derived in turn. Two values that only follow from one another are both unknown. It may read the argument that it
    /// is for, as a part of a list that has to come to something.
    ///
    /// A limit is counted by the harness's [ledger](crate::Ledger::used): all runs that were cleared under a line of this
    /// name and origin, by whichever host, in the last day (24 hours up to now, by the ledger's clock), whatever became of
    /// them, but not those whose bodies didn't begin. What was done before there was such a line isn't counted. Its place is
    /// [taken with the verdict](crate::Ledger::clear), so that no two calls have the last one. In one turn the calls
    /// before it count as if they ran. Amounts below zero make no room. A ledger that can't count lets nothing run that
    /// has a limit: the host has to settle that.
    pub fn file(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let origin = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        #[cfg(feature = "rules")]
        let syntax = if path.extension().is_some_and(|end| end == "json") { Syntax::Json } else { Syntax::Toml };
        #[cfg(not(feature = "rules"))]
        let syntax = Syntax::Json;
        self.text(syntax, origin, Given::File(path.to_owned()))
    }

    /// Holds the lines against the tools that they are about.
    ///
    /// # Errors
    /// With everything that is wrong, each with its line and column: what can't be read, keys that nobody knows, tools
    /// and arguments that there aren't, and expressions that can't be judged.
    ///
    /// ```
    /// # use tool_runtime::{Checklist, Registry, tool};
    /// # /// Pays.
    /// # #[tool(host(inline))]
    /// # fn pay(
    /// #     /// The account.
    /// #     iban: String,
    /// # ) {
    /// #     let _ = iban;
    /// # }
    /// # let registry = Registry::builder().tool(PayTool::host()).build()?;
    /// let lines = r#"{"line": [{"tool": "pay", "argument": "ibn", "label": "required"}]}"#;
    /// let error = Checklist::builder().json("ours", lines).build(&registry).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "ours: line 1, column 39: line 1: `pay` has no argument `ibn`; did you mean `iban`?"
    /// );
    /// # Ok::<(), tool_runtime::RegistryError>(())
    /// ```
    pub fn build(self, registry: &Registry) -> Result<Checklist, ChecklistError> {
        let ChecklistBuilder { sources, answers, memory, registered, texts, clock } = self;
        let registered = Arc::new(registered);
        let (snapshot, seen) = read(&texts, &registered, registry)?;
        Ok(Checklist(
            Arc::new(Inner {
                sources,
                answers,
                memory,
                registered,
                texts,
                registry: Some(registry.clone()),
                clock,
                current: RwLock::new(Arc::new(snapshot)),
                seen: Mutex::new(seen),
                fault: Mutex::default(),
            }),
            Notices::default(),
        ))
    }
}

impl fmt::Debug for ChecklistBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChecklistBuilder")
            .field("sources", &self.sources.len())
            .field("registered", &self.registered)
            .field("texts", &self.texts.len())
            .finish_non_exhaustive()
    }
}

/// What keeps a [`Checklist`] from being built: all of it, file by file. Shows a line for each fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecklistError(Vec<(String, Faults)>);

impl ChecklistError {
    /// What is wrong, each with the name of its file or the origin of its lines. There is at least one.
    pub fn faults(&self) -> impl Iterator<Item = (&str, &FileFault)> {
        self.0.iter().flat_map(|(file, faults)| faults.iter().map(move |fault| (file.as_str(), fault)))
    }
}

impl fmt::Display for ChecklistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (file, fault)) in self.faults().enumerate() {
            write!(f, "{}{file}: {fault}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ChecklistError {}
