//! A text cut into words and sentences, with an index of the words.

use crate::schema::text::is_dense;

/// A word: a run of letters and digits, or a letter of a script that puts no spaces between words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    /// Bytes of the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Bytes of the text in small letters.
    small: (usize, usize),
    pub(crate) sentence: usize,
    /// It counts the items of a list, and says nothing else.
    pub(crate) numbering: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sentence {
    /// Its words.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The number of the list's item that it belongs to.
    pub(crate) item: Option<u32>,
    pub(crate) asks: bool,
}

/// A text with its words and sentences.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) text: String,
    small: String,
    pub(crate) words: Vec<Word>,
    pub(crate) sentences: Vec<Sentence>,
    /// Of every word.
    by_word: Index,
    /// Of the first letters and digits from every word on, whatever stands between them.
    by_joined: Index,
}

/// Hashes with positions, in order, and which hashes there may be at all.
#[derive(Debug, Default)]
struct Index {
    entries: Vec<(u32, u32)>,
    seen: [u64; 8],
}

impl Index {
    fn new(hashes: impl Iterator<Item = u32>) -> Self {
        let mut entries: Vec<(u32, u32)> = hashes.zip(0..).collect();
        entries.sort_unstable();
        let mut seen = [0; 8];
        for (hash, _) in &entries {
            seen[(hash >> 6 & 7) as usize] |= 1 << (hash & 63);
        }
        Index { entries, seen }
    }

    /// Positions with this hash, the last first.
    fn positions(&self, hash: u32) -> impl Iterator<Item = usize> {
        let may_be = self.seen[(hash >> 6 & 7) as usize] & 1 << (hash & 63) != 0;
        let range = if may_be {
            let from = self.entries.partition_point(|(other, _)| *other < hash);
            from..from + self.entries[from..].partition_point(|(other, _)| *other == hash)
        } else {
            0..0
        };
        self.entries[range].iter().rev().map(|(_, at)| *at as usize)
    }
}

/// A word that is searched for, in small letters.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) small: String,
    hash: u32,
}

impl Key {
    pub(crate) fn new(small: impl Into<String>) -> Self {
        let small = small.into();
        Key { hash: hash(small.bytes()), small }
    }

    /// The first letters and digits of a text, whatever stands between them.
    pub(crate) fn joined(small: impl Into<String>) -> Self {
        let small = small.into();
        Key { hash: joined(small.chars()), small }
    }
}

/// How many letters and digits the index of joined words knows of each.
pub(crate) const JOINED: usize = 4;

