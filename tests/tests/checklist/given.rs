//! Answers, presets, and what is kept from earlier.

use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, Answers, Ask, BoxFuture, Checklist, Code, Consent, Conversation, Day, Hit, Kept, Location,
    Lookup, Memory, Pointer, Presets, Prior, ProcessMemory, QuestionSet, Reported, Shape, SlotState, Source,
    SourceKind, SourceSet, ToolCall, look_up,
};

use crate::bench::{Bench, PAY, code_of, presets};

fn slot(tool: &str, slot: &str) -> Ask {
    Ask::new(tool, slot, Shape::Text)
}

fn hit(lookup: Lookup) -> Hit {
    match lookup {
        Lookup::Hit(hit) => hit,
        other => panic!("{other:?}"),
    }
}

/// "Correcting a wrong answer also becomes a matter of filling one slot."
#[tokio::test]
async fn a_wrong_answer_is_corrected_by_filling_the_slot_again() {
    let answers = Answers::new();
    let to = slot("pay", "/to").of_call("call_1");
    answers.give(&to, "\"alice\"").unwrap();
    answers.give(&slot("pay", "/memo").of_call("call_1"), "\"rent\"").unwrap();
    let number = answers.give(&to, "\"bob\"").unwrap();
    assert_eq!((number, answers.replaced(3), answers.replaced(1), answers.replaced(0)), (3, Some(1), None, None));

    let found = hit(answers.look(to.clone().with_value("\"bob\"")).await);
    assert_eq!(found.location.to_string(), "a3");
    assert_eq!(answers.read(&found.location).as_deref(), Some("bob"));
    // The old one vouches no longer.
    let Lookup::Conflict(others) = answers.look(to.with_value("\"alice\"")).await else { panic!() };
    assert_eq!(others[0].value, "\"bob\"");
    assert_eq!(answers.look(slot("pay", "/iban").with_value("\"bob\"")).await, Lookup::NoResult);
    assert_eq!(answers.give(&slot("pay", "/to"), "bob"), None);
}

#[tokio::test]
async fn an_answer_for_one_call_says_nothing_else_of_the_next() {
    let answers = Answers::new();
    answers.give(&slot("pay", "/to").of_call("call_1"), "\"alice\"").unwrap();
    let next = slot("pay", "/to").of_call("call_2");
    hit(answers.look(next.clone().with_value("\"alice\"")).await);
    assert_eq!(answers.look(next.clone().with_value("\"bob\"")).await, Lookup::NoResult);
    assert_eq!(answers.look(next.clone()).await, Lookup::NoResult);
    assert_eq!(hit(answers.look(next.with_hint(Pointer::Answer(1))).await).value, "\"alice\"");
}

#[tokio::test]
async fn presets_stand_for_an_argument_or_for_one_of_one_tool() {
    let presets = Presets::new([("currency", "\"EUR\""), ("pay#/limit", "{\"b\":1,\"a\":[2.0]}")]).unwrap();
    let currency = slot("pay", "/order/currency");
    let found = hit(presets.look(currency.clone()).await);
    assert_eq!((found.value.as_str(), presets.read(&found.location).as_deref()), ("\"EUR\"", Some("EUR")));
    assert!(matches!(presets.look(currency.with_value("\"USD\"")).await, Lookup::Conflict(_)));
    assert_eq!(hit(presets.look(slot("pay", "/limit")).await).value, "{\"a\":[2],\"b\":1}");
    for other in [slot("refund", "/limit"), slot("pay", "/price"), slot("pay", "")] {
        assert_eq!(presets.look(other).await, Lookup::NoResult);
    }
    assert!(Presets::new([("x", "{")]).unwrap_err().to_string().contains("`x`"));
}

#[tokio::test]
async fn the_declared_default_is_a_preset() {
    let presets = Presets::default();
    let urgent = Ask::new("pay", "/urgent", Shape::Boolean).with_default("false");
    let found = hit(presets.look(urgent.clone().with_value("false")).await);
    assert_eq!(found.location.to_string(), "p:default of pay#/urgent");
    assert_eq!(presets.read(&found.location).as_deref(), Some("false"));
    assert_eq!(presets.look(urgent.clone().with_value("true")).await, Lookup::NoResult);

    // Contradicted by what the user said, it isn't filled.
    let conversation = Conversation::new();
    conversation.user("Make it urgent.");
    let sources = [conversation.instruction(), Arc::new(presets) as Arc<dyn Source>];
    let tried = look_up(&sources, SourceSet::ALL, urgent.with_value("false")).await;
    assert!(matches!(tried.outcome, Lookup::Conflict(_)), "{tried:?}");
}

