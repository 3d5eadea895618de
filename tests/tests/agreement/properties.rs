//! What never matters to a ruling.

use proptest::collection::vec;
use proptest::prelude::*;
use tool_runtime::agreement::{AgreementGate, Bounds, Epoch, JudgementKind, PlanTools, Sample, SampleSet, rule_line};

/// Samples of one tool that nobody knows, by small numbers, so that they collide.
fn set(samples: &[(u8, u8)]) -> SampleSet {
    let epoch = Epoch::begin();
    let mut set = SampleSet::new(epoch.clone());
    for (argument, result) in samples {
        let sample = Sample::of([("t", format!(r#"{{"a":{argument}}}"#))]).result(result.to_string());
        set.push(sample.within(&epoch)).unwrap();
    }
    set
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

fn samples() -> impl Strategy<Value = Vec<(u8, u8)>> {
    vec((0_u8..9, 1_u8..4), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_samples_never_matters(given in samples(), seed in any::<u64>()) {
        let mut other = given.clone();
        let mut state = seed | 1;
        for at in (1..other.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            other.swap(at, (state >> 33) as usize % (at + 1));
        }
        prop_assert_eq!(rule_line(&line(&given, false)), rule_line(&line(&other, false)));
        let gate = AgreementGate::new(Bounds::seed());
        let rule = |samples: &[(u8, u8)]| {
            let set = set(samples);
            let ruling = gate.rule(&set, &PlanTools::new());
            let chosen = ruling.figures().plurality.map(|index| set.samples()[index].plan().clone());
            (ruling.kind(), ruling.reason(), ruling.figures().groups.clone(), chosen)
        };
        eprintln!("COUNT order {:?}", rule(&given).0); prop_assert_eq!(rule(&given), rule(&other));
    }

    #[test]
    fn spelling_never_matters(given in samples()) {
        prop_assert_eq!(rule_line(&line(&given, false)), rule_line(&line(&given, true)));
    }

    #[test]
    fn a_sample_more_that_agrees_never_lowers_agreement(given in samples()) {
        let before = set(&given);
        let tools = PlanTools::new();
        let mode = AgreementGate::new(Bounds::seed()).rule(&before, &tools);
        let pair = AgreementGate::new(Bounds::squared()).rule(&before, &tools);
        if let Some(index) = mode.figures().plurality {
            let mut more = given.clone();
            more.push(given[index]);
            let after = set(&more);
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
        eprintln!("COUNT inv12 {}", rejects(&given)); prop_assert_eq!(rejects(&given), rejects(&other));
    }

    #[test]
    fn inv14_no_line_panics_and_each_gives_one(text in ".{0,200}") {
        prop_assert!(!rule_line(&text).contains('\n'));
    }
}
