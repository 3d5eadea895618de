use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Notify;
use tool_runtime::Pattern;
use tool_runtime::mcp::{McpClient, McpClientBuilder};

use super::BoxError;
use super::options::{Options, read};

/// The file of servers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    command: Option<Vec<String>>,
    url: Option<String>,
    #[serde(default)]
    env_from: Vec<String>,
    #[serde(default)]
    headers_from: BTreeMap<String, String>,
    include: Option<Vec<String>>,
    #[serde(default)]
    exclude: Vec<String>,
    timeout: Option<u64>,
}

/// A server, and which of its tools are taken.
pub(super) struct Server {
    pub(super) client: McpClient,
    include: Option<Vec<Pattern>>,
    exclude: Vec<Pattern>,
}

impl Server {
    pub(super) fn takes(&self, tool: &str) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        self.include.as_deref().is_none_or(matches) && !matches(&self.exclude)
    }
}

#[derive(Clone)]
pub(super) struct Servers(Arc<[Server]>);

/// What a child always has of the environment: what programs need to run, and nothing that may be a secret.
const ENVIRONMENT: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

impl Servers {
    pub(super) fn load(options: &Options) -> Result<Self, BoxError> {
        let mut servers = Vec::new();
        if let Some((program, arguments)) = options.command.split_first() {
            // It is the only one that has to be called by nobody's name.
            let builder = child("server", program, arguments, &[])?;
            let builder = if options.servers.is_none() { builder.without_prefix() } else { builder };
            servers.push(Server { client: builder.forward_forms().build()?, include: None, exclude: Vec::new() });
        }
        if let Some(path) = &options.servers {
            let file: File = toml::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
            for (name, entry) in file.server {
                servers.push(server(&name, entry).map_err(|error| format!("{}: `{name}`: {error}", path.display()))?);
            }
        }
        Ok(Servers(servers.into()))
    }

    pub(super) fn all(&self) -> &[Server] {
        &self.0
    }

    /// Is notified whenever a server says from now on that its tools have changed, also of what it says while nobody waits.
    pub(super) fn changed(&self) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        for server in &*self.0 {
            let (mut changes, told) = (server.client.changes(), Arc::clone(&notify));
            tokio::spawn(async move {
                while changes.changed().await.is_ok() {
                    told.notify_one();
                }
            });
        }
        notify
    }

    pub(super) async fn close(&self) {
        for server in &*self.0 {
            server.client.close().await;
        }
    }
}

fn server(name: &str, entry: Entry) -> Result<Server, BoxError> {
    let mut builder = match (&entry.command, &entry.url) {
        (Some(command), None) => {
            let (program, arguments) = command.split_first().ok_or("`command` is empty")?;
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            child(name, &program.into(), &arguments, &entry.env_from)?
        }
        (None, Some(url)) => McpClient::http(name, url),
        _ => return Err("it has either a `command` or a `url`".into()),
    };
    for (header, variable) in &entry.headers_from {
        let value = std::env::var(variable).map_err(|_| format!("the variable {variable} isn't set"))?;
        builder = builder.header(header, &value);
    }
    if let Some(seconds) = entry.timeout {
        builder = builder.call_timeout(Duration::from_secs(seconds));
    }
    let patterns = |patterns: Vec<String>| patterns.iter().map(|one| Pattern::new(one)).collect::<Result<Vec<_>, _>>();
    Ok(Server {
        // What a server wants to know it may ask the person behind the client.
        client: builder.forward_forms().build()?,
        include: entry.include.map(patterns).transpose()?,
        exclude: patterns(entry.exclude)?,
    })
}

/// A child process with as much of the environment as it needs.
fn child(
    name: &str,
    program: &OsString,
    arguments: &[OsString],
    more: &[String],
) -> Result<McpClientBuilder, BoxError> {
    let mut builder = McpClient::command(name, program, arguments).without_env();
    for variable in ENVIRONMENT {
        if let Ok(value) = std::env::var(variable) {
            builder = builder.env(variable, value);
        }
    }
    for variable in more {
        let value = std::env::var(variable).map_err(|_| format!("the variable {variable} isn't set"))?;
        builder = builder.env(variable, value);
    }
    Ok(builder)
}
