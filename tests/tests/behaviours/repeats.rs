//! The same call again and again: what a host can build from events and a layer.

use std::sync::{Arc, Mutex};

use tool_runtime::{AllowAll, Attempt, BoxFuture, Content, Event, EventKind, Harness, Layer, Ran, ToolCall, tool};

use super::support::{lock, logged};

/// The last call and how often it came in a row. Denied calls count, since a verdict tells of them.
#[derive(Clone, Default)]
struct Repeats(Arc<Mutex<(String, usize)>>);

impl Repeats {
    fn watch(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let last = Arc::clone(&self.0);
        move |event: &Event| {
            if let EventKind::Decided(verdict) = event.kind() {
                let mut last = lock(&last);
                let call = format!("{} {}", verdict.tool(), verdict.arguments());
                *last = if last.0 == call { (call, last.1 + 1) } else { (call, 1) };
            }
        }
    }
}

impl Layer for Repeats {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            match lock(&self.0).1 {
                3 => attempt.aside("This was the same call three times."),
                5 => attempt.aside(format!("Five times: {:.10}", attempt.arguments().as_str())),
                _ => {}
            }
            attempt.run().await
        })
    }
}

/// Looks something up.
#[tool]
async fn look(
    /// What.
    q: String,
    /// How many.
    #[arg(default = 1)]
    n: u8,
) -> String {
    format!("{q} {n}")
}

#[tokio::test]
async fn d85_a_host_can_tell_of_the_same_call_again_and_again() {
    let repeats = Repeats::default();
    let harness = Harness::new(logged([LookTool::host()]).0, AllowAll).observer(repeats.watch()).layer(repeats.clone());
    // Equal by what is judged: neither the order of keys nor a spelt-out default is a difference.
    let same =
        [r#"{"q":"a"}"#, r#"{"q":"a","n":1}"#, r#"{"n":1.0,"q":"a"}"#, r#"{"q":"\u0061"}"#, r#"{"n":null,"q":"a"}"#];
    let other = r#"{"q":"b"}"#;
    let mut asides = Vec::new();
    for arguments in same.into_iter().chain([other]).chain(same) {
        let results = harness.run([ToolCall::new("1", "look", arguments)]).await;
        asides.push(results[0].asides().iter().map(Content::to_text).collect::<String>());
    }
    let (third, fifth) = ("This was the same call three times.", r#"Five times: {"q":"a",""#);
    assert_eq!(asides, ["", "", third, "", fifth, "", "", "", third, "", fifth]);
}
