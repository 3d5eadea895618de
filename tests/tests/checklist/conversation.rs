//! What is found in a conversation, and what isn't.

use std::sync::Arc;

use tool_runtime::{Ask, Conversation, Day, Hit, Lexicon, Lookup, Normalisation, Observation, Pointer, Shape, Source};

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn cabin() -> Ask {
    let members = ["basic_economy", "economy", "business"].map(|member| format!("{member:?}"));
    Ask::new("book", "/cabin", Shape::Choice(members.into())).saying(["class", "fly", "seat"])
}

fn bags() -> Ask {
    Ask::new("book", "/total_bags", Shape::Integer).saying(["bag", "luggage"])
}

fn text(slot: &str, value: &str) -> Ask {
    Ask::new("pay", slot, Shape::Text).with_value(format!("{value:?}"))
}

async fn said(conversation: &Conversation, ask: Ask) -> Lookup {
    followed(conversation.instruction(), ask).await
}

async fn seen(conversation: &Conversation, ask: Ask) -> Lookup {
    followed(conversation.observed(), ask).await
}

/// Every place that a source gives can be followed to what it shows.
async fn followed(source: Arc<dyn Source>, ask: Ask) -> Lookup {
    let lookup = source.look(ask).await;
    let hits = match &lookup {
        Lookup::Hit(hit) => std::slice::from_ref(hit),
        Lookup::Conflict(hits) => hits,
        _ => &[],
    };
    for hit in hits {
        let read = source.read(&hit.location).map(|text| text.replace('\n', "\\n")).unwrap_or_default();
        let shown = hit.excerpt.as_deref().unwrap_or_default();
        // Of a long one the beginning is shown.
        assert!(read == shown || (read.len() > 80 && read[..80] == shown[..80]), "{hit:?} {read}");
    }
    lookup
}

fn hit(lookup: Lookup) -> Hit {
    match lookup {
        Lookup::Hit(hit) => hit,
        other => panic!("{other:?}"),
    }
}

fn conflict(lookup: Lookup) -> Vec<String> {
    match lookup {
        Lookup::Conflict(hits) => hits.into_iter().map(|hit| hit.value).collect(),
        other => panic!("{other:?}"),
    }
}

/// "An account number mentioned three turns ago has nowhere to be found. The instruction therefore covers the entire
/// conversation."
#[tokio::test]
async fn the_instruction_is_the_whole_conversation() {
    let conversation = Conversation::new();
    conversation.user("My account is DE89 3704 0044.");
    for turn in ["Send something.", "To Alice.", "Yes."] {
        conversation.assistant("And then?");
        conversation.user(turn);
    }
    let hit = hit(said(&conversation, text("/iban", "DE8937040044")).await);
    assert_eq!((hit.location.to_string().as_str(), hit.normalisation), ("u1", Normalisation::Separators));
    assert_eq!(hit.excerpt.as_deref(), Some("DE89 3704 0044"));
}

#[tokio::test]
async fn the_newest_turn_speaks_first() {
    let conversation = Conversation::new();
    conversation.user("Pay alice.");
    conversation.user("Pay alice, I said.");
    assert_eq!(hit(said(&conversation, text("/to", "alice")).await).location.pointer(), &Pointer::Turn(2));

    conversation.user("I want to fly economy.");
    conversation.user("No, the business class.");
    assert_eq!(hit(said(&conversation, cabin().with_value("\"business\"")).await).value, "\"business\"");
    let other = said(&conversation, cabin().with_value("\"economy\"")).await;
    assert_eq!(conflict(other), ["\"business\""]);
}

