//! What holds for every format.

use std::collections::HashSet;

use tool_runtime::{AllowAll, Harness, Registry, ToolCall};

use crate::support::{ALL, Called, Cut, Said, called, ids, results, truncated, unnamed};

fn turns() -> Vec<Said> {
    let add = |id: &str, a: u8| called(id, "add", &format!(r#"{{"a":{a},"b":2}}"#));
    vec![
        Said { text: "Nothing to do.".to_owned(), ..Said::default() },
        Said::of([add("1", 1)]),
        Said { text: "Let me \"see\" \u{1f378}.".to_owned(), ..Said::of([add("1", 1), add("2", 2)]) },
        Said::of([add("1", 1), add("1", 2), add("1", 1)]),
        Said::of([unnamed("add", "{}"), add("1", 1), unnamed("add", "{}")]),
        Said::of([unnamed("add", "{}"), add("call_without_id_0", 1)]),
        Said { cut_off: true, ..Said::of([add("1", 1), add("2", 2)]) },
        Said::of([called("id \"\\\u{1f378}", "na\"me", "{}")]),
    ]
}

fn letters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

#[test]
fn calls_are_read_as_they_were_sent() {
    for provider in &ALL {
        for said in turns() {
            let response = (provider.whole)(&said);
            let read = (provider.calls)(&response).unwrap_or_else(|error| panic!("{error}: {response}"));
            let mut expected = said.expected();
            if said.has_id("call_without_id_0") {
                // Taken, so the position is counted on.
                expected[0] = ToolCall::new("call_without_id_2", "add", "{}");
            }
            assert_eq!(read, expected, "{response}");
            assert_eq!((provider.text)(&response).as_deref(), Ok(said.text.as_str()), "{response}");
        }
    }
}

#[test]
fn arguments_keep_their_spelling() {
    let odd = r#"{ "n":1.0, "big":123456789012345678901234567890, "n" : -0.0e+1,"é\u00e9":"\ud83c\udf78\/",
        "deep":[[[]]], "":{} }"#;
    for provider in &ALL {
        let said = Said::of([called("1", "a", odd), called("2", "b", "{}")]);
        let calls = (provider.calls)(&(provider.whole)(&said));
        assert_eq!(calls, Ok(said.expected()), "{}", provider.name);
    }
}

#[test]
fn a_stream_is_the_same_as_the_whole_response() {
    let cuts: [Cut<'_>; 3] = [&mut |text| vec![text.to_owned()], &mut letters, &mut |text| {
        // With empty pieces between.
        letters(text).into_iter().flat_map(|letter| [String::new(), letter]).collect()
    }];
    for cut in cuts {
        for provider in &ALL {
            for said in turns() {
                let response = (provider.whole)(&said);
                let events = (provider.pieces)(&said, cut);
                let streamed = (provider.stream)(&events);
                assert_eq!(streamed.errors, [], "{events:?}");
                assert_eq!(Ok(&streamed.calls), (provider.calls)(&response).as_ref(), "{events:?}");
                assert_eq!(streamed.text, said.text, "{events:?}");
                // What goes into the history has the same calls with the same identifiers.
                let history = format!("{}\n", streamed.history);
                let again = (provider.calls)(&history).unwrap_or_else(|error| panic!("{error}: {history}"));
                // Where none is sent that looks made up, it stands by its order.
                if !matches!(provider.name, "gemini" | "ollama") || !said.has_id("call_without_id_0") {
                    assert_eq!(ids(&again), ids(&streamed.calls), "{history}");
                }
                assert_eq!(again.len(), said.calls.len());
                assert_eq!((provider.text)(&history).as_deref(), Ok(said.text.as_str()), "{history}");
            }
        }
    }
}

