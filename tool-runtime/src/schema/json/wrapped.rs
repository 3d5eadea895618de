//! Arguments that are an object in quotes, or stand for an empty one.

use std::borrow::Cow;

use super::{Cursor, Token};

/// The text if it is, or seems to be, an object; which nearly every call's is.
pub(crate) fn plain_object(text: &str) -> Option<&str> {
    text.trim_start_matches([' ', '\n', '\t', '\r']).starts_with('{').then_some(text)
}

/// The object that a text is, or stands for.
pub(crate) fn object_of(text: &str) -> Cow<'_, str> {
    plain_object(text).map_or_else(|| unwrapped(text).into(), Into::into)
}

/// What stands for an object without being one.
#[cold]
pub(crate) fn unwrapped(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..2 {
        let mut cursor = Cursor::new(&text);
        let inner = match cursor.token() {
            Ok(Token::String { raw, escaped }) if cursor.finish().is_ok() => Token::unescape(raw, escaped).into_owned(),
            _ => break,
        };
        // Only what is an object, or nothing, inside its quotes: other text stays text.
        let trimmed = inner.trim();
        if trimmed.starts_with('{') || trimmed.starts_with('"') || trimmed == "null" || trimmed.is_empty() {
            text = inner;
        } else {
            break;
        }
    }
    if text.trim_matches([' ', '\n', '\t', '\r']).is_empty() || text.trim() == "null" { "{}".to_owned() } else { text }
}
