//! Whose forms there are. Each is a table in a file of its own.

#![allow(dead_code, reason = "a build may have one provider")]

use std::fmt;

#[cfg(feature = "anthropic")]
use super::anthropic;
use super::dialect::Dialect;
#[cfg(feature = "gemini")]
use super::gemini;
use super::names::Rule;
use super::normalise::Normalised;
#[cfg(feature = "ollama")]
use super::ollama;
#[cfg(any(feature = "openai", feature = "openai-responses"))]
use super::openai;
#[cfg(feature = "openai")]
use super::openai_compatible;
use super::{Reason, Refusal};
use crate::schema::json::{Json, write_string};

/// Whose form of declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's Chat Completions.
    #[cfg(feature = "openai")]
    OpenAiChat,
    /// Servers that speak Chat Completions and constrain output by grammars, as llama.cpp and vLLM do.
    #[cfg(feature = "openai")]
    OpenAiCompatible,
    /// OpenAI's Responses.
    #[cfg(feature = "openai-responses")]
    OpenAiResponses,
    /// Anthropic's Messages.
    #[cfg(feature = "anthropic")]
    Anthropic,
    /// Gemini.
    #[cfg(feature = "gemini")]
    Gemini,
    /// Ollama.
    #[cfg(feature = "ollama")]
    Ollama,
}

/// All that differs between providers.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) shown: &'static str,
    pub(crate) names: Rule,
    /// Tried in order: the first that is exact, or else the last.
    pub(crate) plain: &'static [&'static Dialect],
    pub(crate) strict: Option<&'static Dialect>,
    pub(crate) write: fn(&mut String, &Fragment<'_>),
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    pub(crate) request: RequestLimits,
    /// Its own search for tools whose loading is deferred, where it has one.
    pub(crate) search: Option<Search>,
    /// Tools may stand in namespaces.
    pub(crate) namespaces: bool,
}

/// A provider's own search, as it is declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    pub(crate) fragment: &'static str,
    /// A name that no other tool may have then.
    pub(crate) name: Option<&'static str>,
}

/// What all strict tools of one request may have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    pub(crate) tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

impl RequestLimits {
    pub(crate) const NONE: RequestLimits =
        RequestLimits { tools: usize::MAX, optional: usize::MAX, unions: usize::MAX };
}

impl RequestLimits {
    /// Counts a tool, if it still fits.
    pub(crate) fn fit(&self, spent: &mut RequestLimits, size: &Normalised) -> Result<(), Refusal> {
        let after = RequestLimits {
            tools: spent.tools + 1,
            optional: spent.optional + size.optional,
            unions: spent.unions + size.unions,
        };
        let counts = [
            ("tools", after.tools, self.tools),
            ("optional properties", after.optional, self.optional),
            ("properties with several types", after.unions, self.unions),
        ];
        match counts.into_iter().find(|(_, count, limit)| count > limit) {
            Some((what, _, limit)) => {
                Err(Refusal { pointer: String::new(), reason: Reason::RequestFull { what, limit } })
            }
            None => {
                *spent = after;
                Ok(())
            }
        }
    }
}

/// One tool, about to be written.
pub(crate) struct Fragment<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Json,
    pub(crate) strict: bool,
    pub(crate) deferred: bool,
    /// The second of two plain forms.
    pub(crate) json_schema: bool,
}

/// Writes `,"name":"value"`.
pub(crate) fn write_member(out: &mut String, name: &str, value: &str) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    write_string(out, value);
}

impl Provider {
    /// All that this build knows.
    pub fn all() -> &'static [Provider] {
        &[
            #[cfg(feature = "openai")]
            Provider::OpenAiChat,
            #[cfg(feature = "openai")]
            Provider::OpenAiCompatible,
            #[cfg(feature = "openai-responses")]
            Provider::OpenAiResponses,
            #[cfg(feature = "anthropic")]
            Provider::Anthropic,
            #[cfg(feature = "gemini")]
            Provider::Gemini,
            #[cfg(feature = "ollama")]
            Provider::Ollama,
        ]
    }

    /// It has a strict form.
    pub fn has_strict(self) -> bool {
        self.target().strict.is_some()
    }

    pub(crate) fn target(self) -> &'static Target {
        match self {
            #[cfg(feature = "openai")]
            Provider::OpenAiChat => &openai::CHAT,
            #[cfg(feature = "openai")]
            Provider::OpenAiCompatible => &openai_compatible::TARGET,
            #[cfg(feature = "openai-responses")]
            Provider::OpenAiResponses => &openai::RESPONSES,
            #[cfg(feature = "anthropic")]
            Provider::Anthropic => &anthropic::TARGET,
            #[cfg(feature = "gemini")]
            Provider::Gemini => &gemini::TARGET,
            #[cfg(feature = "ollama")]
            Provider::Ollama => &ollama::TARGET,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target().shown)
    }
}
