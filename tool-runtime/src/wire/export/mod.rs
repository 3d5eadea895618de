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
pub(crate) mod anthropic;
mod check;
mod dialect;
#[cfg(feature = "gemini")]
pub(crate) mod gemini;
mod inverse;
mod merge;
use super::common::names;
mod normalise;
#[cfg(feature = "ollama")]
mod ollama;
pub(crate) mod openai;
#[cfg(feature = "openai")]
mod openai_compatible;
mod sources;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use check::{Finding, What, check};
pub use sources::Sources;

use self::dialect::Dialect;
use self::inverse::{Inverse, Taken};
use self::normalise::{Normalised, normalise};
use crate::call::{Block, Content, Reported, ToolCall, ToolResult};
use crate::schema::json::{Json, write_string};
use crate::schema::{DeclaredTool, JsonPath, SEARCH_TOOL, ToolSchema, text};

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
struct Target {
    shown: &'static str,
    names: names::Rule,
    /// Tried in order: the first that is exact, or else the last.
    plain: &'static [&'static Dialect],
    strict: Option<&'static Dialect>,
    write: fn(&mut String, &Fragment<'_>),
    open: &'static str,
    close: &'static str,
    request: RequestLimits,
    defers: bool,
}

/// What all strict tools of one request may have together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    pub(crate) tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

impl RequestLimits {
    const NONE: RequestLimits = RequestLimits { tools: usize::MAX, optional: usize::MAX, unions: usize::MAX };
}

/// One tool, about to be written.
pub(crate) struct Fragment<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Json,
    pub(crate) strict: bool,
    pub(crate) deferred: bool,
    /// The second of two plain forms.
    #[cfg_attr(not(feature = "gemini"), expect(dead_code, reason = "all others have one form"))]
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

    fn target(self) -> Target {
        let chat = Target {
            shown: "OpenAI Chat Completions",
            names: openai::NAMES,
            plain: &[&openai::PLAIN],
            strict: Some(&openai::STRICT),
            write: openai::write_chat,
            open: "[",
            close: "]",
            request: RequestLimits::NONE,
            defers: false,
        };
        match self {
            #[cfg(feature = "openai")]
            Provider::OpenAiChat => chat,
            #[cfg(feature = "openai")]
            Provider::OpenAiCompatible => {
                Target { shown: "OpenAI-compatible servers", plain: &[&openai_compatible::PLAIN], strict: None, ..chat }
            }
            #[cfg(feature = "openai-responses")]
            Provider::OpenAiResponses => {
                Target { shown: "OpenAI Responses", write: openai::write_responses, defers: true, ..chat }
            }
            #[cfg(feature = "anthropic")]
            Provider::Anthropic => Target {
                shown: "Anthropic",
                names: anthropic::NAMES,
                plain: &[&anthropic::PLAIN],
                strict: Some(&anthropic::STRICT),
                write: anthropic::write,
                request: anthropic::REQUEST,
                defers: true,
                ..chat
            },
            #[cfg(feature = "gemini")]
            Provider::Gemini => Target {
                shown: "Gemini",
                names: gemini::NAMES,
                plain: &[&gemini::SCHEMA, &gemini::JSON_SCHEMA],
                strict: None,
                write: gemini::write,
                open: r#"[{"functionDeclarations":["#,
                close: "]}]",
                ..chat
            },
            #[cfg(feature = "ollama")]
            Provider::Ollama => Target { shown: "Ollama", plain: &[&ollama::PLAIN], strict: None, ..chat },
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target().shown)
    }
}

/// Whether a provider constrains the model by the schema, so that it can't write anything else.
///
/// What it writes is accepted by the full schema all the same: a grammar knows less than a schema asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Strict {
    /// No.
    #[default]
    No,
    /// Where it can: a tool that has no strict form is declared without, and [`ExportedTool::fell_back`] says why.
    Prefer,
    /// Always: a tool that has no strict form is refused.
    Require,
}

/// Who loads tools whose loading is deferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Deferral {
    /// The host: it declares them once they are loaded, see [`Export::declare`].
    #[default]
    Host,
    /// The provider, by a search of its own, where it has one: they are declared with `defer_loading`.
    Provider,
}

/// Something that a schema asks for and that a provider's form can't say.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Loss {
    /// JSON Pointer of the keyword in the tool's schema. Of what was merged, the place it was merged into.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pointer)
    }
}

