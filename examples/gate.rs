//! Rules from a file, a person at the terminal, a grant, and a denial that no later rule can undo.
//!
//! ```text
//! cargo run --example gate
//! cargo run --example gate -- RULES.toml
//! ```
//!
//! The rules are in `gate.toml`, the calls in `src/gate/mod.rs`.

use std::process::ExitCode;
use std::{fs, io};

use examples::gate;
use tool_runtime::TerminalApprover;

fn main() -> ExitCode {
    let rules = match std::env::args_os().nth(1) {
        None => Ok(gate::RULES.to_owned()),
        Some(file) => fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.to_string_lossy())),
    };
    let played = rules
        .and_then(|rules| gate::run(&rules, TerminalApprover::stdio(), &mut io::stdout()).map_err(|e| e.to_string()));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gate: {error}");
            ExitCode::FAILURE
        }
    }
}
