//! The lines of one call, looked up. Nobody is asked, and no model is called.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use super::applied::{Applied, Kind, ValueLine};
use super::argument::{Argument, ToolLines};
use super::ask::Ask;
use super::condition::{CheckedCall, Registered};
#[cfg(feature = "cel")]
use super::derive;
use super::file::Labelled;
use super::judge::Observed;
use super::limit::{self, Counted};
use super::look_up::{Tried, look_up_all};
use super::notices::Notices;
use super::origin::{ListKind, Origin};
use super::recorded::Recorded;
use super::slot::{Party, Slot, SlotKind, SlotParts, SlotState, Unknown};
use super::snapshot::Snapshot;
use super::source::{Lookup, Source};
use super::{intent, judge, leaves, words};
use crate::call::ToolCall;
use crate::gate::{Addressee, QuestionId};
use crate::schema::json::Json;
use crate::schema::{Day, Digest, JsonPath};
use crate::tool::HostTool;

/// What a call is examined by, beside the list itself.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) list: &'a Snapshot,
    pub(crate) sources: &'a [Arc<dyn Source>],
    pub(crate) registered: &'a Registered,
    pub(crate) now: Option<SystemTime>,
    pub(crate) notices: Notices,
    /// What a record holds, in the place of all the others.
    pub(crate) recorded: Option<&'a Recorded>,
}

/// A call at one of its revisions.
#[derive(Clone)]
pub(crate) struct Examined<'a> {
    pub(crate) tool: &'a HostTool,
    pub(crate) call: &'a ToolCall,
    pub(crate) canonical: &'a str,
    /// What the canonical text was made from.
    pub(crate) given: Cow<'a, str>,
    /// Where nothing was given.
    pub(crate) open: &'a [JsonPath],
    /// What was filled in since the model wrote the call.
    pub(crate) filled: &'a [Filled],
}

/// A slot that was filled after the model wrote the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filled {
    /// An argument, read at a place that the model pointed at.
    Read(JsonPath),
    /// An argument, given by a person to a question.
    Given(JsonPath, QuestionId),
    /// Words of the user for one of the fixed lines, given to a question.
    Said(Arc<str>, String, QuestionId),
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Which list it was.
    pub(crate) list: Option<Digest>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) unknowns: Vec<Unknown>,
    /// Conditions that are false, in words, with who asked for them.
    pub(crate) unmet: Vec<String>,
    /// What somebody has to agree to.
    pub(crate) agree: Vec<Agree>,
    pub(crate) notices: Vec<String>,
    /// Unless they are shown, it doesn't run.
    pub(crate) must_tell: bool,
    /// The slots that are filled once the user was told.
    pub(crate) tells: Vec<usize>,
    /// Values that nothing was given for, and that a pointer of the model's leads to.
    pub(crate) fills: Vec<(JsonPath, Json)>,
    /// What has to be counted, and what came of it.
    pub(crate) limits: Vec<Counted>,
    /// Nothing is to be blocked for all this.
    pub(crate) shadow: bool,
}

/// A reason for a go-ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agree {
    pub(crate) words: String,
    pub(crate) by: Addressee,
    /// The slot that is filled by it.
    pub(crate) slot: usize,
    /// Of a limit: how its words begin, whatever it was counted to.
    pub(crate) limit: Option<String>,
}

impl Findings {
    fn add(&mut self, parts: SlotParts) -> usize {
        self.slots.push(Slot::new(parts));
        self.slots.len() - 1
    }

    /// A line that isn't about a value.
    pub(super) fn line(&mut self, line: &Applied, state: SlotState) -> usize {
        self.judged(line, state, Vec::new())
    }

    /// A line that was judged by something.
    pub(super) fn judged(&mut self, line: &Applied, state: SlotState, facts: Vec<(Arc<str>, Arc<str>)>) -> usize {
        self.add(SlotParts {
            name: Arc::clone(&line.name),
            kind: SlotKind::Condition,
            origins: vec![line.origin.clone()],
            value: None,
            state,
            approved: None,
            tried: Vec::new(),
            facts,
        })
    }

    /// A line of the fixed list.
    pub(super) fn intent(&mut self, name: &str, value: Option<String>, state: SlotState) -> usize {
        self.add(SlotParts {
            name: name.into(),
            kind: SlotKind::Intent,
            origins: vec![Origin::new(ListKind::Fixed, "every call")],
            value,
            state,
            approved: None,
            tried: Vec::new(),
            facts: Vec::new(),
        })
    }

