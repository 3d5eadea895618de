//! Each bound on it, just below and just above, for plans with tools that a probe has verified.

use tool_runtime::agreement::{
    AgreementGate, AgreementWarning, Bounds, BoundsError, Epoch, Estimator, JudgementKind, Observed, PairShare,
    PlanTool, PlanTools, Probe, ProbeFinding, Ruling, RulingReason, Sample, SampleSet,
};
use tool_runtime::{HostTool, tool};

/// Find something.
#[tool(host(deterministic, read_only))]
fn find(
    /// What.
    what: u32,
) -> u32 {
    what
}

/// Keep something.
#[tool(host(deterministic))]
fn keep(
    /// What.
    what: u32,
) -> u32 {
    what
}

fn known(epoch: &Epoch) -> PlanTools {
    let verified = |tool: HostTool| {
        let found = || ProbeFinding { result: Observed::Value("1".into()), afterwards: r#"{"what":1}"#.into() };
        let probe = Probe::new(&tool, epoch, r#"{"what":1}"#).unwrap();
        PlanTool::of(&tool).verified(probe.compare([found(), found()]).unwrap())
    };
    PlanTools::new().tool("find", verified(FindTool::host())).tool("keep", verified(KeepTool::host()))
}

/// So many equal calls of each group, and the results by group likewise.
fn ruled<E: Estimator>(gate: AgreementGate<E>, tool: &str, arguments: &[usize], results: &[usize]) -> Ruling {
    let epoch = Epoch::begin();
    let mut set = SampleSet::new(epoch.clone());
    let each = |groups: &[usize]| -> Vec<usize> {
        groups.iter().enumerate().flat_map(|(group, size)| vec![group + 1; *size]).collect()
    };
    let (arguments, results) = (each(arguments), each(results));
    assert_eq!(arguments.len(), results.len());
    for (argument, result) in arguments.into_iter().zip(results) {
        let sample = Sample::of([(tool, format!(r#"{{"what":{argument}}}"#))]).result(result.to_string());
        set.push(sample.within(&epoch)).unwrap();
    }
    gate.rule(&set, &known(&epoch))
}

#[track_caller]
fn is<E: Estimator>(bounds: Bounds<E>, arguments: &[usize], results: &[usize], reason: RulingReason) {
    let ruling = ruled(AgreementGate::new(bounds), "find", arguments, results);
    let kind = match reason {
        RulingReason::Agreed => JudgementKind::Accept,
        RulingReason::ArgumentsDisagree => JudgementKind::Reject,
        _ => JudgementKind::Defer,
    };
    assert_eq!((ruling.kind(), ruling.reason()), (kind, reason), "{:?}", ruling.figures());
}

/// A group of this size, and the others alone.
fn largest(size: usize, of: usize) -> Vec<usize> {
    std::iter::once(size).chain(vec![1; of - size]).collect()
}

#[test]
fn samples_are_five() {
    is(Bounds::seed(), &[4], &[4], RulingReason::TooFewSamples);
    is(Bounds::seed(), &[5], &[5], RulingReason::Agreed);
    is(Bounds::seed(), &[6], &[6], RulingReason::Agreed);
    is(Bounds::seed(), &[], &[], RulingReason::NoSamples);
    // As few as they are, they are never rejected.
    is(Bounds::seed(), &[1; 4], &[1; 4], RulingReason::TooFewSamples);
}

#[test]
fn arguments_are_rejected_below_a_fifth() {
    for (size, of, reason) in [
        (1, 5, RulingReason::ArgumentsSplit),
        (1, 6, RulingReason::ArgumentsDisagree),
        (2, 6, RulingReason::ArgumentsSplit),
        (1, 10, RulingReason::ArgumentsDisagree),
        (2, 10, RulingReason::ArgumentsSplit),
        (3, 20, RulingReason::ArgumentsDisagree),
        (4, 20, RulingReason::ArgumentsSplit),
        (5, 20, RulingReason::ArgumentsSplit),
    ] {
        let groups = largest(size, of);
        is(Bounds::seed(), &groups, &groups, reason);
        // Not even with results that all agree, nor with results that all differ, is it another.
        is(Bounds::seed(), &groups, &[of], reason);
        is(Bounds::seed(), &groups, &vec![1; of], reason);
    }
}

#[test]
fn arguments_are_accepted_from_four_fifths() {
    for (size, of, reason) in [
        (3, 5, RulingReason::ArgumentsSplit),
        (4, 5, RulingReason::Agreed),
        (5, 5, RulingReason::Agreed),
        (7, 10, RulingReason::ArgumentsSplit),
        (8, 10, RulingReason::Agreed),
        (9, 10, RulingReason::Agreed),
        (15, 20, RulingReason::ArgumentsSplit),
        (16, 20, RulingReason::Agreed),
    ] {
        is(Bounds::seed(), &largest(size, of), &[of], reason);
    }
}

#[test]
fn results_are_accepted_from_four_fifths_and_quarantine_below_a_half() {
    for (size, of, reason) in [
        (8, 10, RulingReason::Agreed),
        (9, 10, RulingReason::Agreed),
        (7, 10, RulingReason::ResultsSplit),
        (6, 10, RulingReason::ResultsSplit),
        (5, 10, RulingReason::ResultsSplit),
        (4, 10, RulingReason::ToolSuspect),
        (1, 10, RulingReason::ToolSuspect),
    ] {
        is(Bounds::seed(), &[of], &largest(size, of), reason);
        let ruling = ruled(AgreementGate::new(Bounds::seed()), "find", &[of], &largest(size, of));
        let suspects: &[&str] = if reason == RulingReason::ToolSuspect { &["find"] } else { &[] };
        assert_eq!(ruling.quarantines(), suspects);
    }
    let bounds = Bounds::seed().results(0.9, 0.4).unwrap();
    is(bounds, &[10], &largest(8, 10), RulingReason::ResultsSplit);
    is(bounds, &[10], &largest(4, 10), RulingReason::ResultsSplit);
    is(bounds, &[10], &largest(3, 10), RulingReason::ToolSuspect);
}

#[test]
fn each_estimator_has_bounds_of_its_own() {
    // 6 of 10 pairs of five, and 3 of 10.
    is(Bounds::squared(), &[4, 1], &[5], RulingReason::Agreed);
    is(Bounds::squared(), &[3, 2], &[5], RulingReason::ArgumentsSplit);
    is(Bounds::squared(), &[1; 5], &[5], RulingReason::ArgumentsDisagree);
    is(Bounds::squared(), &[2, 1, 1, 1], &[5], RulingReason::ArgumentsSplit);
    // 1 of 45 pairs, 2, and 3.
    is(Bounds::squared(), &largest(2, 10), &[10], RulingReason::ArgumentsDisagree);
    is(Bounds::squared(), &[2, 2, 1, 1, 1, 1, 1, 1], &[10], RulingReason::ArgumentsSplit);
    is(Bounds::measured(), &largest(7, 10), &[10], RulingReason::Agreed);
    is(Bounds::measured(), &largest(6, 10), &[10], RulingReason::ArgumentsSplit);
    is(Bounds::measured(), &[9], &[9], RulingReason::TooFewSamples);
    is(Bounds::unanimous(), &[4, 1], &[5], RulingReason::ArgumentsSplit);
    is(Bounds::unanimous(), &[1; 9], &[9], RulingReason::ArgumentsSplit);
}

#[test]
fn writes_may_need_all() {
    let gate = AgreementGate::new(Bounds::seed()).unanimous_writes();
    let reason = |tool: &str, arguments: &[usize]| ruled(gate, tool, arguments, &[5]).reason();
    assert_eq!(reason("find", &[4, 1]), RulingReason::Agreed);
    assert_eq!(reason("keep", &[4, 1]), RulingReason::WriteNotUnanimous);
    assert_eq!(reason("keep", &[5]), RulingReason::Agreed);
    assert_eq!(reason("keep", &[3, 2]), RulingReason::ArgumentsSplit);
    // Of a tool that nobody knows nobody knows that it only reads.
    assert_eq!(reason("other", &[4, 1]), RulingReason::WriteNotUnanimous);
    assert_eq!(ruled(gate, "keep", &[1; 6], &[6]).kind(), JudgementKind::Reject);
    assert_eq!(RulingReason::WriteNotUnanimous.as_str(), "write_not_unanimous");
}

#[test]
fn a_gate_that_can_not_reject_says_so_when_it_is_built() {
    let never = |of, from| vec![AgreementWarning::NeverRejects { of, from }];
    assert_eq!(AgreementGate::new(Bounds::seed()).warnings(), never(5, Some(6)));
    assert_eq!(AgreementGate::new(Bounds::seed().min_samples(6)).warnings(), []);
    assert_eq!(AgreementGate::new(Bounds::measured()).warnings(), []);
    assert_eq!(AgreementGate::new(Bounds::squared()).warnings(), []);
    // Who switched it off knows.
    assert_eq!(AgreementGate::new(Bounds::unanimous()).warnings(), []);
    assert_eq!(AgreementGate::new(Bounds::seed().never_rejecting()).warnings(), []);
    let bounds = |reject| Bounds::<tool_runtime::agreement::ModeShare>::new(0.8, reject).unwrap();
    for (reject, from) in [(0.19, 6), (0.1, 11), (0.01, 101), (0.15, 7), (1.0 / 7.0, 8), (1.0 / 49.0, 50)] {
        let warned = AgreementGate::new(bounds(reject)).warnings();
        assert_eq!(warned, never(5, Some(from)), "{reject}");
        // What it says is so.
        let of = |n| AgreementGate::new(bounds(reject).min_samples(n)).warnings();
        assert_eq!((of(from), of(from - 1)), (vec![], never(from - 1, Some(from))), "{reject}");
        assert!(bounds(reject).said(from).reject.is_some() && bounds(reject).said(from - 1).reject.is_none());
    }
    assert_eq!(AgreementGate::new(bounds(0.0)).warnings(), never(5, None));
    assert_eq!(AgreementGate::new(bounds(1e-300)).warnings(), never(5, None));
    let pairs = Bounds::<PairShare>::new(0.6, 0.0).unwrap();
    assert_eq!(AgreementGate::new(pairs).warnings(), never(5, None));
    let few = AgreementGate::new(Bounds::squared().min_samples(4)).warnings();
    assert_eq!(few, [AgreementWarning::FewSamples { of: 4 }]);
    let said = AgreementGate::new(Bounds::seed()).warnings()[0].to_string();
    assert_eq!(said, "it never rejects of 5 samples; it can from 6 on");
}

#[test]
fn bounds_that_can_not_be_are_refused() {
    let refused = |accept, reject| Bounds::<PairShare>::new(accept, reject).is_err_and(|_: BoundsError| true);
    assert!(refused(1.1, 0.2) && refused(0.8, -0.1) && refused(0.2, 0.8) && refused(f64::NAN, 0.2));
    assert!(!refused(0.5, 0.5) && !refused(1.0, 0.0));
    assert!(Bounds::seed().results(0.5, 0.8).is_err());
}
