//! A server of a few tools, one of each kind: to try a client or the gate with, and for the conformance suite.
//!
//! ```text
//! cargo run --features examples/mcp --example mcp_server                          # on the standard input and output
//! cargo run --features examples/mcp --example mcp_server -- --http 127.0.0.1:3900 # at /mcp
//! ```

use std::process::ExitCode;

use examples::mcp_server;

/// What a burst of calls needed the next one uses again. The system's own may have a heap for each thread, which grow one
/// after another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ran = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => mcp_server::run(None),
        ["--http", address] => mcp_server::run(Some(address)),
        _ => {
            eprintln!("mcp_server [--http ADDRESS]");
            return ExitCode::from(2);
        }
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_server: {error}");
            ExitCode::FAILURE
        }
    }
}
