//! Rules over sampled plans: lines of JSON in, one ruling a line out.
//!
//! ```text
//! cargo run -q --example ruling < samples.jsonl
//! ```
//!
//! What a line holds is said at [`tool_runtime::agreement::rule_line`].

use std::io;
use std::process::ExitCode;

use examples::ruling;

fn main() -> ExitCode {
    match ruling::run(&mut io::stdin().lock(), &mut io::BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ruling: {error}");
            ExitCode::FAILURE
        }
    }
}
