//! How tools are exported, and the exporting.

use std::collections::HashMap;
use std::sync::Arc;

use super::declared::Tools;
use super::dialect::Dialect;
use super::exported::Made;
use super::inverse::{Inverse, Taken};
use super::normalise::{Normalised, normalise};
use super::provider::{Fragment, RequestLimits, Target};
use super::{Export, ExportedTool, Provider, Reason, Refusal, Sources};
use crate::schema::{DeclaredTool, ToolSchema};

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

/// How tools are exported: see [`Export::with`].
#[derive(Debug, Clone)]
pub struct ExportOptions {
    pub(super) provider: Provider,
    pub(super) strict: Strict,
    pub(super) deferral: Deferral,
    pub(super) sources: Option<Sources>,
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
                None => self.export(target, schema, &wire_name, &mut spent),
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
