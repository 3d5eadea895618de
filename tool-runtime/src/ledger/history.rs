use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use super::stored::{Owner, Stored, StoredKind};
use crate::call::{CallId, CaseId, Code};
use crate::gate::{Answer, QuestionId, Signer};

/// What a ledger has of some calls, read back: each call's entries together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    cases: Vec<CaseHistory>,
    declarations: Vec<Stored>,
    pub(super) leases: Leases,
    pub(super) now: Option<SystemTime>,
}

/// Which hosts may still be running.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Leases {
    /// There is one writer at a time, and it is the one who asks.
    #[default]
    OneWriter,
    /// Until when each is taken to be alive.
    Until(BTreeMap<Owner, SystemTime>),
}

/// All entries about one call, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseHistory {
    case: CaseId,
    entries: Vec<Stored>,
}

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaseState {
    /// Somebody was asked, and nothing is decided.
    Asked,
    /// It waits for an answer from elsewhere.
    Waiting,
    /// The answer from elsewhere is there, and nobody has gone on with the call.
    Answered,
    /// It was cleared and has no end.
    Running,
    /// It was refused, for this reason, and has no end.
    Refused(Code),
    /// It ended so.
    Ended(Code),
}

impl History {
    /// Of entries in the order in which they were written.
    pub fn of(entries: impl IntoIterator<Item = Stored>) -> Self {
        let mut places = HashMap::new();
        let mut cases: Vec<CaseHistory> = Vec::new();
        let mut declarations = Vec::new();
        for entry in entries {
            if entry.kind() == StoredKind::Declaration {
                declarations.push(entry);
                continue;
            }
            let case = entry.case();
            let place = *places.entry(case).or_insert_with(|| {
                cases.push(CaseHistory { case, entries: Vec::new() });
                cases.len() - 1
            });
            cases[place].entries.push(entry);
        }
        History { cases, declarations, leases: Leases::OneWriter, now: None }
    }

    /// As several hosts share it: when it was read, by a clock that is the same for all of them, and
    /// until when each is taken to be alive. Without this, whoever reads is the only one who writes.
    #[must_use]
    pub fn shared(mut self, now: SystemTime, leases: impl IntoIterator<Item = (Owner, SystemTime)>) -> Self {
        self.now = Some(now);
        self.leases = Leases::Until(leases.into_iter().collect());
        self
    }

    /// What a query asks for of it.
    #[must_use]
    pub fn only(self, query: &Query) -> Self {
        query.of(self)
    }

    /// The calls, in the order of their first entries.
    pub fn cases(&self) -> &[CaseHistory] {
        &self.cases
    }

    /// What was said of tools' declarations, oldest first: see [`Query::declarations`].
    pub fn declarations(&self) -> &[Stored] {
        &self.declarations
    }

    /// The time at which it was read, by the ledger's clock, if it has one of its own.
    pub fn now(&self) -> Option<SystemTime> {
        self.now
    }

    /// One of them.
    pub fn case(&self, case: CaseId) -> Option<&CaseHistory> {
        self.cases.iter().find(|history| history.case == case)
    }

    /// Those of a conversation.
    pub fn conversation<'a>(&'a self, conversation: &'a str) -> impl Iterator<Item = &'a CaseHistory> {
        self.cases.iter().filter(move |case| case.conversation() == Some(conversation))
    }

    /// Those that wait for an answer, or for somebody who goes on with them.
    pub fn waiting(&self) -> impl Iterator<Item = &CaseHistory> {
        self.cases.iter().filter(|case| matches!(case.state(), CaseState::Waiting | CaseState::Answered))
    }

    /// Where calls stopped: for each tool and code, which. What their providers should hear of it is a
    /// [`ProviderReport`](crate::ProviderReport).
    pub fn stops(&self) -> BTreeMap<(String, Code), Vec<CaseId>> {
        let mut stops = BTreeMap::<_, Vec<CaseId>>::new();
        for case in &self.cases {
            if let Some(code) = case.stopped_at() {
                stops.entry((case.tool().to_owned(), code)).or_default().push(case.case);
            }
        }
        stops
    }
}

impl CaseHistory {
    /// The call's way through the host.
    pub fn id(&self) -> CaseId {
        self.case
    }

