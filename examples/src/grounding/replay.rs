//! Goes through recorded conversations turn by turn, and looks for what their calls hold.

use std::error::Error;
use std::sync::Arc;

use serde_json::Value;
use tool_runtime::{
    Ask, Conversation, Lookup, Observation, Registry, Shape, Source, SourceSet, Tried, look_up, look_up_all,
};

use super::Values;
use super::conversations::{Airline, Call, Recorded, leaves};
use super::derived::Derivations;
use super::other_values::{invented, sibling};
use crate::dice::Dice;

/// A value of a call that writes, and what came of looking for it.
pub(super) struct Leaf {
    /// Which conversation.
    pub(super) at: usize,
    pub(super) tool: String,
    pub(super) slot: String,
    pub(super) shape: Shape,
    pub(super) value: Value,
    pub(super) tried: Tried,
    /// It isn't found, and follows from what is: by a formula of the list, or a pure tool has computed it.
    pub(super) derived: Option<Follows>,
    /// The call has this value in the place of an expected one.
    pub(super) right: bool,
    /// Where its text stands nevertheless.
    pub(super) stands: Why,
}

/// How a value that nobody said follows from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    ByFormula,
    Computed,
}

/// Why a value isn't found, by where its text stands nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// The user has said something else of it.
    Otherwise,
    User,
    Results,
    Computed,
    Error,
    Assistant,
    Nowhere,
}

impl Leaf {
    /// The argument's own name.
    pub(super) fn name(&self) -> &str {
        self.slot.rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn is_found(&self) -> bool {
        matches!(self.tried.outcome, Lookup::Hit(_))
    }

    pub(super) fn is_found_or_derived(&self) -> bool {
        self.is_found() || self.derived.is_some()
    }
}

/// A call that writes.
pub(super) struct Written {
    /// It equals a call that was expected.
    pub(super) right: bool,
    /// The airline answered with an error.
    pub(super) refused: bool,
    /// Its leaves, as positions.
    pub(super) leaves: std::ops::Range<usize>,
}

#[derive(Default)]
pub(super) struct Replayed {
    pub(super) leaves: Vec<Leaf>,
    pub(super) calls: Vec<Written>,
}

/// All that was written before a call, to tell where a value stands that wasn't found.
#[derive(Default)]
struct Texts {
    user: String,
    assistant: String,
    errors: String,
    computed: String,
    results: String,
}

impl Texts {
    fn all(&self) -> String {
        [&self.user, &self.assistant, &self.errors, &self.computed, &self.results].map(String::as_str).join("\n")
    }

    /// Where a value stands that isn't found.
    fn stands(&self, value: &Value) -> Why {
        let text = match value {
            Value::String(text) => text.to_lowercase(),
            other => other.to_string(),
        };
        let holds = |all: &str| {
            let all = all.to_lowercase();
            all.match_indices(&text).any(|(at, found)| {
                let joins = |c: char| c.is_alphanumeric() || c == '_';
                !all[..at].chars().next_back().is_some_and(joins)
                    && !all[at + found.len()..].chars().next().is_some_and(joins)
            })
        };
        match () {
            () if holds(&self.user) => Why::User,
            () if holds(&self.results) => Why::Results,
            () if holds(&self.computed) => Why::Computed,
            () if holds(&self.errors) => Why::Error,
            () if holds(&self.assistant) => Why::Assistant,
            () => Why::Nowhere,
        }
    }
}

pub(super) fn replay(airline: &Airline, all: &[Recorded], values: Values) -> Result<Replayed, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut dice = Dice::new(match values {
        Values::Recorded => 0,
        Values::Siblings(seed) | Values::Invented(seed) => seed,
    });
    let mut replayed = Replayed::default();
    let tools = airline.host_tools()?.into_values();
    let registry = tools.fold(Registry::builder(), |registry, tool| registry.tool(tool)).build()?;
    for (at, recorded) in all.iter().enumerate() {
        let one = One { airline, registry: &registry, recorded, at, values };
        runtime.block_on(one.replay(&mut dice, &mut replayed))?;
    }
    Ok(replayed)
}

struct One<'a> {
    airline: &'a Airline,
    registry: &'a Registry,
    recorded: &'a Recorded,
    at: usize,
    values: Values,
}