    pub(super) fn has_to_agree(&mut self, words: String, by: Addressee, slot: usize) {
        self.agree.push(Agree { words, by, slot, limit: None });
    }
}

/// A value slot on its way.
struct Wanted<'a> {
    path: JsonPath,
    value: Option<&'a Json>,
    argument: Arc<Argument>,
    lines: Vec<(&'a Applied, &'a ValueLine)>,
}

impl<'a> Wanted<'a> {
    fn new(of_tool: &'a ToolLines, tool: &HostTool, path: JsonPath, value: Option<&'a Json>) -> Self {
        let argument = of_tool.argument(tool, &path);
        Wanted { path, value, lines: of_tool.about(&argument), argument }
    }

    fn has(&self, label: Labelled) -> bool {
        self.lines.iter().any(|(_, line)| line.label == Some(label))
    }
}

/// Looks up all lines of a call.
pub(crate) async fn examine(around: Around<'_>, call: Examined<'_>) -> Findings {
    let list = around.list;
    let mut findings = Findings {
        list: Some(list.digest),
        shadow: list.shadow,
        must_tell: around.notices == Notices::MustBeShown,
        ..Findings::default()
    };
    let of_tool = list.for_tool(call.tool);
    let lines = &of_tool.lines[..];
    let looks_up = list.looks_up(call.tool);
    if lines.is_empty() && !looks_up && call.open.is_empty() {
        return findings;
    }
    // An accepted text is JSON.
    let arguments = Json::parse(call.canonical).unwrap_or(Json::Null);
    let observed = judge::observe(around, &call, lines).await;
    values(around, &call, (&of_tool, &observed), looks_up, &arguments, &mut findings).await;
    for line in lines {
        match &line.kind {
            Kind::Value(_) | Kind::Condition { .. } => {}
            Kind::Agree(label) => {
                let slot = findings.line(line, SlotState::Unconfirmed);
                let words = line.words.as_deref().unwrap_or("the tool's provider asks for a confirmation");
                let words = match label {
                    Labelled::Required => format!("has to be so: {words}"),
                    _ => words.to_owned(),
                };
                findings.has_to_agree(words, Addressee::User, slot);
            }
            Kind::Tell => {
                let slot = findings.line(line, SlotState::Unconfirmed);
                findings.tells.push(slot);
                findings.notices.extend(line.words.as_deref().map(str::to_owned));
            }
            Kind::Limit(limit) => {
                limit::note((line, limit), &call, &arguments, around.recorded, &mut findings);
            }
            Kind::Broken(why) => {
                let party = party_of(&line.origin);
                findings.line(line, SlotState::Open { party, why: why.clone() });
                findings.unknowns.push(Unknown::of_line(Arc::clone(&line.name), party, why.clone()));
            }
        }
    }
    judge::conditions(around, &call, lines, &observed, &mut findings).await;
    if looks_up {
        intent::look_up(around, &call, &mut findings).await;
    }
    findings
}

/// Who can do something about a line that can't be judged.
pub(super) fn party_of(origin: &Origin) -> Party {
    match origin.list() {
        ListKind::Provider => Party::Provider,
        ListKind::User => Party::User,
        ListKind::Fixed | ListKind::Internal => Party::Host,
    }
}

