use std::collections::HashMap;
use std::ops::Range;

use super::text::Words;

/// The words of a language by which values are written: numbers, months, yes and no. Data, of which hosts can give
/// more; [`Lexicon::english`] is what a [`Conversation`](crate::Conversation) reads by itself.
///
/// ```
/// use tool_runtime::{Conversation, Lexicon};
///
/// let german = Lexicon::english()
///     .numbers([("zwei", 2), ("drei", 3)])
///     .months([("Mai", 5)])
///     .yes(["ja"])
///     .no(["nein", "kein", "keine", "nicht"]);
/// let conversation = Conversation::with_lexicon(german);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    words: HashMap<String, Meaning>,
    /// What several words mean together, by the first: of `can't`, the letters on both sides of the sign are words.
    phrases: HashMap<String, Vec<(Vec<String>, Meaning)>>,
    ordinals: Vec<String>,
    units: Vec<String>,
}

/// All that a word can mean.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meaning {
    pub(crate) number: Option<u64>,
    pub(crate) month: Option<u8>,
    /// So many days from the host's date.
    pub(crate) relative: Option<i8>,
    pub(crate) yes: bool,
    pub(crate) no: bool,
    reserves: bool,
}

impl Lexicon {
    /// Without words: only digits are numbers, and nothing is a yes.
    pub fn none() -> Self {
        Lexicon::default()
    }

    /// English.
    pub fn english() -> Self {
        let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
        let small = [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ];
        let months = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        // Shorter ones are English words besides: `mar`, `sept` and the like aren't.
        let short = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        Lexicon::none()
            .numbers(small.into_iter().zip(0..))
            .numbers(tens.into_iter().zip((20..).step_by(10)))
            .numbers([("hundred", 100), ("thousand", 1000)])
            .months(months.into_iter().zip(1..))
            .months(short.into_iter().zip(1..))
            .months([("sept", 9)])
            .relative_days([("today", 0), ("tomorrow", 1), ("yesterday", -1)])
            .ordinals(["st", "nd", "rd", "th"])
            .units([
                "kg", "g", "km", "m", "cm", "mm", "mi", "ft", "lb", "lbs", "oz", "l", "ml", "h", "hr", "hrs", "min",
                "mins", "s", "sec", "ms", "usd", "eur", "gbp", "chf", "jpy",
            ])
            .yes([
                "yes",
                "yeah",
                "yep",
                "sure",
                "ok",
                "okay",
                "correct",
                "confirm",
                "confirmed",
                "agreed",
                "absolutely",
                "definitely",
            ])
            .no([
                "no",
                "not",
                "none",
                "nope",
                "nah",
                "never",
                "neither",
                "nor",
                "nothing",
                "without",
                "don",
                "doesn",
                "didn",
                "won",
                "wouldn",
                "isn",
                "aren",
                "wasn",
                "weren",
                "hasn",
                "haven",
                "hadn",
                "couldn",
                "shouldn",
                "mustn",
                "needn",
                "ain",
                "dont",
                "doesnt",
                "didnt",
                "isnt",
                "wasnt",
                "wouldnt",
                "shouldnt",
                "decline",
                "skip",
                "cannot",
                "cant",
                "can't",
                "can\u{2019}t",
            ])
            .reservations([
                "but",
                "except",
                "unless",
                "until",
                "instead",
                "rather",
                "if",
                "wait",
                "however",
                "though",
                "although",
                "maybe",
                "perhaps",
                "depends",
                "unsure",
                "not sure",
                "not yet",
                "don't know",
                "dont know",
                "no idea",
            ])
    }

    /// Adds words for numbers. `100` and `1000` multiply what stands before them, tens add the ones after them.
    #[must_use]
    pub fn numbers<W: Into<String>>(mut self, words: impl IntoIterator<Item = (W, u64)>) -> Self {
        words.into_iter().for_each(|(word, number)| self.word(word).number = Some(number));
        self
    }

    /// Adds names of months, from 1.
    #[must_use]
    pub fn months<W: Into<String>>(mut self, words: impl IntoIterator<Item = (W, u8)>) -> Self {
        words.into_iter().for_each(|(word, month)| self.word(word).month = Some(month));
        self
    }

