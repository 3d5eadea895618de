//! Runs recorded calls of a model: provider messages in, result messages out.
//!
//! ```text
//! cargo run -q --example replay -- --provider openai < message.json
//! cargo run -q --example replay -- --provider openai --policy rules.toml --approve ask < messages.jsonl
//! cargo run -q --example replay -- --provider openai --tools
//! ```
//!
//! The tools are in `src/replay/tools.rs`, the loop in `src/replay/mod.rs`.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::iter::Peekable;
use std::process::ExitCode;
use std::sync::Arc;

use examples::replay::{self, Gate, Provider};
use tool_runtime::{Answer, Approver, TerminalApprover};

const HELP: &str = "\
Runs the tool calls of recorded provider messages and prints the results.

Usage: replay --provider NAME [--policy FILE] [--approve WHO] < MESSAGES
       replay --provider NAME --tools

Reads one JSON document, or one on each line: an assistant message or a whole
response. Prints, for each, one line: a JSON array of the messages that answer its
calls.

Options:
  --provider NAME  the format of the messages: openai (Chat Completions),
                   openai-responses, anthropic, gemini, ollama
  --policy FILE    rules, as TOML; without them every call may run
  --approve WHO    the answer to whatever the rules ask about: yes, no, or ask,
                   which asks at the terminal; without it nobody is there to ask
  --stream         read one response in pieces instead: server-sent events, or a
                   line a piece; prints an object with what of it goes into the
                   next request, `history`, and the `results`
  --tools          print the `tools` of a request instead, and read nothing
  --help           print this

Exit code: 0, or 1 if a message could not be read (the others are answered all
the same), or 2 if the options or the rules are wrong.
";

/// What the command line asks for.
struct Options {
    provider: Provider,
    policy: Option<String>,
    approve: Option<Approve>,
    tools: bool,
    stream: bool,
}

/// Who answers questions.
#[derive(Clone, Copy)]
enum Approve {
    Yes,
    No,
    Ask,
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
    let gate = match gate(&options) {
        Ok(gate) => gate,
        Err(what) => {
            eprintln!("replay: {what}");
            return ExitCode::from(2);
        }
    };
    match run(&options, gate) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("replay: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many messages could not be read.
fn run(options: &Options, gate: Gate) -> Result<usize, Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    if options.tools {
        writeln!(out, "{}", replay::declarations(options.provider)?)?;
        return Ok(0);
    }
    if options.stream {
        replay::run_stream(options.provider, gate, &mut io::stdin().lock(), &mut out)?;
        out.flush()?;
        return Ok(0);
    }
    let summary = replay::run(options.provider, gate, &mut io::stdin().lock(), &mut out, &mut io::stderr())?;
    out.flush()?;
    Ok(summary.refused)
}

/// The rules and whoever is asked.
fn gate(options: &Options) -> Result<Gate, String> {
    let rules = match &options.policy {
        None => None,
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            replay::check(&text).map_err(|error| format!("{file}: {error}"))?;
            Some(text)
        }
    };
    let approver = match options.approve {
        None => None,
        Some(Approve::Yes) => Some(replay::always(Answer::Yes)),
        Some(Approve::No) => Some(replay::always(Answer::No)),
        Some(Approve::Ask) => Some(terminal()?),
    };
    Ok(Gate { rules, approver })
}

/// The terminal itself: standard input has the messages, and standard output the results.
fn terminal() -> Result<Arc<dyn Approver>, String> {
    let (input, output) = if cfg!(windows) { ("CONIN$", "CONOUT$") } else { ("/dev/tty", "/dev/tty") };
    let open = |name: &str, write: bool| {
        let opened = OpenOptions::new().read(!write).write(write).open(name);
        opened.map_err(|error| format!("there is no terminal to ask at ({name}: {error})"))
    };
    Ok(Arc::new(TerminalApprover::new(BufReader::new(open(input, false)?), open(output, true)?)))
}

fn options(args: impl Iterator<Item = String>) -> Result<Options, Stop> {
    let mut args = args.peekable();
    let (mut provider, mut policy, mut approve) = (None, None, None);
    let (mut tools, mut stream) = (false, false);
    while let Some(arg) = args.next() {
        let (key, value) = match arg.split_once('=') {
            Some((key, value)) if key.starts_with("--") => (key.to_owned(), Some(value.to_owned())),
            _ => (arg, None),
        };
        match key.as_str() {
            "--help" | "-h" => return Err(Stop::Help),
            "--tools" if value.is_none() => tools = true,
            "--stream" if value.is_none() => stream = true,
            "--provider" => {
                let name = given("--provider", value, &mut args, &format!("known: {}", Provider::names()))?;
                let known = Provider::named(&name).ok_or_else(|| {
                    Stop::Usage(format!("there is no provider {name:?}; known: {}", Provider::names()))
                })?;
                provider = Some(known);
            }
            "--policy" => policy = Some(given("--policy", value, &mut args, "a file of rules")?),
            "--approve" => {
                approve = Some(match given("--approve", value, &mut args, "yes, no or ask")?.as_str() {
                    "yes" => Approve::Yes,
                    "no" => Approve::No,
                    "ask" => Approve::Ask,
                    other => return Err(Stop::Usage(format!("--approve takes yes, no or ask, not {other:?}"))),
                });
            }
            other => return Err(Stop::Usage(format!("unexpected argument {other:?}"))),
        }
    }
    match provider {
        Some(provider) => Ok(Options { provider, policy, approve, tools, stream }),
        None => Err(Stop::Usage(format!("--provider is missing; known: {}", Provider::names()))),
    }
}

/// What stands behind an option.
fn given(
    key: &str,
    value: Option<String>,
    args: &mut Peekable<impl Iterator<Item = String>>,
    known: &str,
) -> Result<String, Stop> {
    value
        .or_else(|| args.next_if(|next| !next.starts_with("--")))
        .ok_or_else(|| Stop::Usage(format!("{key} has no value; {known}")))
}
