//! Spans of running bodies. A test program of its own: who listens is one for the whole process.

#![allow(missing_docs, reason = "the types here say what they are by their fields")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tool_runtime::{AllowAll, Harness, Registry, ToolCall, tool};
use tracing::field::{Field, Visit};
use tracing::span::{self, Attributes, Id};
use tracing::{Metadata, Subscriber};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Logs in.
#[tool]
async fn login(
    /// The key.
    #[arg(secret)]
    key: String,
) -> Result<String, String> {
    if key.is_empty() { Err("no key".to_owned()) } else { Ok("in".to_owned()) }
}

/// Writes spans and their fields down.
struct Spans(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!(" {}={value:?}", field.name()));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = lock(&self.0);
        text.push_str(&format!("\n{}", span.metadata().name()));
        span.record(&mut Fields(&mut text));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &span::Record<'_>) {
        values.record(&mut Fields(&mut lock(&self.0)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_running_body_has_a_span_with_the_names_of_the_conventions() {
    let spans = Arc::<Mutex<String>>::default();
    tracing::subscriber::set_global_default(Spans(Arc::clone(&spans))).expect("nobody else listens");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let registry = Registry::builder().tool(LoginTool::host()).build().expect("the tool is sound");
    let calls = [ToolCall::new("1", "login", r#"{"key":"t0k"}"#), ToolCall::new("2", "login", r#"{"key":""}"#)];
    runtime.block_on(Harness::new(registry, AllowAll).run(calls));
    let name = "gen_ai.operation.name=\"execute_tool\" gen_ai.tool.name=\"login\" gen_ai.tool.call.id";
    let expected = format!("\nexecute_tool {name}=\"1\"\nexecute_tool {name}=\"2\" error.type=\"tool_error\"");
    assert_eq!(*lock(&spans), expected);
}
