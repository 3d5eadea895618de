//! The simulated batch: what is found, and what is not rejected.

use examples::agreement;

#[test]
fn three_tools_are_found_and_no_plan_is_rejected_for_results() {
    for seed in [1, 2] {
        let mut out = Vec::new();
        let figures = agreement::batch(seed, &mut out).unwrap();
        let found = [("resolve_user", "clock"), ("search_index", "order")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(figures.by_probe, found);
        assert_eq!(figures.by_results, ["read_config"]);
        assert_eq!((figures.for_results.of, figures.wrongly.of), (0, 0));
        assert!(figures.rejected.of > 0 && figures.rejected.of < figures.naive_rejected.of);
        assert!(figures.naive_wrongly.percent() > 50.0, "{figures:?}");
        assert_eq!(figures.accepted_right.of, figures.accepted_right.all);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("read_config: found by results that differ"), "{text}");
    }
}
