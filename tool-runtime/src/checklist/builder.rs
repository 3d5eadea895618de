//! From sources, conditions and lines to a checklist.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::condition::{Condition, Registered, State};
use super::file::Whose;
use super::given::{Answers, Memory, Prior};
use super::list::{Checklist, Current, Inner};
use super::notices::Notices;
use super::origin::ListKind;
use super::source::Source;
use super::texts::{ChecklistError, Given, Text, read};
use crate::document::Syntax;
use crate::registry::Registry;

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
    /// ([`QuestionSet::keep`](crate::QuestionSet::keep)), if their [answers](Self::answers) are at hand as well: a
    /// value is kept with the place where they agreed.
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
    /// A limit is counted by the harness's [ledger](crate::Ledger::used): all runs that were cleared under a line of
    /// this name and origin, by whichever host, in the last day (24 hours up to now, by the ledger's clock), whatever
    /// became of them, but not those whose bodies didn't begin. What was done before there was such a line isn't
    /// counted. Its place is [taken with the verdict](crate::Ledger::clear), so that no two calls have the last one.
    /// In one turn the calls before it count as if they ran. A yes is one to more only from whoever was shown that it
    /// is more: if others have used up the limit since, they are asked again, or, if it is too late for that, it
    /// doesn't run. Amounts below zero make no room. A ledger that can't count lets nothing run that has a limit: the
    /// host has to settle that.
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
        let current = Current::of(snapshot, &texts, registry);
        Ok(Checklist(
            Arc::new(Inner {
                sources,
                answers,
                memory,
                registered,
                texts,
                clock,
                current,
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
