//! How much of what recorded calls hold is found in what was said before them; and how much that nobody said.
//!
//! ```text
//! cargo run --release --example grounding -- airline-conversations.jsonl.gz
//! cargo run --release --example grounding -- airline-conversations.jsonl.gz --sibling 7 --invent 7
//! ```
//!
//! The airline's list is in `src/grounding/airline.json`; what is searched, and how, is the runtime's.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use examples::grounding;

const HELP: &str = "\
Looks for the values of recorded write calls in what was said before them.

Usage: grounding FILE [--sibling SEED] [--invent SEED]

FILE holds a conversation on each line, as JSON, compressed by gzip or not.

Options:
  --sibling SEED  draws other values of the same shape by this seed (0)
  --invent SEED   draws values that stand nowhere by this seed (0)
  --help          print this

Exit code: 0 if all that has to hold holds, 1 if not, 2 if the options or the file
are wrong.
";

struct Options {
    file: String,
    siblings: u64,
    invented: u64,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut file, mut siblings, mut invented) = (None, 0, 0);
    while let Some(argument) = arguments.next() {
        let mut seed = || {
            let seed = arguments.next().ok_or_else(|| format!("`{argument}` needs a seed"))?;
            seed.parse().map_err(|_| format!("`{seed}` is no seed: it has to be a whole number"))
        };
        match argument.as_str() {
            "--help" => return Ok(None),
            "--sibling" => siblings = seed()?,
            "--invent" => invented = seed()?,
            option if option.starts_with('-') => return Err(format!("there is no option `{option}`")),
            _ if file.is_some() => return Err("only one file is read".to_owned()),
            _ => file = Some(argument),
        }
    }
    let file = file.ok_or("a file is needed")?;
    Ok(Some(Options { file, siblings, invented }))
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
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
    let mut out = io::stdout().lock();
    let figures = fs::read(&options.file)
        .map_err(Into::into)
        .and_then(|bytes| grounding::run(&bytes, options.siblings, options.invented, &mut out));
    match figures.and_then(|figures| out.flush().map(|()| figures).map_err(Into::into)) {
        Ok(figures) if figures.missed().is_empty() => ExitCode::SUCCESS,
        Ok(figures) => {
            for missed in figures.missed() {
                eprintln!("{missed}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{}: {error}", options.file);
            ExitCode::from(2)
        }
    }
}
