//! Values that follow from others by a formula of the list.

use super::applied::Place;
use super::examine::{Around, Examined};
use super::expression::Expression;
use super::judge::{self, Kept, Observed};
use crate::gate::parse_argument;
use crate::schema::JsonPath;
use crate::schema::json::Json;
use crate::tool::HostTool;

/// A formula, and the arguments that go into it.
#[derive(Debug, Clone)]
pub(crate) struct Derivation {
    formula: Expression,
    inputs: Vec<Place>,
}

impl Derivation {
    /// # Errors
    /// With what it reads that can't be looked up.
    pub(super) fn new(formula: Expression, tool: &HostTool) -> Result<Self, String> {
        let input = |written: &str| {
            let steps = parse_argument(written).ok()?;
            Place::new(&steps, tool).ok()
        };
        let inputs = formula.reads().arguments().map(|written| {
            input(written).ok_or_else(|| format!("for `{}`: nobody knows where `args.{written}` is", tool.name()))
        });
        let inputs = inputs.collect::<Result<_, _>>()?;
        Ok(Derivation { formula, inputs })
    }

    pub(super) fn formula(&self) -> &Expression {
        &self.formula
    }

    fn reads(&self, path: &JsonPath) -> bool {
        self.inputs.iter().any(|input| input.holds(path))
    }
}

/// A slot on its way.
pub(super) struct Slot<'a> {
    pub(super) path: &'a JsonPath,
    pub(super) value: Option<&'a Json>,
    /// It has a source.
    pub(super) is_known: bool,
    /// Nothing is said of it.
    pub(super) may_follow: bool,
    pub(super) by: Vec<&'a Derivation>,
}

/// A formula, tried for the slots that have it.
struct Trial<'a> {
    by: &'a Derivation,
    slots: Vec<usize>,
    /// How many slots go into it and aren't known.
    lacks: usize,
    /// What it comes to, once all is known.
    comes_to: Option<Option<Json>>,
}

/// For each slot the formula by which its value follows from what is known, and what that was judged by. What follows is
/// known itself, to formulas that read it: so values that only follow from one another don't.
///
/// A formula may read the slot that it is for, as in "all that is paid is the price": that slot alone needn't be known.
///
/// Each formula is evaluated once.
pub(super) fn follow(
    around: Around<'_>,
    call: &Examined<'_>,
    observed: &Observed,
    slots: &[Slot<'_>],
) -> Vec<Option<(String, Kept)>> {
    let mut follows: Vec<Option<(String, Kept)>> = slots.iter().map(|_| None).collect();
    let unknown = || slots.iter().enumerate().filter(|(_, slot)| !slot.is_known);
    let mut trials: Vec<Trial<'_>> = Vec::new();
    for (at, slot) in unknown().filter(|(_, slot)| slot.may_follow && slot.value.is_some()) {
        for &by in &slot.by {
            match trials.iter_mut().find(|trial| std::ptr::eq(trial.by, by)) {
                Some(trial) => trial.slots.push(at),
                None => {
                    let lacks = unknown().filter(|(_, slot)| by.reads(slot.path)).count();
                    trials.push(Trial { by, slots: vec![at], lacks, comes_to: None });
                }
            }
        }
    }
    if trials.is_empty() {
        return follows;
    }
    let facts = judge::facts(around, call, observed);
    loop {
        let mut known = Vec::new();
        // More than one is never the slot's own.
        for trial in trials.iter_mut().filter(|trial| trial.lacks < 2) {
            let Trial { by, slots: of, lacks, comes_to } = trial;
            of.retain(|&at| {
                if *lacks != usize::from(by.reads(slots[at].path)) {
                    return true;
                }
                let evaluate = || by.formula.value(&facts).ok().and_then(|value| Json::parse(&value).ok());
                let value = comes_to.get_or_insert_with(evaluate);
                if follows[at].is_none() && value.as_ref().is_some_and(|value| Some(value) == slots[at].value) {
                    let kept = judge::kept(&by.formula, &facts, call, observed);
                    follows[at] = Some((by.formula.as_str().to_owned(), kept));
                    known.push(at);
                }
                false
            });
        }
        if known.is_empty() {
            return follows;
        }
        for trial in &mut trials {
            trial.lacks -= known.iter().filter(|&&at| trial.by.reads(slots[at].path)).count();
        }
    }
}
