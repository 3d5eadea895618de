//! Looking values up in what anybody may have written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::config;
use tool_runtime::{Ask, Conversation, Day, Hit, Lookup, Observation, Pointer, Shape, Source};

/// One step of a conversation.
#[derive(Debug, Clone)]
enum Step {
    User(String),
    Assistant(String),
    Result(String, bool),
}

/// What can be written of a slot, and the value that it is by then: one for each way of reading at least.
const WRITTEN: [(&str, &str, Kind); 15] = [
    ("mia_li_3668", "\"mia_li_3668\"", Kind::Text),
    ("Mia_Li_3668", "\"mia_li_3668\"", Kind::Text),
    ("the  first  class", "\"the first class\"", Kind::Text),
    ("DE89 3704", "\"DE893704\"", Kind::Text),
    ("HAT 136", "\"HAT136\"", Kind::Text),
    ("1,000", "1000", Kind::Number),
    ("two bags", "2", Kind::Number),
    ("$250", "250", Kind::Number),
    ("10kg", "10", Kind::Number),
    ("May 20th, 2024", "\"2024-05-20\"", Kind::Date),
    ("May 20th", "\"2024-05-20\"", Kind::Date),
    ("basic economy cabin", "\"basic_economy\"", Kind::Choice),
    ("a cabin in coach", "\"economy\"", Kind::Choice),
    ("no bags", "false", Kind::Boolean),
    ("with a bag", "true", Kind::Boolean),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Number,
    Date,
    Choice,
    Boolean,
}

impl Kind {
    fn shape(self) -> Shape {
        match self {
            Kind::Text => Shape::Text,
            Kind::Number => Shape::Number,
            Kind::Date => Shape::Date,
            Kind::Choice => Shape::Choice(["\"economy\"", "\"basic_economy\""].map(str::to_owned).into()),
            Kind::Boolean => Shape::Boolean,
        }
    }
}

