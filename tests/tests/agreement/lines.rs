//! Rulings over lines of JSON, in both modes: every condition of the document that the gate is from.

use tool_runtime::agreement::rule_line;

/// A line of samples: how many of which arguments with which results.
fn line(tool: &str, groups: &[(usize, &str, &str)], options: &str) -> String {
    let samples: Vec<String> =
        groups.iter().flat_map(|(n, args, result)| vec![format!("[{args},{result}]"); *n]).collect();
    format!(r#"{{"tool":{{"name":"t",{tool}}},"samples":[{}],"options":{{{options}}}}}"#, samples.join(","))
}

const VERIFIED: &str = r#""deterministic":true,"verified":true"#;
const DECLARED: &str = r#""deterministic":true,"verified":false"#;
const UNDECLARED: &str = r#""deterministic":false,"verified":true"#;

/// The ruling and its reason.
fn ruled(line: &str) -> (String, String) {
    let said: serde_json::Value = serde_json::from_str(&rule_line(line)).unwrap();
    assert_eq!(said.as_object().unwrap().len(), 4);
    (said["ruling"].as_str().unwrap().to_owned(), said["reason"].as_str().unwrap().to_owned())
}

/// `n` samples that all differ, in arguments or in results.
fn different(n: usize) -> Vec<(usize, String, String)> {
    (0..n).map(|i| (1, format!(r#"{{"a":{i}}}"#), format!("{i}"))).collect()
}

fn borrowed(groups: &[(usize, String, String)]) -> Vec<(usize, &str, &str)> {
    groups.iter().map(|(n, args, result)| (*n, args.as_str(), result.as_str())).collect()
}

#[track_caller]
fn check(tool: &str, groups: &[(usize, &str, &str)], options: &str, default: (&str, &str), strict: (&str, &str)) {
    let both = |(ruling, reason): (&str, &str)| (ruling.to_owned(), reason.to_owned());
    assert_eq!(ruled(&line(tool, groups, options)), both(default), "by default");
    let options = [options, r#""strict":true"#].iter().filter(|o| !o.is_empty()).copied().collect::<Vec<_>>().join(",");
    assert_eq!(ruled(&line(tool, groups, &options)), both(strict), "strict");
}

#[test]
fn conditions_defer_and_never_reject() {
    let (a, r) = (r#"{"a":1}"#, "7");
    check(VERIFIED, &[(4, a, r)], "", ("defer", "too_few_samples"), ("error", "too_few_samples"));
    check(VERIFIED, &[(5, a, r)], "", ("accept", "agreed"), ("accept", "agreed"));
    check(VERIFIED, &[], r#""min_samples":0"#, ("defer", "no_samples"), ("error", "no_samples"));
    check(VERIFIED, &[(5, a, r)], r#""fixed_epoch":false"#, ("defer", "epoch_moved"), ("error", "epoch_moved"));
    check(DECLARED, &[(5, a, r)], "", ("defer", "not_verified"), ("accept", "agreed"));
    check(UNDECLARED, &[(5, a, r)], "", ("defer", "not_verified"), ("accept", "agreed"));
    check(DECLARED, &[(5, a, r)], r#""gate":true"#, ("error", "not_verified"), ("error", "not_verified"));
    check(UNDECLARED, &[(5, a, r)], r#""gate":true"#, ("defer", "not_verified"), ("accept", "agreed"));
    for tool in [DECLARED, UNDECLARED] {
        check(tool, &borrowed(&different(6)), "", ("defer", "not_verified"), ("defer", "not_verified"));
    }
}

#[test]
fn only_below_a_fifth_is_rejected() {
    check(VERIFIED, &borrowed(&different(6)), "", ("reject", "arguments_disagree"), ("reject", "arguments_disagree"));
    // 1 of 5, 2 of 10 and 4 of 20 are a fifth, and not below.
    for largest in [1, 2, 4] {
        let mut groups = different(4 * largest);
        groups.push((largest, r#"{"b":1}"#.to_owned(), "9".to_owned()));
        check(VERIFIED, &borrowed(&groups), "", ("defer", "arguments_split"), ("defer", "arguments_split"));
        // One more that agrees with nothing is below.
        groups.push((1, r#"{"c":1}"#.to_owned(), "9".to_owned()));
        check(VERIFIED, &borrowed(&groups), "", ("reject", "arguments_disagree"), ("reject", "arguments_disagree"));
    }
}

#[test]
fn arguments_are_accepted_from_four_fifths() {
    let (a, b) = (r#"{"a":1}"#, r#"{"a":2}"#);
    check(VERIFIED, &[(4, a, "7"), (1, b, "7")], "", ("accept", "agreed"), ("accept", "agreed"));
    check(VERIFIED, &[(3, a, "7"), (2, b, "7")], "", ("defer", "arguments_split"), ("defer", "arguments_split"));
}

#[test]
fn results_quarantine_below_a_half_and_never_reject() {
    let a = r#"{"a":1}"#;
    let results = |counts: &[usize]| -> Vec<(usize, String, String)> {
        counts.iter().enumerate().map(|(i, n)| (*n, a.to_owned(), format!("{}", i + 1))).collect()
    };
    let case =
        |counts: &[usize], ruling: (&str, &str)| check(VERIFIED, &borrowed(&results(counts)), "", ruling, ruling);
    case(&[8, 2], ("accept", "agreed"));
    case(&[7, 3], ("defer", "results_split"));
    case(&[5, 5], ("defer", "results_split"));
    case(&[4, 3, 3], ("defer", "tool_suspect"));
    case(&[1; 10], ("defer", "tool_suspect"));
}

#[test]
fn results_that_say_nothing_are_no_agreement() {
    let a = r#"{"a":1}"#;
    for empty in ["null", "[]", "{}", "\"\""] {
        check(VERIFIED, &[(5, a, empty)], "", ("defer", "no_result_signal"), ("accept", "agreed"));
        // Four left, of five that have to be.
        check(VERIFIED, &[(4, a, "1"), (1, a, empty)], "", ("defer", "no_result_signal"), ("accept", "agreed"));
    }
    let not_run = format!(r#"{{"tool":{{{VERIFIED}}},"samples":[{}]}}"#, ["[{}]"; 5].join(","));
    assert_eq!(ruled(&not_run).1, "no_results");
    let strict = not_run.replace(r#","samples""#, r#","options":{"strict":true},"samples""#);
    assert_eq!(ruled(&strict), ("error".to_owned(), "no_results".to_owned()));
}

/// Pairs of values, and whether strict mode and the default take them for one.
#[test]
fn inv15_what_is_one_value() {
    for (a, b, strict, default) in [
        ("1", "1.0", false, true),
        ("1e2", "100", false, true),
        ("-0", "0", true, true),
        ("-0.0", "0.0", false, true),
        ("1e2", "100.0", true, true),
        ("1.0", "1.00", true, true),
        ("1e-400", "0.0", true, true),
        ("true", "1", false, false),
        ("\"1\"", "1", false, false),
        ("0.1", "0.1000000000000000055511151231257827", true, true),
        ("0.3", "0.30000000000000004", false, false),
        ("9007199254740993", "9007199254740992", false, false),
        ("18446744073709551615", "18446744073709551614", false, false),
        ("\"\\u0041\"", "\"A\"", true, true),
        ("\"é\"", "\"e\\u0301\"", false, false),
        ("\"\\ud83d\\ude00\"", "\"😀\"", true, true),
        (r#"{"x":1,"y":2}"#, r#"{ "y":2, "x":1 }"#, true, true),
        ("[1,2]", "[2,1]", false, false),
    ] {
        let (left, right) = (format!(r#"{{"a":{a}}}"#), format!(r#"{{"a":{b}}}"#));
        let groups = [(3, left.as_str(), "1"), (3, right.as_str(), "1")];
        for (options, equal) in [("", default), (r#""strict":true"#, strict)] {
            let expected = if equal { "accept" } else { "defer" };
            assert_eq!(ruled(&line(VERIFIED, &groups, options)).0, expected, "{a} and {b} with {options:?}");
        }
    }
    // Of a member that is given twice Python keeps the last. By default such arguments agree with nothing.
    let groups = [(5, r#"{"a":1,"b":2,"a":3}"#, "1"), (5, r#"{"b":2,"a":3}"#, "1")];
    assert_eq!(ruled(&line(VERIFIED, &groups, r#""strict":true"#)).0, "accept");
    assert_eq!(ruled(&line(VERIFIED, &groups, "")).1, "arguments_split");
    assert_eq!(ruled(&line(VERIFIED, &groups[..1], "")).1, "no_plan");
}

#[test]
fn inv14_what_is_outside_of_the_domain_is_an_error() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    // The line, its samples, one of them, and its arguments are four levels.
    let inside = format!(r#"{{"a":{}}}"#, deep(123));
    assert_eq!(ruled(&line(VERIFIED, &[(5, &inside, "1")], r#""strict":true"#)).0, "accept");
    for value in
        [&deep(124), &deep(100_000), "1e400", "NaN", "18446744073709551616", "-9223372036854775809", "\"\\ud800\"", ""]
    {
        let arguments = format!(r#"{{"a":{value}}}"#);
        let said = ruled(&line(VERIFIED, &[(5, &arguments, "1")], r#""strict":true"#));
        assert_eq!(
            said,
            ("error".to_owned(), "outside_domain".to_owned()),
            "{}",
            value.chars().take(20).collect::<String>()
        );
    }
    for text in ["", "[]", "{}", "null", r#"{"tool":{},"samples":[[1,2,3]],"options":{"min_samples":1}}"#, "{\"tool\":"]
    {
        assert_eq!(ruled(text).1, "outside_domain", "{text}");
    }
    for options in [r#""arg_accept":"0.8""#, r#""strict":1"#, r#""fixed_epoch":null"#] {
        assert_eq!(ruled(&line(VERIFIED, &[(5, "{}", "1")], options)).1, "outside_domain", "{options}");
    }
}