async fn values(
    around: Around<'_>,
    call: &Examined<'_>,
    (of_tool, observed): (&ToolLines, &Observed),
    looks_up: bool,
    arguments: &Json,
    findings: &mut Findings,
) {
    let mut wanted = Vec::new();
    for (path, value) in leaves::within(arguments) {
        let one = Wanted::new(of_tool, call.tool, path, Some(value));
        if !one.lines.is_empty() || (looks_up && leaves::is_leaf(value)) {
            wanted.push(one);
        }
    }
    // What isn't there has no line in the arguments.
    let mut absent: Vec<JsonPath> = call.open.to_vec();
    for line in &of_tool.lines {
        let Kind::Value(value) = &line.kind else { continue };
        if value.label == Some(Labelled::Required) {
            absent.extend(value.place.missing(arguments, call.tool));
        }
    }
    absent.sort();
    absent.dedup();
    wanted.extend(absent.into_iter().map(|path| Wanted::new(of_tool, call.tool, path, None)));
    let defaults = call.tool.built().filled_in(&call.given, call.canonical);
    let is_default = |path: &JsonPath| defaults.iter().any(|default| path.segments().starts_with(default.segments()));
    let settled: Vec<Option<SlotState>> = wanted
        .iter()
        .map(|wanted| {
            let path = &wanted.path;
            let is_of = |filled: &JsonPath| path.segments().starts_with(filled.segments());
            let filled = call.filled.iter().rev().find(|filled| match filled {
                Filled::Read(path) | Filled::Given(path, _) => is_of(path),
                Filled::Said(..) => false,
            });
            if let Some(Filled::Given(_, question)) = filled {
                return Some(SlotState::Answered(question.clone()));
            }
            let value = wanted.value?;
            if let Some(settled) =
                around.recorded.and_then(|recorded| recorded.settled(&path.to_pointer(), Some(&value.to_string())))
            {
                return Some(settled);
            }
            if wanted.argument.said.authored || wanted.lines.iter().any(|(_, line)| line.authored) {
                Some(SlotState::Authored)
            } else if filled.is_none() && is_default(path) {
                Some(SlotState::Defaulted)
            } else if around.sources.is_empty() && !looks_up {
                Some(SlotState::Given)
            } else {
                None
            }
        })
        .collect();
    let asks = wanted.iter().zip(&settled).filter(|(_, settled)| settled.is_none());
    let asks = asks.map(|(wanted, _)| (wanted.argument.from, ask_for(around, call, wanted)));
    let tried: Vec<Tried> = match around.recorded {
        Some(recorded) => asks.map(|(from, ask)| recorded.tried(&ask, from)).collect(),
        None => look_up_all(around.sources, asks).await,
    };
    let mut tried = tried.into_iter();
    let found: Vec<Option<Tried>> = settled.iter().map(|settled| settled.is_none().then(|| tried.next())?).collect();
    let follows = follow(around, call, observed, (&wanted, &settled, &found));
    for (((wanted, settled), found), follows) in wanted.iter().zip(settled).zip(found).zip(follows) {
        settle(call, wanted, settled, (found, follows), findings);
    }
}

fn ask_for(around: Around<'_>, call: &Examined<'_>, wanted: &Wanted<'_>) -> Ask {
    let about = &wanted.argument.about;
    let mut ask = Ask::of(about).of_call(call.call.id.clone());
    if let Some(value) = wanted.value {
        ask = ask.with_json(value);
    }
    if let Some(hint) = call.call.reported().get(about.slot()).and_then(|at| at.parse().ok()) {
        ask = ask.with_hint(hint);
    }
    if let Some(now) = around.now.and_then(Day::of) {
        ask = ask.on(now);
    }
    if wanted.argument.said.secret { ask.secret() } else { ask }
}

/// The formula by which a value follows from others, and what it was judged by beside the arguments.
type Follows = (String, judge::Kept);

