//! Answers recorded messages of a provider with the results of their calls.

mod tools;

use std::error::Error;
use std::fmt;
use std::io::{BufRead, Read, Write};
use std::sync::Arc;

use tool_runtime::wire::export::{Export, Provider as Form};
use tool_runtime::wire::{anthropic, gemini, ollama, openai_chat, openai_responses};
use tool_runtime::{AllowAll, Answer, Approver, BoxFuture, Harness, QuestionSet, Rules};

/// Whose messages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI's Chat Completions.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

impl Provider {
    const ALL: [(&'static str, Provider); 5] = [
        ("openai", Provider::OpenAi),
        ("openai-responses", Provider::OpenAiResponses),
        ("anthropic", Provider::Anthropic),
        ("gemini", Provider::Gemini),
        ("ollama", Provider::Ollama),
    ];

    /// The provider of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, provider)| *provider)
    }

    /// The form in which it is shown tools.
    fn form(self) -> Form {
        match self {
            Provider::OpenAi => Form::OpenAiChat,
            Provider::OpenAiResponses => Form::OpenAiResponses,
            Provider::Anthropic => Form::Anthropic,
            Provider::Gemini => Form::Gemini,
            Provider::Ollama => Form::Ollama,
        }
    }

    /// All names, for a person to read.
    pub fn names() -> String {
        Self::ALL.map(|(name, _)| name).join(", ")
    }
}

/// What may run.
#[derive(Default)]
pub struct Gate {
    /// Rules, as TOML. Without any every call may run: the tools work in memory.
    pub rules: Option<String>,
    /// Who is asked where the rules say so. Without anybody such a call does not run.
    pub approver: Option<Arc<dyn Approver>>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Gives every question this answer.
pub fn always(answer: Answer) -> Arc<dyn Approver> {
    Arc::new(move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![answer; set.questions.len()]))
    })
}

/// How many messages there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Answered with a line of output.
    pub answered: usize,
    /// Not messages of the provider.
    pub refused: usize,
}

/// The `tools` of a request, as the provider takes them.
///
/// # Errors
/// If the tools don't go together, which is a bug of this example.
pub fn declarations(provider: Provider) -> Result<String, Box<dyn Error>> {
    Ok(Export::new(provider.form(), tools::registry()?.schemas()).to_json())
}

/// Do these rules fit the tools?
///
/// # Errors
/// With all that is wrong, each with its line and column.
pub fn check(rules: &str) -> Result<(), Box<dyn Error>> {
    Rules::from_toml(rules, &tools::registry()?)?;
    Ok(())
}

/// Reads messages, one JSON document or one on each line, and answers each with a line: the array of its result
/// messages. What isn't a message is reported to `problems` with its line, and the others are answered all the same.
///
/// State lasts from the first message to the last: what one wrote another can read.
///
/// # Errors
/// If one of the streams fails, or the rules don't fit the tools.
pub fn run(
    provider: Provider,
    gate: Gate,
    input: &mut impl Read,
    out: &mut impl Write,
    problems: &mut impl Write,
) -> Result<Summary, Box<dyn Error>> {
    let harness = harness(gate)?;
    let export = Export::new(provider.form(), harness.registry().schemas());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut summary = Summary::default();
    for (line, document) in documents(&bytes) {
        match runtime.block_on(answer(&harness, &export, provider, document)) {
            Ok(messages) => {
                summary.answered += 1;
                writeln!(out, "[{}]", messages.join(","))?;
            }
            Err(error) => {
                summary.refused += 1;
                writeln!(problems, "line {line} of the input: {error}")?;
            }
        }
    }
    Ok(summary)
}

