//! A gate between an MCP client and MCP servers.

mod desk;
mod options;
mod records;
mod servers;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use desk::Desk;
pub use options::{HELP, Options};
use servers::{Server, Servers};
use tokio::net::TcpListener;
use tool_runtime::mcp::{HttpOptions, McpServer, PinState, Pins, RemoteTool};
use tool_runtime::{Checklist, Harness, Ledger, Registry, Rules};

type BoxError = Box<dyn Error + Send + Sync>;

/// How often a server that is down is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// How long it takes at least from one look at what servers list to the next.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until the client is gone, or pins what the servers offer.
///
/// # Errors
/// If a file can't be read or isn't right, or nothing can be served.
pub fn run(options: Options) -> Result<(), BoxError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ran = runtime.block_on(async {
        let servers = Servers::load(&options)?;
        let ran = match options.pin {
            true => pin(&options, &servers).await,
            false => serve(&options, &servers).await,
        };
        // Children end with the gate.
        servers.close().await;
        ran
    });
    // A read of the standard input can't be stopped, and nobody waits for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    ran
}

/// Shows what has changed, and pins everything as it is.
async fn pin(options: &Options, servers: &Servers) -> Result<(), BoxError> {
    let mut pins = options.pins()?;
    for server in servers.all() {
        let tools = server.client.tools().await?;
        for tool in &tools {
            match tool.pinned(server.client.name(), &pins) {
                PinState::Pinned => continue,
                PinState::New => println!("{}: `{}` is new", server.client.name(), plain(tool.name())),
                _ => println!("{}: `{}` has changed", server.client.name(), plain(tool.name())),
            }
            for line in pins.difference(server.client.name(), tool.name(), &tool.definition()) {
                println!("  {line}");
            }
            pins.pin(server.client.name(), tool.name(), &tool.definition())?;
        }
        let listed: Vec<&str> = tools.iter().map(RemoteTool::name).collect();
        let gone: Vec<String> =
            pins.tools(server.client.name()).filter(|tool| !listed.contains(tool)).map(str::to_owned).collect();
        for tool in gone {
            println!("{}: `{}` is gone", server.client.name(), plain(&tool));
            pins.unpin(server.client.name(), &tool);
        }
    }
    options.write_pins(&pins)?;
    println!("pinned in {}", options.pins.display());
    Ok(())
}

async fn serve(options: &Options, servers: &Servers) -> Result<(), BoxError> {
    let ledger = records::open(options).await?;
    let changed = servers.changed();
    let gate = Arc::new(Gate {
        rules: options.rules()?,
        checklist: options.checklist.clone(),
        pins: options.pins()?,
        desk: Desk::new(Arc::clone(&ledger)),
        ledger,
        servers: servers.clone(),
    });
    if let Some(address) = &options.desk {
        let listener = TcpListener::bind(address).await?;
        eprintln!("mcp_gate: questions wait at http://{}/{}", listener.local_addr()?, gate.desk.secret());
        let desk = gate.desk.clone();
        tokio::spawn(async move { desk.serve(listener).await });
    }
    let (harness, mut complete) = gate.harness(true).await?;
    // What was cut off when the gate was last stopped has an end before anything begins.
    let repaired = harness.repair().await?;
    if !repaired.is_empty() {
        eprintln!(
            "mcp_gate: {} calls had no end in the ledger; what can be said of them stands there now",
            repaired.len()
        );
    }
    let server = McpServer::builder(harness)
        .name("mcp_gate")
        .version(env!("CARGO_PKG_VERSION"))
        .instructions("Calls are checked: some need a person's approval, and some are not allowed. A call that waits for an approval can be made again later, with the same arguments.")
        .ask_within(options.ask_within)
        .wait_for_answers(options.wait)
        .build()?;
    let (kept, keeper) = (server.clone(), Arc::clone(&gate));
    let keeping = tokio::spawn(async move {
        loop {
            let wait = if complete { Duration::MAX } else { RETRY };
            let _changed_or_not = tokio::time::timeout(wait, changed.notified()).await;
            // However often a server says that it has changed, there is time for calls in between.
            tokio::time::sleep(PAUSE).await;
            match keeper.harness(false).await {
                Ok((harness, all)) => {
                    complete = all;
                    if let Err(error) = kept.replace(harness) {
                        eprintln!("mcp_gate: {error}");
                    }
                }
                Err(error) => eprintln!("mcp_gate: {error}"),
            }
        }
    });
    let serving = async {
        match &options.http {
            Some(address) => {
                let listener = TcpListener::bind(address).await?;
                eprintln!("mcp_gate: serving http://{}/mcp", listener.local_addr()?);
                server.serve_http(listener, HttpOptions::new()).await
            }
            None => server.serve_stdio().await,
        }
    };
    let served = tokio::select! {
        served = serving => served.map_err(BoxError::from),
        () = told_to_stop() => Ok(()),
    };
    keeping.abort();
    served
}

