//! A gate between an MCP client and MCP servers: the same tools, but every call goes through rules, questions and a
//! ledger. Nothing has to be written in Rust for it.
//!
//! ```text
//! cargo build --features examples/mcp --examples
//! cargo run --features examples/mcp --example mcp_gate -- --pin update -- target/debug/examples/mcp_server
//! cargo run --features examples/mcp --example mcp_gate -- --policy rules.toml -- target/debug/examples/mcp_server
//! ```
//!
//! The first command looks at what the server offers and pins it in `pins.json`: what isn't pinned, or has changed since,
//! can't be called. The second one serves it; put it where your client has the server's command. With Node, behind the
//! last `--`: `npx -y @modelcontextprotocol/server-filesystem DIRECTORY`.
//!
//! `--help` says what else there is.

use std::process::ExitCode;

use examples::mcp_gate::{self, Options};

/// What a burst of calls needed the next one uses again. The system's own may have a heap for each thread, which grow one
/// after another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let options = match Options::of(std::env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", mcp_gate::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("mcp_gate: {error}\n\n{}", mcp_gate::HELP);
            return ExitCode::from(2);
        }
    };
    match mcp_gate::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_gate: {error}");
            ExitCode::FAILURE
        }
    }
}
