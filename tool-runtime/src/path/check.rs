//! Is everything known that has to be? Looks up, never asks.

use std::sync::Arc;

use super::accept::{Acceptance, Accepted, Draft};
use super::ask::Said;
use super::limits::Counting;
use super::state::{Listed, State};
use crate::checklist::examine::{Filled, examine};
use crate::checklist::{Checklist, Snapshot, Unknown, put};
use crate::schema::JsonPath;
use crate::schema::json::Json;

/// A call whose slots have been looked up: each filled, or unknown.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Checked(pub(super) Box<State>);

impl Checked {
    /// The tool and the canonical text.
    pub(crate) fn said(&self) -> (&str, &str) {
        (self.0.tool().name(), self.0.canonical())
    }

    /// The canonical text without its secrets.
    pub(crate) fn redacted(&self) -> String {
        self.0.redacted()
    }

    /// The slots that are still empty.
    pub fn unknowns(&self) -> &[Unknown] {
        self.0.unknowns()
    }
}

impl Accepted {
    /// Looks up the lines of a checklist.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        let Accepted(state) = self;
        check(state, Vec::new(), checklist, &checklist.snapshot(), None).await
    }
}

impl Draft {
    /// Looks up the lines of a checklist. What the model didn't find stays unknown.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        let Draft(state, open) = self;
        check(state, open, checklist, &checklist.snapshot(), None).await
    }
}

impl Acceptance {
    /// Looks up the lines of a checklist, for either.
    pub async fn check(self, checklist: &Checklist) -> Checked {
        self.check_by(checklist, &checklist.snapshot(), None).await
    }

    /// Looks up the lines of a checklist as it was at some time.
    pub(crate) async fn check_by(
        self,
        checklist: &Checklist,
        list: &Arc<Snapshot>,
        counting: Option<Counting<'_>>,
    ) -> Checked {
        let (state, open) = match self {
            Acceptance::Accepted(Accepted(state)) => (state, Vec::new()),
            Acceptance::Draft(Draft(state, open)) => (state, open),
        };
        check(state, open, checklist, list, counting).await
    }
}

async fn check(
    mut state: Box<State>,
    open: Vec<JsonPath>,
    checklist: &Checklist,
    list: &Arc<Snapshot>,
    counting: Option<Counting<'_>>,
) -> Checked {
    // One that goes on elsewhere has some of it already.
    if state.listed.is_none() {
        if open.is_empty() && list.asks_nothing_of(state.tool()) {
            return Checked(state);
        }
        state.listed = Some(Box::new(Listed::new(Arc::clone(list), open)));
    }
    if let Some(listed) = &mut state.listed {
        listed.counter = counting.map(Counting::counter);
    }
    state.examine(checklist).await;
    let fills = match &mut state.listed {
        Some(listed) => std::mem::take(&mut listed.findings.fills),
        None => Vec::new(),
    };
    // What a person has agreed to gets nothing that the person hasn't seen.
    if !fills.is_empty() && !state.said.iter().any(Said::is_yes) {
        let filled = fills.into_iter().map(|(path, value)| (Filled::Read(path.clone()), path, value));
        // What was read at a place that the model pointed at may be nothing that the schema takes; then it is open.
        if state.revise(filled.collect()).is_ok() {
            state.examine(checklist).await;
        }
    }
    Checked(state)
}

impl State {
    /// Looks up all lines, as the call is now.
    pub(super) async fn examine(&mut self, checklist: &Checklist) {
        let Some(listed) = &self.listed else { return };
        let list = Arc::clone(&listed.list);
        // Boxed, since most calls never get here and would have to carry its size.
        let findings = Box::pin(examine(checklist.around(&list), self.examined())).await;
        if let Some(listed) = &mut self.listed {
            listed.findings = findings;
        }
        if self.has_limits() {
            Box::pin(self.count_in_turn()).await;
        }
    }

    /// Writes values in. What comes of it is the next revision of the call: accepted anew, with a canonical text of its
    /// own. If it isn't accepted, everything stays as it was.
    pub(super) fn revise(&mut self, fills: Vec<(Filled, JsonPath, Json)>) -> Result<(), ()> {
        let mut arguments = Json::parse(self.canonical()).map_err(drop)?;
        let mut left = self.listed.as_ref().map(|listed| listed.open.clone()).unwrap_or_default();
        for (_, path, value) in &fills {
            if !put(&mut arguments, path, value.clone()) {
                return Err(());
            }
            left.retain(|open| open != path);
        }
        let text = arguments.to_string();
        let mut walked = self.tool().built().accept(&text, &left).map_err(drop)?;
        let canonical = walked.text.take().unwrap_or(text);
        let args = if walked.open.is_empty() { Some(self.tool().read_again(&canonical).ok_or(())?) } else { None };
        self.canonical = Some(canonical);
        self.args = args;
        self.revision += 1;
        if let Some(listed) = &mut self.listed {
            listed.open = walked.open;
            listed.filled.extend(fills.into_iter().map(|(filled, ..)| filled));
        }
        Ok(())
    }
}