/// Why a tool can't be declared, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Refusal {
    /// JSON Pointer into the tool's schema.
    pub pointer: String,
    /// What is wrong there.
    pub reason: Reason,
}

/// Why a tool can't be declared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Arguments are an object, and these can't be one.
    NotAnObject,
    /// An object with members of any name.
    OpenObject,
    /// Any JSON.
    FreeForm,
    /// It holds itself.
    Recursive,
    /// More than the provider takes.
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// More than the provider takes of all strict tools together.
    RequestFull {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Another tool has its wire name.
    NameTaken {
        /// The other one.
        by: String,
    },
    /// Another property has the wire name of this one.
    KeyTaken {
        /// The property.
        key: String,
    },
    /// The provider has no strict form.
    NoStrictForm,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at `{}`: ", if self.pointer.is_empty() { "/" } else { &self.pointer })?;
        match &self.reason {
            Reason::NotAnObject => f.write_str("arguments have to be an object"),
            Reason::OpenObject => f.write_str("an object with members of any name has no strict form"),
            Reason::FreeForm => f.write_str("a value of any form has no strict form"),
            Reason::Recursive => f.write_str("a schema that holds itself has no form here"),
            Reason::TooLarge { what, count, limit } => write!(f, "{count} {what}; at most {limit} are taken"),
            Reason::RequestFull { what, limit } => {
                write!(f, "all strict tools together may have at most {limit} {what}")
            }
            Reason::NameTaken { by } => {
                write!(f, "the tool `{}` is declared under the same name", text::shown(by, 128))
            }
            Reason::KeyTaken { key } => {
                write!(f, "another property is declared under the name of `{}`", text::shown(key, 128))
            }
            Reason::NoStrictForm => f.write_str("the provider has no strict form"),
        }
    }
}

impl std::error::Error for Refusal {}

/// How a tool fits into a provider's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fit<'a> {
    /// Declared, and nothing is lost.
    Exact,
    /// Declared, and this is said in words alone.
    Widened(&'a [Loss]),
    /// Not declared.
    Refused(&'a Refusal),
}

/// A tool in a provider's form.
#[derive(Debug, Clone)]
pub struct ExportedTool {
    name: String,
    wire_name: String,
    made: Result<Made, Refusal>,
    fell_back: Option<Refusal>,
}

#[derive(Debug, Clone)]
struct Made {
    fragment: String,
    parameters: String,
    losses: Vec<Loss>,
    closed: Vec<String>,
    strict: bool,
    deferred: bool,
    inverse: Inverse,
}

impl ExportedTool {
    /// The name by which the host knows the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name by which the provider's model calls it.
    pub fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// How it fits.
    pub fn fit(&self) -> Fit<'_> {
        match &self.made {
            Ok(made) if made.losses.is_empty() => Fit::Exact,
            Ok(made) => Fit::Widened(&made.losses),
            Err(refusal) => Fit::Refused(refusal),
        }
    }

    /// It is declared in the strict form.
    pub fn strict(&self) -> bool {
        self.made.as_ref().is_ok_and(|made| made.strict)
    }

    /// Why it isn't declared in the strict form, though that was [preferred](Strict::Prefer).
    pub fn fell_back(&self) -> Option<&Refusal> {
        self.fell_back.as_ref()
    }

    /// JSON Pointers of objects that the strict form closed, though nothing said that they are: a model
    /// can't write further members there.
    pub fn closed(&self) -> &[String] {
        self.made.as_ref().map_or(&[], |made| &made.closed)
    }

    /// Its declaration as compact JSON; `None` if it was refused.
    pub fn as_json(&self) -> Option<&str> {
        self.made.as_ref().ok().map(|made| made.fragment.as_str())
    }

    /// The properties that have other names.
    fn renamed(&self) -> Vec<(String, String)> {
        self.made.as_ref().map_or_else(|_| Vec::new(), |made| made.inverse.renamed())
    }

    /// The schema of its arguments in the provider's form, as compact JSON.
    pub fn parameters(&self) -> Option<&str> {
        self.made.as_ref().ok().map(|made| made.parameters.as_str())
    }
}

/// How tools are exported: see [`Export::with`].
#[derive(Debug, Clone)]
pub struct ExportOptions {
    provider: Provider,
    strict: Strict,
    deferral: Deferral,
    sources: Option<Sources>,
}

