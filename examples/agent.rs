//! An agent loop against any server that speaks OpenAI's Chat Completions.
//!
//! ```text
//! cargo run --example agent                                # a scripted model inside this program: no key, no network
//! cargo run --example agent -- --base-url http://localhost:11434/v1 --model qwen3 "What is in notes.txt?"
//! cargo run --example agent --features tls -- --base-url https://api.openai.com/v1 --model gpt-5.4 "…"
//! ```
//!
//! The key is read from the environment, from `OPENAI_API_KEY` or the variable that `--key-env` names. The loop is in
//! `src/agent/mod.rs`, an example and not a framework: copy it.

use std::process::ExitCode;

use examples::agent::{self, Model};
use tool_runtime::TerminalApprover;

const HELP: &str = "\
Talks to a model that may use a few tools.

Usage: agent [--base-url URL --model NAME [--key-env NAME]] [PROMPT]

Options:
  --base-url URL   of a server that speaks OpenAI's Chat Completions; without it
                   a scripted model answers, inside this program
  --model NAME     which of its models
  --key-env NAME   the environment variable with the key: OPENAI_API_KEY
  --help           print this
";

fn main() -> ExitCode {
    let (mut base_url, mut model, mut key_env, mut prompt) = (None, None, "OPENAI_API_KEY".to_owned(), Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} has no value"));
        let read = match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--base-url" => value().map(|value| base_url = Some(value)),
            "--model" => value().map(|value| model = Some(value)),
            "--key-env" => value().map(|value| key_env = value),
            option if option.starts_with("--") => Err(format!("unexpected option {option:?}")),
            word => {
                prompt.push(word.to_owned());
                Ok(())
            }
        };
        if let Err(what) = read {
            eprintln!("agent: {what}\nTry `agent --help`.");
            return ExitCode::from(2);
        }
    }
    let model = match (base_url, model) {
        (Some(base_url), Some(name)) => Model::at(&base_url, &name, std::env::var(&key_env).ok()),
        (None, None) => match Model::scripted() {
            Ok(model) => model,
            Err(error) => {
                eprintln!("agent: the scripted model can't listen: {error}");
                return ExitCode::FAILURE;
            }
        },
        _ => {
            eprintln!("agent: --base-url and --model go together\nTry `agent --help`.");
            return ExitCode::from(2);
        }
    };
    let prompt = if prompt.is_empty() { agent::PROMPT.to_owned() } else { prompt.join(" ") };
    match agent::run(&model, &prompt, TerminalApprover::stdio(), std::io::stdout()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agent: {error}");
            ExitCode::FAILURE
        }
    }
}
