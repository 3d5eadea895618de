//! The tools of a server, as tools of this host.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::call::Target;
use super::draft07;
use super::link::{Link, Listed};
use super::pins::{PinState, Pins};
use crate::registry::Registry;
use crate::schema::for_each_subschema;
use crate::schema::json::Json;
use crate::tool::{DynamicTool, Hints, HostTool};
use crate::wire::names::Rule;

/// What every provider and the registry take as a name.
const NAMES: Rule = Rule { longest: 64, signs: "-", letter_first: true };

/// What stands between a server's name and a tool's. No server's name has it, or ends in a part of it, so that two
/// servers and two tools never make one name.
const BETWEEN: &str = "__";

/// How long the forms of one call may take altogether.
const FORMS: Duration = Duration::from_secs(30 * 60);

/// May a server be called so? ASCII letters, digits, `-` and single `_`, a letter first, no `_` at the end.
pub(super) fn is_server_name(name: &str) -> bool {
    name.len() <= 32
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && !name.contains(BETWEEN)
        && !name.ends_with('_')
}

/// The name under which a tool is registered here. Different pairs have different names.
pub(super) fn host_name(server: Option<&str>, tool: &str) -> String {
    match server {
        Some(server) => NAMES.spell(&format!("{server}{BETWEEN}{tool}")).into_owned(),
        None => NAMES.spell(tool).into_owned(),
    }
}

/// A tool that a server offers.
///
/// Whatever is in it the server has written: its annotations are claims, and `[confirm]` lines and the like in its
/// description are lines of the checklist, which can ask for more, never for less.
#[derive(Clone)]
pub struct RemoteTool {
    link: Arc<Link>,
    listed: Listed,
    host_name: String,
    hints: Hints,
}

impl RemoteTool {
    pub(super) fn new(link: &Arc<Link>, listed: &Listed, prefixed: bool, hints: Hints) -> Self {
        let host_name = host_name(prefixed.then_some(link.name.as_str()), &listed.tool.name);
        RemoteTool { link: Arc::clone(link), listed: listed.clone(), host_name, hints }
    }

    /// The server's name for it.
    pub fn name(&self) -> &str {
        &self.listed.tool.name
    }

    /// The name under which it is registered here.
    pub fn host_name(&self) -> &str {
        &self.host_name
    }

    /// All that the server says of it, as JSON: what is [pinned](Pins).
    pub fn definition(&self) -> String {
        self.listed.definition.to_string()
    }

    /// The tool, for a registry. It is made of what the server says only now: what nobody wants costs nothing.
    ///
    /// # Errors
    /// If it can't be brought onto the path of calls, such as for a schema that can't be enforced, with the reason.
    pub fn host_tool(&self) -> Result<HostTool, RemoteToolError> {
        imported(&self.link, &self.listed, &self.host_name, self.hints)
            .map_err(|what| RemoteToolError { tool: self.name().to_owned(), what })
    }

    /// What pins say of it.
    pub fn pinned(&self, server: &str, pins: &Pins) -> PinState {
        pins.state(server, self.name(), &self.definition())
    }
}

impl fmt::Debug for RemoteTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTool")
            .field("name", &self.name())
            .field("host_name", &self.host_name)
            .finish_non_exhaustive()
    }
}

/// Makes a tool of what a server says of it.
fn imported(link: &Arc<Link>, listed: &Listed, host_name: &str, hints: Hints) -> Result<HostTool, String> {
    if listed.has_double {
        return Err("the server lists more than one tool of this name".to_owned());
    }
    let schema = |key: &str| {
        listed.definition.get(key).cloned().map(|mut schema| {
            draft07::modern(&mut schema);
            without_hints(&mut schema);
            schema
        })
    };
    let parameters = schema("inputSchema").ok_or("it has no input schema")?;
    let output = schema("outputSchema");
    let target = Arc::new(Target {
        link: Arc::clone(link),
        tool: listed.tool.name.to_string(),
        digest: listed.digest,
        has_output: output.is_some(),
    });
    let description = listed.tool.description.as_deref().or(listed.tool.title.as_deref()).unwrap_or_default();
    let description = if description.trim().is_empty() { "(The server does not describe it.)" } else { description };
    // Where a person may be asked meanwhile, it is the call that looks at the server's own time.
    let timeout = link.limits.call.saturating_add(if link.forwards { FORMS } else { Duration::ZERO });
    let tool = DynamicTool::builder(host_name, description)
        .parameters(parameters.to_string())
        .composed_root()
        .output(output.map_or_else(|| "true".to_owned(), |output| output.to_string()))
        .hints(hints)
        .timeout(timeout)
        .run_shown(move |arguments, cx| {
            let target = Arc::clone(&target);
            async move { target.call(arguments, cx).await }
        })
        .map_err(|error| error.to_string())?;
    // What can't be enforced a registry would refuse, and all other tools with it.
    Registry::builder().tool(tool.clone()).build().map_err(|error| error.to_string())?;
    Ok(tool)
}

/// The host's own words in schemas are not for servers to use: one could hide an argument from whoever approves it.
fn without_hints(schema: &mut Json) {
    if let Json::Object(members) = schema {
        members.retain(|(key, _)| !key.starts_with("x-tool-"));
    }
    for_each_subschema(schema, &mut without_hints);
}

/// Why a remote tool can't be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteToolError {
    tool: String,
    what: String,
}

impl RemoteToolError {
    /// The server's name for the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl fmt::Display for RemoteToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = crate::schema::text::shown(&self.tool, 80);
        write!(f, "the tool `{tool}` of a server can't be used: {}", self.what)
    }
}

impl std::error::Error for RemoteToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_and_two_tools_never_make_one_name() {
        let servers = ["paris", "paris-local", "a", "a_b", "b"];
        let tools =
            ["weather", "local-weather", "_b", "b", "__b", "a__b", "a.b", "a_b", &"x".repeat(80), &"x".repeat(81)];
        let mut seen = std::collections::HashSet::new();
        for server in servers {
            assert!(is_server_name(server));
            for tool in tools {
                let name = host_name(Some(server), tool);
                assert!(crate::tool::is_legal_name(&name) && name.len() <= 64, "{name}");
                assert_eq!(host_name(Some(server), tool), name);
                assert!(seen.insert(name.clone()), "{server} {tool}: {name}");
            }
        }
        for wrong in ["", "_a", "a_", "a__b", "1a", "größe", "a b", "a.b", &"x".repeat(33)] {
            assert!(!is_server_name(wrong), "{wrong}");
        }
    }
}
