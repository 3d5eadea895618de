//! One tool in a harness, called once or many times, and what a refusal looks like from outside.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tool_runtime::path::Settled;
use tool_runtime::{CallFacts, Code, Decision, Harness, HostTool, RawArguments, Registry, ToolCall};

/// A harness around one tool, whose policy writes down what it is shown and allows everything.
pub(crate) struct Bench {
    name: String,
    harness: Harness,
    judged: Arc<Mutex<Vec<String>>>,
}

/// A harness around `tool`.
pub(crate) fn bench(tool: HostTool) -> Bench {
    let name = tool.name().to_owned();
    let judged = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&judged);
    let policy = move |call: &CallFacts<'_>| {
        lock(&seen).push(call.arguments().as_str().to_owned());
        Decision::Allow
    };
    Bench { name, harness: Harness::new(registry([tool]), policy), judged }
}

/// A registry that has to be fine.
pub(crate) fn registry(tools: impl IntoIterator<Item = HostTool>) -> Registry {
    match Registry::builder().tools(tools).build() {
        Ok(registry) => registry,
        Err(error) => panic!("the registry was refused: {error}"),
    }
}

/// A lock that a failed assertion elsewhere doesn't take away.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bench {
    /// One call.
    pub(crate) async fn settle(&self, arguments: impl Into<RawArguments>) -> Settled {
        let call = ToolCall::new("call_1", self.name.as_str(), arguments);
        let mut settled = self.harness.run_settled([call], None).await;
        match (settled.pop(), settled.is_empty()) {
            (Some(only), true) => only,
            _ => panic!("one call has one result"),
        }
    }

    /// The text of a call that has to succeed.
    pub(crate) async fn ok(&self, arguments: impl Into<RawArguments>) -> String {
        let settled = self.settle(arguments).await;
        let text = settled.result().text();
        assert_eq!(settled.record().code(), Code::Ok, "{text}");
        assert!(!settled.result().is_error(), "{text}");
        text
    }

    /// ARG-ERR: nobody was asked, nothing ran, and the one result names the tool. Gives its list of problems.
    pub(crate) async fn refused(&self, arguments: impl Into<RawArguments>) -> Vec<String> {
        let judged = self.judged().len();
        let settled = self.settle(arguments).await;
        let text = settled.result().text();
        assert_eq!(settled.record().code(), Code::InvalidArguments, "{text}");
        assert!(settled.result().is_error(), "{text}");
        assert_eq!(settled.result().call_id().as_str(), "call_1");
        assert!(!settled.record().started(), "the handler ran: {text}");
        assert!(settled.record().verdict().is_none(), "a verdict was made: {text}");
        assert_eq!(self.judged().len(), judged, "the gate was asked about refused arguments: {text}");
        assert!(text.len() <= 2048, "{} bytes", text.len());
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let said = format!("The arguments of `{}` were refused, and it did not run.", self.name);
        assert!(head.starts_with(&said), "{text}");
        lines.filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
    }

    /// The arguments that the policy was shown, call by call.
    pub(crate) fn judged(&self) -> Vec<String> {
        lock(&self.judged).clone()
    }

    /// The harness, for batches.
    pub(crate) fn harness(&self) -> &Harness {
        &self.harness
    }
}

/// The parameters that a model is shown.
pub(crate) fn parameters(tool: &HostTool) -> Value {
    parsed(tool.schema().parameters())
}

/// The output schema that the host enforces.
pub(crate) fn output(tool: &HostTool) -> Value {
    parsed(tool.output_schema())
}

/// JSON that has to be JSON.
pub(crate) fn parsed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => panic!("no JSON ({error}): {text}"),
    }
}

/// Every object within a JSON value, with its JSON Pointer.
pub(crate) fn objects(value: &Value) -> Vec<(String, &serde_json::Map<String, Value>)> {
    fn walk<'v>(value: &'v Value, pointer: &str, found: &mut Vec<(String, &'v serde_json::Map<String, Value>)>) {
        match value {
            Value::Object(members) => {
                found.push((pointer.to_owned(), members));
                for (key, inner) in members {
                    walk(inner, &format!("{pointer}/{key}"), found);
                }
            }
            Value::Array(elements) => {
                for (index, inner) in elements.iter().enumerate() {
                    walk(inner, &format!("{pointer}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}

/// The names of the properties in the order in which they are shown, which `serde_json`'s maps need not keep.
pub(crate) fn shown_order(schema_text: &str, names: &[&str]) -> bool {
    let places: Vec<_> = names.iter().map(|name| schema_text.find(&format!("\"{name}\":"))).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}
