use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use super::accept::as_given;
use super::ask::Said;
use super::ending::End;
use super::limits::Counter;
use crate::call::{Place, ToolCall};
use crate::checklist::examine::{Agree, Examined, Filled, Findings};
use crate::checklist::{SlotState, Snapshot, Unknown};
use crate::gate::{CallFacts, Grant, GrantScope, QuestionId, Ruling};
use crate::ledger::{JudgementKind, RulingRecord, Verdict};
use crate::schema::JsonPath;
use crate::tool::{Access, ErasedArgs, HostState, HostTool, Lineage};

/// What is known of a call so far. One box of it moves through all stages; which stage's type holds
/// it says what has been done.
pub(crate) struct State {
    /// Which way through the host it is.
    pub(super) place: Place,
    pub(super) call: ToolCall,
    /// `None` only in the ending of a call whose tool nobody has.
    pub(super) tool: Option<HostTool>,
    pub(super) host: HostState,
    /// Of a call that a tool has made.
    pub(super) lineage: Option<Arc<Lineage>>,
    /// The canonical text, where it isn't the raw text itself. From `accept` on.
    pub(super) canonical: Option<String>,
    /// The values read from it. `None` for a draft, and once the body has them.
    pub(super) args: Option<ErasedArgs>,
    pub(super) revision: u32,
    /// From `check` on. `None` if nothing is asked for.
    pub(super) listed: Option<Box<Listed>>,
    /// Of a call from one of several sampled plans: what was ruled of them.
    pub(super) plan: Option<Arc<RulingRecord>>,
    /// From `decide` on.
    pub(super) ruling: Ruling,
    pub(super) approval: Approval,
    /// The question about the same, to which a person said no before.
    pub(super) refused_before: Option<QuestionId>,
    /// What everybody has said who was asked, whose question was recorded last at the end.
    pub(super) said: Vec<Said>,
    /// The host says who the user is: somebody else than the approver.
    pub(super) user_apart: bool,
    /// The question that it came down to.
    pub(super) question: Option<QuestionId>,
    /// Of a call that goes on elsewhere: what it was made of, without the tool's defaults.
    pub(super) given: Option<String>,
    /// What spares the question.
    pub(super) grant: Option<Arc<Grant>>,
    /// The turn was cancelled before the call could begin.
    pub(super) cancelled: bool,
    /// From `record` on.
    pub(super) verdict: Option<Arc<Verdict>>,
    /// Why the verdict, a no, is not in the ledger.
    pub(super) unrecorded: Option<String>,
    /// The ledger has refused the verdict: the call is another host's by now.
    pub(super) not_ours: bool,
    /// Of a call that is going to wait: until when it does.
    pub(super) expires: Option<SystemTime>,
    /// In an ending.
    pub(super) end: Option<End>,
}

/// What the checklist asks of a call, and what was found.
pub(super) struct Listed {
    /// The list as it was when the turn began.
    pub(super) list: Arc<Snapshot>,
    pub(super) findings: Findings,
    /// Arguments that nobody has given yet.
    pub(super) open: Vec<JsonPath>,
    /// Slots that were filled since the model wrote the call.
    pub(super) filled: Vec<Filled>,
    /// The user was shown the notices.
    pub(super) told: bool,
    /// By what its limits are counted while it is judged.
    pub(super) counter: Option<Counter>,
}

impl Listed {
    /// Nothing is looked up yet.
    pub(super) fn new(list: Arc<Snapshot>, open: Vec<JsonPath>) -> Self {
        Listed { list, findings: Findings::default(), open, filled: Vec::new(), told: false, counter: None }
    }
}

/// What asking a person has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    /// There was nobody to ask, or nothing to ask about.
    NotAsked,
    /// For the session, too, if it is said for which calls.
    Given(Option<GrantScope>),
    Refused,
    /// There was somebody, and nobody took the question.
    Unavailable,
    /// A rule forbids asking.
    Forbidden,
    Expired,
    Pending,
    /// What was approved is not what would run; the reason says how.
    Void(&'static str),
}

impl State {
    pub(super) fn new(place: Place, call: ToolCall, tool: Option<HostTool>, host: HostState) -> Self {
        State {
            place,
            call,
            tool,
            host,
            lineage: None,
            canonical: None,
            args: None,
            revision: 1,
            listed: None,
            plan: None,
            ruling: Ruling::default(),
            approval: Approval::NotAsked,
            refused_before: None,
            said: Vec::new(),
            user_apart: false,
            question: None,
            given: None,
            grant: None,
            cancelled: false,
            verdict: None,
            unrecorded: None,
            not_ours: false,
            expires: None,
            end: None,
        }
    }

    /// The tool of a call that was resolved.
    pub(super) fn tool(&self) -> &HostTool {
        match &self.tool {
            Some(tool) => tool,
            None => unreachable!("a stage after `resolve` has a tool"),
        }
    }

