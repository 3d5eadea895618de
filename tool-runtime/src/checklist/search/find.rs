//! Where a string stands in a text, in whole words.

use super::text::{JOINED, Key, Words};
use crate::checklist::source::Normalisation;

/// How much work one lookup may do: words compared. What is left over isn't searched, and so isn't found: whoever can
/// answer is asked instead.
#[derive(Debug)]
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) const WORDS: usize = 400_000;

    pub(crate) fn new() -> Self {
        Budget(Self::WORDS)
    }

    /// Takes some of it. `None` if there isn't enough: then nothing is left.
    pub(crate) fn spend(&mut self, words: usize) -> Option<()> {
        let left = self.0.checked_sub(words);
        self.0 = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Something may not have been searched.
    pub(crate) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// A string that is searched for.
#[derive(Debug)]
pub(crate) struct Needle {
    text: String,
    small: String,
    words: Words,
    smalls: Vec<String>,
    first: Option<Key>,
    /// Its letters and digits alone, if it is an identifier: long enough, and with digits.
    joined: Option<Key>,
}

/// Bytes of a text in which a needle stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Position of the first word.
    pub(crate) word: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) normalisation: Normalisation,
}

/// Longer strings are no values that somebody says, and comparing them takes long.
const LONGEST: usize = 4096;

impl Needle {
    /// `None` for what can't be searched: an empty string, one of white space, or a very long one.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        let words = Words::new(text);
        let smalls = words.to_smalls();
        let joined = smalls.concat();
        let identifies = joined.chars().count() > JOINED && joined.bytes().any(|byte| byte.is_ascii_digit());
        Some(Needle {
            text: text.to_owned(),
            small: text.to_lowercase(),
            words,
            first: smalls.first().map(Key::new),
            smalls,
            joined: identifies.then(|| Key::joined(joined)),
        })
    }

    /// The places where it stands, in the text of a whole value `words`, the last first.
    pub(crate) fn last_in(&self, words: &Words, budget: &mut Budget) -> Option<Found> {
        let Some(first) = &self.first else {
            // Signs alone, such as `+` or `🍸`.
            budget.spend(words.text.len() / 8)?;
            let start = words.text.rfind(&self.text)?;
            return Some(Found { word: 0, start, end: start + self.text.len(), normalisation: Normalisation::Exact });
        };
        let mut best: Option<Found> = None;
        for at in words.positions(first) {
            budget.spend(self.smalls.len())?;
            let Some(found) = self.words_at(words, at) else { continue };
            if found.normalisation == Normalisation::Exact {
                return Some(found);
            }
            best = best.or(Some(found));
        }
        if best.is_some() {
            return best;
        }
        let joined = self.joined.as_ref()?;
        for at in words.joined_positions(joined) {
            budget.spend(self.smalls.len() + JOINED)?;
            if let Some(found) = joined_at(&joined.small, words, at) {
                return Some(found);
            }
        }
        None
    }

    /// All its words from a word on.
    fn words_at(&self, words: &Words, at: usize) -> Option<Found> {
        let to = at + self.smalls.len();
        let same = to <= words.words.len() && words.smalls(at, to).zip(&self.smalls).all(|(one, other)| one == other);
        if !same || !words.is_whole(at, to) {
            return None;
        }
        let mut spacing = true;
        for offset in 0..self.smalls.len() - 1 {
            let (mine, theirs) = (self.words.gap(offset), words.gap(at + offset));
            if mine != theirs {
                spacing &= is_space(mine) && is_space(theirs);
                if !separates(theirs) {
                    return None;
                }
            }
        }
        let (start, end) = (words.words[at].start, words.words[to - 1].end);
        // With the signs around its own words, if they stand there too.
        let lead = self.words.words.first().map_or(0, |word| word.start);
        let trail = self.text.len() - self.words.words.last().map_or(0, |word| word.end);
        let whole = start.checked_sub(lead).and_then(|from| words.text.get(from..end + trail).map(|part| (from, part)));
        let (start, end, normalisation) = match whole {
            Some((from, part)) if part == self.text => (from, end + trail, Normalisation::Exact),
            Some((from, part)) if part.to_lowercase() == self.small => (from, end + trail, Normalisation::Case),
            _ if spacing && lead + trail == 0 => (start, end, Normalisation::Spacing),
            _ => (start, end, Normalisation::Separators),
        };
        Some(Found { word: at, start, end, normalisation })
    }
}

/// The letters and digits of an identifier, from a word on and up to the end of one.
fn joined_at(joined: &str, words: &Words, at: usize) -> Option<Found> {
    let mut rest = joined;
    let mut to = at;
    while !rest.is_empty() {
        if to > at && !separates(words.gap(to - 1)) {
            return None;
        }
        let word = words.small(to);
        rest = if word.is_empty() { None } else { rest.strip_prefix(word) }?;
        to += 1;
    }
    let (start, end) = (words.words.get(at)?.start, words.words.get(to - 1)?.end);
    let found = Found { word: at, start, end, normalisation: Normalisation::Separators };
    words.is_whole(at, to).then_some(found)
}

/// White space, or a comma with some.
fn is_space(gap: &str) -> bool {
    !gap.is_empty() && gap.chars().all(|c| c.is_whitespace() || c == ',')
}

/// May this stand between two parts of one value?
fn separates(gap: &str) -> bool {
    gap.len() <= 4
        && gap.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '_' | '.' | ',' | '/' | ':' | '\'' | '\u{2019}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(needle: &str, text: &str) -> Option<(String, &'static str)> {
        let words = Words::new(text);
        let found = Needle::new(needle)?.last_in(&words, &mut Budget::new())?;
        Some((words.text[found.start..found.end].to_owned(), found.normalisation.as_str()))
    }

    #[test]
    fn whole_words_come_first_then_what_they_may_be_normalised_to() {
        for (needle, text, expected) in [
            ("mia_li_3668", "my ID is mia_li_3668.", Some(("mia_li_3668", "exact"))),
            ("Mia", "I am MIA Li", Some(("MIA", "case"))),
            ("Mia Li", "I am Mia\n  Li", Some(("Mia\n  Li", "spacing"))),
            ("San José", "to san josé, please", Some(("san josé", "case"))),
            ("HAT136", "flight HAT 136 or hat-137", Some(("HAT 136", "separators"))),
            ("HAT-137", "flight HAT 136 or hat137", Some(("hat137", "separators"))),
            (
                "DE89370400440532013000",
                "iban de89 3704 0044 0532 0130 00!",
                Some(("de89 3704 0044 0532 0130 00", "separators")),
            ),
            ("+49 30 1234", "call +49 30 1234 now", Some(("+49 30 1234", "exact"))),
            ("🍸", "a 🍸 please", Some(("🍸", "exact"))),
            ("荷物", "この荷物は", Some(("荷物", "exact"))),
            ("Li", "mia_li_3668", None),
            ("Mia", "mia.li3818@example.com", None),
            ("3818", "li3818", None),
            ("1234", "55-1234", None),
            ("New York", "New thing. York", None),
            ("ab", "a b", None),
            ("", "", None),
            (" ", " ", None),
        ] {
            let found = find(needle, text);
            assert_eq!(found.as_ref().map(|(text, how)| (text.as_str(), *how)), expected, "{needle} in {text}");
        }
    }

    #[test]
    fn the_budget_ends_a_search() {
        let words = Words::new("a b ".repeat(Budget::WORDS));
        let needle = Needle::new("a c").unwrap();
        let mut budget = Budget::new();
        assert_eq!(needle.last_in(&words, &mut budget), None);
        assert!(budget.spend(2).is_none());
    }
}
