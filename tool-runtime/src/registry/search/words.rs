//! The words of a text, as a search compares them.

use bm25::Tokenizer;

use crate::schema::text::is_dense;

/// Splits at everything that is neither letter nor digit, in any script; makes small letters of
/// capitals; and takes `GitHub` for `github`, `git` and `hub`, and `invoices` for `invoice`.
///
/// In scripts that put no spaces between words, every two neighbours are a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
            let mut rest = run;
            while let Some(first) = rest.chars().next() {
                let dense = is_dense(first);
                let end = rest.find(|c| is_dense(c) != dense).unwrap_or(rest.len());
                let (part, after) = rest.split_at(end);
                rest = after;
                if dense { pairs(part, &mut words) } else { humps(part, &mut words) }
            }
        }
        words
    }
}

fn pairs(run: &str, words: &mut Vec<String>) {
    let letters: Vec<char> = run.chars().collect();
    match &letters[..] {
        [_] => words.push(run.to_owned()),
        letters => words.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
}

/// `camelCase` as one word, and as the two that it is.
fn humps(run: &str, words: &mut Vec<String>) {
    let letters: Vec<(usize, char)> = run.char_indices().collect();
    let mut begins = vec![0];
    for (index, pair) in letters.windows(2).enumerate() {
        let [(_, before), (at, c)] = *pair else { continue };
        let next = letters.get(index + 2).map(|&(_, next)| next);
        let ends_acronym = before.is_uppercase() && next.is_some_and(char::is_lowercase);
        if c.is_uppercase() && (!before.is_uppercase() || ends_acronym) {
            begins.push(at);
        }
    }
    words.push(singular(run.to_lowercase()));
    if begins.len() > 1 {
        let ends = begins.iter().skip(1).copied().chain([run.len()]);
        words.extend(begins.iter().zip(ends).map(|(&begin, end)| singular(run[begin..end].to_lowercase())));
    }
}

/// Of a plural in English, its singular, by the three rules of Harman's S-stemmer.
fn singular(mut word: String) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.len() < 4 || !ends(&["s"]) || ends(&["us", "ss"]) {
        return word;
    }
    if ends(&["ies"]) && !ends(&["eies", "aies"]) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else {
        word.truncate(word.len() - 1);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_scripts_are_found() {
        for (text, words) in [
            ("get_weather-v2", &["get", "weather", "v2"][..]),
            ("getWeather", &["getweather", "get", "weather"]),
            ("HTTPServer", &["httpserver", "http", "server"]),
            ("GitHub's", &["github", "git", "hub", "s"]),
            ("PDF", &["pdf"]),
            ("Größe ÜBER", &["größe", "über"]),
            ("погода Погоды", &["погода", "погоды"]),
            ("天気予報", &["天気", "気予", "予報"]),
            ("雨", &["雨"]),
            ("PDFを読む", &["pdf", "を読", "読む"]),
            (
                "invoices queries boxes status class bus gas",
                &["invoice", "query", "boxe", "status", "class", "bus", "gas"],
            ),
            ("  …—\u{202e}🍸 ", &[]),
            ("", &[]),
        ] {
            assert_eq!(Words.tokenize(text), words, "{text:?}");
        }
    }
}