    /// What nobody has filled, as far as that keeps the call from running.
    pub(super) fn unknowns(&self) -> &[Unknown] {
        self.blocking().map_or(&[], |findings| &findings.unknowns)
    }

    /// Conditions that are false.
    pub(super) fn unmet(&self) -> &[String] {
        self.blocking().map_or(&[], |findings| &findings.unmet)
    }

    /// What the checklist wants somebody to agree to.
    pub(super) fn agree(&self) -> &[Agree] {
        self.blocking().map_or(&[], |findings| &findings.agree)
    }

    /// Sampled plans that settle nothing: why a person is asked, in words.
    pub(super) fn unsettled_plan(&self) -> Option<String> {
        let plan = self.plan.as_ref().filter(|plan| plan.kind() == JudgementKind::Defer)?;
        Some(plan.in_words(self.tool().name()))
    }

    /// Sampled plans of which none stands out.
    pub(super) fn rejected_plan(&self) -> Option<&RulingRecord> {
        self.plan.as_deref().filter(|plan| plan.kind() == JudgementKind::Reject)
    }

    /// What has to be agreed to besides what the policy asks: no grant spares it.
    pub(super) fn has_to_agree(&self) -> bool {
        !self.agree().is_empty() || self.unsettled_plan().is_some()
    }

    /// What the checklist wants the user to be told.
    pub(super) fn notices(&self) -> &[String] {
        // In the shadow, too: being told blocks nothing.
        self.listed.as_ref().map_or(&[], |listed| &listed.findings.notices)
    }

    /// The values that sources disagree about.
    pub(super) fn conflict_at(&self, slot: &str) -> Option<Vec<String>> {
        let found = self.blocking()?.slots.iter().find(|found| found.name() == slot)?;
        match found.state() {
            SlotState::Conflict(found) => Some(found.iter().map(|(value, _)| value.clone()).collect()),
            _ => None,
        }
    }

    /// The notices were shown.
    pub(super) fn is_told(&mut self) {
        if let Some(listed) = &mut self.listed {
            listed.told = true;
        }
    }

    /// Nobody was shown the notices yet.
    pub(super) fn is_untold(&self) -> bool {
        self.listed.as_ref().is_some_and(|listed| !listed.told)
    }

    /// Notices that have to be shown before it runs, and were not.
    pub(super) fn untold(&self) -> &[String] {
        let must_tell = |findings: &&Findings| findings.must_tell && self.is_untold();
        self.blocking().filter(must_tell).map_or(&[], |findings| &findings.notices)
    }

    fn blocking(&self) -> Option<&Findings> {
        self.listed.as_ref().map(|listed| &listed.findings).filter(|findings| !findings.shadow)
    }

    /// The call as the checklist sees it.
    pub(super) fn examined(&self) -> Examined<'_> {
        let (open, filled) = match &self.listed {
            Some(listed) => (&*listed.open, &*listed.filled),
            None => (&[][..], &[][..]),
        };
        let given = self.given();
        Examined { tool: self.tool(), call: &self.call, canonical: self.canonical(), given, open, filled }
    }

    /// What the canonical text was made of.
    pub(super) fn given(&self) -> Cow<'_, str> {
        self.given.as_deref().map_or_else(|| as_given(&self.call), Cow::Borrowed)
    }

    /// The canonical text. From `accept` on.
    pub(super) fn canonical(&self) -> &str {
        match (&self.canonical, &self.verdict) {
            (Some(canonical), _) => canonical,
            // It moved into the record, as far as it has no secrets.
            (None, Some(verdict)) if !self.has_secrets() => verdict.arguments(),
            (None, _) => self.call.arguments.text().unwrap_or_default(),
        }
    }

    /// Moves the canonical text out.
    pub(super) fn take_canonical(&mut self) -> String {
        self.canonical.take().unwrap_or_else(|| self.call.arguments.take_text())
    }

    /// What running it would touch. A call that won't run touches nothing.
    pub(super) fn access(&self) -> Access {
        match (&self.tool, &self.args) {
            (Some(tool), Some(args)) => tool.access(args, self.canonical()),
            _ => Access::Shared(Vec::new()),
        }
    }

    pub(super) fn has_secrets(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.built().has_secrets())
    }

    pub(super) fn facts(&self) -> CallFacts<'_> {
        CallFacts::new(self.tool(), &self.call.id, self.canonical())
    }

    /// What hosts say of a call, without the secrets that they may have quoted.
    pub(super) fn without_secrets<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        if self.has_secrets() {
            self.tool().built().without_secrets(self.canonical(), self.open(), texts);
        }
    }

    /// Where nothing is although it is required.
    fn open(&self) -> &[JsonPath] {
        self.listed.as_ref().map_or(&[], |listed| &listed.open)
    }

    /// The canonical text as it may be stored and shown.
    pub(super) fn redacted(&self) -> String {
        self.tool().built().redact(self.canonical(), self.open())
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("call", &self.call).finish_non_exhaustive()
    }
}
