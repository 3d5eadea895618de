//! What `grounding` finds in conversations, and stops.

use examples::grounding;
use serde_json::{Value, json};

/// A conversation of the file that the example reads, as one line.
fn recorded(insurance: &str, expected: &str) -> String {
    let call = |id: &str, name: &str, arguments: Value| {
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments.to_string()}}]})
    };
    let book = |insurance: &str| {
        json!({"user_id": "mia_li_3668", "origin": "JFK", "cabin": "economy", "total_baggages": 2,
               "insurance": insurance, "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}]})
    };
    let messages = json!([
        {"role": "user", "content": "I am mia_li_3668, and want to fly from New York on May 20th. I have two bags."},
        call("c1", "search_direct_flight", json!({"origin": "JFK", "date": "2024-05-20"})),
        {"role": "tool", "tool_call_id": "c1", "content": "[{\"flight_number\":\"HAT136\",\"origin\":\"JFK\"}]"},
        {"role": "assistant", "content": "1. Which cabin class?\n2. Do you want insurance?"},
        {"role": "user", "content": "1. Economy.\n2. No."},
        call("c2", "book_reservation", book(insurance)),
        {"role": "tool", "tool_call_id": "c2", "content": if insurance == "no" { "{}" } else { "Error: no" }},
    ]);
    let expected = json!([{"name": "book_reservation", "kwargs": book(expected)}]);
    json!({"task": 1, "trial": 0, "reward": 1.0, "expected_actions": expected, "messages": messages}).to_string()
}

#[test]
fn grounding_finds_what_was_said_and_stops_what_was_not() {
    let measured = |file: String| {
        let mut out = Vec::new();
        let figures = grounding::run(file.as_bytes(), 1, 1, &mut out).unwrap();
        (figures, String::from_utf8(out).unwrap())
    };
    let (figures, shown) = measured(recorded("no", "no"));
    assert_eq!((figures.found.of, figures.found.all), (7, 7), "{shown}");
    assert_eq!((figures.right_stopped.of, figures.right_stopped.all), (0, 1));
    assert_eq!((figures.invented.of, figures.wrong_stopped.all), (0, 0));
    assert!(shown.contains("alias 1"), "{shown}");

    // The user said no.
    let (figures, shown) = measured(format!("{}\n{}\n", recorded("no", "no"), recorded("yes", "no")));
    assert_eq!((figures.found.of, figures.found.all), (13, 14), "{shown}");
    assert_eq!((figures.wrong_stopped.of, figures.wrong_stopped.all), (1, 1));
    assert_eq!((figures.refused_stopped.of, figures.refused_stopped.all), (1, 1));
    let otherwise = shown.split("The user has said something else last:").nth(1).unwrap_or_default();
    assert!(otherwise.trim_start().starts_with("insurance"), "{shown}");
    assert!(otherwise.contains("1, of which 0 right: \"yes\" (first in task 1, trial 0)"), "{shown}");
    assert!(shown.contains("What remains, and why: 1 values"), "{shown}");
    let missed = grounding::Figures::default().missed();
    assert_eq!(missed.len(), 3, "nothing found and nothing stopped isn't enough: {missed:?}");

    for wrong in ["{", "{}", "\u{1f}\u{8b}"] {
        grounding::run(wrong.as_bytes(), 0, 0, &mut Vec::new()).unwrap_err();
    }
}

/// Somebody says how many bags there are and what the certificate pays, and nobody what that comes to. One bag is free, two
/// cost 100, and 60 of 271 are paid by the certificate.
fn booked(rest: u32) -> String {
    let call = |id: &str, name: &str, arguments: &Value| {
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments.to_string()}}]})
    };
    let result = |id: &str, content: Value| json!({"role": "tool", "tool_call_id": id, "content": content.to_string()});
    let book = |rest: u32| {
        json!({"user_id": "mia_li_3668", "origin": "JFK", "destination": "SEA", "flight_type": "one_way",
               "cabin": "economy", "insurance": "no", "total_baggages": 3, "nonfree_baggages": 2,
               "flights": [{"flight_number": "HAT136", "date": "2024-05-20"}],
               "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
               "payment_methods": [{"payment_id": "certificate_1", "amount": 60},
                                   {"payment_id": "credit_card_2", "amount": rest}]})
    };
    let wish = "I am mia_li_3668, Mia Li, born 1990-04-05. A one way trip from New York to Seattle on May 20th, economy \
                class, three bags, no insurance. Pay 60 by certificate_1 and the rest by credit_card_2.";
    let messages = json!([
        {"role": "user", "content": wish},
        call("c1", "get_user_details", &json!({"user_id": "mia_li_3668"})),
        result("c1", json!({"membership": "regular"})),
        call("c2", "search_direct_flight", &json!({"origin": "JFK", "destination": "SEA", "date": "2024-05-20"})),
        result("c2", json!([{"flight_number": "HAT136", "prices": {"economy": 171, "business": 300}}])),
        call("c3", "book_reservation", &book(rest)),
        result("c3", json!({})),
    ]);
    let expected = json!([{"name": "book_reservation", "kwargs": book(211)}]);
    json!({"task": 2, "trial": 0, "reward": 1.0, "expected_actions": expected, "messages": messages}).to_string()
}

#[test]
fn grounding_shows_what_follows_from_other_values_beside_what_was_said() {
    let measured = |file: String| {
        let mut out = Vec::new();
        let figures = grounding::run(file.as_bytes(), 1, 1, &mut out).unwrap();
        (figures, String::from_utf8(out).unwrap())
    };
    let (figures, shown) = measured(booked(211));
    let [right, wrong, _] = figures.with_derivations;
    assert_eq!((figures.found.of, figures.found.all), (15, 17), "{shown}");
    assert_eq!((figures.right_stopped.of, figures.right_stopped.all), (1, 1), "{shown}");
    assert_eq!((right.of, right.all, wrong.all), (0, 1, 0), "{shown}");
    for line in [
        "amount by a formula of the list: 1, of which the call should have had 1",
        "nonfree_baggages by a formula of the list: 1, of which the call should have had 1",
        "  for a value that was right: 100.0 % (2 of 2)",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }

    // It comes to something else.
    let (figures, shown) = measured(booked(212));
    let [_, wrong, _] = figures.with_derivations;
    assert_eq!((wrong.of, wrong.all), (1, 1), "{shown}");
    assert!(!shown.contains("amount by a formula"), "{shown}");
}