/// "What was left out is not visible from outside." What the assistant writes is no source.
#[tokio::test]
async fn the_assistant_s_turns_are_no_source() {
    let conversation = Conversation::new();
    conversation.user("Book me a flight from New York.");
    conversation.assistant("I found flight HAT069 from JFK.");
    conversation.user("What does it cost?");
    assert_eq!(said(&conversation, text("/flight", "HAT069")).await, Lookup::NoResult);
    assert_eq!(said(&conversation, text("/origin", "JFK")).await, Lookup::NoResult);
    // Unless the list says what the city means.
    let origin = text("/origin", "JFK").with_aliases([("\"JFK\"", "New York"), ("\"SFO\"", "San Francisco")]);
    assert_eq!(hit(said(&conversation, origin).await).normalisation, Normalisation::Alias);
}

#[tokio::test]
async fn what_the_assistant_proposed_counts_once_the_user_accepts_it() {
    let conversation = Conversation::new();
    conversation.user("Send it home.");
    conversation.assistant("Your card ends in 7447. Shall I use the address Elm Street 5?");
    let address = || text("/address", "Elm Street 5");
    assert_eq!(said(&conversation, address()).await, Lookup::NoResult);
    conversation.user("Yes, please.");
    let found = hit(said(&conversation, address()).await);
    assert_eq!(found.location.to_string(), "proposed in the assistant's turn 1, accepted in u2");
    assert_eq!((found.location.proposed(), found.location.pointer()), (Some(1), &Pointer::Turn(2)));
    // What stood beside the question wasn't asked.
    assert_eq!(said(&conversation, text("/card", "7447")).await, Lookup::NoResult);
}

#[tokio::test]
async fn a_no_or_another_subject_accepts_nothing() {
    for answer in [
        "No, another one.",
        "What is the weather?",
        "Yes, but not there.",
        "Yes?",
        "Yes, but to Oak Street.",
        "Yes, if it is near.",
        "Yes. No, wait.",
        "Yes. But only on weekdays.",
        "\"Yes\" is what you want to hear.",
        "> yes\nThat was another one's.",
        "Please wait.",
        "Sure, \"Oak Street 7\".",
    ] {
        let conversation = Conversation::new();
        conversation.assistant("Shall I use the address Elm Street 5?");
        conversation.user(answer);
        assert_eq!(said(&conversation, text("/address", "Elm Street 5")).await, Lookup::NoResult, "{answer}");
    }
}

/// Who agrees and says another value doesn't agree to the one that was proposed.
#[tokio::test]
async fn a_yes_with_another_value_accepts_nothing() {
    let amount = || Ask::new("pay", "/amount", Shape::Integer).with_value("500");
    let on = || Ask::new("pay", "/day", Shape::Date).with_value("\"2024-05-20\"").on(day("2024-05-19"));
    for (answer, sends, then) in [
        ("Yes.", true, true),
        ("Yes, 300.", false, true),
        ("Sure, make it three hundred.", false, true),
        ("Ok, today.", true, false),
    ] {
        let conversation = Conversation::new();
        conversation.assistant("Shall I pay an amount of 500 on the day 2024-05-20?");
        conversation.user(answer);
        assert_eq!(matches!(said(&conversation, amount()).await, Lookup::Hit(_)), sends, "{answer}");
        assert_eq!(matches!(said(&conversation, on()).await, Lookup::Hit(_)), then, "{answer}");
    }
}

#[tokio::test]
async fn small_and_closed_values_need_to_be_said_of_the_slot() {
    let conversation = Conversation::new();
    conversation.user("There are 2 of us, and my meeting is about business.");
    assert_eq!(said(&conversation, bags().with_value("2")).await, Lookup::NoResult);
    assert_eq!(said(&conversation, cabin().with_value("\"business\"")).await, Lookup::NoResult);

    conversation.user("I have two bags and fly business.");
    assert_eq!(hit(said(&conversation, bags().with_value("2")).await).normalisation, Normalisation::NumberWord);
    hit(said(&conversation, cabin().with_value("\"business\"")).await);
    assert_eq!(conflict(said(&conversation, bags().with_value("3")).await), ["2"]);
}

