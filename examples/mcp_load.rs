//! A load generator: calls `add_later` of the example's MCP server over HTTP, many at a time, and looks at the server's memory.
//!
//! ```text
//! cargo run --features examples/mcp --example mcp_load -- 127.0.0.1:3900 PID 2026-07-28 1000
//! ```
//!
//! As many files may be open as there are calls at a time: `ulimit -n`.

use std::process::ExitCode;

use examples::mcp_load::{Revision, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = match &arguments[..] {
        [address, process, revision, calls] => process
            .parse()
            .ok()
            .zip(Revision::named(revision))
            .zip(calls.parse().ok().filter(|calls| *calls > 0))
            .map(|((process, revision), calls)| (address, process, revision, calls)),
        _ => None,
    };
    let Some((address, process, revision, calls)) = read else {
        eprintln!("mcp_load ADDRESS PID 2025-11-25|2026-07-28 CALLS");
        return ExitCode::from(2);
    };
    let ran = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(run(address, process, revision, calls, &mut std::io::stdout())));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp_load: {error}");
            ExitCode::FAILURE
        }
    }
}
