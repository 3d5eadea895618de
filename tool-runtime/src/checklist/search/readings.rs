//! What numbers and days a text speaks of.

use super::lexicon::{Lexicon, Meaning};
use super::text::Words;
use crate::checklist::source::Normalisation;
use crate::schema::Day;
use crate::schema::json::canonical_number;

/// A number or a day, and the words that it is written in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) value: Read,
    /// Positions of words.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Bytes, with signs that belong to it.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) normalisation: Normalisation,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Read {
    /// In canonical spelling.
    Number(String),
    Day(Day),
    /// Month and day, of a year that isn't said.
    DayOfYear(u8, u8),
    /// So many days from the host's date.
    FromNow(i8),
}

/// All numbers and days of a text, in order. A number within a day, a time, an identifier or the numbering of a list
/// is none.
pub(crate) fn readings(words: &Words, lexicon: &Lexicon) -> Vec<Reading> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.words.len() {
        let digits = words.small(at).starts_with(|c: char| c.is_ascii_digit());
        let meaning = if digits { Meaning::default() } else { lexicon.meaning(words.small(at)) };
        // Most words mean neither.
        if !digits && meaning.number.is_none() && meaning.month.is_none() && meaning.relative.is_none() {
            at += 1;
            continue;
        }
        let day = days(words, lexicon, meaning, at);
        let next = match day {
            Some((reading, more)) => {
                found.push(reading);
                let to = found.last().map_or(at + 1, |reading| reading.to);
                found.extend(more);
                to
            }
            None => match number(words, lexicon, at) {
                Some(reading) => {
                    found.push(reading);
                    found.last().map_or(at + 1, |reading| reading.to)
                }
                None => at + 1,
            },
        };
        at = next.max(at + 1);
    }
    found
}

/// A number of so many digits at most.
fn digits(word: &str, least: usize, most: usize) -> Option<u16> {
    let plain = (least..=most).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| word.parse().ok()).flatten()
}

/// The day of a month: `20`, `20th`.
fn day_of_month(word: &str, lexicon: &Lexicon) -> Option<u8> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, ending) = word.split_at(end);
    let number = digits(number, 1, 2).filter(|day| (1..=31).contains(day))?;
    (ending.is_empty() || lexicon.is_ordinal(ending)).then(|| u8::try_from(number).ok()).flatten()
}

/// The day that begins at a word; and a second reading of the same words, if they have one.
fn days(words: &Words, lexicon: &Lexicon, meaning: Meaning, at: usize) -> Option<(Reading, Option<Reading>)> {
    let word = words.small(at);
    let reading = |value, to: usize, normalisation| Reading {
        value,
        from: at,
        to,
        start: words.words[at].start,
        end: words.words[to - 1].end,
        normalisation,
    };
    if let Some(days) = meaning.relative {
        return Some((reading(Read::FromNow(days), at + 1, Normalisation::DateFromNow), None));
    }
    if words.words[at].numbering {
        return None;
    }
    let (second, third) = (words.small(at + 1), words.small(at + 2));
    let year_at = |position: usize| {
        let near = matches!(words.gap(position - 1), " " | ", " | "," | " , ");
        digits(words.small(position), 4, 4).filter(|year| near && (1000..=2999).contains(year))
    };
    // `May 20th, 2024`, `20 May 2024`, `20th of May`.
    let near = |position: usize| matches!(words.gap(position), " " | "-" | ". " | ".");
    let named = match (meaning.month, day_of_month(word, lexicon)) {
        (Some(month), _) if near(at) => day_of_month(second, lexicon).map(|day| (month, day, at + 2)),
        (None, Some(day)) if near(at) => match lexicon.meaning(second).month {
            Some(month) => Some((month, day, at + 2)),
            None if near(at + 1) && second.chars().count() == 2 && digits(second, 1, 2).is_none() => {
                lexicon.meaning(third).month.map(|month| (month, day, at + 3))
            }
            None => None,
        },
        _ => None,
    };
    if let Some((month, day, to)) = named {
        // A leap year, since none is said.
        Day::new(2000, month, day)?;
        return Some(match year_at(to).and_then(|year| Day::new(year, month, day)) {
            Some(day) => (reading(Read::Day(day), to + 1, Normalisation::Date), None),
            None => (reading(Read::DayOfYear(month, day), to, Normalisation::DateFromNow), None),
        });
    }
    // `2024-05-20`, also before a time; `20.05.2024`, `05/20/2024`.
    let gap = words.gap(at);
    if !matches!(gap, "-" | "/" | ".") || words.gap(at + 1) != gap {
        return None;
    }
    if let Some(year) = digits(word, 4, 4) {
        let day = third.split_once('t').map_or(third, |(day, _)| day);
        let day = Day::new(year, part(second)?, part(day)?)?;
        let exact = gap == "-" && second.len() == 2 && third.len() == 2;
        let normalisation = if exact { Normalisation::Exact } else { Normalisation::Date };
        return Some((reading(Read::Day(day), at + 3, normalisation), None));
    }
    let (one, two, year) = (part(word)?, part(second)?, digits(third, 4, 4)?);
    // Which of the two is the month, the signs don't say, except that a point stands behind days.
    let mut read = [(two, one), (one, two)].into_iter().take(if gap == "." { 1 } else { 2 });
    let mut read = std::iter::from_fn(|| read.next())
        .filter_map(|(month, day)| Day::new(year, month, day))
        .map(|day| reading(Read::Day(day), at + 3, Normalisation::Date));
    let first = read.next()?;
    let other = read.next().filter(|other| other.value != first.value);
    Some((first, other))
}