/// "Values that will be used again should be recorded with the user's consent. What is recorded should be looked up, not
/// asked again."
#[tokio::test]
async fn what_is_kept_with_consent_is_looked_up_and_can_be_withdrawn() {
    let consent = Consent::at(Location::whole(Pointer::Turn(2), "Yes, remember it.")).unwrap();
    let memory = ProcessMemory::new();
    let address = slot("ship", "/address");
    let kept = Kept::new("home", &address, "\"Elm Street 5\"", consent.clone()).unwrap();
    memory.keep(kept.until("2024-12-31".parse().unwrap())).await.unwrap();

    let prior = Prior::new(Arc::new(memory.clone()));
    let on = |ask: Ask, day: &str| ask.on(day.parse::<Day>().unwrap());
    let found = hit(prior.look(on(address.clone().with_value("\"Elm Street 5\""), "2024-12-31")).await);
    assert_eq!(found.location.to_string(), "s:home");
    assert_eq!(prior.read(&found.location).as_deref(), Some("Elm Street 5"));
    let other = prior.look(on(address.clone().with_value("\"Oak Street 1\""), "2024-12-31")).await;
    assert!(matches!(other, Lookup::Conflict(_)), "{other:?}");
    // Over, at an unknown date, or of another slot.
    for nothing in [on(address.clone(), "2025-01-01"), address.clone(), on(slot("ship", "/to"), "2024-12-31")] {
        assert_eq!(prior.look(nothing).await, Lookup::NoResult);
    }
    assert_eq!(memory.withdraw("home".into()).await, Ok(true));
    assert_eq!(prior.look(on(address, "2024-12-31")).await, Lookup::NoResult);
    assert_eq!(prior.read(&found.location), None);
}

#[tokio::test]
async fn nothing_is_kept_without_consent_and_no_secret_at_all() {
    for pointer in ["p:x", "s:x", "r:call_1#"] {
        assert_eq!(Consent::at(Location::whole(pointer.parse().unwrap(), "yes")), None);
    }
    let consent = Consent::at(Location::whole(Pointer::Answer(1), "yes")).unwrap();
    Kept::new("pin", &slot("pay", "/pin").secret(), "\"4711\"", consent.clone()).unwrap_err();
    Kept::new("pin", &slot("pay", "/to"), "4711 ...", consent).unwrap_err();
}

#[tokio::test]
async fn a_memory_that_fails_is_not_an_empty_one() {
    struct Down;
    impl Memory for Down {
        fn recall(&self, _: String, _: String) -> BoxFuture<'static, Result<Vec<Kept>, String>> {
            Box::pin(std::future::ready(Err("the database is down".into())))
        }
        fn keep(&self, _: Kept) -> BoxFuture<'static, Result<(), String>> {
            unreachable!()
        }
        fn withdraw(&self, _: String) -> BoxFuture<'static, Result<bool, String>> {
            unreachable!()
        }
        fn at_hand(&self, _: &str) -> Option<Kept> {
            None
        }
    }
    let prior = Prior::new(Arc::new(Down));
    assert_eq!(prior.look(slot("ship", "/to")).await, Lookup::Failed("the database is down".into()));
}

/// Fills the account in, has it kept if `keep` says so, and answers.
fn remembers(keep: bool, answer: Answer, sets: &Arc<Mutex<usize>>) -> impl tool_runtime::Approver + 'static {
    let sets = Arc::clone(sets);
    move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        *sets.lock().unwrap() += 1;
        for question in &set.questions {
            assert!(question.blanks[0].keepable);
            assert!(set.keep(&question.id, "/iban").is_err(), "nothing is filled in yet");
            set.fill(&question.id, "/iban", "\"DE7\"").unwrap();
            if keep {
                set.keep(&question.id, "/iban").unwrap();
            }
            assert!(set.keep(&question.id, "/amount").is_err(), "that isn't asked for");
        }
        let answers = vec![answer; set.questions.len()];
        Box::pin(async { answers })
    }
}

/// "Values that will be used again are kept with consent, looked up, and never asked twice."
#[tokio::test]
async fn what_the_user_has_kept_is_looked_up_in_the_next_conversation() {
    for (keep, answer, kept) in [(true, Answer::Yes, 1), (false, Answer::Yes, 0), (true, Answer::No, 0)] {
        let bench = Bench::with("Pays.", PAY);
        let (memory, sets) = (ProcessMemory::new(), Arc::default());
        let list = |answers: &Answers| {
            let memory = Arc::new(memory.clone());
            Checklist::builder().answers(answers).memory(memory).source(presets(&[("/amount", "5")]))
        };
        let call = |id: &str| {
            ToolCall::new(id, "pay", r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]))
        };
        let first = Answers::new();
        let harness = bench.harness(AllowAll, list(&first)).approver(remembers(keep, answer, &sets));
        code_of(&harness, call("call_1")).await;
        let recalled = memory.recall("pay".to_owned(), "/iban".to_owned()).await.unwrap();
        assert_eq!(recalled.len(), kept, "{keep} {answer:?}");
        // Where the user agreed can be read back.
        if let Some(recalled) = recalled.first() {
            assert_eq!(recalled.value(), "\"DE7\"");
            assert_eq!(first.read(recalled.consent().location()).as_deref(), Some("DE7"));
        }
        // Another conversation, with answers of its own.
        let harness = bench.harness(AllowAll, list(&Answers::new())).approver(remembers(false, answer, &sets));
        code_of(&harness, call("call_2")).await;
        assert_eq!(*sets.lock().unwrap(), 2 - kept);
        if kept == 1 {
            let (_, state) = bench.slot("/iban");
            let SlotState::Found { at, .. } = state else { panic!("{state:?}") };
            assert_eq!(at.source(), SourceKind::Prior);
            assert!(memory.withdraw("pay/iban".to_owned()).await.unwrap());
        }
    }
}

