use std::fmt;

use super::{Export, Fit, Provider, Refusal, Strict};
use crate::schema::{DeclaredTool, ToolSchema, text};

/// What a provider can't say of a tool: see [`check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool.
    pub tool: String,
    /// The provider.
    pub provider: Provider,
    /// It is about the strict form.
    pub strict: bool,
    /// What is lost, or why there is no form.
    pub what: What,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The tool isn't declared at all.
    Refused(Refusal),
    /// JSON Pointers of keywords that are only said in words.
    Lost(Vec<String>),
    /// The tool has another name on the wire.
    Renamed(String),
    /// A property has another name on the wire.
    KeyRenamed {
        /// The property.
        key: String,
        /// What it is called there.
        wire: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.strict { ", strict" } else { "" };
        write!(f, "tool `{}` for {}{form}: ", text::shown(&self.tool, 128), self.provider)?;
        match &self.what {
            What::Refused(refusal) => write!(f, "refused {refusal}"),
            What::Lost(pointers) => {
                write!(f, "only in words: {}", text::listed(pointers.iter().map(String::as_str), 16))
            }
            What::Renamed(name) => write!(f, "called `{name}`"),
            What::KeyRenamed { key, wire } => write!(f, "its `{}` is called `{wire}`", text::shown(key, 128)),
        }
    }
}

/// What any provider of this build, in any form, can't say of these tools: for a test that an author
/// writes. Findings of strict forms tell what `Strict::Prefer` will fall back for.
///
/// ```
/// use tool_runtime::wire::export::check;
/// use tool_runtime::{serde_json, tool};
///
/// /// Stores a value.
/// #[tool]
/// fn store(
///     /// Anything.
///     value: serde_json::Value,
/// ) {
///     drop(value);
/// }
///
/// let findings = check([StoreTool::schema()]);
/// assert!(findings.iter().any(|finding| {
///     finding.to_string().ends_with("strict: refused at `/properties/value`: a value of any form has no strict form")
/// }));
/// // Whatever the form, it is declared without `strict`.
/// assert!(findings.iter().all(|finding| finding.strict || !finding.to_string().contains("refused")));
/// ```
pub fn check(schemas: impl IntoIterator<Item: DeclaredTool>) -> Vec<Finding> {
    let schemas: Vec<ToolSchema> = schemas.into_iter().map(|schema| schema.declared().clone()).collect();
    let mut findings = Vec::new();
    for &provider in Provider::all() {
        for strict in [Strict::No, Strict::Require] {
            if strict == Strict::Require && !provider.has_strict() {
                continue;
            }
            // Each tool by itself for a strict form: how many fit into one request isn't a tool's fault.
            let alone: Vec<&[ToolSchema]> = match strict {
                Strict::No => vec![&schemas],
                _ => schemas.chunks(1).collect(),
            };
            for tools in alone {
                let export = Export::with(provider).strict(strict).tools(tools);
                for tool in export.tools() {
                    let mut found = |what| {
                        findings.push(Finding {
                            tool: tool.name().to_owned(),
                            provider,
                            strict: strict == Strict::Require,
                            what,
                        });
                    };
                    match tool.fit() {
                        Fit::Exact => {}
                        Fit::Widened(losses) => {
                            found(What::Lost(losses.iter().map(|loss| loss.pointer.clone()).collect()));
                        }
                        Fit::Refused(refusal) => found(What::Refused(refusal.clone())),
                    }
                    if strict == Strict::No && tool.name() != tool.wire_name() {
                        found(What::Renamed(tool.wire_name().to_owned()));
                    }
                    if strict == Strict::No {
                        tool.renamed().into_iter().for_each(|(key, wire)| found(What::KeyRenamed { key, wire }));
                    }
                }
            }
        }
    }
    findings
}
