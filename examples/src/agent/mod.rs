//! A conversation with a model: it proposes calls, the harness runs what may run, and the model reads the results.

mod model;
mod scripted;
mod tools;

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

pub use model::Model;
use tool_runtime::wire::export::{Export, Provider};
use tool_runtime::wire::openai_chat;
use tool_runtime::{Approver, CallFacts, Checklist, Decision, Event, EventKind, Harness, Progress, Repeats};

/// What is said where nobody says anything else.
pub const PROMPT: &str = "Count the words of notes.txt, and then empty it.";

/// After so many turns the model has had its chance.
const TURNS: usize = 12;

/// How a conversation went.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How often the model spoke.
    pub turns: usize,
    /// How many calls it proposed, each of which had one result.
    pub calls: usize,
    /// What it said in the end.
    pub answer: String,
}

/// Writes to one place from several: the conversation, and bodies that say how far they are.
#[derive(Clone)]
struct Screen(Arc<Mutex<dyn Write + Send>>);

impl Screen {
    fn write(&self, text: &str) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A screen that is gone is no reason to stop what the model was asked to do.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Says `prompt` and goes on until the model has nothing more to call.
///
/// # Errors
/// If the model can't be reached, or answers in another format.
pub fn run(
    model: &Model,
    prompt: &str,
    approver: impl Approver + 'static,
    out: impl Write + Send + 'static,
) -> Result<Summary, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let played = runtime.block_on(play(model, prompt, approver, Screen(Arc::new(Mutex::new(out)))));
    // A person who is still asked may take his time; the program needn't.
    runtime.shutdown_background();
    played
}

async fn play(
    model: &Model,
    prompt: &str,
    approver: impl Approver + 'static,
    screen: Screen,
) -> Result<Summary, Box<dyn Error>> {
    let registry = tools::registry()?;
    // Made once: the same bytes go out with every request.
    let export = Export::new(Provider::OpenAiChat, registry.schemas());
    let declarations = export.to_json();
    let bars = screen.clone();
    let repeats = Repeats::after([3, 5])?;
    // Principles for the model are data; nothing else is asked for here.
    let list = Checklist::builder().json("principles", Checklist::PRINCIPLES);
    let list = list.json("agent", r#"{"scope":{"calls":"none"}}"#).build(&registry)?;
    let harness = Harness::new(registry, policy).checklist(list).approver(approver).repeats(repeats).observer(
        move |event: &Event| {
            if let EventKind::Progress(progress) = event.kind() {
                bars.write(&bar(event.tool(), progress));
            }
        },
    );

    let mut messages = vec![serde_json::json!({"role": "user", "content": prompt}).to_string()];
    let mut summary = Summary::default();
    screen.write(&format!("you: {prompt}\n"));
    while summary.turns < TURNS {
        summary.turns += 1;
        screen.write("model: ");
        let said = screen.clone();
        // After the last message, with every request, and never part of what was said.
        let reminder = harness
            .reminder()
            .map(|reminder| serde_json::json!({"role": "system", "content": reminder.to_text()}).to_string());
        let request: Vec<String> = messages.iter().cloned().chain(reminder).collect();
        let stream = model.speak(&request, &declarations, move |text| said.write(text)).await?;
        messages.push(stream.history());
        summary.answer = stream.text().to_owned();
        let calls = stream.finish();
        screen.write("\n");
        if calls.is_empty() {
            return Ok(summary);
        }
        summary.calls += calls.len();
        for call in &calls {
            screen.write(&format!("  calls {} {}\n", call.name(), call.arguments().to_string_lossy()));
        }
        // From the provider's names to the host's, and back.
        let calls: Vec<_> = calls.into_iter().map(|call| export.restore(call)).collect();
        let results = harness.run(calls).await;
        let results: Vec<_> = results.iter().map(|result| export.in_wire_words(result)).collect();
        for result in &results {
            let mark = if result.is_error() { "✗" } else { "✓" };
            screen.write(&format!("  {mark} {}: {}\n", result.name(), result.text()));
        }
        messages.extend(openai_chat::messages(&results).iter().map(openai_chat::Message::to_json));
    }
    Err(format!("the model was still calling tools after {TURNS} turns").into())
}

/// What changes nothing may run; a person is asked about the rest.
fn policy(call: &CallFacts<'_>) -> Decision {
    if call.hints().read_only { Decision::Allow } else { Decision::ask("it changes a file") }
}

/// A bar, or a line if nobody knows how far it is.
fn bar(tool: &str, progress: &Progress) -> String {
    const WIDTH: usize = 20;
    match progress.done {
        Some(done) => {
            let full = (done * WIDTH as f64).round() as usize;
            let bar: String = (0..WIDTH).map(|place| if place < full { '█' } else { '░' }).collect();
            format!("    {tool} {bar} {:3.0} % {}\n", done * 100.0, progress.message)
        }
        None => format!("    {tool}: {}\n", progress.message),
    }
}
