use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use arrayvec::ArrayString;

/// A short text that is copied from stage to stage: an id or a name. What providers send fits into
/// the value itself (`toolu_` and 24 characters is the longest), so copying asks nothing of the
/// allocator and of no other core; anything longer is shared.
#[derive(Clone)]
pub(crate) enum Word {
    Inline(ArrayString<INLINE>),
    Shared(Arc<str>),
}

const INLINE: usize = 36;

impl From<&str> for Word {
    #[inline]
    fn from(text: &str) -> Self {
        ArrayString::from(text).map_or_else(|_| Word::Shared(text.into()), Word::Inline)
    }
}

impl Deref for Word {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Word::Inline(text) => text,
            Word::Shared(text) => text,
        }
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Word {}

impl std::hash::Hash for Word {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl PartialOrd for Word {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Word {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_equal_words_however_long() {
        for length in [0, 1, INLINE - 1, INLINE, INLINE + 1, 10_000] {
            let text = "ä".repeat(length);
            let (word, shared) = (Word::from(&*text), Word::Shared(text.as_str().into()));
            assert_eq!(&*word, text);
            assert_eq!(word, shared);
            assert_eq!(word.cmp(&shared), std::cmp::Ordering::Equal);
            assert_eq!(matches!(word, Word::Inline(_)), text.len() <= INLINE);
        }
    }
}
