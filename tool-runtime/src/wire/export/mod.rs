//! What each provider is shown of a tool, and the way back.
//!
//! A tool has one full schema, by which its arguments are accepted. No provider takes all of it, and
//! one schema that a provider refuses sinks all tools of a request. An [`Export`] brings each tool
//! into the form of one provider, and says what became of it:
//!
//! - [`Exact`](Fit::Exact): the provider's form allows what the schema allows.
//! - [`Widened`](Fit::Widened): it allows more. Each keyword that was lost is in the description, in
//!   words, and on a list. Accepting still asks for all of it.
//! - [`Refused`](Fit::Refused): there is no form. The tool is not declared, and all others are.
//!
//! Names that a provider doesn't take are spelt differently, and a strict form may ask for members that
//! can be left out. [`Export::restore`] brings a call back, before it is resolved and accepted:
//!
//! ```
//! use tool_runtime::wire::export::{Export, Fit, Provider, Strict};
//! use tool_runtime::{ToolCall, tool};
//!
//! /// Lists what is there.
//! #[tool]
//! fn list(
//!     /// How many at most.
//!     #[arg(default = 10)]
//!     limit: u8,
//! ) -> String {
//!     format!("{limit} at most")
//! }
//!
//! let export = Export::with(Provider::OpenAiChat).strict(Strict::Prefer).tools([ListTool::schema()]);
//! assert_eq!(export.tools()[0].fit(), Fit::Exact);
//! assert!(export.to_json().contains(r#""limit":{"type":["integer","null"]"#));
//!
//! let call = export.restore(ToolCall::new("call_1", "list", r#"{"limit":null}"#));
//! assert_eq!(call.arguments().to_string_lossy(), "{}");
//! ```
//!
//! # Forms
//!
//! A form that isn't strict is never narrower than the schema. A strict one closes objects of which
//! nothing said that they are open ([`ExportedTool::closed`] lists them), and has no form for free-form JSON and
//! open maps: see [`Strict`]. That an object is closed, where a form has no word for it, and the
//! bounds of 64-bit integers and of single floats are no losses: models don't go there.
//!
//! Gemini has two forms: `parameters` for what it can say exactly, and `parametersJsonSchema` for everything else.

#[cfg(feature = "anthropic")]
pub(super) mod anthropic;
mod check;
mod declared;
mod dialect;
mod exported;
mod fit;
#[cfg(feature = "gemini")]
pub(super) mod gemini;
mod inverse;
mod merge;
mod namespaces;
mod normalise;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(any(feature = "openai", feature = "openai-responses", feature = "ollama"))]
pub(super) mod openai;
#[cfg(feature = "openai")]
mod openai_compatible;
mod options;
mod provider;
mod sources;
mod wire_words;
mod words;

pub use check::{Finding, What, check};
pub use declared::Export;
pub use exported::ExportedTool;
pub use fit::{Fit, Loss, Reason, Refusal};
pub use namespaces::Namespace;
pub use options::{Deferral, ExportOptions, Strict};
pub use provider::Provider;
pub use sources::Sources;

use super::common::names;
use provider::{Fragment, RequestLimits, Target, write_member};

#[cfg(all(
    test,
    feature = "openai",
    feature = "openai-responses",
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama"
))]
mod tests;
