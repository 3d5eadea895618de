//! Runs recorded calls of a model: provider messages in, result messages out.
//!
//! ```text
//! cargo run -q --example replay -- --provider openai < message.json
//! cargo run -q --example replay -- --provider openai --tools
//! ```
//!
//! The tools are in `src/replay/tools.rs`, the loop in `src/replay/mod.rs`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use examples::replay::{self, Provider};

const HELP: &str = "\
Runs the tool calls of recorded provider messages and prints the results.

Usage: replay --provider NAME [--tools] < MESSAGES

Reads one JSON document, or one on each line: an assistant message or a whole
response. Prints, for each, one line: a JSON array of the `role: tool` messages
that answer its calls.

Options:
  --provider NAME  the format of the messages: openai
  --tools          print the `tools` of a request instead, and read nothing
  --help           print this

Exit code: 0, or 1 if a message could not be read (the others are answered all
the same), or 2 if the options are wrong.
";

/// What the command line asks for.
struct Options {
    provider: Provider,
    tools: bool,
}

enum Stop {
    Help,
    Usage(String),
}

fn main() -> ExitCode {
    let options = match options(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned())) {
        Ok(options) => options,
        Err(Stop::Help) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(Stop::Usage(what)) => {
            eprintln!("replay: {what}\nTry `replay --help`.");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("replay: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many messages could not be read.
fn run(options: &Options) -> Result<usize, Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    if options.tools {
        writeln!(out, "{}", replay::declarations(options.provider)?)?;
        return Ok(0);
    }
    let summary = replay::run(options.provider, &mut io::stdin().lock(), &mut out, &mut io::stderr())?;
    out.flush()?;
    Ok(summary.refused)
}

fn options(args: impl Iterator<Item = String>) -> Result<Options, Stop> {
    let mut args = args.peekable();
    let (mut provider, mut tools) = (None, false);
    while let Some(arg) = args.next() {
        let (key, value) = match arg.split_once('=') {
            Some((key, value)) if key.starts_with("--") => (key.to_owned(), Some(value.to_owned())),
            _ => (arg, None),
        };
        match key.as_str() {
            "--help" | "-h" => return Err(Stop::Help),
            "--tools" if value.is_none() => tools = true,
            "--provider" => {
                let name = value
                    .or_else(|| args.next_if(|next| !next.starts_with("--")))
                    .ok_or_else(|| Stop::Usage(format!("--provider has no value; known: {}", Provider::names())))?;
                let known = Provider::named(&name).ok_or_else(|| {
                    Stop::Usage(format!("there is no provider {name:?}; known: {}", Provider::names()))
                })?;
                provider = Some(known);
            }
            other => return Err(Stop::Usage(format!("unexpected argument {other:?}"))),
        }
    }
    match provider {
        Some(provider) => Ok(Options { provider, tools }),
        None => Err(Stop::Usage(format!("--provider is missing; known: {}", Provider::names()))),
    }
}