/// Words that readers stumble over, beside any others.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => prop::sample::select(&WRITTEN[..]).prop_map(|(text, ..)| text.to_owned()),
        3 => prop::sample::select(vec![
            "May", "20th", "2024-05-20", "2024-13-99", "20.05.2024", "05/06/2024", "1.", "2)", "3", "$250", "1,000", "1,00,0",
            "two", "hundred", "thousand", "twenty-five", "one-way", "no", "yes", "bags", "bag", "economy", "basic economy",
            "mia_li_3668", "mia_li", "HAT 136", "HAT136", "DE89 3704", "tomorrow", "don't", "-5", "−5", "10kg", "?", ".",
            "\n", "\n\n", "\n1. ", "…", "\u{0}", "\u{202e}", "ﬁ", "İ", "ß", "荷物は2個", "🍸", "e\u{301}", "٣", "²", "½",
            "18446744073709551616", "99999999999999999999999999999999999999999", "1e400", "0.", ".5", "00007", "Ⅻ", "ǅ",
            "{\"total_bags\":2}", "[", "\"",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => any::<String>(),
    ];
    let gap = prop::sample::select(vec![" ", "", "  ", "-", "_", ", ", ". ", "\n"]);
    prop::collection::vec((word, gap), 0..12)
        .prop_map(|parts| parts.into_iter().map(|(word, gap)| word + gap).collect())
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        text().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        (0..20).prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
    ];
    let tree = leaf.prop_recursive(4, 16, 4, |inner| {
        let key = prop::sample::select(vec!["total_bags", "bags", "cabin", "date", "a/b", "~", "", "0"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(key.prop_map(str::to_owned), inner, 0..4)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    });
    tree.prop_map(|tree| tree.to_string())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        text().prop_map(Step::User),
        text().prop_map(Step::Assistant),
        (prop_oneof![json(), text()], any::<bool>()).prop_map(|(content, error)| Step::Result(content, error)),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let shapes = || {
        let members = ["\"economy\"", "\"basic_economy\"", "\"business\"", "2", "null"].map(str::to_owned);
        let polar = ["\"yes\"", "\"no\""].map(str::to_owned);
        let all = [Shape::Text, Shape::Integer, Shape::Number, Shape::Boolean, Shape::Date, Shape::Any];
        prop::sample::select([all.into(), vec![Shape::Choice(members.into()), Shape::Choice(polar.into())]].concat())
    };
    let values = prop_oneof![
        prop::sample::select(vec![
            "2",
            "0",
            "250",
            "1000",
            "-5",
            "true",
            "false",
            "\"economy\"",
            "\"no\"",
            "\"2024-05-20\"",
            "\"mia_li_3668\"",
            "\"HAT136\"",
            "\"\"",
            "\" \"",
            "{\"a\":[1]}",
            "[]",
            "null",
            "1e400",
            "{",
            "\"🍸\"",
            "\"DE893704\"",
        ])
        .prop_map(str::to_owned),
        text().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    let any_value = (shapes(), prop::option::of(values));
    let written =
        prop::sample::select(&WRITTEN[..]).prop_map(|(_, value, kind)| (kind.shape(), Some(value.to_owned())));
    let pointers = prop::sample::select(vec!["u1", "u2", "u9", "r:c0#", "r:c1#/total_bags", "r:c0#/0", "p:x", "a1"]);
    (prop_oneof![1 => any_value, 2 => written], prop::option::of(pointers), prop::bool::weighted(0.2)).prop_map(
        |((shape, value), pointer, secret)| {
            let mut ask = Ask::new("book", "/total_bags", shape)
                .saying(["bag", "cabin", "荷物"])
                .with_aliases([("\"economy\"", "coach"), ("\"HAT136\"", "the first flight")]);
            ask = ask.on(Day::new(2024, 5, 15).unwrap());
            if let Some(value) = value {
                ask = ask.with_value(value);
            }
            if let Some(pointer) = pointer {
                ask = ask.with_hint(pointer.parse().unwrap());
            }
            if secret { ask.secret() } else { ask }
        },
    )
}

fn add(conversation: &Conversation, at: usize, step: &Step) {
    match step {
        Step::User(text) => drop(conversation.user(text)),
        Step::Assistant(text) => drop(conversation.assistant(text)),
        // Some ids come twice.
        Step::Result(content, error) => {
            let result = Observation::new(format!("c{}", at % 3), "search", content.as_str());
            conversation.result(result.error(*error).unsourced(["\"HAT136\""]));
        }
    }
}

fn look(source: &Arc<dyn Source>, ask: &Ask) -> Lookup {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(source.look(ask.clone()))
}

/// What is told apart from other values: letters and digits, small.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A hit is of the asked value, stands where it says, and shows nothing of a secret.
fn is_sound(source: &Arc<dyn Source>, ask: &Ask, hit: &Hit) {
    assert_eq!(hit.location.source(), source.kind());
    let read = source.read(&hit.location);
    if ask.is_secret() {
        assert_eq!((read, hit.excerpt.as_ref(), hit.location.digest()), (None, None, None));
        return;
    }
    let read = read.unwrap_or_else(|| panic!("{hit:?}"));
    assert!(!read.is_empty() || hit.value == "\"\"", "{hit:?}");
    // A string stands there letter by letter, unless it is a day or has another word.
    let is_other =
        ["date", "date_from_now", "alias", "enum_spelling", "polarity"].contains(&hit.normalisation.as_str());
    if let Ok(value) = serde_json::from_str::<String>(&hit.value)
        && !is_other
    {
        assert_eq!(squeezed(&read), squeezed(&value), "{hit:?}");
    }
    if ["exact", "case", "spacing", "separators"].contains(&hit.normalisation.as_str()) {
        assert!(read.len() <= 4 * hit.value.len() + 16, "{hit:?}");
    }
}

/// Whatever stands in a conversation, looking something up ends, and what it gives can be followed.
#[test]
fn every_lookup_ends_and_every_hit_can_be_followed() {
    let found = RefCell::new(BTreeMap::<&'static str, usize>::new());
    let count = |what: &'static str| *found.borrow_mut().entry(what).or_default() += 1;
    let conversations = (prop::collection::vec(step(), 0..10), prop::collection::vec(ask(), 4..12));
    let outcome = TestRunner::new(config(400)).run(&conversations, |(steps, asks)| {
        let conversation = Conversation::new();
        steps.iter().enumerate().for_each(|(at, step)| add(&conversation, at, step));
        for source in [conversation.instruction(), conversation.observed()] {
            for ask in &asks {
                match look(&source, ask) {
                    Lookup::Hit(hit) => {
                        is_sound(&source, ask, &hit);
                        count(if ask.is_secret() { "a secret" } else { hit.normalisation.as_str() });
                        let wanted =
                            ask.value().and_then(|value| serde_json::from_str::<serde_json::Value>(value).ok());
                        if let Some(wanted) = wanted {
                            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&hit.value).unwrap(), wanted);
                        }
                    }
                    Lookup::Conflict(hits) => {
                        count("a conflict");
                        prop_assert!(!hits.is_empty());
                        for hit in &hits {
                            is_sound(&source, ask, hit);
                            prop_assert_ne!(Some(hit.value.as_str()), ask.value());
                        }
                    }
                    Lookup::Failed(_) => assert!(matches!(ask.value(), Some("{" | "1e400")), "{ask:?}"),
                    _ => {}
                }
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    // All ways to find something were gone.
    let found = found.into_inner();
    let ways = ["exact", "case", "spacing", "separators", "number", "number_word", "unit", "date", "date_from_now"];
    for way in ways.into_iter().chain(["enum_spelling", "polarity", "alias", "a secret", "a conflict"]) {
        assert!(found.get(way).is_some_and(|count| *count > 4), "{way}: {found:?}");
    }
}

proptest! {
    #![proptest_config(config(400))]

    /// Looking things up while a conversation grows gives what a conversation gives that came at once.
    #[test]
    fn a_conversation_that_grew_is_the_conversation(
        steps in prop::collection::vec(step(), 1..10),
        asks in prop::collection::vec(ask(), 1..4),
    ) {
        let grown = Conversation::new();
        for (at, step) in steps.iter().enumerate() {
            add(&grown, at, step);
            let fresh = Conversation::new();
            steps[..=at].iter().enumerate().for_each(|(at, step)| add(&fresh, at, step));
            for ask in &asks {
                prop_assert_eq!(look(&grown.instruction(), ask), look(&fresh.instruction(), ask));
                prop_assert_eq!(look(&grown.observed(), ask), look(&fresh.observed(), ask));
            }
        }
    }

    /// An identifier that the user wrote is found, whatever was said before and after it.
    #[test]
    fn what_was_said_is_found(
        before in prop::collection::vec(step(), 0..5),
        around in (text(), text()),
        after in prop::collection::vec(step(), 0..5),
        id in "[a-z]{2,5}_[0-9]{4,8}",
    ) {
        let conversation = Conversation::new();
        before.iter().enumerate().for_each(|(at, step)| add(&conversation, at, step));
        let number = conversation.user(&format!("{} {id} {}", around.0, around.1));
        after.iter().enumerate().for_each(|(at, step)| add(&conversation, at, step));
        let ask = Ask::new("pay", "/id", Shape::Text).with_value(format!("{id:?}"));
        let Lookup::Hit(hit) = look(&conversation.instruction(), &ask) else { panic!() };
        prop_assert_eq!(hit.location.pointer(), &Pointer::Turn(number));
        prop_assert_eq!(conversation.instruction().read(&hit.location), Some(id));
    }

    /// Another value than the one that stands there isn't found in its place.
    #[test]
    fn a_part_of_a_value_is_not_the_value(id in "[a-z]{2,5}_[a-z]{2,5}_[0-9]{4,8}", cut in 1..4usize) {
        let conversation = Conversation::new();
        conversation.user(&format!("it is {id}."));
        let parts: Vec<&str> = id.split('_').collect();
        let shorter = &id[..id.len() - cut];
        for part in [parts[0], parts[1], parts[2], shorter, &format!("{}_{}", parts[0], parts[1])] {
            if part == id || ["it", "is"].contains(&part) {
                continue;
            }
            let ask = Ask::new("pay", "/id", Shape::Text).with_value(format!("{part:?}"));
            prop_assert_eq!(look(&conversation.instruction(), &ask), Lookup::NoResult, "{} in {}", part, id);
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// A pointer is read as it is written, and nothing else is one.
    #[test]
    fn pointers_come_back(call in "\\PC{1,12}", key in "\\PC{1,12}", steps in prop::collection::vec("\\PC{0,5}", 0..4)) {
        let path: String = steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
        let path = tool_runtime::JsonPath::from_pointer(&path).unwrap();
        for pointer in
            [Pointer::CallResult { call: call.as_str().into(), path }, Pointer::Preset(key.clone()), Pointer::Prior(key)]
        {
            prop_assert_eq!(pointer.to_string().parse::<Pointer>(), Ok(pointer));
        }
    }
}
