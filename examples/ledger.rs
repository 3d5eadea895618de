//! Asks a ledger what became of calls, and why.
//!
//! ```text
//! LEDGER_KEY=… cargo run --example ledger -- calls STORE
//! ```

use std::io;
use std::process::ExitCode;

use examples::ledger;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let setting = |name: &str| std::env::var(name).ok();
    let done = match setting("LEDGER_KEY") {
        None => Err(ledger::USAGE.into()),
        Some(secret) => {
            ledger::key(&secret, setting("LEDGER_KEY_ID").as_deref(), setting("LEDGER_EARLIER_KEYS").as_deref())
                .and_then(|key| {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                    runtime.block_on(ledger::run(&words, key, &mut io::stdout()))
                })
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledger: {error}");
            ExitCode::FAILURE
        }
    }
}
