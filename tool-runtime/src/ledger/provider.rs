use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{CaseHistory, History, Verdict};
use crate::checklist::{ListKind, Party, Slot, SlotKind, SlotState};
use crate::schema::Digest;
use crate::tool::HostTool;

/// What providers of tools could settle and users can't: lines of theirs that can't be judged, and `[required]` lines
/// that name nothing which could be looked up. Made from verdicts, and to be sent to whoever wrote the tools.
///
/// It holds names and words of the tools' definitions, and counts; nothing that a user or a model wrote.
/// [`ProviderReport::SCHEMA`] says what its JSON looks like.
///
/// ```
/// use tool_runtime::ProviderReport;
///
/// let report = ProviderReport::of([]);
/// assert!(report.is_empty());
/// assert_eq!(serde_json::to_string(&report)?, r#"{"version":1,"findings":[]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderReport {
    findings: BTreeMap<Key, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    tool: String,
    definition: Digest,
    slot: String,
    kind: SlotKind,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    /// For this reason.
    NotJudged(String),
    NamesNothing,
    /// This line of the description has no label, so that nobody can tell whether a model went by it.
    Unlabelled(String),
}

impl ProviderReport {
    /// The JSON Schema (2020-12) of a report.
    pub const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["version","findings"],"additionalProperties":false,"properties":{"version":{"const":1},"findings":{"type":"array","items":{"type":"object","required":["tool","definition","slot","kind","problem","count"],"additionalProperties":false,"properties":{"tool":{"type":"string","description":"The name of the tool."},"definition":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"The digest of its definition."},"slot":{"type":"string","description":"The argument or the line."},"kind":{"enum":["value","condition","intent"]},"problem":{"enum":["not_judged","names_nothing","unlabelled"],"description":"The line can't be judged, it asks for something without saying what could be looked up, or it has no label."},"why":{"type":"string","description":"Why it can't be judged, or the line without a label."},"count":{"type":"integer","minimum":1,"description":"How many calls it was in the way of; of a line without a label, 1."}}}}}}"#;

    /// Of what was decided.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let mut report = ProviderReport::default();
        for verdict in verdicts {
            report.add(verdict);
        }
        report
    }

    /// Of what a ledger has of some calls: of each, its last verdict.
    pub fn of_history(history: &History) -> Self {
        let mut report = ProviderReport::default();
        for verdict in history.cases().iter().filter_map(CaseHistory::verdict) {
            let Some(definition) = verdict.definition() else { continue };
            for slot in verdict.slots() {
                report.count(verdict.tool(), definition, &slot);
            }
        }
        report
    }

    /// Adds what one verdict has for providers.
    pub fn add(&mut self, verdict: &Verdict) {
        for slot in verdict.slots() {
            self.count(verdict.tool(), *verdict.definition(), slot);
        }
    }

    fn count(&mut self, tool: &str, definition: Digest, slot: &Slot) {
        if let Some(problem) = Problem::of(slot) {
            let (tool, slot, kind) = (tool.to_owned(), slot.name().to_owned(), slot.kind());
            *self.findings.entry(Key { tool, definition, slot, kind, problem }).or_default() += 1;
        }
    }

    /// Adds what a tool's description says after its first paragraph without a label. What is a condition there is free
    /// text: nothing shows whether a model went by it.
    pub fn add_prose(&mut self, tool: &HostTool) {
        let description = tool.schema().description();
        let after = description.split_once("\n\n").map_or("", |(_, after)| after);
        for line in crate::checklist::unlabelled(after) {
            let key = Key {
                tool: tool.name().to_owned(),
                definition: *tool.digest(),
                slot: "description".to_owned(),
                kind: SlotKind::Condition,
                problem: Problem::Unlabelled(line.to_owned()),
            };
            self.findings.insert(key, 1);
        }
    }

    /// There is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many different things there are.
    pub fn len(&self) -> usize {
        self.findings.len()
    }
}

impl Problem {
    fn of(slot: &Slot) -> Option<Self> {
        if let SlotState::Open { party: Party::Provider, why } = slot.state() {
            return Some(Problem::NotJudged(why.clone()));
        }
        // A required line about an argument has the argument's name.
        let names_nothing = slot.name() == "required"
            && slot.kind() == SlotKind::Condition
            && slot.origins().iter().all(|origin| origin.list() == ListKind::Provider);
        names_nothing.then_some(Problem::NamesNothing)
    }
}

impl Serialize for ProviderReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let findings: Vec<Finding<'_>> = self.findings.iter().map(|(key, count)| Finding(key, *count)).collect();
        let mut fields = serializer.serialize_struct("ProviderReport", 2)?;
        fields.serialize_field("version", &1)?;
        fields.serialize_field("findings", &findings)?;
        fields.end()
    }
}

struct Finding<'a>(&'a Key, u64);

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding(Key { tool, definition, slot, kind, problem }, count) = self;
        let mut fields = serializer.serialize_struct("Finding", 7)?;
        fields.serialize_field("tool", tool)?;
        fields.serialize_field("definition", &definition.to_string())?;
        fields.serialize_field("slot", slot)?;
        fields.serialize_field("kind", kind)?;
        match problem {
            Problem::NotJudged(why) => {
                fields.serialize_field("problem", "not_judged")?;
                fields.serialize_field("why", why)?;
            }
            Problem::Unlabelled(line) => {
                fields.serialize_field("problem", "unlabelled")?;
                fields.serialize_field("why", line)?;
            }
            Problem::NamesNothing => {
                fields.serialize_field("problem", "names_nothing")?;
                fields.skip_field("why")?;
            }
        }
        fields.serialize_field("count", count)?;
        fields.end()
    }
}
