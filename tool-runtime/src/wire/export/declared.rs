//! All tools in a provider's form: requests of them, and the way back for their calls.

use std::collections::HashMap;
use std::sync::Arc;

use super::exported::Made;
use super::{Deferral, ExportOptions, ExportedTool, Provider, Strict, write_member};
use crate::call::{Reported, ToolCall};
use crate::schema::json::write_string;
use crate::schema::{DeclaredTool, JsonPath};

/// Tools in the form of one provider, made once, and the way back for their calls.
///
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Export {
    pub(super) options: ExportOptions,
    pub(super) tools: Arc<Tools>,
}

#[derive(Debug)]
pub(super) struct Tools {
    pub(super) all: Vec<ExportedTool>,
    /// Those that are declared.
    pub(super) by_wire: HashMap<String, usize>,
    pub(super) by_name: HashMap<String, usize>,
    /// Tools that have other names, each with its wire name.
    pub(super) renamed: Vec<(String, String)>,
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
        ExportOptions {
            provider,
            strict: Strict::default(),
            deferral: Deferral::default(),
            sources: None,
            namespaces: Vec::new(),
        }
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
        let made = || tools.clone().filter_map(|tool| Some((tool, tool.made.as_ref().ok()?)));
        if made().next().is_none() {
            return "[]".to_owned();
        }
        let search = target.search.filter(|_| made().any(|(_, made)| made.deferred)).map(|search| search.fragment);
        let length = made().map(|(_, made)| made.fragment.len() + 1).sum::<usize>();
        let around = target.open.len() + target.close.len() + search.map_or(0, |search| search.len() + 1);
        let mut json = String::with_capacity(length + around);
        json.push_str(target.open);
        let mut written: Vec<usize> = Vec::new();
        for (tool, of_it) in made() {
            let Some(at) = tool.namespace else {
                json.extend([&of_it.fragment, ","]);
                continue;
            };
            // All that are in it stand where its first one does.
            if written.contains(&at) {
                continue;
            }
            written.push(at);
            let namespace = &self.options.namespaces[at];
            json.push_str(r#"{"type":"namespace","name":"#);
            write_string(&mut json, &target.names.spell(namespace.name()));
            write_member(&mut json, "description", namespace.description());
            json.push_str(r#","tools":["#);
            let within = made().filter(|(tool, _)| tool.namespace == Some(at));
            within.for_each(|(_, made)| json.extend([&made.fragment, ","]));
            json.pop();
            json.push_str("]},");
        }
        json.pop();
        search.into_iter().for_each(|search| json.extend([",", search]));
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
}
