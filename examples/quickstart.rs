//! A scripted conversation with a model: what the model sees beside what the host keeps. Needs no key and no network.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! The tools are in `src/quickstart/tools.rs`, the policy and the loop in `src/quickstart/mod.rs`.

use std::error::Error;
use std::io::{self, Write as _};

use examples::quickstart::{self, Style};

fn main() -> Result<(), Box<dyn Error>> {
    quickstart::keep_tool_panics_off_the_screen();
    let mut out = io::stdout().lock();
    match quickstart::run(&mut out, Style::of_stdout()) {
        Ok(_) => Ok(out.flush()?),
        // `quickstart | head` has read enough.
        Err(error) if is_broken_pipe(&*error) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