/// Reads one response in pieces: server-sent events as they came, or a line a piece. Prints what of it goes into the
/// next request, and the result messages behind it, as one line: `{"history":…,"results":[…]}`.
///
/// # Errors
/// If one of the streams fails, the response is none of the provider's, or the rules don't fit the tools.
pub fn run_stream(
    provider: Provider,
    gate: Gate,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let harness = harness(gate)?;
    let export = Export::new(provider.form(), harness.registry().schemas());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    // The same functions, whatever the format.
    macro_rules! streamed {
        ($format:ident) => {{
            let mut stream = $format::Stream::new();
            for line in input.lines() {
                let line = line?;
                let data = line.strip_prefix("data:").unwrap_or(&line).trim();
                // What is neither data nor JSON is a comment, the name of an event or its end.
                if data.starts_with('{') || data == "[DONE]" {
                    stream.push(data)?;
                }
            }
            let history = stream.history();
            let calls: Vec<_> = stream.finish().into_iter().map(|call| export.restore(call)).collect();
            let results = runtime.block_on(harness.run(calls));
            let results: Vec<_> = results.iter().map(|result| export.in_wire_words(result)).collect();
            let messages: Vec<_> = $format::messages(&results).iter().map($format::Message::to_json).collect();
            writeln!(out, r#"{{"history":{history},"results":[{}]}}"#, messages.join(","))?;
        }};
    }
    match provider {
        Provider::OpenAi => streamed!(openai_chat),
        Provider::OpenAiResponses => streamed!(openai_responses),
        Provider::Anthropic => streamed!(anthropic),
        Provider::Gemini => streamed!(gemini),
        Provider::Ollama => streamed!(ollama),
    }
    Ok(())
}

/// What runs the calls.
fn harness(gate: Gate) -> Result<Harness, Box<dyn Error>> {
    let registry = tools::registry()?;
    let harness = match &gate.rules {
        Some(rules) => Harness::new(registry.clone(), Rules::from_toml(rules, &registry)?),
        None => Harness::new(registry, AllowAll),
    };
    Ok(match gate.approver {
        Some(approver) => harness.approver(approver),
        None => harness,
    })
}

/// The result messages of one message, as JSON.
async fn answer(
    harness: &Harness,
    export: &Export,
    provider: Provider,
    document: &[u8],
) -> Result<Vec<String>, Box<dyn Error>> {
    let text = std::str::from_utf8(document)?;
    // The same functions, whatever the format.
    macro_rules! answered {
        ($format:ident) => {{
            // From the provider's names to the host's, and back.
            let calls = $format::calls(text)?.into_iter().map(|call| export.restore(call));
            let results = harness.run(calls.collect::<Vec<_>>()).await;
            let results: Vec<_> = results.iter().map(|result| export.in_wire_words(result)).collect();
            $format::messages(&results).iter().map($format::Message::to_json).collect()
        }};
    }
    Ok(match provider {
        Provider::OpenAi => answered!(openai_chat),
        Provider::OpenAiResponses => answered!(openai_responses),
        Provider::Anthropic => answered!(anthropic),
        Provider::Gemini => answered!(gemini),
        Provider::Ollama => answered!(ollama),
    })
}

/// The documents of the input, with the lines on which they begin: the whole input if it is one, else its lines.
fn documents(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let lines: Vec<(usize, &[u8])> = bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    match lines.as_slice() {
        [(first, _), _, ..] if is_one_document(bytes) => vec![(*first, bytes.trim_ascii())],
        _ => lines,
    }
}

fn is_one_document(bytes: &[u8]) -> bool {
    // Skipped, not read: what is in it is the wire's to judge.
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn a_document_may_have_several_lines() {
        assert_eq!(documents(b"{\"a\":\n 1}\n"), [(1, &b"{\"a\":\n 1}"[..])]);
        assert_eq!(documents(b"{}\r\n\n[]"), [(1, &b"{}"[..]), (3, &b"[]"[..])]);
        assert_eq!(documents(b"{\n{}\n"), [(1, &b"{"[..]), (2, &b"{}"[..])]);
        assert!(documents(b" \n\n").is_empty());
    }
}