fn part(word: &str) -> Option<u8> {
    digits(word, 1, 2)?.try_into().ok()
}

fn number(words: &Words, lexicon: &Lexicon, at: usize) -> Option<Reading> {
    let word = &words.words[at];
    if word.numbering {
        return None;
    }
    if words.text.as_bytes()[word.start].is_ascii_digit() {
        of_digits(words, lexicon, at)
    } else {
        of_words(words, lexicon, at)
    }
}

fn of_digits(words: &Words, lexicon: &Lexicon, at: usize) -> Option<Reading> {
    let (text, start) = (&words.text, words.words[at].start);
    let rest = &text.as_bytes()[start..];
    let run = |from: usize| rest[from.min(rest.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = run(0);
    let mut written = text[start..start + end].to_owned();
    if end > 40 {
        return None;
    }
    while written.len() <= 40 && end >= 1 && rest.get(end) == Some(&b',') && run(end + 1) == 3 && run(0) <= 3 {
        written.push_str(&text[start + end + 1..start + end + 4]);
        end += 4;
    }
    if rest.get(end) == Some(&b'.') && (1..=40).contains(&run(end + 1)) {
        let to = end + 1 + run(end + 1);
        written.push_str(&text[start + end..start + to]);
        end = to;
    }
    // The words it took, and what the last of them has besides digits.
    let mut to = at + 1;
    while words.words.get(to).is_some_and(|next| next.start < start + end) {
        to += 1;
    }
    let last = &words.words[to - 1];
    let suffix = &text[start + end..last.end];
    if !(suffix.is_empty() || lexicon.is_unit(&suffix.to_lowercase())) {
        return None;
    }
    let before = text[..start].chars().next_back();
    let after = text[last.end..].chars().next();
    let follows = |offset: usize| text[last.end..].chars().nth(offset).is_some_and(char::is_alphanumeric);
    let joins = |c: char| matches!(c, '_' | '-' | ':' | '/' | '.' | '@' | ',' | '\'');
    if after.is_some_and(joins) && follows(1) && !matches!(after, Some('-') if !digit_at(text, last.end + 1)) {
        return None;
    }
    let sign_stands_alone = |width: usize| {
        text[..start - width].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ':' | '='))
    };
    let (negative, from) = match before {
        Some('-') if sign_stands_alone(1) => (true, start - 1),
        Some('\u{2212}') if sign_stands_alone(3) => (true, start - 3),
        Some(c) if joins(c) && text[..start - 1].chars().next_back().is_some_and(char::is_alphanumeric) => return None,
        _ => (false, start),
    };
    let trimmed = written.trim_start_matches('0');
    let plain = match trimmed.as_bytes().first() {
        None | Some(b'.') => format!("0{trimmed}"),
        Some(_) => trimmed.to_owned(),
    };
    let literal = if negative { format!("-{plain}") } else { plain };
    let value = canonical_number(&literal)?.into_owned();
    let currency = |c: char| matches!(c, '$' | '€' | '£' | '¥' | '₹' | '%');
    let unit = !suffix.is_empty() || before.is_some_and(currency) || after.is_some_and(currency);
    let normalisation = match () {
        () if unit => Normalisation::Unit,
        () if value == text[from..last.end] => Normalisation::Exact,
        () => Normalisation::Number,
    };
    Some(Reading { value: Read::Number(value), from: at, to, start: from, end: last.end, normalisation })
}

fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// `twenty-five`, `two hundred fifty`.
fn of_words(words: &Words, lexicon: &Lexicon, at: usize) -> Option<Reading> {
    let (mut total, mut group) = (0_u64, lexicon.meaning(words.small(at)).number?);
    let mut last = group;
    let mut to = at + 1;
    // No number that somebody says has more words, and a run of them isn't read again from each on.
    while to - at < 16
        && matches!(words.gap(to - 1), " " | "-")
        && let Some(next) = lexicon.meaning(words.small(to)).number
    {
        match next {
            100 | 1000 if last < next => group = group.checked_mul(next)?,
            1..=9 if (20..100).contains(&last) && last % 10 == 0 => group = group.checked_add(next)?,
            1..=99 if last == 100 || last == 1000 => group = group.checked_add(next)?,
            _ => break,
        }
        if next == 1000 {
            total = total.checked_add(group)?;
            group = 0;
        }
        last = next;
        to += 1;
    }
    // `one-way`, `first-one`: part of another word.
    let joined = |gap: &str| matches!(gap, "-" | "_" | "'" | "\u{2019}" | ".");
    if joined(words.gap(to - 1)) || at.checked_sub(1).is_some_and(|before| joined(words.gap(before))) {
        return None;
    }
    let (start, end) = (words.words[at].start, words.words[to - 1].end);
    let value = Read::Number(total.checked_add(group)?.to_string());
    Some(Reading { value, from: at, to, start, end, normalisation: Normalisation::NumberWord })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, &'static str)> {
        let found = readings(&Words::new(text), &Lexicon::english());
        let shown = |value| match value {
            Read::Number(number) => number,
            Read::Day(day) => day.to_string(),
            Read::DayOfYear(month, day) => format!("{month}/{day}"),
            Read::FromNow(days) => format!("now{days:+}"),
        };
        found.into_iter().map(|reading| (shown(reading.value), reading.normalisation.as_str())).collect()
    }

    #[test]
    fn numbers_are_read_in_all_their_spellings() {
        for (text, expected) in [
            ("pay 250", &[("250", "exact")][..]),
            (
                "pay $250.50, or 1,000 or 1,234,567.80",
                &[("250.5", "unit"), ("1000", "number"), ("1234567.8", "number")],
            ),
            ("10kg and 5 %, -3 and 007", &[("10", "unit"), ("5", "exact"), ("-3", "exact"), ("7", "number")]),
            (
                "two bags, twenty-five seats, two hundred fifty",
                &[("2", "number_word"), ("25", "number_word"), ("250", "number_word")],
            ),
            ("three thousand two hundred", &[("3200", "number_word")]),
            ("a two-bag limit, a one-way trip", &[]),
            ("250.0", &[("250", "number")]),
            ("1, 2 and 3.", &[("1", "exact"), ("2", "exact"), ("3", "exact")]),
            ("a 3-year term", &[("3", "exact")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(value, how)| ((*value).to_owned(), *how)).collect();
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn parts_of_something_else_are_no_numbers() {
        for text in [
            "1. One-way",
            "HAT069",
            "06:00:00",
            "1.2.3",
            "user_12",
            "555-1234",
            "the 20th",
            "3/4",
            "12a",
            "call_7",
            "1,23",
            "12_000",
            "192.168.0.1",
            "a@5",
            "card 12-34-56",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn days_are_read_in_all_their_spellings() {
        for (text, expected) in [
            ("2024-05-20", &[("2024-05-20", "exact")][..]),
            ("2024-05-20T15:00:00", &[("2024-05-20", "date")]),
            ("on May 20th", &[("5/20", "date_from_now")]),
            ("May 20, 2024 at noon", &[("2024-05-20", "date")]),
            ("20 May 2024, the 21st of May", &[("2024-05-20", "date"), ("5/21", "date_from_now")]),
            ("20.5.2024", &[("2024-05-20", "date")]),
            ("05/20/2024", &[("2024-05-20", "date")]),
            ("05/06/2024", &[("2024-06-05", "date"), ("2024-05-06", "date")]),
            ("2024/5/20", &[("2024-05-20", "date")]),
            ("tomorrow", &[("now+1", "date_from_now")]),
            ("Feb 30, 2023-02-29, I may 2", &[]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(value, how)| ((*value).to_owned(), *how)).collect();
            let found: Vec<_> = read(text).into_iter().filter(|(value, _)| value.contains(['-', '/', '+'])).collect();
            if text.starts_with("Feb") {
                // "may 2" is a day however it is meant: a search for a value that isn't that day doesn't find it.
                assert_eq!(found, [("5/2".to_owned(), "date_from_now")]);
            } else {
                assert_eq!(found, expected, "{text}");
            }
        }
    }
}
