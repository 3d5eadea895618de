//! Turns of the user, read into the blanks that were put to them in words: what is taken, and what stays open.

use tool_runtime::{Blank, Conversation, Day, Lexicon, Location, Question, QuestionSet};

fn blank(slot: &str, types: &str) -> Blank {
    let mut blank = Blank::new(slot, slot);
    blank.types = types.to_owned();
    blank
}

fn day() -> Blank {
    let mut day = blank("/day", "string");
    day.format = "date".to_owned();
    day
}

fn cabin() -> Blank {
    let mut cabin = blank("/cabin", "string");
    cabin.choices = ["\"economy\"", "\"basic_economy\"", "\"business\""].map(str::to_owned).to_vec();
    cabin
}

fn amount() -> Blank {
    blank("/amount", "integer")
}

fn bags() -> Blank {
    let mut bags = blank("/total_bags", "integer or null");
    bags.says = vec!["luggage".to_owned(), "pieces of baggage".to_owned()];
    bags
}

fn memo() -> Blank {
    blank("/memo", "string")
}

fn iban() -> Blank {
    blank("/iban", "string")
}

fn insured() -> Blank {
    blank("/insurance", "boolean")
}

/// What is read of each blank, after a question of the assistant and some turns of the user.
fn read(blanks: &[Blank], assistant: &str, turns: &[&str], reasons: &[&str]) -> Vec<Option<String>> {
    let mut question = Question::new("call_1", "book", "{}");
    question.blanks = blanks.to_vec();
    question.reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
    let set = QuestionSet::new([question]);
    let conversation = Conversation::new();
    conversation.user("amount 99, memo: before it was asked");
    conversation.assistant(assistant);
    for turn in turns {
        conversation.user(turn);
    }
    let answer = conversation.answer(&set, 2, Some(Day::new(2024, 5, 19).unwrap())).remove(0);
    assert_eq!(answer.asks_for_a_yes(), !reasons.is_empty());
    let of = |blank: &Blank| {
        let value = answer.values().iter().find(|value| value.slot() == blank.slot);
        assert_eq!(value.is_none(), answer.open().contains(&blank.slot));
        // Each stands where it is said to stand.
        let stands = value.map(|value| conversation.instruction().read(value.at()));
        assert!(stands.is_none_or(|stands| stands.is_some_and(|text| !text.is_empty())));
        value.map(|value| value.value().to_owned())
    };
    let read: Vec<Option<String>> = blanks.iter().map(of).collect();
    assert_eq!(answer.is_whole(), reasons.is_empty() && read.iter().all(Option::is_some));
    read
}

#[test]
fn what_can_only_be_one_blank_s_is_taken() {
    for (blanks, turns, expected) in [
        (vec![amount()], vec!["5"], vec![Some("5")]),
        (vec![amount()], vec!["Make it twenty-five euros, please."], vec![Some("25")]),
        (vec![memo()], vec!["rent."], vec![Some("\"rent\"")]),
        (vec![memo()], vec!["Write \"rent for May\"."], vec![Some("\"rent for May\"")]),
        (vec![day()], vec!["tomorrow"], vec![Some("\"2024-05-20\"")]),
        (vec![day()], vec!["On May 21st"], vec![Some("\"2024-05-21\"")]),
        (vec![cabin()], vec!["Basic economy, please"], vec![Some("\"basic_economy\"")]),
        (vec![insured()], vec!["yes, please"], vec![Some("true")]),
        (vec![amount(), day()], vec!["5, on 2024-06-01"], vec![Some("5"), Some("\"2024-06-01\"")]),
        (vec![amount(), memo()], vec!["5 euros"], vec![Some("5"), None]),
        // Asked again for what is left, and answered.
        (vec![amount(), bags()], vec!["amount 5", "2"], vec![Some("5"), Some("2")]),
    ] {
        assert_eq!(
            read(&blanks, "What else?", &turns, &[]),
            expected.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>(),
            "{turns:?}"
        );
    }
}

#[test]
fn what_says_of_which_blank_it_is_is_taken() {
    for (blanks, turns, expected) in [
        (vec![amount(), bags()], vec!["The amount is 50, and 2 total bags"], vec![Some("50"), Some("2")]),
        (vec![amount(), bags()], vec!["two pieces of baggage, amount: 50"], vec![Some("50"), Some("2")]),
        (
            vec![iban(), memo()],
            vec!["iban: DE89 3704 0044\nmemo: rent, and the rest of May"],
            vec![Some("\"DE89 3704 0044\""), Some("\"rent, and the rest of May\"")],
        ),
        (vec![insured(), cabin()], vec!["no insurance, business cabin"], vec![Some("false"), Some("\"business\"")]),
        (vec![amount()], vec!["Yes, but the amount is 50"], vec![Some("50")]),
        (vec![memo()], vec!["memo: \"rent, of May\""], vec![Some("\"rent, of May\"")]),
        // What is said later is what counts.
        (vec![amount(), memo()], vec!["amount 5", "I meant an amount of 6"], vec![Some("6"), None]),
    ] {
        assert_eq!(
            read(&blanks, "What else?", &turns, &[]),
            expected.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>(),
            "{turns:?}"
        );
    }
    // By the items of a list.
    let list = "I need:\n1. the amount\n2. the total bags\n3. the iban";
    let read = read(&[amount(), bags(), iban()], list, &["1. 5\n2. 3\n3. DE1"], &[]);
    assert_eq!(read, ["5", "3", "\"DE1\""].map(|value| Some(value.to_owned())));
}

