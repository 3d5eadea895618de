//! Probes: identical calls on frozen copies.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tool_runtime::agreement::{
    Epoch, Fork, ForkRequest, Observed, PlannedCall, ProbeFault, Probing, Sandbox, SandboxError, SandboxRun,
};
use tool_runtime::{BoxFuture, HostTool, Registry};

use super::support::{Copies, CountTool, FindUserTool, PayTool, SearchIndexTool, World, now, registry};

fn probing(sandbox: Copies) -> Probing {
    Probing::new(sandbox)
        .arguments("find_user", [r#"{"name":"Ann"}"#, r#"{"name":"Bob"}"#])
        .arguments("search_index", [r#"{"query":"x"}"#])
        .arguments("pay", [r#"{"to":"Ann","amount":1}"#])
}

#[test]
fn a_start_probes_what_is_declared_and_says_what_it_cost_and_covered() {
    let sandbox = Copies::varied();
    let world = World::default();
    let report = now(probing(sandbox.clone()).probe(&registry(world.clone()), &Epoch::begin()));

    let verified: Vec<&str> = report.verified().map(|(name, _)| name).collect();
    assert_eq!(verified, ["find_user", "pay"]);
    let wrong: Vec<(&str, Option<&str>)> = report.wrong().map(|tool| (tool.name(), tool.under())).collect();
    // One is found since it differs on the copy that it was called on before, the other under a variation.
    assert_eq!(wrong, [("count", None), ("search_index", Some("order"))]);
    // Nobody has said how to call `sign_in`, which takes something.
    assert_eq!(report.coverage(), 0.8);
    // Of two arguments each: one on a copy, two on another, one with the order varied. `pay` is not called twice on a copy.
    let calls = |name: &str| report.tools().iter().find(|tool| tool.name() == name).unwrap().calls();
    assert_eq!((calls("find_user"), calls("pay")), (2 * 4, 3));
    assert_eq!(report.calls(), report.tools().iter().map(|tool| tool.calls()).sum::<usize>());
    assert_eq!(world.paid.load(Ordering::SeqCst), 0, "a probe has no effect");
    assert_eq!(sandbox.paid.load(Ordering::SeqCst), 3);

    let text = report.to_string();
    for line in [
        "find_user: verified by 8 calls",
        "count: identical calls gave different results",
        "search_index: identical calls gave different results, under `order`",
        "sign_in: there are no arguments to call it with",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    assert!(text.contains("5 declared deterministic, 2 verified, 2 wrong, 80 % judged; "), "{text}");
}

#[test]
fn what_a_sandbox_does_not_vary_a_probe_does_not_see() {
    let report = now(probing(Copies::default()).probe(&registry(World::default()), &Epoch::begin()));
    assert!(report.verified().any(|(name, _)| name == "search_index"));
}

#[test]
fn an_epoch_that_is_over_verifies_nothing() {
    let epoch = Epoch::begin();
    epoch.end();
    let tool = FindUserTool::host();
    let probed = now(probing(Copies::default()).probe_tool(&tool, &epoch, &[]));
    assert_eq!(probed.outcome(), Err(ProbeFault::EpochMoved));
}

#[test]
fn a_sandbox_that_fails_is_no_fault_of_the_tool() {
    let sandbox = Copies::default();
    sandbox.fails.store(true, Ordering::SeqCst);
    let probed = now(probing(sandbox).probe_tool(&PayTool::host(), &Epoch::begin(), &[]));
    assert_eq!(probed.outcome(), Err(ProbeFault::SandboxFailed));
    assert!(!probed.is_wrong());
    assert!(probed.detail().unwrap().contains("no room"));
}

/// A dry run somewhere else, which says what it likes.
struct Elsewhere(Says);

type Says = fn(&HostTool, usize) -> SandboxRun;

impl Sandbox for Elsewhere {
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
        Box::pin(async { Ok(Epoch::begin()) })
    }

    fn fork(&self, _: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
        let run = self.0;
        let fork = Fork::new(move |calls: Vec<PlannedCall>| {
            let tool = CountTool::host();
            Box::pin(async move { (0..calls.len()).map(|number| run(&tool, number)).collect() })
        });
        Box::pin(async { Ok(fork) })
    }
}

#[test]
fn only_a_tool_of_the_same_definition_that_leaves_its_arguments_alone_is_verified() {
    let cases: [(Says, Result<(), ProbeFault>); 6] = [
        (|tool, _| SandboxRun::of(Observed::Value("1".to_owned())).by(*tool.digest()), Ok(())),
        (|_, _| SandboxRun::of(Observed::Value("1".to_owned())), Err(ProbeFault::OtherDefinition)),
        (
            |_, _| SandboxRun::of(Observed::Value("1".to_owned())).by(*FindUserTool::host().digest()),
            Err(ProbeFault::OtherDefinition),
        ),
        (
            |tool, _| SandboxRun::of(Observed::Value("1".to_owned())).by(*tool.digest()).left(r#"{"a":1}"#),
            Err(ProbeFault::ArgumentsChanged),
        ),
        // Equal failures are no agreement.
        (|tool, _| SandboxRun::of(Observed::Failed).by(*tool.digest()), Err(ProbeFault::NoResult)),
        (|_, _| panic!("a sandbox may, too"), Err(ProbeFault::OtherDefinition)),
    ];
    for (index, (run, expected)) in cases.into_iter().enumerate() {
        let probed = now(Probing::new(Elsewhere(run)).probe_tool(&CountTool::host(), &Epoch::begin(), &[]));
        assert_eq!(probed.outcome().map(drop), expected, "{index}");
    }
}

#[test]
fn probes_of_many_tools_run_together_and_are_told_in_the_order_of_the_registry() {
    let registry: Registry = registry(World::default());
    let report = now(probing(Copies::default()).probe(&registry, &Epoch::begin()));
    let names: Vec<&str> = report.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["count", "find_user", "pay", "search_index", "sign_in"]);
    let shared: Arc<dyn Sandbox> = Arc::new(Copies::varied());
    assert_eq!(shared.variations().len(), 1);
    assert!(now(Probing::new(shared).probe_tool(&SearchIndexTool::host(), &Epoch::begin(), &[])).outcome().is_err());
}
