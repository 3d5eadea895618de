//! Results never reject a plan: only arguments that disagree do, and only where every tool is verified.

use proptest::collection::vec;
use proptest::prelude::*;
use tests::config;
use tool_runtime::agreement::{
    AgreementGate, Bounds, Determinism, Epoch, Estimator, Judgement, JudgementKind, Observed, OutOfScope, PlanTool,
    PlanTools, Probe, ProbeFinding, Ruling, Sample, SampleSet, rule_line,
};
use tool_runtime::{HostTool, tool};

/// Find something.
#[tool(host(deterministic))]
fn find(
    /// What.
    what: u8,
) -> u8 {
    what
}

/// Count something.
#[tool(host(deterministic))]
fn count(
    /// What.
    what: u8,
) -> u8 {
    what
}

/// What is known of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Verified,
    /// In another epoch.
    Before,
    Declared,
    VerifiedOnly,
    ByContractNot,
    Nothing,
}

const KNOWN: [Known; 6] =
    [Known::Verified, Known::Before, Known::Declared, Known::VerifiedOnly, Known::ByContractNot, Known::Nothing];

fn plan_tool(tool: &HostTool, known: Known, epoch: &Epoch) -> PlanTool {
    let verified = |epoch: &Epoch| {
        let found = || ProbeFinding { result: Observed::Value("1".into()), afterwards: r#"{"what":1}"#.into() };
        let probe = Probe::new(tool, epoch, r#"{"what":1}"#).unwrap_or_else(|| panic!("no probe"));
        probe.compare([found(), found()]).unwrap_or_else(|fault| panic!("{fault}"))
    };
    let declared = PlanTool::of(tool);
    match known {
        Known::Verified => declared.verified(verified(epoch)),
        Known::Before => declared.verified(verified(&Epoch::begin())),
        Known::Declared => declared,
        Known::VerifiedOnly => declared.determinism(Determinism::Undeclared).verified(verified(epoch)),
        Known::ByContractNot => declared.determinism(Determinism::ByContractNot).verified(verified(epoch)),
        Known::Nothing => PlanTool::unknown(),
    }
}

/// Which of the two tools, with what, and what came of it.
type Given = Vec<(bool, u8, u8)>;

fn observed(result: u8) -> Observed {
    match result {
        0 => Observed::Failed,
        1 => Observed::NotRun,
        2 => Observed::Value("[]".into()),
        3 => Observed::Value("{".into()),
        other => Observed::Value(other.to_string()),
    }
}

fn ruled<E: Estimator>(gate: AgreementGate<E>, known: [Known; 2], given: &Given, over: bool) -> Ruling {
    let epoch = Epoch::begin();
    let mut set = SampleSet::new(epoch.clone());
    for (second, what, result) in given {
        let name = if *second { "count" } else { "find" };
        let sample = Sample::of([(name, format!(r#"{{"what":{what}}}"#))]).observed(observed(*result));
        set.push(sample.within(&epoch)).unwrap_or_else(|error| panic!("{error}"));
    }
    let tools = PlanTools::new()
        .tool("find", plan_tool(&FindTool::host(), known[0], &epoch))
        .tool("count", plan_tool(&CountTool::host(), known[1], &epoch));
    if over {
        epoch.end();
    }
    gate.rule(&set, &tools)
}

fn given() -> impl Strategy<Value = Given> {
    vec((any::<bool>(), 0_u8..12, 0_u8..8), 0..20)
}

/// Mostly what a reject takes, since that is what has to be looked at.
fn known() -> impl Strategy<Value = [Known; 2]> {
    let one = || prop_oneof![5 => Just(Known::Verified), 1 => prop::sample::select(KNOWN.to_vec())];
    [one(), one()]
}

fn is_reject<E: Estimator>(bounds: Bounds<E>, known: [Known; 2], given: &Given, over: bool) -> bool {
    [
        AgreementGate::new(bounds),
        AgreementGate::new(bounds).without_results(),
        AgreementGate::new(bounds).unanimous_writes(),
    ]
    .map(|gate| gate.on_out_of_scope(OutOfScope::ArgumentsOnly))
    .map(|gate| ruled(gate, known, given, over).kind() == JudgementKind::Reject)
    .into_iter()
    .reduce(|one, other| {
        assert_eq!(one, other, "no option makes a reject, or takes one away");
        one
    })
    .unwrap_or_default()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn inv12_other_results_never_make_or_prevent_a_reject(
        given in given(),
        results in vec(0_u8..8, 20),
        known in known(),
        over in prop::bool::weighted(0.1),
    ) {
        let other: Given = given.iter().zip(results).map(|((tool, what, _), result)| (*tool, *what, result)).collect();
        prop_assert_eq!(
            is_reject(Bounds::seed(), known, &given, over),
            is_reject(Bounds::seed(), known, &other, over),
        );
        prop_assert_eq!(
            is_reject(Bounds::squared(), known, &given, over),
            is_reject(Bounds::squared(), known, &other, over),
        );
    }

    #[test]
    fn inv12_a_reject_is_of_arguments_on_verified_tools_in_an_epoch_that_holds(
        given in given(),
        known in known(),
        over in prop::bool::weighted(0.1),
    ) {
        let ruling = ruled(AgreementGate::new(Bounds::seed()), known, &given, over);
        if let Judgement::Reject(rejection) = ruling.judgement() {
            prop_assert!(!over && given.len() >= 5 && ruling.figures().argument_agreement < 0.2);
            let called = [false, true].map(|second| given.iter().any(|(tool, ..)| *tool == second));
            for (called, known) in called.into_iter().zip(known) {
                prop_assert!(!called || known == Known::Verified);
            }
            prop_assert_eq!(rejection.verified().len(), called.into_iter().filter(|called| *called).count());
        }
    }

    /// What quarantines is results, and it takes a declaration, never a plan.
    #[test]
    fn inv12_what_results_do_is_defer_and_quarantine(results in vec(0_u8..8, 5..20), known in known()) {
        let given: Given = results.into_iter().map(|result| (false, 1, result)).collect();
        let ruling = ruled(AgreementGate::new(Bounds::seed()), known, &given, false);
        prop_assert_ne!(ruling.kind(), JudgementKind::Reject);
        if !ruling.quarantines().is_empty() {
            prop_assert_eq!(ruling.kind(), JudgementKind::Defer);
            prop_assert_eq!(ruling.quarantines(), ["find"]);
        }
    }

    /// Neither do they in lines, in both modes.
    #[test]
    fn inv12_lines_never_reject_on_results(
        given in given(),
        results in vec(0_u8..8, 20),
        verified in any::<bool>(),
        strict in any::<bool>(),
    ) {
        let line = |results: &[u8]| {
            let samples: Vec<String> =
                given.iter().zip(results).map(|((_, what, _), result)| format!("[{what},{result}]")).collect();
            let tool = format!(r#"{{"deterministic":true,"verified":{verified}}}"#);
            format!(r#"{{"tool":{tool},"samples":[{}],"options":{{"strict":{strict}}}}}"#, samples.join(","))
        };
        let own: Vec<u8> = given.iter().map(|(.., result)| *result).collect();
        let rejects = |results: &[u8]| rule_line(&line(results)).starts_with(r#"{"ruling":"reject""#);
        prop_assert_eq!(rejects(&own), rejects(&results));
        prop_assert!(verified || !rejects(&own));
    }
}

/// The properties above would hold of a gate that never rejects: this one does.
#[test]
fn inv12_arguments_alone_reject() {
    let given: Given = (0..6).map(|what| (what % 2 == 0, what, 5)).collect();
    for first in KNOWN {
        for second in KNOWN {
            let known = [first, second];
            let both = known == [Known::Verified; 2];
            assert_eq!(is_reject(Bounds::seed(), known, &given, false), both, "{known:?}");
            assert!(!is_reject(Bounds::seed(), known, &given, true), "{known:?}");
        }
    }
}