/// "Never secrets."; and without a place for it nothing is offered to be kept.
#[tokio::test]
async fn secrets_are_not_kept_and_nothing_is_without_a_memory() {
    let secret = PAY.replace("\"The account that is paid.\"", "\"The account that is paid.\",\"x-tool-secret\":true");
    for (schema, has_memory) in [(secret.as_str(), true), (PAY, false)] {
        let bench = Bench::with("Pays.", schema);
        let answers = Answers::new();
        let mut list = Checklist::builder().answers(&answers).source(presets(&[("/amount", "5")]));
        if has_memory {
            list = list.memory(Arc::new(ProcessMemory::new()));
        }
        let asked: Arc<Mutex<usize>> = Arc::default();
        let count = Arc::clone(&asked);
        let approver = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            *count.lock().unwrap() += 1;
            let question = &set.questions[0];
            assert!(!question.blanks[0].keepable);
            set.fill(&question.id, "/iban", "\"DE7\"").unwrap();
            assert!(set.keep(&question.id, "/iban").is_err());
            Box::pin(async { vec![Answer::Yes] })
        };
        let harness = bench.harness(AllowAll, list).approver(approver);
        let call = ToolCall::new("call_1", "pay", r#"{"amount":5}"#)
            .with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
        assert_eq!(code_of(&harness, call).await.0, Code::Ok);
        assert_eq!(*asked.lock().unwrap(), 1);
    }
}

/// "New York" is the airport JFK where a list says so, and not because a model knows it.
#[tokio::test]
async fn other_words_for_a_value_stand_in_the_list() {
    const BOOK: &str = r#"{"type":"object","additionalProperties":false,"required":["to","bags"],"properties":{
        "to":{"type":"string"},"bags":{"type":"integer"},"cabin":{"enum":["economy","business"]}}}"#;
    let bench = Bench::with("Books.", BOOK);
    let list = |aliases: &str| {
        let lines = format!(
            r#"{{"line":[{{"tool":"pay","argument":"to","aliases":{{"JFK":["New York","Kennedy"]}}}},{aliases}]}}"#
        );
        let conversation = Conversation::new();
        conversation.user("Two bags to New York, please, and a cabin with the cheap seats.");
        (Checklist::builder().source(conversation.instruction()).json("ours", lines), conversation)
    };
    let call = || ToolCall::new("call_1", "pay", r#"{"to":"JFK","bags":2,"cabin":"economy"}"#);
    let (known, _conversation) = list(r#"{"tool":"pay","argument":"cabin","aliases":{"economy":"cheap seats"}}"#);
    let harness = bench.harness(AllowAll, known);
    let (code, said) = code_of(&harness, call()).await;
    assert_eq!(code, Code::Ok, "{said}");
    for (slot, phrase) in [("/to", "New York"), ("/cabin", "cheap seats")] {
        let (_, SlotState::Found { at, excerpt, .. }) = bench.slot(slot) else { panic!("{:?}", bench.slot(slot)) };
        assert_eq!((&*at.to_string(), excerpt.as_deref()), ("u1", Some(phrase)));
    }
    // Another airport isn't meant.
    let (code, _) = code_of(&harness, ToolCall::new("call_2", "pay", r#"{"to":"LGA","bags":2}"#)).await;
    assert_eq!(code, Code::Unanswered);

    for (line, why) in [
        (r#"{"tool":"pay","argument":"cabin","aliases":{"first":["the best"]}}"#, "`cabin` is never `first`"),
        (r#"{"tool":"pay","argument":"bags","aliases":{"a lot":["many"]}}"#, "`bags` is never `a lot`"),
        (r#"{"tool":"pay","argument":"bags","aliases":{"2":[]}}"#, "`2` is an empty list"),
        (r#"{"tool":"pay","argument":"bags","aliases":{"2":["a pair", " "]}}"#, "a phrase that means `2` is empty"),
        (r#"{"tool":"pay","argument":"bags","aliases":["a pair"]}"#, "`aliases` has to be a table"),
        (r#"{"tool":"pay","aliases":{"2":["a pair"]}}"#, "are about an `argument`, and there is none"),
    ] {
        let error = list(line).0.build(&bench.registry).unwrap_err().to_string();
        assert!(error.starts_with("ours: line 1, column ") && error.contains(why), "{error}");
    }
}
