//! How tools are exported, and the exporting.

use std::collections::HashMap;
use std::sync::Arc;

use super::declared::Tools;
use super::dialect::Dialect;
use super::exported::Made;
use super::inverse::{Inverse, Taken};
use super::normalise::{Normalised, normalise};
use super::provider::{Fragment, RequestLimits, Target};
use super::{Export, ExportedTool, Namespace, Provider, Reason, Refusal, Sources};
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
    /// The provider, by a search of its own, where it has one (OpenAI Responses, Anthropic): they are declared with
    /// `defer_loading`, and the search behind them. What it has found, [`Export::found`] tells.
    Provider,
}

/// How tools are exported: see [`Export::with`].
#[derive(Debug, Clone)]
pub struct ExportOptions {
    pub(super) provider: Provider,
    pub(super) strict: Strict,
    pub(super) deferral: Deferral,
    pub(super) sources: Option<Sources>,
    pub(super) namespaces: Vec<Namespace>,
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

    /// Declares tools in a namespace, where the provider has such (OpenAI Responses), and like all others elsewhere. Its
    /// search shows a namespace as one as long as none of its tools is loaded; OpenAI advises fewer than ten in each.
    ///
    /// A name that begins with the namespace's and a dot goes without that in it. Of the same namespace given twice, the
    /// tools are in one; of the same tool in two, it is in the first.
    ///
    /// ```
    /// # #[cfg(feature = "openai-responses")]
    /// # fn example() -> Result<(), tool_runtime::wire::MessageError> {
    /// use tool_runtime::tool;
    /// use tool_runtime::wire::export::{Export, Namespace, Provider};
    /// use tool_runtime::wire::openai_responses;
    ///
    /// /// Finds a customer.
    /// #[tool]
    /// fn find(
    ///     /// The customer's name.
    ///     name: String,
    /// ) {
    ///     drop(name);
    /// }
    ///
    /// let crm = Namespace::new("crm", "Customers and their orders.").tools(["find"]);
    /// let export = Export::with(Provider::OpenAiResponses).namespace(crm).tools([FindTool::schema()]);
    /// assert!(export.to_json().starts_with(r#"[{"type":"namespace","name":"crm","description":"Customers and"#));
    ///
    /// let response = r#"{"output":[{"type":"function_call","call_id":"call_1","namespace":"crm","name":"find",
    ///     "arguments":"{\"name\":\"Ada\"}"}]}"#;
    /// let call = openai_responses::calls(response)?.remove(0);
    /// assert_eq!(call.name(), "crm.find");
    /// assert_eq!(export.restore(call).name(), "find");
    /// # Ok(())
    /// # }
    /// # #[cfg(feature = "openai-responses")]
    /// # example().unwrap();
    /// ```
    #[must_use]
    pub fn namespace(mut self, namespace: Namespace) -> Self {
        match self.namespaces.iter_mut().find(|known| known.name() == namespace.name()) {
            Some(known) => known.add(namespace),
            None => self.namespaces.push(namespace),
        }
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
            let all = self.namespaces.iter().enumerate().filter(|_| target.namespaces);
            let within = all.filter_map(|(at, all)| Some((at, all.names(schema.name(), target.names)?))).next();
            let (namespace, (own_name, wire_name)) = match within {
                Some((at, names)) => (Some(at), names),
                None => {
                    let name = target.names.spell(schema.name()).into_owned();
                    (None, (name.clone(), name))
                }
            };
            let taken = by_wire.get(&wire_name).map(|&other| tools[other].name.clone());
            let of_search =
                target.search.and_then(|search| search.name).filter(|_| self.deferral == Deferral::Provider);
            let taken = taken.or_else(|| of_search.filter(|name| *name == wire_name).map(str::to_owned));
            let (made, fell_back) = match taken {
                Some(by) => (Err(Refusal { pointer: String::new(), reason: Reason::NameTaken { by } }), None),
                None => self.export(target, schema, &own_name, &mut spent),
            };
            by_name.entry(schema.name().to_owned()).or_insert(tools.len());
            if made.is_ok() {
                by_wire.insert(wire_name.clone(), tools.len());
            }
            tools.push(ExportedTool { name: schema.name().to_owned(), wire_name, namespace, made, fell_back });
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
        let (mut inverse, spelt) = Inverse::of(parameters, dialect)
            .map_err(|Taken(key)| Refusal { pointer: String::new(), reason: Reason::KeyTaken { key } })?;
        let by_host = |pointer: &mut String| *pointer = inverse.restore_pointer(pointer);
        let mut normalised = normalise(&spelt, dialect).map_err(|mut refusal| {
            by_host(&mut refusal.pointer);
            refusal
        })?;
        normalised.losses.iter_mut().for_each(|loss| by_host(&mut loss.pointer));
        normalised.closed.iter_mut().for_each(by_host);
        if let Some(sources) = &self.sources {
            normalised.require(&inverse.ask_for_sources(), sources.schema(), dialect)?;
        }
        let mut fragment = String::new();
        let written = Fragment {
            name,
            description: schema.description(),
            parameters: &normalised.schema,
            strict: dialect.strict,
            deferred: target.search.is_some() && schema.defer() && self.deferral == Deferral::Provider,
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