/// A name that a server gave, as it may be shown on a terminal: on one line, and with nothing in it that can't be seen.
fn plain(name: &str) -> impl Display {
    name.escape_debug()
}

/// Ends when somebody tells this process to end.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// All that calls go through.
struct Gate {
    rules: String,
    checklist: Option<PathBuf>,
    pins: Pins,
    ledger: Arc<dyn Ledger>,
    desk: Desk,
    servers: Servers,
}

impl Gate {
    /// The tools that may be called now, behind everything. Also says whether all servers are there; with `loudly`,
    /// what is left out is told.
    async fn harness(&self, loudly: bool) -> Result<(Harness, bool), BoxError> {
        let mut taken: BTreeMap<String, RemoteTool> = BTreeMap::new();
        let mut complete = true;
        for server in self.servers.all() {
            match server.client.tools().await {
                Ok(tools) => taken.extend(self.chosen(server, tools, loudly)),
                Err(error) => {
                    // The others go on.
                    complete = false;
                    if loudly {
                        eprintln!("mcp_gate: {error}");
                    }
                }
            }
        }
        let mut registry = Registry::builder();
        for tool in taken.into_values() {
            match tool.host_tool() {
                Ok(host_tool) => registry = registry.tool(host_tool),
                Err(error) => eprintln!("mcp_gate: {error}"),
            }
        }
        let registry = registry.build()?;
        // Servers come and go, and their tools with them.
        let (rules, absent) = Rules::from_toml_for_some(&self.rules, &registry)?;
        if loudly {
            absent.iter().for_each(|absent| eprintln!("mcp_gate: for now, {absent}"));
        }
        let checklist = match &self.checklist {
            Some(file) => Checklist::builder().file(file).build(&registry)?,
            None => Checklist::new(),
        };
        let harness = Harness::new(registry, rules)
            .checklist(checklist)
            .approver(self.desk.clone())
            .ledger(Arc::clone(&self.ledger));
        Ok((harness, complete))
    }

    /// Which tools of a server are there: what is included and pinned. The rest is neither listed nor called.
    fn chosen(&self, server: &Server, tools: Vec<RemoteTool>, loudly: bool) -> Vec<(String, RemoteTool)> {
        let name = server.client.name();
        let is_chosen = |tool: &RemoteTool| {
            let why = match tool.pinned(name, &self.pins) {
                _ if !server.takes(tool.name()) => return false,
                PinState::Pinned => return true,
                PinState::New => "is new",
                _ => "has changed",
            };
            if loudly {
                let tool = plain(tool.name());
                eprintln!("mcp_gate: {name}: `{tool}` {why} and is off; look at it with `--pin update`");
            }
            false
        };
        tools.into_iter().filter(is_chosen).map(|tool| (tool.host_name().to_owned(), tool)).collect()
    }
}