    /// Adds words for days that are so many days from the host's date.
    #[must_use]
    pub fn relative_days<W: Into<String>>(mut self, words: impl IntoIterator<Item = (W, i8)>) -> Self {
        words.into_iter().for_each(|(word, days)| self.word(word).relative = Some(days));
        self
    }

    /// Adds endings that make a day of a number, such as `th`.
    #[must_use]
    pub fn ordinals<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.ordinals.extend(words.into_iter().map(folded));
        self
    }

    /// Adds units that may stand directly behind a number.
    #[must_use]
    pub fn units<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.units.extend(words.into_iter().map(folded));
        self
    }

    /// Adds words by which somebody agrees. Not "please": who writes "please wait" doesn't.
    #[must_use]
    pub fn yes<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().for_each(|word| self.phrase(word).yes = true);
        self
    }

    /// Adds words that deny. A member of an enum that stands behind one, as in "not a round trip", isn't said, and what was
    /// said of it before counts no more.
    #[must_use]
    pub fn no<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().for_each(|word| self.phrase(word).no = true);
        self
    }

    /// Adds words, or several in a row, by which somebody holds something back: "but", "if", "maybe", "not sure". A yes
    /// that begins a turn with one of them agrees to nothing, and an [answer](crate::Conversation::answer) isn't taken
    /// from beside one.
    #[must_use]
    pub fn reservations<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().for_each(|word| self.phrase(word).reserves = true);
        self
    }

    fn word(&mut self, word: impl Into<String>) -> &mut Meaning {
        self.words.entry(folded(word)).or_default()
    }

    /// The meaning of what may be more than one word, as [`Words`] cuts it.
    fn phrase(&mut self, word: impl Into<String>) -> &mut Meaning {
        let word = folded(word);
        let mut smalls = Words::new(word.as_str()).to_smalls();
        if smalls.len() < 2 {
            return self.words.entry(smalls.pop().unwrap_or(word)).or_default();
        }
        let known = self.phrases.entry(smalls.remove(0)).or_default();
        let at = known.iter().position(|(rest, _)| *rest == smalls).unwrap_or_else(|| {
            known.push((smalls, Meaning::default()));
            known.len() - 1
        });
        &mut known[at].1
    }

    /// What a word in small letters means.
    pub(crate) fn meaning(&self, word: &str) -> Meaning {
        self.words.get(word).copied().unwrap_or_default()
    }

    pub(crate) fn is_ordinal(&self, ending: &str) -> bool {
        self.ordinals.iter().any(|known| known == ending)
    }

    pub(crate) fn is_unit(&self, word: &str) -> bool {
        self.units.iter().any(|known| known == word)
    }

    /// Does a yes begin at this word of a text?
    pub(crate) fn is_yes(&self, words: &Words, at: usize) -> bool {
        self.begins(words, at, |meaning| meaning.yes)
    }

    /// Does a no begin there?
    pub(crate) fn is_no(&self, words: &Words, at: usize) -> bool {
        self.begins(words, at, |meaning| meaning.no)
    }

    /// Does a reservation begin there?
    pub(crate) fn is_reservation(&self, words: &Words, at: usize) -> bool {
        self.begins(words, at, |meaning| meaning.reserves)
    }

    /// Does a no begin at one of these words?
    pub(crate) fn denies(&self, words: &Words, mut within: Range<usize>) -> bool {
        within.any(|at| self.is_no(words, at))
    }

    /// Is something held back at one of them?
    pub(crate) fn reserves(&self, words: &Words, mut within: Range<usize>) -> bool {
        within.any(|at| self.is_reservation(words, at))
    }

    fn begins(&self, words: &Words, at: usize, means: impl Fn(&Meaning) -> bool) -> bool {
        let word = words.small(at);
        let follows = |rest: &[String]| words.smalls(at + 1, at + 1 + rest.len()).eq(rest);
        self.words.get(word).is_some_and(&means)
            || self.phrases.get(word).is_some_and(|known| known.iter().any(|(rest, of)| means(of) && follows(rest)))
    }
}

fn folded(word: impl Into<String>) -> String {
    word.into().to_lowercase()
}
