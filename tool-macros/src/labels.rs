//! The labels of doc lines: `[required]`, `[confirm]` and `[notice]` are the provider's checklist.

use crate::doc::Doc;
use syn::Attribute;

/// The words that are labels.
pub(crate) const WORDS: &[&str] = &["required", "confirm", "notice"];

/// A doc line that starts with `[word]`.
pub(crate) struct Label {
    pub(crate) word: String,
    /// What follows on the line.
    pub(crate) text: String,
    pub(crate) attr: Attribute,
}

impl Label {
    /// Whether the word is one of [`WORDS`].
    pub(crate) fn is_known(&self) -> bool {
        WORDS.contains(&self.word.as_str())
    }
}

/// All labels of the text, known or not.
pub(crate) fn read(doc: &Doc) -> Vec<Label> {
    let labels = doc.lines.iter().filter_map(|line| {
        let (word, text) = split(&line.text)?;
        Some(Label { word: word.to_owned(), text: text.trim().to_owned(), attr: line.attr.clone() })
    });
    labels.collect()
}

/// Links (`[text](url)`, `[text]: url`), code (``[`code`]``) and items (`[Foo]`) are no labels. `[Confirm]` is one,
/// misspelt: a line of the checklist isn't lost over a capital, nor over a tab or a blank more.
fn split(line: &str) -> Option<(&str, &str)> {
    let bare = line.trim_start_matches(' ');
    // What stands further in is code, as in Markdown.
    let begins = (line.len() - bare.len() <= 3).then_some(bare)?;
    let (word, text) = begins.strip_prefix('[')?.split_once(']')?;
    let legal = |c: char| c.is_ascii_lowercase() || c == '_' || c == '-';
    let is_word = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(legal);
    let is_meant = WORDS.contains(&word.to_ascii_lowercase().as_str());
    let ends = text.is_empty() || text.starts_with([' ', '\t']);
    ((is_word || is_meant) && ends).then_some((word, text))
}
