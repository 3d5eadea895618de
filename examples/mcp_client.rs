//! Calls every tool of an MCP server once, with the smallest arguments that its schema asks for, and prints the results.
//! With a program in the place of an address it makes the calls that are written to its standard input, a line each.
//!
//! ```text
//! cargo run --features examples/mcp --example mcp_client -- http://127.0.0.1:3900/mcp
//! echo 'add {"a": 1, "b": 2}' |
//!   cargo run --features examples/mcp --example mcp_client -- --timeout 5 -- target/debug/examples/mcp_server
//! ```
//!
//! The conformance suite may say in its variable which calls to make instead.

use std::process::ExitCode;

use examples::mcp_client::{Program, run, run_lines};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ran = match (Program::of(&arguments), arguments.last().filter(|url| url.starts_with("http"))) {
        (Some(program), _) => run_lines(&program),
        (None, Some(url)) => run(url),
        (None, None) => {
            eprintln!("mcp_client URL\nmcp_client [--timeout SECONDS] [--deny TOOL]... -- PROGRAM ARGUMENT...");
            return ExitCode::from(2);
        }
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_client: {error}");
            ExitCode::FAILURE
        }
    }
}
