// What a host implements can be a closure, and what it keeps a share of can be an `Arc`.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::agreement::{SampleRequest, SampledPlan, Sampler};
use tool_runtime::path::{Review, Reviewed};
use tool_runtime::{
    Answer, BoxFuture, CallFacts, CheckedCall, Condition, Decision, Event, Guard, Harness, Observer,
    Policies, Policy, QuestionSet, Registry, State, StoredResult, ToolCall, tool,
};

/// Deletes a file.
#[tool(host(inline, destructive))]
fn delete(
    /// Which.
    #[arg(path)]
    path: String,
) -> String {
    path
}

/// Counts what it is told.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Policy for Counter {
    fn decide(&self, _: &CallFacts<'_>) -> Decision {
        self.count();
        Decision::NoOpinion
    }
}

impl Guard for Counter {
    fn forbids(&self, _: &CallFacts<'_>) -> Option<std::borrow::Cow<'static, str>> {
        self.count();
        None
    }
}

impl Observer for Counter {
    fn observe(&self, _: &Event) {
        self.count();
    }
}

impl Review for Counter {
    fn review(&self, _: &StoredResult) -> Reviewed {
        self.count();
        Reviewed::Accept
    }
}

fn asks(call: &CallFacts<'_>) -> Decision {
    if call.hints().destructive { Decision::ask("it can't be brought back") } else { Decision::Allow }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let registry = Registry::builder().tool(DeleteTool::host()).build().unwrap();
    let (judged, guarded, told, seen) = <(Arc<Counter>, Arc<Counter>, Arc<Counter>, Arc<Counter>)>::default();
    let (either, names): (Box<dyn Policy>, _) = (Box::new(asks), Arc::new(["delete".to_owned()]));
    let harness = Harness::new(registry, Policies::new().and(Arc::<dyn Policy>::from(either)).and(Arc::clone(&judged)))
        .guard(|call: &CallFacts<'_>| call.arguments().as_str().contains("/etc").then(|| "not there".into()))
        .guard(Arc::clone(&guarded))
        .approver(move |set: QuestionSet| {
            let names = Arc::clone(&names);
            async move {
                let answer = |tool: &String| if names.contains(tool) { Answer::Yes } else { Answer::No };
                set.questions.iter().map(|question| answer(&question.tool)).collect::<Vec<_>>()
            }
        })
        .review(|_: &StoredResult| Reviewed::Accept)
        .review(Arc::clone(&seen))
        .observer(|_: &Event| {})
        .observer(Arc::clone(&told));
    let call = |path: &str| ToolCall::new("c", "delete", format!(r#"{{"path": "{path}"}}"#));
    let results = harness.run([call("/tmp/a"), call("/etc/passwd")]).await;
    assert!(!results[0].is_error() && results[1].is_error(), "{results:?}");
    for counter in [judged, guarded, told, seen] {
        assert_ne!(counter.0.load(Ordering::Relaxed), 0);
    }
    is_all_of_them();
}

/// Each kind of closure, in each way to write one.
fn is_all_of_them() {
    fn is_approver(_: impl tool_runtime::Approver) {}
    is_approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(async move { vec![Answer::Yes; set.questions.len()] })
    });
    is_approver(|set: QuestionSet| Box::pin(async move { vec![Answer::Yes; set.questions.len()] }));
    is_approver(async |set: QuestionSet| vec![Answer::Yes; set.questions.len()]);

    fn is_condition(_: impl Condition) {}
    is_condition(|call: CheckedCall| async move {
        Ok(!call.arguments().read::<String>("/path").ok_or("no path")?.is_empty())
    });
    is_condition(Arc::new(|_: CheckedCall| async { Ok(true) }) as Arc<dyn Condition>);
    fn is_state(_: impl State) {}
    is_state(async |_: CheckedCall| Ok("1".to_owned()));
    is_state(Arc::new(|_: CheckedCall| Box::pin(async { Ok("1".to_owned()) })) as Arc<dyn State>);
    fn is_sampler(_: impl Sampler) {}
    is_sampler(async |request: SampleRequest| Ok(vec![SampledPlan::calls([]); request.count]));
    is_sampler(Arc::new(vec![SampledPlan::unparsable()]) as Arc<dyn Sampler>);
}
