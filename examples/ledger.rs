//! Asks a ledger what became of calls, and why.
//!
//! ```text
//! LEDGER_KEY=… cargo run --example ledger -- calls STORE
//! ```

use std::io;
use std::process::ExitCode;

use examples::ledger;
use tool_runtime::LedgerKey;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let id = std::env::var("LEDGER_KEY_ID").unwrap_or_else(|_| "main".to_owned());
    let done = match std::env::var("LEDGER_KEY") {
        Err(_) => Err(ledger::USAGE.into()),
        Ok(secret) => LedgerKey::from_hex(id, &secret).map_err(Into::into).and_then(|key| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(ledger::run(&words, key, &mut io::stdout()))
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledger: {error}");
            ExitCode::FAILURE
        }
    }
}
