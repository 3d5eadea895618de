//! The example of agreement prints what is so, of data whose figures are known.

mod batch;

use examples::agreement::{self, Options};
use examples::grounding::Share;
use serde_json::{Value, json};

/// Five prompts of five answers each, so that every draw has the same samples.
const PROMPTS: &[u8] = include_bytes!("prompts.jsonl");

fn share(of: usize, all: usize) -> Share {
    Share { of, all }
}

#[test]
fn agreement_is_measured_by_step_preset_and_size() {
    let mut shown = Vec::new();
    let figures = agreement::run(PROMPTS, Options { draws: 3, ..Options::default() }, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert_eq!((figures.draws, figures.single), (15, share(16, 25)), "{shown}");
    // A plain text is no call; arguments that nobody can read agree with nothing.
    let none = Share::default();
    assert_eq!(
        figures.by_largest,
        [
            (5, share(6, 15), share(6, 6)),
            (4, share(3, 15), share(3, 3)),
            (3, share(3, 15), share(0, 3)),
            (2, share(0, 15), none),
            (1, share(3, 15), share(0, 3)),
            (0, share(0, 15), none),
        ]
    );
    assert_eq!(figures.plurality, share(9, 15));
    let unanimous: Vec<_> = figures.unanimous.iter().map(|(_, all)| (all.draws.of, all.right.of)).collect();
    assert_eq!(unanimous, [(0, 0), (0, 0), (3, 3), (3, 3), (6, 6)], "{shown}");

    let preset = |name: &str| figures.presets.iter().find(|(preset, n, _)| *preset == name && *n == 5).unwrap().2;
    let seed = preset("seed");
    assert_eq!((seed.accepted, seed.accepted_right, seed.rejected), (share(9, 15), share(9, 9), share(0, 15)));
    let squared = preset("squared");
    assert_eq!((squared.accepted, squared.rejected), (share(9, 15), share(3, 15)));
    assert_eq!((squared.rejected_right, squared.rejected_some_right), (share(0, 3), share(3, 3)));
    assert_eq!(squared.rejected_several_calls, share(0, 3));
    let all = preset("unanimous");
    assert_eq!((all.accepted, all.deferred, all.rejected), (share(6, 15), share(9, 15), share(0, 15)));

    assert!(shown.contains("as if all tools were verified and their results agreed"), "{shown}");
    assert!(shown.contains("of 5: accept from 4, reject never"), "{shown}");
    // Nothing that needs more answers than there are.
    assert!(!shown.contains("of 10") && !shown.contains("Two stages"), "{shown}");
    let again = agreement::run(PROMPTS, Options { draws: 3, seed: 9, ..Options::default() }, &mut Vec::new()).unwrap();
    assert_eq!(again.by_largest, figures.by_largest);
}

#[test]
fn what_is_deferred_is_judged_once_more() {
    let answers = |sides: &[u32]| {
        let answer = |side: &u32| json!({"correct": true, "calls": [{"area": {"side": side}}]});
        let tool = json!({"name": "area", "description": "An area.", "parameters": {"type": "dict", "properties":
            {"side": {"type": "int"}}}});
        json!({"id": "p", "tools": [tool], "samples": sides.iter().map(answer).collect::<Vec<_>>()}).to_string()
    };
    // At least four of any five are alike; no two are.
    let file = [answers(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 2]), answers(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])].join("\n");
    let mut shown = Vec::new();
    let figures = agreement::run(file.as_bytes(), Options::default(), &mut shown).unwrap();
    let made = figures.two_stages;
    assert_eq!((made.accepted, made.deferred, made.rejected), (share(20, 40), share(0, 40), share(20, 40)));
    let first = figures.presets.iter().find(|(name, n, _)| *name == "seed" && *n == 5).unwrap().2;
    assert_eq!((first.accepted, first.deferred, first.rejected), (share(20, 40), share(20, 40), share(0, 40)));
    assert!(String::from_utf8(shown).unwrap().contains("Two stages: 5, and of what is deferred 5 more"));
}

#[test]
fn what_is_no_file_of_prompts_is_an_error() {
    for wrong in ["", "{", "{}", "\u{1f}\u{8b}", r#"{"id":"p","tools":[],"samples":[]}"#] {
        agreement::run(wrong.as_bytes(), Options::default(), &mut Vec::new()).unwrap_err();
    }
    let error = agreement::run(PROMPTS, Options { n: 6, ..Options::default() }, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("6 answers"), "{error}");
    let unnamed = r#"{"id":"p","tools":[{"name":"","description":"d","parameters":{}}],"samples":[]}"#;
    let error = agreement::run(unnamed.as_bytes(), Options::default(), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with("p: "), "{error}");
}

/// A trial: looks a user up twice, cancels a reservation, and looks up again. All calls have one identifier.
fn trial(task: u32, reservation: &str, [first, second, cancelled, after]: [&str; 4], reward: f64) -> String {
    let step = |name: &str, arguments: Value, result: &str| {
        let call = json!({"id": "c", "function": {"name": name, "arguments": arguments.to_string()}});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "c", "content": result}),
        ]
    };
    let user = || json!({"user_id": "mia"});
    let messages = [
        step("get_user_details", user(), first),
        step("get_user_details", user(), second),
        step("cancel_reservation", json!({"reservation_id": reservation}), cancelled),
        step("get_user_details", user(), after),
    ];
    json!({"task": task, "trial": 0, "reward": reward, "expected_actions": [], "messages": messages.concat()})
        .to_string()
}

#[test]
fn conversations_are_held_against_their_other_trials() {
    let file = [
        trial(1, "A", ["one", "one", "done", "two"], 1.0),
        trial(1, "A", ["one", "one", "done", "two"], 1.0),
        // What the airline refused was not written, and moves nothing.
        trial(2, "A", ["one", "one", "Error: no", "one"], 1.0),
        trial(2, "B", ["one", "other", "Error: no", "one"], 1.0),
        trial(3, "A", ["one", "one", "done", "two"], 0.0),
        trial(3, "B", ["one", "one", "done", "two"], 0.0),
    ]
    .join("\n");
    let mut shown = Vec::new();
    let figures = agreement::conversations(file.as_bytes(), &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert_eq!(figures.refused, share(2, 6), "{shown}");
    let none = Share::default();
    assert_eq!(figures.by_largest, [(2, [share(1, 1), share(1, 1)]), (1, [none, share(0, 1)])]);
    assert_eq!((figures.unanimous, figures.majority), (share(2, 2), share(2, 2)));

    let users = figures.probes["get_user_details"];
    // Fourteen in the first state, of which the first is compared with nothing; four after a write.
    assert_eq!((users.calls, users.compared, users.different), (18, 13, 1), "{shown}");
    assert_eq!(users.different_in_other_states, 5);
    // Of five that cancel A the first is new, and so is the first that cancels B.
    let cancelled = figures.probes["cancel_reservation"];
    assert_eq!((cancelled.calls, cancelled.compared), (6, 4));
    assert!(shown.contains("wrongly declared: cancel_reservation, get_user_details\n"), "{shown}");
    assert!(shown.contains("never made twice in one state: book_reservation, "), "{shown}");

    let lost =
        r#"{"task":1,"trial":0,"reward":1,"expected_actions":[],"messages":[{"role":"tool","tool_call_id":"c"}]}"#;
    for wrong in ["{", lost] {
        agreement::conversations(wrong.as_bytes(), &mut Vec::new()).unwrap_err();
    }
}
