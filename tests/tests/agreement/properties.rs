//! What never matters to a ruling.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::config;
use tool_runtime::agreement::{
    AgreementGate, Bounds, Epoch, JudgementKind, Observed, PlanTool, PlanTools, Probe, ProbeFinding, Sample, SampleSet,
    rule_line,
};
use tool_runtime::tool;

/// Gives what it was given.
#[tool(name = "t", host(deterministic))]
fn same(
    /// It.
    a: u8,
) -> u8 {
    a
}

/// Samples of one tool, by small numbers, so that they collide, and what is known of it: all that a ruling asks for.
fn set(samples: &[(u8, u8)]) -> (SampleSet, PlanTools) {
    let (epoch, tool) = (Epoch::begin(), SameTool::host());
    let found = || ProbeFinding { result: Observed::Value("1".into()), afterwards: r#"{"a":1}"#.into() };
    let verified = Probe::new(&tool, &epoch, r#"{"a":1}"#).unwrap().compare([found(), found()]).unwrap();
    let tools = PlanTools::new().tool("t", PlanTool::of(&tool).verified(verified));
    let mut set = SampleSet::new(epoch.clone());
    for (argument, result) in samples {
        let sample = Sample::of([("t", format!(r#"{{"a":{argument}}}"#))]).result(result.to_string());
        set.push(sample.within(&epoch)).unwrap();
    }
    (set, tools)
}

fn line(samples: &[(u8, u8)], respelt: bool) -> String {
    let samples: Vec<String> = samples
        .iter()
        .enumerate()
        .map(|(i, (a, r))| match respelt && i % 2 == 0 {
            true => format!(r#"[{{ "b":[2.0],"\u0061":{a}.0 }},{r}e0]"#),
            false => format!(r#"[{{"a":{a},"b":[2]}},{r}]"#),
        })
        .collect();
    format!(r#"{{"tool":{{"deterministic":true,"verified":true}},"samples":[{}]}}"#, samples.join(","))
}

/// Some that disagree, and some that nearly agree.
fn samples() -> impl Strategy<Value = Vec<(u8, u8)>> {
    let nearly = (prop_oneof![12 => Just(0_u8), 1 => 0_u8..9], prop_oneof![12 => Just(1_u8), 1 => 1_u8..4]);
    prop_oneof![2 => vec((0_u8..9, 1_u8..4), 0..24), 1 => vec(nearly, 5..24)]
}

#[test]
fn the_order_of_samples_never_matters() {
    let judged = RefCell::new(BTreeMap::<&'static str, usize>::new());
    let outcome = TestRunner::new(config(300)).run(&(samples(), any::<u64>()), |(given, seed)| {
        let mut other = given.clone();
        let mut state = seed | 1;
        for at in (1..other.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            other.swap(at, (state >> 33) as usize % (at + 1));
        }
        prop_assert_eq!(rule_line(&line(&given, false)), rule_line(&line(&other, false)));
        let gate = AgreementGate::new(Bounds::seed());
        let rule = |samples: &[(u8, u8)]| {
            let (set, tools) = set(samples);
            let ruling = gate.rule(&set, &tools);
            let chosen = ruling.figures().plurality.map(|index| set.samples()[index].plan().clone());
            (ruling.kind(), ruling.reason(), ruling.figures().groups.clone(), chosen)
        };
        let ruled = rule(&given);
        *judged.borrow_mut().entry(ruled.0.as_str()).or_default() += 1;
        prop_assert_eq!(ruled, rule(&other));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let judged = judged.into_inner();
    for kind in [JudgementKind::Accept, JudgementKind::Reject, JudgementKind::Defer] {
        assert!(judged.get(kind.as_str()).is_some_and(|count| *count > 4), "{judged:?}");
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn spelling_never_matters(given in samples()) {
        prop_assert_eq!(rule_line(&line(&given, false)), rule_line(&line(&given, true)));
    }

    #[test]
    fn a_sample_more_that_agrees_never_lowers_agreement(given in samples()) {
        let (before, tools) = set(&given);
        let mode = AgreementGate::new(Bounds::seed()).rule(&before, &tools);
        let pair = AgreementGate::new(Bounds::squared()).rule(&before, &tools);
        if let Some(index) = mode.figures().plurality {
            let mut more = given.clone();
            more.push(given[index]);
            let (after, tools) = set(&more);
            let mode_after = AgreementGate::new(Bounds::seed()).rule(&after, &tools);
            let pair_after = AgreementGate::new(Bounds::squared()).rule(&after, &tools);
            prop_assert!(mode_after.figures().argument_agreement >= mode.figures().argument_agreement);
            prop_assert!(pair_after.figures().argument_agreement >= pair.figures().argument_agreement - 1e-12);
        }
    }

    #[test]
    fn inv12_a_reject_never_depends_on_results(given in samples(), results in vec(1_u8..9, 24)) {
        let other: Vec<(u8, u8)> = given.iter().zip(results).map(|((argument, _), result)| (*argument, result)).collect();
        let rejects = |samples: &[(u8, u8)]| rule_line(&line(samples, false)).contains(JudgementKind::Reject.as_str());
        prop_assert_eq!(rejects(&given), rejects(&other));
    }

    #[test]
    fn inv14_no_line_panics_and_each_gives_one(text in ".{0,200}") {
        prop_assert!(!rule_line(&text).contains('\n'));
    }
}