fn hash(parts: impl Iterator<Item = u8>) -> u32 {
    // FNV-1a. What collides is compared; how often, is bounded by whoever searches.
    parts.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn joined(letters: impl Iterator<Item = char>) -> u32 {
    hash(letters.take(JOINED).flat_map(|c| u32::from(c).to_le_bytes()))
}

fn push_small(small: &mut String, word: &str) {
    if word.is_ascii() {
        let from = small.len();
        small.push_str(word);
        small[from..].make_ascii_lowercase();
    } else {
        small.extend(word.chars().flat_map(char::to_lowercase));
    }
}

impl Words {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let mut all = Words { text: text.into(), ..Words::default() };
        all.small.reserve(all.text.len());
        all.cut();
        let of = |at: usize| all.words[at..].iter().take(JOINED).flat_map(|word| all.small_of(word).chars());
        let by_joined = Index::new((0..all.words.len()).map(|at| joined(of(at))));
        let by_word = Index::new(all.words.iter().map(|word| hash(all.small_of(word).bytes())));
        (all.by_word, all.by_joined) = (by_word, by_joined);
        all
    }

    fn cut(&mut self) {
        let text = std::mem::take(&mut self.text);
        let mut chars = text.char_indices().peekable();
        // Where the next word begins a line, a sentence, an item.
        let (mut line, mut sentence_open, mut item) = (true, false, None);
        while let Some((start, c)) = chars.next() {
            if !c.is_alphanumeric() {
                match c {
                    '\n' => {
                        // An empty line ends a list.
                        if line && chars.peek().is_none_or(|(_, next)| *next == '\n' || !next.is_whitespace()) {
                            item = None;
                        }
                        line = true;
                        sentence_open = false;
                    }
                    '?' | '\u{ff1f}' | '\u{61f}' => {
                        if let Some(sentence) = self.sentences.last_mut().filter(|_| sentence_open) {
                            sentence.asks = true;
                        }
                        sentence_open = false;
                    }
                    '!' | ';' | '\u{3002}' | '\u{ff01}' | '\u{964}' => sentence_open = false,
                    '.' if chars.peek().is_none_or(|(_, next)| next.is_whitespace()) => sentence_open = false,
                    _ => {}
                }
                continue;
            }
            let mut end = start + c.len_utf8();
            if !is_dense(c) {
                while let Some((at, next)) = chars.next_if(|(_, next)| next.is_alphanumeric() && !is_dense(*next)) {
                    end = at + next.len_utf8();
                }
            }
            let number = numbering(&text, start, end, line);
            if number.is_some() {
                item = number;
                sentence_open = false;
                // The sign behind the number ends no sentence.
                chars.next();
            }
            if !sentence_open {
                let at = self.words.len();
                self.sentences.push(Sentence { from: at, to: at, item, asks: false });
                sentence_open = true;
            }
            let from = self.small.len();
            push_small(&mut self.small, &text[start..end]);
            let sentence = self.sentences.len() - 1;
            self.words.push(Word {
                start,
                end,
                small: (from, self.small.len()),
                sentence,
                numbering: number.is_some(),
            });
            self.sentences[sentence].to = self.words.len();
            line = false;
        }
        self.text = text;
    }

    fn small_of(&self, word: &Word) -> &str {
        &self.small[word.small.0..word.small.1]
    }

    /// A word in small letters.
    pub(crate) fn small(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| self.small_of(word))
    }

    /// The words of a range in small letters.
    pub(crate) fn smalls(&self, from: usize, to: usize) -> impl Iterator<Item = &str> {
        self.words.get(from..to).unwrap_or_default().iter().map(|word| self.small_of(word))
    }

    /// The words as values of their own.
    pub(crate) fn to_smalls(&self) -> Vec<String> {
        self.smalls(0, self.words.len()).map(str::to_owned).collect()
    }

    /// What stands between a word and the one after it.
    pub(crate) fn gap(&self, at: usize) -> &str {
        match self.words.get(at..at + 2) {
            Some([one, next]) => &self.text[one.end..next.start],
            _ => "",
        }
    }

    /// The positions of a word, the last first.
    pub(crate) fn positions(&self, key: &Key) -> impl Iterator<Item = usize> {
        self.by_word.positions(key.hash).filter(move |&at| self.small(at) == key.small)
    }

    /// Where the first letters and digits of a text may begin, the last first.
    pub(crate) fn joined_positions(&self, key: &Key) -> impl Iterator<Item = usize> {
        self.by_joined.positions(key.hash)
    }

    /// Does the range of words stand for itself, and isn't part of a longer identifier?
    ///
    /// `_`, `@` and a point without space join, and so does `-` where there are digits.
    pub(crate) fn is_whole(&self, from: usize, to: usize) -> bool {
        let (Some(first), Some(last)) = (self.words.get(from), self.words.get(to.wrapping_sub(1))) else {
            return false;
        };
        let digits = |word: &Word| self.text[word.start..word.end].bytes().any(|byte| byte.is_ascii_digit());
        let joins = |gap: &str, one: &Word, other: &Word| match gap {
            "_" | "@" | "." => true,
            "-" => digits(one) || digits(other),
            _ => false,
        };
        let before = from.checked_sub(1).and_then(|at| self.words.get(at));
        let after = self.words.get(to);
        !before.is_some_and(|before| joins(&self.text[before.end..first.start], before, first))
            && !after.is_some_and(|after| joins(&self.text[last.end..after.start], last, after))
    }
}

/// The number of a list's item: `3.` or `3)` where a line begins, `3)` anywhere.
fn numbering(text: &str, start: usize, end: usize, line: bool) -> Option<u32> {
    let digits = &text[start..end];
    if digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut after = text[end..].chars();
    let spaced = text[..start].chars().next_back().is_none_or(char::is_whitespace);
    let sign = after.next()?;
    let counts = matches!((sign, line, spaced), ('.', true, _) | (')', true, _) | (')', _, true));
    (counts && after.next().is_none_or(char::is_whitespace)).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<(String, Option<u32>, bool)> {
        let words = Words::new(text);
        let of = |sentence: &Sentence| words.smalls(sentence.from, sentence.to).collect::<Vec<_>>().join(" ");
        words.sentences.iter().map(|sentence| (of(sentence), sentence.item, sentence.asks)).collect()
    }

    #[test]
    fn a_text_is_cut_into_sentences_and_items() {
        let found = sentences("Hello. How many bags?\n\n1. One-way\n2) It's 2.5 kg\n   - or so\n\nBye");
        let expected = [
            ("hello", None, false),
            ("how many bags", None, true),
            ("1 one way", Some(1), false),
            ("2 it s 2 5 kg", Some(2), false),
            ("or so", Some(2), false),
            ("bye", None, false),
        ];
        assert_eq!(found, expected.map(|(text, item, asks)| (text.to_owned(), item, asks)));
    }

    #[test]
    fn words_of_scripts_without_spaces_are_letters() {
        assert_eq!(Words::new("荷物は2個 ÄB").to_smalls(), ["荷", "物", "は", "2", "個", "äb"]);
    }

    #[test]
    fn a_word_is_found_from_the_last_position_on() {
        let words = Words::new("a b A c_a");
        assert_eq!(words.positions(&Key::new("a")).collect::<Vec<_>>(), [4, 2, 0]);
        assert_eq!(words.positions(&Key::new("x")).count(), 0);
        let whole: Vec<bool> = (0..5).map(|at| words.is_whole(at, at + 1)).collect();
        assert_eq!(whole, [true, true, true, false, false]);
    }
}