#[tokio::test]
async fn a_question_says_what_its_answer_is_about() {
    let conversation = Conversation::new();
    conversation.user("Book it.");
    conversation.assistant("How many bags do you have?");
    conversation.user("2");
    assert_eq!(hit(said(&conversation, bags().with_value("2")).await).location.pointer(), &Pointer::Turn(2));

    // Items answer items; the number of an item is no number.
    let conversation = Conversation::new();
    conversation.assistant("1. How many bags?\n2. Which class?\n3. How many seats?");
    conversation.user("1. three\n2. economy\n3. 4");
    hit(said(&conversation, bags().with_value("3")).await);
    assert_eq!(conflict(said(&conversation, bags().with_value("1")).await), ["3"]);
    assert_eq!(conflict(said(&conversation, bags().with_value("4")).await), ["3"]);
    hit(said(&conversation, cabin().with_value("\"economy\"")).await);
}

#[tokio::test]
async fn the_longest_member_is_meant() {
    let conversation = Conversation::new();
    conversation.user("A basic economy seat, please.");
    let found = hit(said(&conversation, cabin().with_value("\"basic_economy\"")).await);
    assert_eq!(found.normalisation, Normalisation::EnumSpelling);
    assert_eq!(conflict(said(&conversation, cabin().with_value("\"economy\"")).await), ["\"basic_economy\""]);
}

/// What is denied isn't said, and takes back what was.
#[tokio::test]
async fn a_member_that_is_denied_is_not_meant() {
    let (economy, business) = (|| cabin().with_value("\"economy\""), || cabin().with_value("\"business\""));
    for turn in ["I fly economy, not business.", "My class isn't what it was: economy. Don't take business class."] {
        let conversation = Conversation::new();
        conversation.user(turn);
        hit(said(&conversation, economy()).await);
        assert_eq!(conflict(said(&conversation, business()).await), ["\"economy\""], "{turn}");
    }
    for turn in ["Not a business seat.", "I don't want business class.", "No business class, please."] {
        let conversation = Conversation::new();
        conversation.user("A business seat.");
        hit(said(&conversation, business()).await);
        conversation.user(turn);
        assert_eq!(said(&conversation, business()).await, Lookup::NoResult, "{turn}");
        // Nor is it proposed by who asks whether it isn't, or read where it is denied.
        conversation.assistant("So not a business seat?");
        conversation.user("Yes.");
        assert_eq!(said(&conversation, business()).await, Lookup::NoResult, "{turn}");
        let pointed = business().with_hint("u2".parse().unwrap());
        assert_eq!(said(&conversation, pointed).await, Lookup::NoResult, "{turn}");
    }
    for turn in
        ["No, a business seat.", "I am not sure about the date. A business seat.", "Why not? My class is business."]
    {
        let conversation = Conversation::new();
        conversation.user(turn);
        hit(said(&conversation, business()).await);
    }
}

#[tokio::test]
async fn a_yes_or_no_is_said_of_something() {
    let insurance = |value: &str| Ask::new("book", "/insurance", Shape::Boolean).with_value(value);
    for (turn, wanted) in [
        ("No insurance, please.", "false"),
        ("I don't need any travel insurance.", "false"),
        ("Insurance: no.", "false"),
        ("I'd like the insurance.", "true"),
        ("Yes, insurance too.", "true"),
        ("I have no bags. Add the insurance.", "true"),
    ] {
        let conversation = Conversation::new();
        conversation.user(turn);
        hit(said(&conversation, insurance(wanted)).await);
        let other = if wanted == "true" { "false" } else { "true" };
        assert_eq!(conflict(said(&conversation, insurance(other)).await), [wanted], "{turn}");
    }
    let conversation = Conversation::new();
    conversation.user("What about insurance? Yes to the bags.");
    assert_eq!(said(&conversation, insurance("true")).await, Lookup::NoResult);
}