impl ExportOptions {
    /// Whether the provider constrains the model by the schema. Not, by default.
    #[must_use]
    pub fn strict(mut self, strict: Strict) -> Self {
        self.strict = strict;
        self
    }

    /// Who loads deferred tools. The host, by default.
    #[must_use]
    pub fn deferral(mut self, deferral: Deferral) -> Self {
        self.deferral = deferral;
        self
    }

    /// Asks the model to say where it found each value, by an extra property of every tool. Off, by default.
    ///
    /// The property is called `sources`, or `sources_` and so on where a tool has a property of that name; a
    /// tool that takes members of any name can't be given one of this name. [`Export::restore`] takes it out of
    /// the arguments, so that nothing behind it sees it, and hands it over as [`ToolCall::reported`].
    ///
    /// ```
    /// use tool_runtime::wire::export::{Export, Provider, Sources};
    /// use tool_runtime::{ToolCall, tool};
    ///
    /// /// Pays somebody.
    /// #[tool]
    /// fn pay(
    ///     /// Whom.
    ///     iban: String,
    ///     /// What for.
    ///     memo: Option<String>,
    /// ) {
    ///     drop((iban, memo));
    /// }
    ///
    /// let export = Export::with(Provider::OpenAiChat).sources(Sources::new()).tools([PayTool::schema()]);
    /// let call = export.restore(ToolCall::new(
    ///     "call_1",
    ///     "pay",
    ///     r#"{"iban":"DE1","sources":[{"slot":"/iban","location":"u3"},{"slot":"/memo","location":"no result"}]}"#,
    /// ));
    /// assert_eq!(call.arguments().to_string_lossy(), r#"{"iban":"DE1"}"#);
    /// assert_eq!(call.reported().get("/iban"), Some("u3"));
    /// ```
    #[must_use]
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Exports tools, such as all of a registry's, in their order.
    pub fn tools(self, schemas: impl IntoIterator<Item: DeclaredTool>) -> Export {
        let target = self.provider.target();
        let mut tools: Vec<ExportedTool> = Vec::new();
        let mut by_wire: HashMap<String, usize> = HashMap::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut spent = RequestLimits { tools: 0, optional: 0, unions: 0 };
        for schema in schemas {
            let schema = schema.declared();
            let wire_name = target.names.spell(schema.name()).into_owned();
            let taken = by_wire.get(&wire_name).map(|&other| tools[other].name.clone());
            let (made, fell_back) = match taken {
                Some(by) => (Err(Refusal { pointer: String::new(), reason: Reason::NameTaken { by } }), None),
                None => self.export(&target, schema, &wire_name, &mut spent),
            };
            by_name.entry(schema.name().to_owned()).or_insert(tools.len());
            if made.is_ok() {
                by_wire.insert(wire_name.clone(), tools.len());
            }
            tools.push(ExportedTool { name: schema.name().to_owned(), wire_name, made, fell_back });
        }
        let renamed = tools.iter().filter(|tool| tool.made.is_ok() && tool.name != tool.wire_name);
        let renamed = renamed.map(|tool| (tool.name.clone(), tool.wire_name.clone())).collect();
        Export { options: self, tools: Arc::new(Tools { all: tools, by_wire, by_name, renamed }) }
    }

    fn export(
        &self,
        target: &Target,
        schema: &ToolSchema,
        wire_name: &str,
        spent: &mut RequestLimits,
    ) -> (Result<Made, Refusal>, Option<Refusal>) {
        let mut fell_back = None;
        if self.strict != Strict::No {
            let strict = match target.strict {
                Some(dialect) => self.in_form(target, dialect, schema, wire_name, false).and_then(|(made, size)| {
                    target.request.fit(spent, &size)?;
                    Ok(made)
                }),
                None => Err(Refusal { pointer: String::new(), reason: Reason::NoStrictForm }),
            };
            match strict {
                Ok(made) => return (Ok(made), None),
                Err(refusal) if self.strict == Strict::Require => return (Err(refusal), None),
                Err(refusal) => fell_back = Some(refusal),
            }
        }
        let mut last = Err(Refusal { pointer: String::new(), reason: Reason::NotAnObject });
        for (index, dialect) in target.plain.iter().enumerate() {
            last = self.in_form(target, dialect, schema, wire_name, index > 0).map(|(made, _)| made);
            if last.as_ref().is_ok_and(|made| made.losses.is_empty()) {
                break;
            }
        }
        (last, fell_back)
    }