    /// All that was written.
    pub fn entries(&self) -> &[Stored] {
        &self.entries
    }

    /// The call.
    pub fn call_id(&self) -> Option<&CallId> {
        self.entries.first().map(Stored::call_id)
    }

    /// The conversation that it belongs to.
    pub fn conversation(&self) -> Option<&str> {
        self.entries.iter().find_map(Stored::conversation)
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        self.entries.first().map(Stored::tool).unwrap_or_default()
    }

    fn last(&self, kind: StoredKind) -> Option<&Stored> {
        self.entries.iter().rev().find(|entry| entry.kind() == kind)
    }

    /// The last verdict on it.
    pub fn verdict(&self) -> Option<&Stored> {
        self.last(StoredKind::Verdict)
    }

    /// The last question about it.
    pub fn asked(&self) -> Option<&Stored> {
        self.last(StoredKind::Asked)
    }

    /// The last answer to the last question, unless it was that another comes later.
    pub fn answered(&self) -> Option<&Stored> {
        let question = self.asked()?.question()?;
        let answers = |entry: &&Stored| {
            entry.kind() == StoredKind::Answered
                && entry.question().as_ref() == Some(&question)
                && entry.answer().is_some_and(|answer| answer != Answer::Later)
        };
        self.entries.iter().find(answers)
    }

    /// Who agreed or refused, if that is known.
    pub fn signer(&self) -> Option<Signer> {
        self.answered()?.signer()
    }

    /// The questions that it still waits for, each as it was asked.
    pub fn waits_for(&self) -> impl Iterator<Item = &Stored> {
        let open = self.folded().2;
        self.entries.iter().filter(move |entry| {
            entry.kind() == StoredKind::Asked && entry.question().is_some_and(|question| open.contains(&question))
        })
    }

    /// Was this question about it?
    pub(crate) fn asks(&self, question: &QuestionId) -> bool {
        let asks = |entry: &Stored| entry.kind() == StoredKind::Asked && entry.question().as_ref() == Some(question);
        self.entries.iter().any(asks)
    }

    /// The last question about it.
    pub fn question(&self) -> Option<QuestionId> {
        self.asked()?.question()
    }

    /// What it came to: the entry of its end, or of what was found out instead.
    pub fn end(&self) -> Option<&Stored> {
        self.folded().1
    }

    /// Ends that came after the end: of bodies that outlasted their calls, and of calls that were
    /// already taken for lost.
    pub fn late(&self) -> impl Iterator<Item = &Stored> {
        let end = self.end();
        let ends = |kind| matches!(kind, StoredKind::End | StoredKind::Repaired | StoredKind::LateEnd);
        self.entries.iter().filter(move |entry| {
            ends(entry.kind()) && !std::ptr::eq(*entry, end.unwrap_or(entry)) && end.is_some() && !is_pause(entry)
        })
    }

    /// How far it came.
    pub fn state(&self) -> CaseState {
        self.folded().0
    }

    /// Where it stopped: why the call did not run, or did not end well.
    pub fn stopped_at(&self) -> Option<Code> {
        match self.state() {
            CaseState::Ended(Code::Ok) | CaseState::Running | CaseState::Asked => None,
            CaseState::Waiting | CaseState::Answered => Some(Code::ApprovalPending),
            CaseState::Ended(code) | CaseState::Refused(code) => Some(code),
        }
    }

    /// Which slots were empty when it was last judged.
    pub fn open(&self) -> Vec<&str> {
        self.verdict().map(Stored::open).unwrap_or_default()
    }

    /// Every rule that applied when it was last judged, and every reason for asking.
    pub fn rules(&self) -> Vec<&str> {
        let mut rules = self.verdict().map(Stored::reasons).unwrap_or_default();
        for reason in self.asked().map(Stored::reasons).unwrap_or_default() {
            if !rules.contains(&reason) {
                rules.push(reason);
            }
        }
        rules
    }