#[tokio::test]
async fn days_without_a_year_take_it_from_the_host_s_date() {
    let conversation = Conversation::new();
    conversation.user("On May 20th, back on January 3.");
    let ask = |value: &str| Ask::new("book", "/date", Shape::Date).with_value(value);
    let now = day("2024-05-15");
    let found = hit(said(&conversation, ask("\"2024-05-20\"").on(now)).await);
    assert_eq!(found.normalisation, Normalisation::DateFromNow);
    // January is over, so the next one may be meant as well.
    hit(said(&conversation, ask("\"2025-01-03\"").on(now)).await);
    for other in [ask("\"2025-05-20\"").on(now), ask("\"2024-05-20\""), ask("\"2024-05-21\"").on(now)] {
        assert_eq!(said(&conversation, other).await, Lookup::NoResult);
    }
}

/// "Point to the location, not the value."
#[tokio::test]
async fn a_value_is_read_where_the_model_points() {
    let conversation = Conversation::new();
    conversation.user("Two bags, on May 20th, for \"Ann Lee\".");
    conversation.user("Between 5 and 8.");
    let at = |ask: Ask, pointer: &str| ask.with_hint(pointer.parse().unwrap()).on(day("2024-05-15"));
    let read = async |ask: Ask| hit(said(&conversation, ask).await).value;
    assert_eq!(read(at(bags(), "u1")).await, "2");
    assert_eq!(read(at(Ask::new("book", "/date", Shape::Date), "u1")).await, "\"2024-05-20\"");
    assert_eq!(read(at(Ask::new("book", "/name", Shape::Text), "u1")).await, "\"Ann Lee\"");
    assert_eq!(conflict(said(&conversation, at(bags(), "u2")).await), ["8", "5"]);
    for nothing in
        [at(cabin(), "u1"), at(bags(), "u3"), at(bags(), "r:x#"), bags(), at(Ask::new("t", "/x", Shape::Any), "u1")]
    {
        assert_eq!(said(&conversation, nothing).await, Lookup::NoResult);
    }
}

/// "Check the pointed-at location to confirm that the value is actually there."
#[tokio::test]
async fn a_location_proves_nothing_by_itself() {
    let conversation = Conversation::new();
    conversation.user("Pay alice.");
    let pointed = |value: &str| text("/to", value).with_hint(Pointer::Turn(1));
    hit(said(&conversation, pointed("alice")).await);
    assert_eq!(said(&conversation, pointed("bob")).await, Lookup::NoResult);
    // Pointing anchors a small value, and a later word on it still counts.
    conversation.user("Make it 2, then.");
    let pointed = |value: &str| bags().with_value(value).with_hint(Pointer::Turn(2));
    hit(said(&conversation, pointed("2")).await);
    conversation.user("No, 3 bags.");
    assert_eq!(conflict(said(&conversation, pointed("2")).await), ["3"]);
}

#[tokio::test]
async fn results_vouch_by_their_values_at_places_that_can_be_followed() {
    let conversation = Conversation::new();
    let result = r#"{"flights":[{"date":"2024-05-20","price":152.0}],"note":"gate\n12","open":true}"#;
    conversation.result(Observation::new("call_7", "search", result));
    let ask = |shape, value: &str| Ask::new("book", "/x", shape).with_value(value);
    for (shape, value, place) in [
        (Shape::Date, "\"2024-05-20\"", "r:call_7#/flights/0/date"),
        (Shape::Number, "152", "r:call_7#/flights/0/price"),
        (Shape::Text, "\"gate\\n12\"", "r:call_7#/note"),
    ] {
        let found = hit(seen(&conversation, ask(shape, value)).await);
        assert_eq!((found.location.to_string().as_str(), found.value.as_str()), (place, value));
    }
    let at = |shape, place: &str| Ask::new("book", "/x", shape).with_hint(place.parse().unwrap());
    assert_eq!(hit(seen(&conversation, at(Shape::Boolean, "r:call_7#/open")).await).value, "true");
    assert_eq!(hit(seen(&conversation, at(Shape::Integer, "r:call_7#/flights/0/price")).await).value, "152");
    for nothing in ["r:call_7#/flights/1/date", "r:call_8#/open", "r:call_7#", "r:call_7#/note"] {
        assert_eq!(seen(&conversation, at(Shape::Boolean, nothing)).await, Lookup::NoResult, "{nothing}");
    }
    // Few values are there: only under the name of the slot.
    assert_eq!(seen(&conversation, ask(Shape::Boolean, "true")).await, Lookup::NoResult);
    let open = Ask::new("book", "/open", Shape::Boolean);
    hit(seen(&conversation, open.clone().with_value("true")).await);
    assert_eq!(seen(&conversation, open.with_value("false")).await, Lookup::NoResult);
}