/// Which of the values that no source has follow from others that are known.
fn follow(
    around: Around<'_>,
    call: &Examined<'_>,
    observed: &Observed,
    (wanted, settled, found): (&[Wanted<'_>], &[Option<SlotState>], &[Option<Tried>]),
) -> Vec<Option<Follows>> {
    #[cfg(feature = "cel")]
    {
        let slots: Vec<_> = wanted
            .iter()
            .zip(settled.iter().zip(found))
            .map(|(wanted, (settled, found))| {
                let outcome = found.as_ref().map(|tried| &tried.outcome);
                derive::Slot {
                    path: &wanted.path,
                    value: wanted.value,
                    is_known: wanted.value.is_some() && (settled.is_some() || matches!(outcome, Some(Lookup::Hit(_)))),
                    may_follow: settled.is_none() && !matches!(outcome, Some(Lookup::Conflict(_) | Lookup::Failed(_))),
                    by: wanted.lines.iter().filter_map(|(_, line)| line.derive.as_deref()).collect(),
                }
            })
            .collect();
        derive::follow(around, call, observed, &slots)
    }
    #[cfg(not(feature = "cel"))]
    {
        let _ = (around, call, observed, settled, found);
        wanted.iter().map(|_| None).collect()
    }
}

/// Writes a value slot down, and what follows from it.
fn settle(
    call: &Examined<'_>,
    wanted: &Wanted<'_>,
    settled: Option<SlotState>,
    (found, follows): (Option<Tried>, Option<Follows>),
    findings: &mut Findings,
) {
    let path = &wanted.path;
    let mut origins: Vec<Origin> = wanted.lines.iter().map(|(line, _)| line.origin.clone()).collect();
    if origins.is_empty() {
        origins.push(Origin::new(ListKind::Provider, "schema"));
    }
    let asks = || {
        let asked = wanted.lines.iter().find_map(|(_, line)| line.ask.as_deref());
        asked.map_or_else(|| words::of_argument(call.tool.schema(), path), str::to_owned)
    };
    let unknown = |party: Party| {
        let says = wanted.lines.iter().flat_map(|(_, line)| line.says.iter().cloned());
        Unknown::of_argument(path.clone(), party, asks()).saying(says)
    };
    let shown = |value: &Json| match wanted.argument.said.secret {
        true => Json::string(crate::schema::REDACTED).to_string(),
        false => value.to_string(),
    };
    let (outcome, tried) = match found {
        Some(Tried { outcome, tried, .. }) => (Some(outcome), tried),
        None => (None, Vec::new()),
    };
    let mut value = wanted.value.map(shown);
    let mut facts = Vec::new();
    let state = match (settled, outcome) {
        (Some(state), _) => state,
        (None, Some(Lookup::Hit(hit))) => {
            if wanted.value.is_none() {
                // Unknown until it stands in the call, where it won't get if the schema doesn't take it.
                findings.unknowns.push(unknown(Party::User));
                if let Ok(read) = Json::parse(&hit.value) {
                    value = Some(shown(&read));
                    findings.fills.push((path.clone(), read));
                }
            }
            SlotState::Found { at: hit.location, normalisation: hit.normalisation, excerpt: hit.excerpt }
        }
        (None, Some(Lookup::Conflict(hits))) => {
            findings.unknowns.push(unknown(Party::User));
            let text = |value: String| Json::parse(&value).map_or(value, |value| shown(&value));
            SlotState::Conflict(hits.into_iter().map(|hit| (text(hit.value), hit.location)).collect())
        }
        (None, Some(Lookup::Failed(why))) => {
            findings.unknowns.push(unknown(Party::Host));
            SlotState::Open {
                party: Party::Host,
                why: if wanted.argument.said.secret { "a source failed".to_owned() } else { why },
            }
        }
        (None, _) => match follows {
            Some((formula, by)) => {
                facts = by;
                SlotState::Derived(formula)
            }
            None => {
                findings.unknowns.push(unknown(Party::User));
                let why = if wanted.value.is_some() { "no source has the value" } else { "nothing was given" };
                SlotState::Open { party: Party::User, why: why.to_owned() }
            }
        },
    };
    let is_known = !matches!(state, SlotState::Open { .. } | SlotState::Conflict(_)) && value.is_some();
    let derived = match &state {
        SlotState::Derived(formula) => Some(formula.clone()),
        _ => None,
    };
    let name = Arc::clone(wanted.argument.about.slot());
    let parts = SlotParts { name, kind: SlotKind::Value, origins, value, state, approved: None, tried, facts };
    let shown = parts.value.clone().unwrap_or_default();
    let slot = findings.add(parts);
    if let Some(formula) = derived {
        // A result that comes out right isn't yet what the user wanted.
        findings.has_to_agree(format!("{} {shown} follows from {formula}", asks()), Addressee::User, slot);
    }
    if is_known && wanted.has(Labelled::Confirm) {
        let line = wanted.lines.iter().find(|(_, line)| line.label == Some(Labelled::Confirm));
        let words = line.and_then(|(line, _)| line.words.as_deref()).map_or_else(asks, str::to_owned);
        let confirmed = matches!(findings.slots[slot].state(), SlotState::Answered(_));
        // Whoever gave the value has confirmed it by that.
        if !confirmed {
            findings.has_to_agree(format!("{words}: {shown}"), Addressee::User, slot);
        }
    }
    if wanted.has(Labelled::Notice) {
        let told = wanted.lines.iter().filter(|(_, line)| line.label == Some(Labelled::Notice));
        findings.notices.extend(told.filter_map(|(line, _)| line.words.as_deref().map(str::to_owned)));
    }
}

impl<'a> Examined<'a> {
    pub(super) fn checked(&self) -> CheckedCall {
        CheckedCall::new(self.call.id.clone(), self.tool.name(), self.canonical)
    }
}
