//! How often sampled plans agree, how often they are right when they do, and what the presets make of them.
//!
//! ```text
//! cargo run --release --example agreement -- agreement-samples.jsonl.gz --n 5 --draws 20 --seed 1
//! cargo run --release --example agreement -- --batch
//! cargo run --release --example agreement -- --airline airline-conversations.jsonl.gz
//! ```
//!
//! What agrees with what, and what is made of it, is [`tool_runtime::agreement`]'s to say.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use examples::agreement::{self, Options};

const HELP: &str = "\
Draws from recorded answers of models, and rules over what is drawn.

Usage: agreement [FILE] [--n N] [--draws D] [--seed S] [--airline FILE] [--batch]

FILE holds a prompt on each line, as JSON, compressed by gzip or not: its tools, and
the answers to it.

Options:
  --n N           samples drawn at a time (5)
  --draws D       draws a prompt (20)
  --seed S        what the draws follow from (1)
  --airline FILE  conversations with an airline, several trials a task: what they write,
                  and which tools give the same twice
  --batch         a simulated batch, of which three tools are wrongly declared deterministic
  --help          print this

Exit code: 2 if the options or the file are wrong.
";

#[derive(Default)]
struct Files {
    prompts: Option<String>,
    airline: Option<String>,
    batch: bool,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<(Files, Options)>, String> {
    let (mut files, mut options) = (Files::default(), Options::default());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        let number = |given: String| given.parse::<u64>().map_err(|_| format!("`{given}` is no whole number"));
        let size = |number: u64| usize::try_from(number).map_err(|_| format!("{number} is too many"));
        match argument.as_str() {
            "--help" => return Ok(None),
            "--n" => options.n = size(number(value()?)?)?,
            "--draws" => options.draws = size(number(value()?)?)?,
            "--seed" => options.seed = number(value()?)?,
            "--batch" => files.batch = true,
            "--airline" => files.airline = Some(value()?),
            option if option.starts_with('-') => return Err(format!("there is no option `{option}`")),
            _ if files.prompts.is_some() => return Err("only one file of prompts is read".to_owned()),
            _ => files.prompts = Some(argument),
        }
    }
    if files.prompts.is_none() && files.airline.is_none() && !files.batch {
        return Err("a file is needed".to_owned());
    }
    Ok(Some((files, options)))
}

fn run(files: &Files, options: Options) -> Result<(), String> {
    let mut out = io::stdout().lock();
    if let Some(file) = &files.prompts {
        let bytes = read(file)?;
        agreement::run(&bytes, options, &mut out).map_err(|error| format!("{file}: {error}"))?;
    }
    if let Some(file) = &files.airline {
        let bytes = read(file)?;
        agreement::conversations(&bytes, &mut out).map_err(|error| format!("{file}: {error}"))?;
    }
    if files.batch {
        agreement::batch(options.seed, &mut out).map_err(|error| error.to_string())?;
    }
    out.flush().map_err(|error| error.to_string())
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{file}: {error}"))
}

fn main() -> ExitCode {
    let (files, options) = match options(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(&files, options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