#[tokio::test]
async fn what_is_read_out_of_a_text_of_a_result_is_shown_where_it_stands() {
    let conversation = Conversation::new();
    let result =
        r#"{"note":"By train, in economy, on May 20th, 2024.","fare":"It is $250 in all.","bags":"There are 2."}"#;
    conversation.result(Observation::new("call_7", "search", result));
    let members = |members: &[&str]| Shape::Choice(members.iter().map(ToString::to_string).collect());
    for (shape, place, value, shown) in [
        (members(&["\"economy\"", "\"business\""]), "note", "\"economy\"", "economy"),
        (members(&["1", "2"]), "bags", "2", "2"),
        (Shape::Date, "note", "\"2024-05-20\"", "May 20th, 2024"),
        (Shape::Number, "fare", "250", "250"),
        (Shape::Text, "fare", "\"It is $250 in all.\"", "It is $250 in all."),
    ] {
        let pointer = format!("r:call_7#/{place}").parse().unwrap();
        let found = hit(seen(&conversation, Ask::new("book", "/x", shape).with_hint(pointer)).await);
        assert_eq!((found.value.as_str(), found.excerpt.as_deref()), (value, Some(shown)));
    }
}

#[tokio::test]
async fn echoes_errors_and_pure_tools_vouch_for_nothing() {
    let origin = || text("/origin", "JFK");
    let observed = |change: fn(Observation) -> Observation| {
        let conversation = Conversation::new();
        conversation.result(change(Observation::new("c", "search", r#"{"origin":"JFK","to":"SEA"}"#)));
        conversation
    };
    hit(seen(&observed(|result| result), origin()).await);
    for conversation in [
        observed(|result| result.error(true)),
        observed(|result| result.pure(true)),
        observed(|result| result.unsourced(["\"jfk\""])),
    ] {
        assert_eq!(seen(&conversation, origin()).await, Lookup::NoResult);
        let pointed = Ask::new("pay", "/origin", Shape::Text).with_hint("r:c#/origin".parse().unwrap());
        assert_eq!(seen(&conversation, pointed).await, Lookup::NoResult);
    }
    // What else stands in such an echo was looked up.
    hit(seen(&observed(|result| result.unsourced(["\"JFK\""])), text("/to", "SEA")).await);
}

#[tokio::test]
async fn a_secret_is_found_and_leaves_no_trace() {
    let conversation = Conversation::new();
    conversation.user("My PIN is 47110815.");
    let Lookup::Hit(hit) = conversation.instruction().look(text("/pin", "47110815").secret()).await else { panic!() };
    assert_eq!((hit.excerpt.as_deref(), hit.location.digest()), (None, None));
    assert_eq!(conversation.instruction().read(&hit.location), None);
    assert!(!format!("{hit:?}").contains("4711"));
}

#[tokio::test]
async fn other_languages_are_data() {
    let german = Lexicon::none().numbers([("zwei", 2)]).months([("Mai", 5)]).yes(["ja"]).no(["kein", "keine"]);
    let conversation = Conversation::with_lexicon(german);
    conversation.user("Ich habe zwei Koffer, am 20. Mai. Keine Versicherung!");
    let koffer = Ask::new("book", "/total_bags", Shape::Integer).saying(["Koffer"]).with_value("2");
    hit(said(&conversation, koffer).await);
    let date = Ask::new("book", "/date", Shape::Date).with_value("\"2024-05-20\"").on(day("2024-05-01"));
    hit(said(&conversation, date).await);
    let insurance = Ask::new("book", "/insurance", Shape::Boolean).saying(["Versicherung"]);
    hit(said(&conversation, insurance.clone().with_value("false")).await);
    conflict(said(&conversation, insurance.with_value("true")).await);

    let conversation = Conversation::new();
    conversation.user("荷物は2個です");
    let bags = Ask::new("book", "/total_bags", Shape::Integer).saying(["荷物"]).with_value("2");
    hit(said(&conversation, bags).await);
}

#[tokio::test]
async fn clones_are_one_conversation_on_any_thread() {
    let conversation = Conversation::new();
    let source = conversation.instruction();
    let clone = conversation.clone();
    std::thread::spawn(move || clone.user("Pay alice.")).join().unwrap();
    assert_eq!((conversation.turns(), conversation.turn(1).as_deref()), (1, Some("Pay alice.")));
    hit(source.look(text("/to", "alice")).await);
}

#[tokio::test]
async fn what_is_too_long_is_not_found_rather_than_searched_for_ever() {
    let conversation = Conversation::new();
    conversation.user("Pay alice.");
    let long = "a".repeat(Conversation::MOST_OF_ONE);
    for _ in 0..Conversation::MOST_TEXT / Conversation::MOST_OF_ONE {
        conversation.user(&long);
    }
    // The oldest turn had to go, and says so.
    assert_eq!(said(&conversation, text("/to", "alice")).await, Lookup::NoResult);
    assert_eq!(conversation.turn(1), None);
    conversation.user("Pay bob.");
    hit(said(&conversation, text("/to", "bob")).await);
}

/// Without bounds each of these would take hours.
#[tokio::test]
async fn hostile_texts_cost_no_more_than_their_length() {
    let long = |part: &str| part.repeat(100_000 / part.len());
    for part in [
        "bag 1 ",
        "bag. ",
        "bag?\n",
        "1. bag\n",
        "bags\n1) 2 ",
        "one thousand ",
        "one-",
        "a_",
        "a ",
        "1",
        "1,000,",
        "May 20 ",
        "20 ",
        "economy business ",
        "no ",
        "\"",
        "(((",
        "yes ",
    ] {
        let conversation = Conversation::new();
        conversation.assistant(&long(part));
        conversation.user(&long(part));
        let leaves = format!("[{}1]", long(&format!("{{\"total_bags\":\"{}\"}},", part.trim().replace('"', ""))));
        conversation.result(Observation::new("c", "t", leaves));
        let asks = [
            bags(),
            bags().with_value("7"),
            bags().with_value("7").with_hint(Pointer::Turn(1)),
            bags().with_hint(Pointer::Turn(1)),
            bags().with_hint("r:c#/0/total_bags".parse().unwrap()),
            cabin().with_value("\"basic_economy\""),
            cabin().with_hint(Pointer::Turn(1)),
            Ask::new("book", "/bag", Shape::Boolean).with_value("true"),
            text("/bag", "a_a_a_b"),
            text("/bag", "a a a a a a b"),
            text("/bag", &"a ".repeat(2000)),
            Ask::new("book", "/bag", Shape::Date).with_value("\"2024-05-21\"").on(day("2024-05-15")),
            Ask::new("book", "/bag", Shape::Date).with_hint(Pointer::Turn(1)).on(day("2024-05-15")),
        ];
        for ask in asks {
            // It ends; what it gives can be followed.
            followed(conversation.instruction(), ask.clone()).await;
            followed(conversation.observed(), ask).await;
        }
    }
}

#[tokio::test]
async fn what_was_not_read_to_its_end_says_nothing() {
    let conversation = Conversation::new();
    conversation.user("I have 2 bags.");
    hit(said(&conversation, bags().with_value("2")).await);
    // Whatever it says of bags, it isn't the older turn that counts.
    conversation.user(&"bag ".repeat(250_000));
    assert_eq!(said(&conversation, bags().with_value("2")).await, Lookup::NoResult);
}