impl One<'_> {
    async fn replay(&self, dice: &mut Dice, replayed: &mut Replayed) -> Result<(), Box<dyn Error>> {
        let conversation = Conversation::new();
        let sources = [conversation.instruction(), conversation.observed()];
        let derivations = Derivations::new(self.airline, self.registry, &conversation)?;
        let mut texts = Texts::default();
        // Calls whose results are still to come: each with the values that no source holds.
        let mut open: Vec<(&Call, Vec<String>, Option<usize>)> = Vec::new();
        for message in &self.recorded.messages {
            let content = message.content.as_deref().unwrap_or_default();
            match message.role.as_str() {
                "user" => {
                    conversation.user(content);
                    texts.user += &format!("{content}\n");
                }
                "assistant" => {
                    if !content.is_empty() {
                        conversation.assistant(content);
                        texts.assistant += &format!("{content}\n");
                    }
                    for call in message.tool_calls.iter().flatten() {
                        let arguments: Value = serde_json::from_str(&call.function.arguments)?;
                        let unsourced = self.unsourced(&sources, call, &arguments).await;
                        let written = match self.airline.writes(&call.function.name) {
                            true => {
                                let from = (&sources[..], &derivations, &texts);
                                Some(self.write(from, call, &arguments, dice, replayed).await)
                            }
                            false => None,
                        };
                        open.push((call, unsourced, written));
                    }
                }
                "tool" => {
                    let id = message.tool_call_id.as_deref().unwrap_or_default();
                    let Some(position) = open.iter().position(|(call, ..)| call.id == id) else {
                        return Err(format!("a result of {id:?}, which nobody called").into());
                    };
                    let (call, unsourced, written) = open.remove(position);
                    let (refused, pure) = (content.starts_with("Error"), self.airline.is_pure(&call.function.name));
                    if let Some(written) = written {
                        replayed.calls[written].refused = refused;
                    }
                    let into = match (refused, pure) {
                        (true, _) => &mut texts.errors,
                        (_, true) => &mut texts.computed,
                        _ => &mut texts.results,
                    };
                    *into += &format!("{content}\n");
                    if !refused && !pure {
                        derivations.came(call, content)?;
                    }
                    let derived = pure && self.is_of_sources(&sources, call).await;
                    let result = Observation::new(id, &call.function.name, content);
                    conversation.result(result.error(refused).pure(pure).derived(derived).unsourced(unsourced));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn ask(&self, tool: &str, slot: &str, value: &Value) -> Ask {
        Ask::new(tool, slot, self.airline.shape(tool, slot))
            .with_value(value.to_string())
            .saying(self.airline.says(slot))
            .with_aliases(self.airline.aliases(slot))
            .on(self.airline.now)
    }

    async fn look(&self, sources: &[Arc<dyn Source>], tool: &str, leaves: &[(String, Value)]) -> Vec<Tried> {
        let asks = leaves.iter().map(|(slot, value)| (SourceSet::ALL, self.ask(tool, slot, value)));
        look_up_all(sources, asks).await
    }

    /// Does a source hold every number that a pure tool computed with?
    async fn is_of_sources(&self, sources: &[Arc<dyn Source>], call: &Call) -> bool {
        let words = call.function.arguments.split(|c: char| !c.is_ascii_digit() && c != '.');
        let numbers: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect();
        let ask = |number: &&str| Ask::new(&call.function.name, "", Shape::Number).with_value(*number).deriving();
        let asks = numbers.iter().map(|number| (SourceSet::ALL, ask(number)));
        let tried = look_up_all(sources, asks).await;
        !tried.is_empty() && tried.iter().all(|tried| matches!(tried.outcome, Lookup::Hit(_)))
    }

    /// The values of a call that no source holds.
    async fn unsourced(&self, sources: &[Arc<dyn Source>], call: &Call, arguments: &Value) -> Vec<String> {
        let leaves = leaves(arguments);
        let tried = self.look(sources, &call.function.name, &leaves).await;
        let without = leaves.iter().zip(tried).filter(|(_, tried)| !matches!(tried.outcome, Lookup::Hit(_)));
        without.map(|((_, value), _)| value.to_string()).collect()
    }

    /// Looks for all values of a call that writes. Gives its position.
    async fn write(
        &self,
        (sources, derivations, texts): (&[Arc<dyn Source>], &Derivations, &Texts),
        call: &Call,
        arguments: &Value,
        dice: &mut Dice,
        replayed: &mut Replayed,
    ) -> usize {
        let tool = call.function.name.as_str();
        let from = replayed.leaves.len();
        let mut looked = Vec::new();
        for (slot, value) in leaves(arguments) {
            let shape = self.airline.shape(tool, &slot);
            let replaced = match self.values {
                Values::Recorded => Some(value),
                Values::Siblings(_) => sibling(&value, &shape, dice),
                Values::Invented(_) => invented(&value, &shape, &texts.all(), dice),
            };
            looked.extend(replaced.map(|value| (slot, value)));
        }
        let tried = self.look(sources, tool, &looked).await;
        // What is made up is to be found nowhere, and a formula isn't asked.
        let by_formula = match self.values {
            Values::Recorded => derivations.of(call).await,
            _ => Vec::new(),
        };
        let of_tool = || self.recorded.expected_actions.iter().filter(|expected| expected.name == tool);
        for ((slot, value), tried) in looked.into_iter().zip(tried) {
            let found = matches!(tried.outcome, Lookup::Hit(_));
            let derived = match () {
                () if found => None,
                () if by_formula.contains(&slot) => Some(Follows::ByFormula),
                () if self.is_computed(sources, tool, &slot, &value).await => Some(Follows::Computed),
                () => None,
            };
            replayed.leaves.push(Leaf {
                at: self.at,
                tool: tool.to_owned(),
                right: of_tool().any(|expected| expected.kwargs.pointer(&slot) == Some(&value)),
                stands: texts.stands(&value),
                shape: self.airline.shape(tool, &slot),
                slot,
                value,
                tried,
                derived,
            });
        }
        let right = of_tool().any(|expected| expected.kwargs == *arguments);
        replayed.calls.push(Written { right, refused: false, leaves: from..replayed.leaves.len() });
        replayed.calls.len() - 1
    }

    /// Has a pure tool computed it from values that have sources?
    async fn is_computed(&self, sources: &[Arc<dyn Source>], tool: &str, slot: &str, value: &Value) -> bool {
        if !self.airline.may_be_computed(slot) {
            return false;
        }
        let ask = self.ask(tool, slot, value).deriving();
        matches!(look_up(sources, SourceSet::ALL, ask).await.outcome, Lookup::Hit(_))
    }
}
