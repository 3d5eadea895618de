//! Rulings over sampled plans, a line each.

use std::io::{self, BufRead, Write};

use tool_runtime::agreement::rule_line;

/// Rules over every line of `input`, and writes one line for each, whatever it holds.
///
/// # Errors
/// If `input` can't be read or `out` can't be written to.
pub fn run(input: &mut impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        // What is not UTF-8 is not JSON, as little as nothing is.
        let ruling = match std::str::from_utf8(&line) {
            Ok(text) => rule_line(text),
            Err(_) => rule_line(""),
        };
        writeln!(out, "{ruling}")?;
        line.clear();
    }
    out.flush()
}
