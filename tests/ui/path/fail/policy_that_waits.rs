use tool_runtime::{AllowAll, CallFacts, Decision, Harness, Policy, Registry};

fn main() {
    let registry = || Registry::builder().build().unwrap();
    let _ = Harness::new(registry(), async |_: &CallFacts<'_>| Decision::Allow);
    let _ = Harness::new(registry(), |call: &CallFacts<'_>| call.hints().read_only);
    let _ = Harness::new(registry(), Box::new(AllowAll) as Box<dyn Policy>);
}