    /// The state, the entry that ended it, and the questions that it waits for.
    fn folded(&self) -> (CaseState, Option<&Stored>, Vec<QuestionId>) {
        let mut state = CaseState::Asked;
        let mut end = None;
        let mut open = Vec::new();
        for entry in &self.entries {
            state = match (entry.kind(), state) {
                (_, CaseState::Ended(_)) => state,
                (StoredKind::LateEnd | StoredKind::Asked | StoredKind::Form | StoredKind::Declaration, _) => state,
                (StoredKind::Answered, CaseState::Waiting) if entry.answer() != Some(Answer::Later) => {
                    // A no is enough.
                    let is_no = entry.answer() == Some(Answer::No);
                    open.retain(|open| !is_no && entry.question().as_ref() != Some(open));
                    if open.is_empty() { CaseState::Answered } else { CaseState::Waiting }
                }
                (StoredKind::Answered, _) => state,
                (StoredKind::Verdict, _) => {
                    open = entry.waits_for();
                    match entry.code() {
                        None => CaseState::Running,
                        Some(Code::ApprovalPending) => CaseState::Waiting,
                        Some(code) => CaseState::Refused(code),
                    }
                }
                (StoredKind::End | StoredKind::Repaired, _) if is_pause(entry) => state,
                (StoredKind::End | StoredKind::Repaired, _) => {
                    (end, open) = (Some(entry), Vec::new());
                    CaseState::Ended(entry.code().unwrap_or(Code::HostError))
                }
            };
        }
        (state, end, open)
    }
}

/// The end of a turn, and not of the call, which waits.
pub(super) fn is_pause(entry: &Stored) -> bool {
    entry.kind() == StoredKind::End && entry.code() == Some(Code::ApprovalPending)
}

/// Which calls are to be read. All, unless it says less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(super) conversation: Option<String>,
    pub(super) case: Option<CaseId>,
    pub(super) question: Option<QuestionId>,
    pub(super) tool: Option<String>,
    pub(super) unfinished: bool,
    pub(super) stopped: bool,
    pub(super) declarations: bool,
    pub(super) newest: Option<usize>,
}

impl Query {
    /// All calls.
    pub fn all() -> Self {
        Query::default()
    }

    /// Those that have no end yet: what repairs and approvers look at.
    pub fn unfinished() -> Self {
        Query { unfinished: true, ..Query::default() }
    }

    /// No calls, but what was said of tools' declarations.
    pub fn declarations() -> Self {
        Query { declarations: true, ..Query::default() }
    }

    /// Those of a conversation.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// One.
    #[must_use]
    pub fn case(mut self, case: CaseId) -> Self {
        self.case = Some(case);
        self
    }

    /// The one that a question is or was about.
    #[must_use]
    pub fn question(mut self, question: &QuestionId) -> Self {
        self.question = Some(question.clone());
        self
    }

    /// Those of a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Those that [stopped](CaseHistory::stopped_at): that may not run, did not end well, or wait. Which slot was empty and
    /// where calls stop is asked of these. Databases have an index of them, so that they are found among any number of
    /// others; what is asked of a conversation, a call or a question has one, too. Whatever else is asked reads all calls
    /// that there are, or the [newest](Self::newest).
    #[must_use]
    pub fn stopped(mut self) -> Self {
        self.stopped = true;
        self
    }

    /// At most so many, the newest.
    #[must_use]
    pub fn newest(mut self, calls: usize) -> Self {
        self.newest = Some(calls);
        self
    }

    fn takes(&self, case: &CaseHistory) -> bool {
        let ended = || matches!(case.state(), CaseState::Ended(_));
        self.conversation.as_deref().is_none_or(|wanted| case.conversation() == Some(wanted))
            && self.case.is_none_or(|wanted| case.case == wanted)
            && self.question.as_ref().is_none_or(|wanted| case.asks(wanted))
            && self.tool.as_deref().is_none_or(|wanted| case.tool() == wanted)
            && !(self.unfinished && ended())
            && !(self.stopped && case.stopped_at().is_none())
    }

    /// Leaves what is asked for.
    pub(super) fn of(&self, mut history: History) -> History {
        match self.declarations {
            true => history.cases.clear(),
            false => history.declarations.clear(),
        }
        history.cases.retain(|case| self.takes(case));
        if let Some(newest) = self.newest {
            history.cases.drain(..history.cases.len().saturating_sub(newest));
        }
        history
    }
}