#[test]
fn servers_that_count_every_piece_as_the_first_are_understood() {
    let said = Said::of([called("1", "a", r#"{"a":1}"#), called("2", "a", r#"{"a":2}"#)]);
    for provider in &ALL {
        let mut events = (provider.pieces)(&said, &mut letters);
        for event in &mut events {
            for key in ["\"index\":", "\"output_index\":"] {
                for digit in ["1", "2"] {
                    *event = event.replace(&format!("{key}{digit}"), &format!("{key}0"));
                }
            }
        }
        let streamed = (provider.stream)(&events);
        assert_eq!(streamed.errors, []);
        assert_eq!(streamed.calls, said.expected(), "{}", provider.name);
        assert_eq!((provider.calls)(&streamed.history).map(|calls| calls.len()), Ok(2), "{}", streamed.history);
    }
}

#[test]
fn history_is_what_came() {
    for provider in &ALL {
        for said in turns() {
            let response = (provider.whole)(&said);
            let history = (provider.history)(&response).unwrap_or_else(|error| panic!("{error}"));
            let inner = history.strip_prefix(r#"{"role":"assistant","content":"#).unwrap_or(&history);
            // Those that a provider takes as they are; of the others, see `accepted`.
            let ids: HashSet<_> = said.calls.iter().filter_map(|call| call.id.as_ref()).collect();
            if ids.len() == said.calls.len() && said.calls.iter().all(|call| call.name == "add") {
                assert!(response.contains(inner.strip_suffix('}').unwrap_or(inner)), "{history} of {response}");
            }
            assert_eq!((provider.calls)(&history).map(|calls| calls.len()), Ok(said.calls.len()), "{history}");
            assert_eq!((provider.text)(&history).as_deref(), Ok(said.text.as_str()), "{history}");
        }
    }
}

#[test]
fn b45_history_has_no_unpaired_surrogates() {
    let said = Said { text: "TEXT".to_owned(), ..Said::of([called("1", "show", r#"{"what":"x"}"#)]) };
    for provider in &ALL {
        let response = (provider.whole)(&said).replace("TEXT", r"\ud800 \ud83c\udf78");
        let history = (provider.history)(&response).unwrap_or_else(|error| panic!("{error}"));
        assert!(history.contains(r"\ufffd \ud83c\udf78"), "{history}");
        serde_json::from_str::<serde_json::Value>(&history).unwrap_or_else(|error| panic!("{error}: {history}"));
        assert_eq!((provider.text)(&response).as_deref(), Ok("\u{fffd} \u{1f378}"), "{response}");
    }
}

#[test]
fn b45_one_call_with_an_unpaired_surrogate_spoils_no_other() {
    let said = Said::of([called("1", "show", r#"{"what":"SURROGATE"}"#), called("2", "show", r#"{"what":"fine"}"#)]);
    for provider in &ALL {
        let response = (provider.whole)(&said).replace("SURROGATE", r"\ud800");
        let calls = (provider.calls)(&response).unwrap_or_else(|error| panic!("{error}: {response}"));
        let results = crate::support::results_of(calls);
        assert!(results[0].is_error() && results[0].text().contains("not valid JSON"), "{}", results[0].text());
        assert_eq!(results[1].text(), "fine");
    }
}

#[test]
fn b38_arguments_that_nest_too_deeply_spoil_one_call() {
    let deep = format!(r#"{{"what":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let said = Said::of([called("1", "show", &deep), called("2", "show", r#"{"what":"fine"}"#)]);
    for provider in &ALL {
        let calls = (provider.calls)(&(provider.whole)(&said)).unwrap_or_else(|error| panic!("{error}"));
        let results = crate::support::results_of(calls);
        assert!(results[0].is_error() && results[0].text().contains("nested too deeply"), "{}", results[0].text());
        assert_eq!(results[1].text(), "fine");
    }
}

#[test]
fn b39_the_last_call_of_a_turn_that_was_cut_off_does_not_run() {
    let said = Said {
        cut_off: true,
        ..Said::of([called("1", "show", r#"{"what":"a"}"#), called("2", "show", r#"{"what":"b"}"#)])
    };
    for provider in &ALL {
        let whole = (provider.calls)(&(provider.whole)(&said)).unwrap_or_else(|error| panic!("{error}"));
        let streamed = (provider.stream)(&(provider.pieces)(&said, &mut letters)).calls;
        for calls in [whole, streamed] {
            assert_eq!(truncated(&calls), [false, true]);
            let results = crate::support::results_of(calls);
            assert_eq!(results[0].text(), "a");
            assert!(results[1].is_error() && results[1].text().contains("cut off"), "{}", results[1].text());
        }
    }
}

#[test]
fn b39_a_stream_that_ends_early_runs_no_half_call() {
    let said = Said::of([called("1", "show", r#"{"what":"a"}"#), called("2", "show", r#"{"what":"b"}"#)]);
    for provider in &ALL {
        let events = (provider.pieces)(&said, &mut letters);
        for count in 0..events.len() {
            let streamed = (provider.stream)(&events[..count]);
            for (call, expected) in streamed.calls.iter().zip(said.expected()) {
                assert!(call.is_truncated() || *call == expected, "{} after {count}: {call:?}", provider.name);
            }
            let history = (provider.calls)(&streamed.history);
            let kept = history.unwrap_or_else(|error| panic!("{error}: {}", streamed.history));
            assert_eq!(ids(&kept), ids(&streamed.calls), "{}", streamed.history);
        }
    }
}

#[test]
fn what_is_not_read_stops_a_stream_from_being_trusted() {
    let said = Said::of([called("1", "show", r#"{"what":"a"}"#)]);
    for provider in &ALL {
        let mut events = (provider.pieces)(&said, &mut letters);
        events.insert(1, "{\"broken\":".to_owned());
        let streamed = (provider.stream)(&events);
        assert_eq!(streamed.errors.len(), 1);
        assert!(streamed.errors[0].line_column().is_some());
        assert!(streamed.calls.iter().all(ToolCall::is_truncated));
    }
}

#[test]
fn i14_depth_needs_no_stack() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    let run = move || {
        for provider in &ALL {
            for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"{"message":"#, "}"), (r#"{"choices":["#, "]}")] {
                let deep = deep(open, close);
                for key in ["content", "parts", "output", "tool_calls", "message", "choices", "candidates", "delta"] {
                    for text in [deep.clone(), format!(r#"{{"role":"a","{key}":{deep}}}"#), deep[..5_000].to_owned()] {
                        let read = (provider.calls)(&text).map(|calls| calls.len());
                        assert!(read.is_err() || read == Ok(0), "{key}: {read:?}");
                        assert_eq!((provider.stream)(&[text]).calls.len(), 0);
                    }
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).expect("a thread can be made");
    assert!(thread.join().is_ok());
}

#[test]
fn text_that_is_not_json_is_an_error_with_its_place() {
    for provider in &ALL {
        for text in ["", "{", "{\"a\":1,}", "nonsense", "{} {}", "{\"role\":\"\u{1}\"}"] {
            let error = (provider.calls)(text).expect_err(text);
            assert!(error.line_column().is_some(), "{error}");
            assert!(error.to_string().contains("not valid JSON"), "{error}");
        }
        let error = (provider.calls)("{\n\n  oops}").expect_err("no JSON");
        assert_eq!(error.line_column(), Some((3, 3)), "{error}");
    }
}

#[test]
fn json_of_another_form_is_an_error() {
    for provider in &ALL {
        for text in ["null", "7", "\"text\"", "true", "{}", r#"{"object":"model"}"#] {
            let error = (provider.calls)(text).map(|calls| calls.len()).expect_err(text);
            assert_eq!((error.line_column(), error.reported()), (None, None), "{text}");
            assert!((provider.text)(text).is_err() && (provider.history)(text).is_err());
        }
    }
}

#[test]
fn what_a_provider_reports_is_an_error_that_says_it() {
    for provider in &ALL {
        for response in
            [r#"{"type":"error","error":{"type":"overloaded","message":"try later"}}"#, r#"{"error":"try later"}"#]
        {
            let error = (provider.calls)(response).expect_err(response);
            assert_eq!(error.reported(), Some("try later"), "{error}");
            assert!(error.to_string().contains("the provider reports an error: try later"), "{error}");
            let error = (provider.stream)(&[response.to_owned()]).errors.remove(0);
            assert_eq!(error.reported(), Some("try later"), "{error}");
        }
    }
}

#[test]
fn b58_every_call_is_answered_once_and_in_order() {
    for provider in &ALL {
        let messages = (provider.messages)(&results(&[("1", "a"), ("2", "fail"), ("1", "c")])).join("");
        let places: Vec<_> = ["\"a\"", "fail", "\"c\""].iter().map(|said| messages.find(said)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{messages}");
        assert_eq!((provider.messages)(&[]), Vec::<String>::new());
    }
}

#[test]
fn b51_an_unknown_tool_is_answered_like_any_call() {
    for provider in &ALL {
        let calls = (provider.calls)(&(provider.whole)(&Said::of([called("1", "nonsuch", "{}")])));
        let harness = Harness::new(Registry::builder().build().expect("an empty registry"), AllowAll);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let results = runtime.block_on(harness.run(calls.expect("a call")));
        let messages = (provider.messages)(&results);
        assert!(messages.len() == 1 && messages[0].contains("nonsuch"), "{messages:?}");
    }
}

#[test]
fn a_stream_is_not_shown_with_what_came() {
    let said = Said::of([Called { name: "login".to_owned(), ..called("1", "", r#"{"password":"hunter2"}"#) }]);
    for provider in &ALL {
        let calls = (provider.stream)(&(provider.pieces)(&said, &mut letters)).calls;
        assert!(!format!("{calls:?}").contains("hunter2"));
    }
    assert_eq!(format!("{:?}", tool_runtime::wire::gemini::Stream::new()), "Stream { .. }");
}
