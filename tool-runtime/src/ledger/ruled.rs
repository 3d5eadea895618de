use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::schema::json::Json;
use crate::schema::text::visible;

/// Accept, reject or defer: what a gate makes of sampled plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JudgementKind {
    /// The plurality's plan may be proposed.
    Accept,
    /// No plan stands out, and the tools are not the cause.
    Reject,
    /// It can't be said. Sample again, or ask somebody.
    Defer,
}

impl JudgementKind {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            JudgementKind::Accept => "accept",
            JudgementKind::Reject => "reject",
            JudgementKind::Defer => "defer",
        }
    }
}

/// A share or another figure, from 0 to 1.
///
/// Equal by its bits, as all that is recorded is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share(pub(crate) f64);

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Share {}

/// How many different values of one argument persons are shown.
const MOST_SHOWN: usize = 6;

/// An argument about which sampled plans differ, with the values side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApartRecord {
    /// The tool.
    pub tool: String,
    /// The argument.
    pub argument: String,
    /// Each value as JSON text, secrets redacted, with how many samples have it, the most frequent first. `None`: these
    /// leave the argument out.
    pub values: Vec<(Option<String>, usize)>,
}

impl fmt::Display for ApartRecord {
    /// For a person: such as "`amount` is 100 (3 of 5), 10 (2 of 5)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: usize = self.values.iter().map(|(_, samples)| samples).sum();
        write!(f, "`{}` is ", self.argument)?;
        for (index, (value, samples)) in self.values.iter().take(MOST_SHOWN).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let value = value.as_deref().map_or_else(|| "left out".to_owned(), |value| visible(value, 80));
            write!(f, "{comma}{value} ({samples} of {all})")?;
        }
        match self.values.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, ", and {more} other values"),
        }
    }
}

impl Serialize for ApartRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ApartRecord", 3)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("argument", &self.argument)?;
        fields.serialize_field("values", &self.values)?;
        fields.end()
    }
}

/// What was ruled of the sampled plans that a call is from, as its verdict has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulingRecord(pub(crate) RulingParts);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulingParts {
    pub(crate) kind: JudgementKind,
    pub(crate) reason: String,
    pub(crate) samples: usize,
    pub(crate) rounds: usize,
    pub(crate) estimator: String,
    pub(crate) arguments: Share,
    pub(crate) results: Option<Share>,
    pub(crate) steps: Vec<String>,
    pub(crate) apart: Vec<ApartRecord>,
}

impl RulingRecord {
    /// Accept, reject or defer.
    pub fn kind(&self) -> JudgementKind {
        self.0.kind
    }

    /// Why, as a name such as `arguments_split`: see [`RulingReason`](crate::agreement::RulingReason).
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// How many samples the ruling rests on.
    pub fn samples(&self) -> usize {
        self.0.samples
    }

    /// How often samples were drawn, from 1.
    pub fn rounds(&self) -> usize {
        self.0.rounds
    }

    /// Agreement about what to call with which arguments, from 0 to 1.
    pub fn argument_agreement(&self) -> f64 {
        self.0.arguments.0
    }

    /// Agreement of what the calls came to in a sandbox. `None` if nothing was run, or said anything.
    pub fn result_agreement(&self) -> Option<f64> {
        self.0.results.map(|share| share.0)
    }

    /// The arguments about which the samples differ.
    pub fn apart(&self) -> &[ApartRecord] {
        &self.0.apart
    }

    /// Why a person is asked about a call of `tool`, in words.
    pub(crate) fn in_words(&self, tool: &str) -> String {
        let mut said =
            format!("{} drafts of this were compared, and they settle nothing ({})", self.0.samples, self.0.reason);
        let apart: Vec<String> = self.of(tool).map(ToString::to_string).collect();
        if !apart.is_empty() {
            said.push_str(": ");
            said.push_str(&apart.join("; "));
        }
        said
    }

    /// What differs in calls of `tool`.
    pub(crate) fn of(&self, tool: &str) -> impl Iterator<Item = &ApartRecord> {
        self.0.apart.iter().filter(move |apart| apart.tool == tool)
    }

    /// Read back from a verdict.
    pub(crate) fn read(json: &Json) -> Option<Self> {
        let word = |name: &str| json.get(name).and_then(Json::as_str);
        let count = |name: &str| json.get(name)?.as_number()?.parse().ok();
        let share = |name: &str| Some(Share(json.get(name)?.as_number()?.parse().ok()?));
        let kinds = [JudgementKind::Accept, JudgementKind::Reject, JudgementKind::Defer];
        let list = |name: &str| json.get(name).and_then(Json::as_array).unwrap_or_default();
        Some(RulingRecord(RulingParts {
            kind: kinds.into_iter().find(|kind| word("ruling") == Some(kind.as_str()))?,
            reason: word("reason")?.to_owned(),
            samples: count("samples")?,
            rounds: count("rounds")?,
            estimator: word("estimator")?.to_owned(),
            arguments: share("argument_agreement")?,
            results: share("result_agreement"),
            steps: list("steps").iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            apart: list("apart").iter().map(apart).collect::<Option<_>>()?,
        }))
    }
}

fn apart(json: &Json) -> Option<ApartRecord> {
    let word = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
    let value = |pair: &Json| match pair.as_array()? {
        [value, samples] => Some((value.as_str().map(str::to_owned), samples.as_number()?.parse().ok()?)),
        _ => None,
    };
    Some(ApartRecord {
        tool: word("tool")?,
        argument: word("argument")?,
        values: json.get("values")?.as_array()?.iter().map(value).collect::<Option<_>>()?,
    })
}

impl Serialize for RulingRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = &self.0;
        let mut fields = serializer.serialize_struct("RulingRecord", 9)?;
        fields.serialize_field("ruling", parts.kind.as_str())?;
        fields.serialize_field("reason", &parts.reason)?;
        fields.serialize_field("samples", &parts.samples)?;
        fields.serialize_field("rounds", &parts.rounds)?;
        fields.serialize_field("estimator", &parts.estimator)?;
        fields.serialize_field("argument_agreement", &parts.arguments.0)?;
        match &parts.results {
            Some(share) => fields.serialize_field("result_agreement", &share.0)?,
            None => fields.skip_field("result_agreement")?,
        }
        fields.serialize_field("steps", &parts.steps)?;
        match parts.apart.is_empty() {
            true => fields.skip_field("apart")?,
            false => fields.serialize_field("apart", &parts.apart)?,
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::json;

    #[test]
    fn a_ruling_is_read_back_as_it_was_written() {
        let values = vec![(Some("100".to_owned()), 3), (None, 2)];
        let record = RulingRecord(RulingParts {
            kind: JudgementKind::Defer,
            reason: "arguments_split".to_owned(),
            samples: 5,
            rounds: 2,
            estimator: "mode_share".to_owned(),
            arguments: Share(0.6),
            results: None,
            steps: vec!["keys".to_owned()],
            apart: vec![ApartRecord { tool: "pay".to_owned(), argument: "amount".to_owned(), values }],
        });
        let text = json::ser::write(&record).unwrap();
        assert_eq!(RulingRecord::read(&Json::parse(&text).unwrap()), Some(record.clone()));
        assert_eq!(
            record.in_words("pay"),
            "5 drafts of this were compared, and they settle nothing (arguments_split): `amount` is 100 (3 of 5), left out (2 of 5)"
        );
        assert_eq!(record.of("other").count(), 0);
        assert_eq!(RulingRecord::read(&Json::parse("{\"ruling\":\"maybe\"}").unwrap()), None);
    }
}
