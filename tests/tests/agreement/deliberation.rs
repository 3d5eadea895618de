//! From drawn plans to one ruling.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::agreement::{
    AgreementGate, ArgumentForm, Bounds, Deliberated, Deliberation, DeliberationError, Determinism, Epoch, Fork,
    ForkRequest, JudgementKind, PlanTool, Probing, Quarantine, Resolution, RulingReason, SampleRequest, SampledPlan,
    Sampler, SamplerError, Sandbox, SandboxError,
};
use tool_runtime::{AllowAll, BoxFuture, Harness, JsonPath, RawArguments, Registry, ToolCall, tool};

use super::support::{Copies, FindUserTool, GreetTool, PayTool, World, by, now, payments, plan, registry};

fn judged(deliberation: &Deliberation, sampler: impl Sampler) -> Deliberated {
    now(deliberation.deliberate(&registry(World::default()), &sampler)).unwrap()
}

#[track_caller]
fn is(found: &Deliberated, kind: JudgementKind, reason: RulingReason, rounds: usize) {
    let ruling = found.ruling();
    assert_eq!((ruling.kind(), ruling.reason(), found.rounds()), (kind, reason, rounds));
}

fn searches(n: usize) -> Vec<SampledPlan> {
    vec![plan("search_index", r#"{"query":"x"}"#); n]
}

/// Draws from a list, round by round, and notes what it was asked for.
#[derive(Clone)]
struct Script {
    rounds: Arc<Vec<Vec<SampledPlan>>>,
    asked: Arc<Mutex<Vec<SampleRequest>>>,
}

impl Script {
    fn of(rounds: impl IntoIterator<Item = Vec<SampledPlan>>) -> Self {
        Script { rounds: Arc::new(rounds.into_iter().collect()), asked: Arc::default() }
    }
}

impl Sampler for Script {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> {
        let plans = self.rounds.get(request.round).cloned().ok_or_else(|| SamplerError::new("no more"));
        self.asked.lock().unwrap().push(request);
        Box::pin(async { plans })
    }
}

#[test]
fn what_agrees_is_probed_on_the_way_and_accepted() {
    let sandbox = Copies::default();
    let deliberation = by(sandbox.clone());
    let found = judged(&deliberation, payments([7; 5]));
    is(&found, JudgementKind::Accept, RulingReason::Agreed, 1);
    assert_eq!(found.plan().unwrap().tool_calls().unwrap()[0].name(), "pay");
    assert_eq!(found.probed().iter().map(|tool| tool.to_string()).collect::<Vec<_>>(), ["pay: verified by 2 calls"]);
    assert_eq!(found.ruling().figures().result_agreement, Some(1.0));
    assert!(found.ruling().apart().is_empty());
    // Five plans and two calls of a probe, each on a copy.
    assert_eq!((sandbox.forks.load(Ordering::SeqCst), sandbox.begun()), (7, 1));

    // What was verified holds as long as the epoch does.
    let again = judged(&deliberation, payments([8; 5]));
    is(&again, JudgementKind::Accept, RulingReason::Agreed, 1);
    assert!(again.probed().is_empty());
    sandbox.epochs.lock().unwrap()[0].end();
    let anew = judged(&deliberation, payments([9; 5]));
    assert_eq!((anew.probed().len(), sandbox.begun()), (1, 2));
}

#[test]
fn a_start_probes_so_that_plans_need_not() {
    let sandbox = Copies::varied();
    let probing = Probing::new(sandbox)
        .arguments("pay", [r#"{"to":"Ann","amount":1}"#])
        .arguments("search_index", [r#"{"query":"x"}"#]);
    let deliberation = Deliberation::new(AgreementGate::new(Bounds::seed())).probing(probing);
    let report = now(deliberation.start(&registry(World::default()))).unwrap();
    assert_eq!(report.verified().map(|(name, _)| name).collect::<Vec<_>>(), ["pay"]);
    assert!(judged(&deliberation, payments([7; 5])).probed().is_empty());
    // What was found to be wrong is in quarantine: its plans are deferred, however well they agree.
    is(&judged(&deliberation, searches(5)), JudgementKind::Defer, RulingReason::NotVerified, 1);

    let without = Deliberation::new(AgreementGate::new(Bounds::seed()));
    let error = now(without.start(&registry(World::default()))).unwrap_err();
    assert!(matches!(error, DeliberationError::Sandbox(_)));
}

#[test]
fn a_deliberation_probes_on_as_many_copies_as_the_host_says() {
    let sandbox = Copies::default();
    let probing = Probing::new(sandbox).arguments("pay", [r#"{"to":"Ann","amount":1}"#]).copies(4);
    let deliberation = Deliberation::new(AgreementGate::new(Bounds::seed())).probing(probing);
    let report = now(deliberation.start(&registry(World::default()))).unwrap();
    assert_eq!(report.tools().iter().find(|tool| tool.name() == "pay").unwrap().calls(), 4);
    let find = plan("find_user", r#"{"name":"Ann"}"#);
    let found = judged(&deliberation, vec![find; 5]);
    // Twice on the last one, since it only reads.
    assert_eq!(found.probed().iter().map(|tool| tool.calls()).collect::<Vec<_>>(), [5]);
}

#[test]
fn split_arguments_are_drawn_further_within_the_epoch_and_judged_together() {
    let sandbox = Copies::default();
    let script = Script::of([payments([1, 1, 1, 2, 3]), payments([1, 1, 1, 1, 1])]);
    let found = judged(&by(sandbox.clone()), script.clone());
    is(&found, JudgementKind::Accept, RulingReason::Agreed, 2);
    assert_eq!((found.ruling().figures().samples, sandbox.begun()), (10, 1));
    let asked = script.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|asked| (asked.round, asked.count)).collect::<Vec<_>>(), [(0, 5), (1, 5)]);
    assert_eq!(asked[0].epoch, asked[1].epoch);
}

#[test]
fn results_that_differ_quarantine_the_tool_and_are_drawn_in_a_fresh_epoch() {
    let sandbox = Copies::default();
    let quarantine = Quarantine::new();
    let deliberation = by(sandbox.clone()).quarantine(quarantine.clone());
    // Verified while nothing raced.
    is(&judged(&deliberation, searches(5)), JudgementKind::Accept, RulingReason::Agreed, 1);
    sandbox.races.store(true, Ordering::SeqCst);
    let script = Script::of([searches(6), searches(6)]);
    let found = judged(&deliberation, script.clone());
    // Half of them differ, which is not below one half: suspect enough for another epoch, not for quarantine.
    assert_eq!(found.ruling().kind(), JudgementKind::Defer);
    assert_eq!((found.rounds(), sandbox.begun()), (2, 2));
    let asked = script.asked.lock().unwrap();
    assert_ne!(asked[0].epoch, asked[1].epoch);
    // Its probe in the new epoch raced as well, and that is proof enough.
    assert!(quarantine.holds("search_index"), "{quarantine:?}");
    assert!(found.probed().iter().any(|tool| tool.is_wrong()));
    // Once nothing races any more a new probe lets it out.
    sandbox.races.store(false, Ordering::SeqCst);
    is(&judged(&deliberation, searches(5)), JudgementKind::Accept, RulingReason::Agreed, 1);
    assert!(quarantine.tools().is_empty());
}

#[test]
fn results_below_one_half_quarantine_and_never_reject() {
    // Three answers to one question: no two of five results agree enough.
    let sandbox = Copies::default();
    let quarantine = Quarantine::new();
    let deliberation = by(sandbox).quarantine(quarantine.clone()).rounds(NonZeroUsize::MIN);
    let found = judged(&deliberation, vec![plan("count", "{}"); 5]);
    // On copies that begin alike it even agrees; only its probe tells.
    is(&found, JudgementKind::Defer, RulingReason::NotVerified, 1);
    assert!(quarantine.tools()[0].to_string().contains("identical calls gave different results"));
}

#[test]
fn a_list_of_plans_has_one_round_and_its_ruling_stands() {
    let found = judged(&by(Copies::default()), payments([1, 1, 1, 2, 3]));
    is(&found, JudgementKind::Defer, RulingReason::ArgumentsSplit, 1);
    let apart: Vec<String> = found.ruling().apart().iter().map(ToString::to_string).collect();
    assert_eq!(apart, ["`amount` is 1 (3 of 5), 2 (1 of 5), 3 (1 of 5)"]);
}

#[test]
fn rounds_are_bounded() {
    let drawn = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&drawn);
    let never_agrees = move |request: SampleRequest| -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> {
        counts.fetch_add(request.count, Ordering::SeqCst);
        Box::pin(async { Ok(payments([1, 1, 1, 2, 3])) })
    };
    let rounds = NonZeroUsize::new(4).unwrap();
    let found = judged(&by(Copies::default()).rounds(rounds), never_agrees);
    assert_eq!((found.ruling().kind(), found.rounds()), (JudgementKind::Defer, 4));
    assert_eq!(drawn.load(Ordering::SeqCst), 20);
}

#[test]
fn no_two_of_many_drafts_alike_are_rejected_with_proof() {
    let found = judged(&by(Copies::default()).samples(6), payments([1, 2, 3, 4, 5, 6]));
    is(&found, JudgementKind::Reject, RulingReason::ArgumentsDisagree, 1);
    assert_eq!(found.record().kind(), JudgementKind::Reject);
    // Without a sandbox nothing is verified, so nothing is rejected, and nothing accepted.
    let alone = Deliberation::new(AgreementGate::new(Bounds::seed())).samples(6);
    is(&judged(&alone, payments([1, 2, 3, 4, 5, 6])), JudgementKind::Defer, RulingReason::NotVerified, 1);
    is(&judged(&alone, payments([1; 6])), JudgementKind::Defer, RulingReason::NoResults, 1);
}

#[test]
fn writes_can_ask_for_unanimity_and_reads_not() {
    let gate = AgreementGate::new(Bounds::seed()).unanimous_writes();
    let deliberation = Deliberation::new(gate).sandbox(Copies::default());
    is(&judged(&deliberation, payments([1, 1, 1, 1, 2])), JudgementKind::Defer, RulingReason::WriteNotUnanimous, 1);
    is(&judged(&deliberation, payments([1; 5])), JudgementKind::Accept, RulingReason::Agreed, 1);
    let find = |name: &str| plan("find_user", &format!(r#"{{"name":"{name}"}}"#));
    // The fifth result is another, of other arguments.
    let four = [vec![find("Ann"); 4], vec![find("Bo")]].concat();
    is(&judged(&deliberation, four), JudgementKind::Accept, RulingReason::Agreed, 1);
}

#[test]
fn what_nobody_can_read_agrees_with_nothing_and_no_call_is_a_plan() {
    let unparsable = || SampledPlan::unparsable();
    let found = judged(&by(Copies::default()), vec![unparsable(); 5]);
    is(&found, JudgementKind::Defer, RulingReason::NoPlan, 1);
    assert!(found.plan().is_none());
    let found = judged(&by(Copies::default()), [vec![SampledPlan::calls([]); 4], vec![unparsable()]].concat());
    is(&found, JudgementKind::Accept, RulingReason::Agreed, 1);
    assert!(found.plan().unwrap().tool_calls().unwrap().is_empty());
}

#[test]
fn calls_without_text_and_with_empty_objects_are_one_plan() {
    let deliberation = by(Copies::default());
    let empty = SampledPlan::calls([ToolCall::new("a", "count", "")]);
    let object = SampledPlan::calls([ToolCall::new("b", "count", "{}")]);
    let found = judged(&deliberation, vec![empty.clone(), object.clone(), empty, object.clone(), object]);
    assert_eq!(found.ruling().figures().argument_agreement, 1.0);
}

#[test]
fn what_the_host_says_of_a_tool_counts() {
    let host = FindUserTool::host();
    let lower = |value: &str| Resolution::Resolved(value.to_lowercase());
    let name = JsonPath::from_pointer("/name").unwrap();
    let find = |name: &str| plan("find_user", &format!(r#"{{"name":"{name}"}}"#));
    let drafts = || vec![find("Ann"), find("ann"), find("ANN"), find("Ann"), find("aNN")];
    is(&judged(&by(Copies::default()), drafts()), JudgementKind::Defer, RulingReason::ArgumentsSplit, 1);
    let told =
        by(Copies::default()).tool("find_user", PlanTool::of(&host).argument(name, ArgumentForm::resolved(lower)));
    is(&judged(&told, drafts()), JudgementKind::Accept, RulingReason::Agreed, 1);
    let clock = PlanTool::of(&host).determinism(Determinism::ByContractNot);
    let told = by(Copies::default()).tool("find_user", clock);
    is(&judged(&told, drafts()), JudgementKind::Defer, RulingReason::OutOfScope, 1);
}

#[test]
fn what_the_host_says_of_a_tool_decides_what_is_probed() {
    let greetings = || vec![plan("greet", r#"{"name":"Ann"}"#); 5];
    is(&judged(&by(Copies::default()), greetings()), JudgementKind::Defer, RulingReason::NotVerified, 1);
    let declared = PlanTool::of(&GreetTool::host()).determinism(Determinism::Declared);
    let told = by(Copies::default()).tool("greet", declared);
    let found = judged(&told, greetings());
    is(&found, JudgementKind::Accept, RulingReason::Agreed, 1);
    assert_eq!(found.probed().iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["greet"]);

    let undeclared = PlanTool::of(&PayTool::host()).determinism(Determinism::Undeclared);
    let told = told.tool("pay", undeclared);
    assert!(judged(&told, payments([7; 5])).probed().is_empty());
    let report = now(told.start(&registry(World::default()))).unwrap();
    let names: Vec<&str> = report.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["count", "find_user", "greet", "search_index", "sign_in"]);
}

/// Notes what it is called with.
#[tool(host(deterministic, read_only))]
fn note(
    /// What.
    word: String,
    /// How often.
    #[arg(default = 1)]
    times: u8,
    #[host] notes: &Notes,
) -> usize {
    notes.0.lock().unwrap().push(format!("{word}{times}"));
    word.len()
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn registry(&self) -> Registry {
        Registry::builder().tool(NoteTool::host()).state(self.clone()).build().unwrap()
    }
}

impl Sandbox for Notes {
    fn begin(&self) -> BoxFuture<'static, Result<Epoch, SandboxError>> {
        Box::pin(async { Ok(Epoch::begin()) })
    }

    fn fork(&self, _: ForkRequest) -> BoxFuture<'static, Result<Fork, SandboxError>> {
        let fork = Fork::from(Harness::new(self.registry(), AllowAll));
        Box::pin(async { Ok(fork) })
    }
}

/// With what most plans have, in whatever spelling, and first with what was drawn first; not with what comes first in
/// the alphabet.
#[test]
fn a_tool_is_probed_with_the_arguments_that_most_plans_have() {
    // Sixteen plans agree, and four don't.
    let probed = |others: [&[&str]; 4]| {
        let notes = Notes::default();
        let plan = |texts: &[&str]| SampledPlan::calls(texts.iter().map(|text| ToolCall::new("call_1", "note", *text)));
        let agreed = [r#"{"word":"y"}"#, r#"{"word":"y","times":1}"#, r#"{ "times": 1.0, "word": "y" }"#];
        let mut plans: Vec<SampledPlan> = others.iter().copied().map(plan).collect();
        plans.extend(agreed.iter().cycle().take(16).map(|text| plan(&[text])));
        let deliberation = by(notes.clone()).rounds(NonZeroUsize::MIN);
        let found = now(deliberation.deliberate(&notes.registry(), &plans)).unwrap();
        is(&found, JudgementKind::Accept, RulingReason::Agreed, 1);
        let mut after = notes.0.lock().unwrap().split_off(16 + others.iter().map(|texts| texts.len()).sum::<usize>());
        after.dedup();
        after
    };
    let [a, b, z] = [r#"{"word":"a"}"#, r#"{"word":"b"}"#, r#"{"word":"z"}"#];
    assert_eq!(probed([&[b], &[a], &[z], &[z]]), ["y1", "z1", "b1"]);
    assert_eq!(probed([&[z], &[a], &[b], &[b]]), ["y1", "b1", "z1"]);
    // However often one plan has them.
    assert_eq!(probed([&[a, a, a], &[b], &[z], &[b]]), ["y1", "b1", "a1"]);
}

#[test]
fn a_sampler_or_a_sandbox_that_fails_or_panics_ends_in_an_error_or_defers() {
    let world = || registry(World::default());
    let panics = |_: SampleRequest| -> BoxFuture<'static, Result<Vec<SampledPlan>, SamplerError>> { panic!("no") };
    let error = now(by(Copies::default()).deliberate(&world(), &panics)).unwrap_err();
    assert!(matches!(error, DeliberationError::Sampler(_)));
    let sandbox = Copies::default();
    sandbox.fails.store(true, Ordering::SeqCst);
    is(&judged(&by(sandbox), payments([1; 5])), JudgementKind::Defer, RulingReason::NoResults, 1);
}

#[test]
fn arguments_that_are_no_text_agree_with_nothing() {
    let bytes = || SampledPlan::calls([ToolCall::new("a", "count", RawArguments::from_bytes([0xff, 0xfe]))]);
    let found = judged(&by(Copies::default()), vec![bytes(), bytes(), bytes(), bytes(), bytes()]);
    is(&found, JudgementKind::Defer, RulingReason::NoPlan, 1);
    assert_eq!(found.ruling().figures().unparsable, 5);
}