#[test]
fn nothing_is_guessed() {
    for (blanks, turns) in [
        // Two blanks that it fits.
        (vec![amount(), bags()], vec!["5"]),
        (vec![iban(), memo()], vec!["DE1"]),
        (vec![amount(), memo()], vec!["5"]),
        (vec![insured(), blank("/upgrade", "boolean")], vec!["yes"]),
        // Two values.
        (vec![amount()], vec!["5 or 6"]),
        (vec![amount()], vec!["The amount is 5, no, the amount is 6"]),
        (vec![cabin()], vec!["business, if not economy"]),
        // Something else is said, and it comes up in it.
        (vec![amount()], vec!["I will be back in 5 minutes with all the papers"]),
        (vec![memo()], vec!["I don't know yet what to write"]),
        (vec![amount()], vec!["Is it 5?"]),
        (vec![amount()], vec!["not 5"]),
        (vec![memo()], vec!["The memo is open. Should it be \"rent\"?"]),
        (vec![cabin()], vec!["Which is better, economy?"]),
        (vec![insured()], vec!["insurance costs too much"]),
        // No value of the kind.
        (vec![amount()], vec!["2.5"]),
        (vec![amount()], vec!["plenty"]),
        (vec![day()], vec!["soon"]),
        // Taken back, and said in another way.
        (vec![amount()], vec!["5", "no, forget it"]),
        (vec![amount()], vec!["5", "6 euros"]),
        // Denied, in whatever words.
        (vec![amount()], vec!["It shouldn't be 5"]),
        (vec![amount()], vec!["The amount isn\u{2019}t 50"]),
        (vec![amount()], vec!["The amount can't be 50"]),
        (vec![amount()], vec!["neither 5"]),
        (vec![iban()], vec!["iban: not yet"]),
        (vec![memo()], vec!["memo: should it be rent?"]),
        // Held back.
        (vec![amount()], vec!["The amount is 50 if it is cheap"]),
        (vec![amount()], vec!["maybe 50"]),
        (vec![cabin()], vec!["anything but economy"]),
        (vec![cabin()], vec!["Any cabin except economy"]),
        (vec![insured()], vec!["Okay, but not now"]),
        (vec![insured()], vec!["yes and no"]),
        (vec![insured()], vec!["I'm not sure about the insurance"]),
        (vec![insured()], vec!["I don't know about the insurance"]),
        (vec![insured()], vec!["please wait"]),
        (vec![insured()], vec!["please explain the insurance first"]),
        // Another number is as likely to be meant as the one that stands nearest.
        (vec![amount()], vec!["The amount for 3 people is 50"]),
        // A yes is no text.
        (vec![memo()], vec!["Yes."]),
        (vec![memo()], vec!["ok"]),
        // Nothing was said since.
        (vec![amount()], vec![]),
    ] {
        let expected = vec![None; blanks.len()];
        assert_eq!(read(&blanks, "What else?", &turns, &[]), expected, "{turns:?}");
    }
    // Neither is a secret read, nor what is no argument.
    let mut pin = amount();
    pin.secret = true;
    for blank in [pin, blank("@when", "string")] {
        assert_eq!(read(&[blank], "When?", &["5"], &[]), [None]);
    }
}

/// What a host adds to the words of a language may be more than one word, and of a script without spaces.
#[test]
fn a_no_of_several_words_is_one() {
    let lexicon = || Lexicon::english().yes(["\u{306f}\u{3044}"]).no(["auf keinen Fall", "\u{4e0d}\u{662f}"]);
    for (turn, expected) in
        [("auf keinen Fall 50", None), ("\u{4e0d}\u{662f} 50", None), ("auf jeden Fall 50", Some("50"))]
    {
        let mut question = Question::new("call_1", "pay", "{}");
        question.blanks = vec![amount()];
        let conversation = Conversation::with_lexicon(lexicon());
        let from = conversation.user(turn);
        let answer = conversation.answer(&QuestionSet::new([question]), from, None).remove(0);
        assert_eq!(answer.values().first().map(|value| value.value()), expected, "{turn}");
    }
}

/// "Go-aheads are not taken from free text": while one is asked for, a bare yes isn't a value either.
#[test]
fn a_yes_is_no_value_while_a_yes_is_asked_for() {
    assert_eq!(read(&[insured()], "With insurance? Shall I book it?", &["yes"], &["it costs money"]), [None]);
    let said = read(&[insured()], "With insurance? Shall I book it?", &["no insurance"], &["it costs money"]);
    assert_eq!(said, [Some("false".to_owned())]);
    assert_eq!(read(&[amount()], "How much?", &["5"], &["it costs money"]), [Some("5".to_owned())]);
}

/// The blank of a set that somebody waits for is filled in at once, as if it had been typed into a form.
#[test]
fn a_set_is_filled_in_by_what_was_read() {
    let mut question = Question::new("call_1", "pay", "{}");
    question.blanks = vec![amount()];
    let (id, set) = (question.id.clone(), QuestionSet::new([question]));
    let conversation = Conversation::new();
    let turn = conversation.user("5");
    let read = conversation.answer(&set, turn, None);
    assert_eq!((read[0].question(), read[0].values().len()), (&id, 1));
    let at: &Location = read[0].values()[0].at();
    assert_eq!((at.to_string(), at.span()), ("u1".to_owned(), 0..1));
}
