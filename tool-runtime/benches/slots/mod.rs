//! What it costs to look up five slots after one more turn, against reading the whole text for each of them.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use tokio::runtime::Runtime;
use tool_runtime::{Ask, Conversation, Day, Lookup, Shape, Source, SourceSet, look_up_all};

const ROUNDS: usize = 301;

/// Fifty turns of 400 bytes, of which some say what is looked for.
fn turns() -> Vec<String> {
    let filler = "I have been thinking about the trip for a while, and about 37 other things that cost $1,250 or so; \
        my sister travels on March 3rd. We were last there in the summer of 2019, when flight HAT 204 was late.";
    let said =
        ["My id is mia_li_3668, ", "I want a business class seat, ", "We have two bags, ", "Leave on May 20th, "];
    (0..50)
        .map(|turn| format!("{}{filler} {filler}", said.get(turn / 12).filter(|_| turn % 12 == 5).unwrap_or(&"")))
        .map(|mut turn| {
            turn.truncate(400);
            turn
        })
        .collect()
}

const NEWEST: &str = "And one more thing: the account is DE89 3704 0044 0532 0130 00, please. ";

fn asks() -> Vec<(SourceSet, Ask)> {
    let now = Day::new(2024, 5, 15).expect("a day");
    let members = ["basic_economy", "economy", "business"].map(|member| format!("{member:?}"));
    let asks = [
        Ask::new("book", "/user_id", Shape::Text).with_value("\"mia_li_3668\""),
        Ask::new("book", "/iban", Shape::Text).with_value("\"DE89370400440532013000\""),
        Ask::new("book", "/cabin", Shape::Choice(members.into())).with_value("\"business\"").saying(["class"]),
        Ask::new("book", "/date", Shape::Date).with_value("\"2024-05-20\"").on(now),
        // Nobody said it.
        Ask::new("book", "/amount", Shape::Number).with_value("1251"),
    ];
    asks.map(|ask| (SourceSet::ALL, ask)).into()
}

pub(super) fn ratio(runtime: &Runtime) -> f64 {
    let turns = turns();
    let newest = format!("{NEWEST}{}", &turns[0][..400 - NEWEST.len()]);
    let whole = format!("{}\n{newest}", turns.join("\n"));
    let conversations = || {
        let conversation = Conversation::new();
        for turn in &turns {
            conversation.user(turn);
        }
        conversation
    };
    let asks = asks();
    let values: Vec<String> =
        asks.iter().filter_map(|(_, ask)| ask.value()).map(|value| value.trim_matches('"').to_owned()).collect();
    let found: Vec<bool> = values.iter().map(|value| scan::holds(&whole, value)).collect();
    assert_eq!(found, [true, true, true, true, false], "the scan finds what is there");
    let (mut scans, mut lookups) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        // Neither making the conversation nor letting it go is part of it.
        let conversation = conversations();
        let begun = ThreadTime::now();
        conversation.user(black_box(&newest));
        let sources: [Arc<dyn Source>; 1] = [conversation.instruction()];
        let tried = runtime.block_on(look_up_all(&sources, asks.iter().cloned()));
        lookups.push(begun.elapsed());
        let found: Vec<bool> = tried.iter().map(|tried| matches!(tried.outcome, Lookup::Hit(_))).collect();
        assert_eq!(found, [true, true, true, true, false], "the index finds what is there");

        let begun = ThreadTime::now();
        for value in &values {
            black_box(scan::holds(black_box(&whole), value));
        }
        scans.push(begun.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    median(&mut lookups) / median(&mut scans)
}

/// The plain way: the text made small, cut into words, and each of them compared with all that may mean the value.
mod scan {
    const NUMBERS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

    pub(super) fn holds(text: &str, value: &str) -> bool {
        let (text, value) = (text.to_lowercase(), value.to_lowercase());
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let wanted: Vec<&str> = value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.windows(wanted.len()).any(|window| window == wanted) {
            return true;
        }
        if let Ok(number) = value.parse::<f64>() {
            let marks: &[char] = &['$', '€', ',', '.', ';', ':'];
            let spelt = text.split_whitespace().map(|word| word.trim_matches(marks).replace(',', ""));
            let word = |word: &str| NUMBERS.iter().position(|spelt| *spelt == word).map(|number| number as f64);
            let is = |text: String| text.parse::<f64>().ok().or_else(|| word(&text)) == Some(number);
            return { spelt }.any(is);
        }
        if let [_, month, day] = wanted[..]
            && let (Ok(month), Ok(day)) = (month.parse::<usize>(), day.parse::<u8>())
        {
            let number = |word: &str| word.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<u8>().ok();
            let is_month = |word: &str| MONTHS.iter().position(|name| word.starts_with(name)) == Some(month - 1);
            return words.windows(2).any(|pair| is_month(pair[0]) && number(pair[1]) == Some(day));
        }
        // Identifiers, however their parts are separated.
        let squeezed: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        squeezed.contains(&wanted.concat())
    }
}
