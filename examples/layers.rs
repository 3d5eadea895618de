//! Host code around execution: a retry, a cache and a metric, none of which can touch a call.
//!
//! ```text
//! cargo run --example layers
//! ```
//!
//! The layers are in `src/layers/mod.rs`.

use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    examples::layers::run(&mut io::stdout().lock())
}