    fn in_form(
        &self,
        target: &Target,
        dialect: &Dialect,
        schema: &ToolSchema,
        name: &str,
        json_schema: bool,
    ) -> Result<(Made, Normalised), Refusal> {
        let parameters = schema.parameters_json();
        let mut normalised = normalise(parameters, dialect)?;
        let mut inverse = Inverse::of(parameters, dialect)
            .map_err(|Taken(key)| Refusal { pointer: String::new(), reason: Reason::KeyTaken { key } })?;
        if let Some(sources) = &self.sources {
            normalised.require(&inverse.ask_for_sources(), sources.schema(), dialect)?;
        }
        let mut fragment = String::new();
        let written = Fragment {
            name,
            description: schema.description(),
            parameters: &normalised.schema,
            strict: dialect.strict,
            deferred: target.defers && schema.defer() && self.deferral == Deferral::Provider,
            json_schema,
        };
        (target.write)(&mut fragment, &written);
        let made = Made {
            fragment,
            parameters: normalised.schema.to_string(),
            losses: normalised.losses.clone(),
            closed: normalised.closed.clone(),
            strict: dialect.strict,
            deferred: written.deferred,
            inverse,
        };
        Ok((made, normalised))
    }
}

impl RequestLimits {
    /// Counts a tool, if it still fits.
    fn fit(&self, spent: &mut RequestLimits, size: &Normalised) -> Result<(), Refusal> {
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

/// Tools in the form of one provider, made once, and the way back for their calls.
///
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Export {
    options: ExportOptions,
    tools: Arc<Tools>,
}

#[derive(Debug)]
struct Tools {
    all: Vec<ExportedTool>,
    /// Those that are declared.
    by_wire: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    /// Tools that have other names, each with its wire name.
    renamed: Vec<(String, String)>,
}

impl Export {
    /// Exports tools, such as all of a registry's, in their order: not strict, deferred ones like all others.
    ///
    /// ```
    /// use tool_runtime::wire::export::{Export, Provider};
    /// use tool_runtime::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool]
    /// fn greet() -> String {
    ///     "hello".to_owned()
    /// }
    ///
    /// let registry = Registry::builder().tool(GreetTool::host()).build()?;
    /// let export = Export::new(Provider::OpenAiChat, registry.schemas());
    /// assert_eq!(
    ///     export.to_json(),
    ///     concat!(
    ///         r#"[{"type":"function","function":{"name":"greet","description":"Says hello.","parameters":"#,
    ///         r#"{"type":"object","properties":{},"additionalProperties":false}}}]"#,
    ///     )
    /// );
    /// # Ok::<(), tool_runtime::RegistryError>(())
    /// ```
    pub fn new(provider: Provider, schemas: impl IntoIterator<Item: DeclaredTool>) -> Self {
        Self::with(provider).tools(schemas)
    }

    /// Begins with options.
    pub fn with(provider: Provider) -> ExportOptions {
        ExportOptions { provider, strict: Strict::default(), deferral: Deferral::default(), sources: None }
    }

    /// Whose form it is.
    pub fn provider(&self) -> Provider {
        self.options.provider
    }

    /// All tools, refused ones too, in the order in which they were given.
    pub fn tools(&self) -> &[ExportedTool] {
        &self.tools.all
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&ExportedTool> {
        self.tools.by_name.get(name).map(|&at| &self.tools.all[at])
    }

    /// The request's `tools`, as compact JSON: the same bytes for the same tools. Refused ones are left out.
    pub fn to_json(&self) -> String {
        self.join(self.tools.all.iter())
    }

    /// The request's `tools` with these alone, in this order, such as those that a conversation has
    /// loaded so far. Names that aren't here, and refused tools, are left out.
    ///
    /// ```
    /// # use tool_runtime::wire::export::{Export, Provider};
    /// # use tool_runtime::{Loaded, Registry, ToolSchema};
    /// # fn example(registry: &Registry, loaded: &Loaded) {
    /// // Once, of all tools.
    /// let export = Export::new(Provider::OpenAiChat, registry.iter().map(|tool| tool.schema()));
    /// // For each request.
    /// let tools = export.declare(registry.declared(loaded).map(ToolSchema::name));
    /// # }
    /// ```
    pub fn declare<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> String {
        let found: Vec<&ExportedTool> = names.into_iter().filter_map(|name| self.tool(name.as_ref())).collect();
        self.join(found.into_iter())
    }

    fn join<'a>(&self, tools: impl Iterator<Item = &'a ExportedTool> + Clone) -> String {
        let target = self.options.provider.target();
        let fragments = || tools.clone().filter_map(ExportedTool::as_json);
        if fragments().next().is_none() {
            return "[]".to_owned();
        }
        let length = fragments().map(|fragment| fragment.len() + 1).sum::<usize>();
        let mut json = String::with_capacity(length + target.open.len() + target.close.len());
        json.push_str(target.open);
        for (index, fragment) in fragments().enumerate() {
            if index > 0 {
                json.push(',');
            }
            json.push_str(fragment);
        }
        json.push_str(target.close);
        json
    }

    /// The name under which a tool is declared; `None` if it isn't.
    pub fn wire_name(&self, name: &str) -> Option<&str> {
        self.tool(name).filter(|tool| tool.made.is_ok()).map(ExportedTool::wire_name)
    }

    /// The tools, by the host's names, that a provider's search has found: those of these wire names that were
    /// declared as [deferred](Deferral::Provider). What else a response may name is left out, so it loads nothing.
    ///
    /// ```
    /// # use tool_runtime::wire::{MessageError, export::Export};
    /// # use tool_runtime::Loaded;
    /// # #[cfg(feature = "anthropic")]
    /// # fn example(export: &Export, response: &str, loaded: &Loaded) -> Result<(), MessageError> {
    /// use tool_runtime::wire::anthropic;
    ///
    /// export.found(anthropic::found(response)?).into_iter().for_each(|name| loaded.load(name));
    /// # Ok(())
    /// # }
    /// ```
    pub fn found<N: AsRef<str>>(&self, wire_names: impl IntoIterator<Item = N>) -> Vec<&str> {
        let found = wire_names.into_iter().filter_map(|name| self.made(name.as_ref()));
        found.filter(|(_, made)| made.deferred).map(|(tool, _)| tool.name()).collect()
    }

    fn made(&self, wire_name: &str) -> Option<(&ExportedTool, &Made)> {
        let tool = &self.tools.all[*self.tools.by_wire.get(wire_name)?];
        tool.made.as_ref().ok().map(|made| (tool, made))
    }

    /// A call as the provider's model wrote it → the call that is resolved and accepted: with the names of
    /// the tool and of its arguments, without the `null`s that stand for what was left out, and without
    /// [sources](ExportOptions::sources).
    ///
    /// `null` stays where it is a value. A call of a name that wasn't declared, and arguments that
    /// can't be read, stay as they are, and are told so where they are judged.
    pub fn restore(&self, mut call: ToolCall) -> ToolCall {
        let Some((tool, made)) = self.made(&call.name) else { return call };
        if tool.name != tool.wire_name {
            call.name = tool.name.as_str().into();
        }
        for path in &mut call.no_result {
            *path = made.inverse.restore_path(path);
        }
        let restored = call.arguments.text().map(|text| made.inverse.restore(text)).unwrap_or_default();
        if let Some(arguments) = restored.arguments {
            call.arguments = arguments.into();
        }
        let missing = restored.reported.pairs().iter().filter(|(_, location)| location.trim() == Reported::NO_RESULT);
        let missing = missing.filter(|(slot, _)| slot.starts_with('/'));
        call.no_result.extend(missing.filter_map(|(slot, _)| JsonPath::from_pointer(slot)));
        if !restored.reported.is_empty() {
            call.reported = restored.reported;
        }
        call
    }

    /// The other way: a call by the host's names → as a model would have written it for this provider,
    /// for a history that goes to another provider than it came from.
    ///
    /// ```
    /// # use tool_runtime::wire::export::{Export, Provider, Strict};
    /// # use tool_runtime::{ToolCall, tool};
    /// # /// Lists what is there.
    /// # #[tool]
    /// # fn list(
    /// #     /// How many at most.
    /// #     #[arg(default = 10)]
    /// #     limit: u8,
    /// # ) -> String {
    /// #     format!("{limit} at most")
    /// # }
    /// let export = Export::with(Provider::OpenAiChat).strict(Strict::Require).tools([ListTool::schema()]);
    /// let call = export.to_wire(ToolCall::new("call_1", "list", "{}"));
    /// assert_eq!(call.arguments().to_string_lossy(), r#"{"limit":null}"#);
    /// ```
    pub fn to_wire(&self, mut call: ToolCall) -> ToolCall {
        let Some(tool) = self.tool(&call.name) else { return call };
        let Ok(made) = &tool.made else { return call };
        if tool.name != tool.wire_name {
            call.name = tool.wire_name.as_str().into();
        }
        if let Some(arguments) = call.arguments.text().ok().and_then(|text| made.inverse.spell(text, &call.reported)) {
            call.arguments = arguments.into();
        }
        call
    }

    /// A result as the provider's model has to read it: under the name by which it called the tool, and with the names
    /// of tools and arguments in an error as they were declared. What the built-in search tool has found is shown as
    /// it is declared. Nothing else changes: what a tool says is its own.
    ///
    /// In errors only names between backquotes are looked at, alone or as a step of a path.
    pub fn in_wire_words(&self, result: &ToolResult) -> ToolResult {
        let mut result = result.clone();
        let tool = self.tool(&result.name).and_then(|tool| Some((tool, tool.made.as_ref().ok()?)));
        let is_search = &*result.name == SEARCH_TOOL;
        if let Some((tool, _)) = tool
            && tool.name != tool.wire_name
        {
            result.name = tool.wire_name.as_str().into();
        }
        if !result.is_error && !is_search {
            return result;
        }
        // An error may suggest other tools, also where the one that was called is none.
        let mut renamed = tool.map(|(_, made)| made.inverse.renamed()).unwrap_or_default();
        renamed.extend_from_slice(&self.tools.renamed);
        let change = |text: &str| match result.is_error {
            true if renamed.is_empty() => None,
            true => Some(in_wire_words(text, &renamed)),
            false => self.as_declared(text),
        };
        let changed = |block: &Block| match block {
            Block::Text(text) => change(text).map(|text| Block::Text(text.into())),
            _ => None,
        };
        let blocks: Vec<Option<Block>> = result.content.iter().map(changed).collect();
        if blocks.iter().any(Option::is_some) {
            let blocks = blocks.into_iter().zip(result.content.iter());
            let blocks: Vec<Block> = blocks.map(|(changed, block)| changed.unwrap_or_else(|| block.clone())).collect();
            result.content = Content::blocks(blocks);
        }
        result
    }

    /// What the search tool found, in the provider's form. `None` for a text that isn't whole.
    fn as_declared(&self, found: &str) -> Option<String> {
        let mut found = Json::parse(found).ok()?;
        let mut tools = found.get("tools")?.as_array()?.to_vec();
        for tool in &mut tools {
            let known = tool.get("name").and_then(Json::as_str).and_then(|name| self.tool(name));
            if let Some((known, made)) = known.and_then(|known| Some((known, known.made.as_ref().ok()?))) {
                tool.set("name", Json::string(&known.wire_name));
                tool.set("parameters", Json::parse(&made.parameters).ok()?);
            }
        }
        found.set("tools", Json::Array(tools));
        Some(found.to_string())
    }
}

/// Replaces names between backquotes.
fn in_wire_words(text: &str, renamed: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    // What stands between backquotes are the odd parts.
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            out.push('`');
        }
        if index % 2 == 0 || part.contains('\n') {
            out.push_str(part);
        } else {
            out.push_str(&renamed_in_path(part, renamed));
        }
    }
    out
}

fn renamed_in_path(path: &str, renamed: &[(String, String)]) -> String {
    let wire = |name: &str| renamed.iter().find(|(known, _)| known == name).map(|(_, wire)| wire.as_str());
    if let Some(wire) = wire(path) {
        return wire.to_owned();
    }
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some((key, after)) = rest.strip_prefix("[\"").and_then(|inner| inner.split_once("\"]")) {
            match wire(key) {
                Some(wire) if out.is_empty() => out.push_str(wire),
                Some(wire) => out.extend([".", wire]),
                None => out.extend(["[\"", key, "\"]"]),
            }
            rest = after;
            continue;
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '[')).map_or(rest.len(), |(end, _)| end);
        let (step, after) = rest.split_at(end);
        let (dot, name) = step.strip_prefix('.').map_or(("", step), |name| (".", name));
        out.push_str(dot);
        out.push_str(wire(name).unwrap_or(name));
        rest = after;
    }
    out
}

#[cfg(all(
    test,
    feature = "openai",
    feature = "openai-responses",
    feature = "anthropic",
    feature = "gemini",
    feature = "ollama"
))]
mod tests;
