use std::ops::Range;

use super::super::json::write_string;

/// What is written, as long as it is the given text a part of that text.
///
/// Most calls come in canonical form already, so most calls copy nothing.
pub(super) struct Out<'t> {
    text: &'t str,
    /// How much of `text` has been taken over, while `owned` is none.
    taken: usize,
    owned: Option<String>,
}

impl<'t> Out<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Out { text, taken: 0, owned: None }
    }

    /// The text that was written, where it isn't the given text itself.
    pub(super) fn finish(&mut self) -> Option<String> {
        match self.owned.take() {
            Some(text) => Some(text),
            // White space around a canonical text.
            None if self.taken != self.text.len() => Some(self.text[..self.taken].to_owned()),
            None => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.owned.as_ref().map_or(self.taken, String::len)
    }

    /// Goes on with a part of the given text.
    #[inline]
    pub(super) fn copy(&mut self, start: usize, end: usize) {
        if self.owned.is_none() && start == self.taken {
            self.taken = end;
        } else {
            self.copy_over(start, end);
        }
    }

    /// Passes over a refused value: what is written after it is of no use, so it needs no copy.
    pub(super) fn pass(&mut self, end: usize) {
        if self.owned.is_none() {
            self.taken = end;
        }
    }

    fn copy_over(&mut self, start: usize, end: usize) {
        let text = self.text;
        self.own().push_str(&text[start..end]);
    }

    #[cold]
    pub(super) fn own(&mut self) -> &mut String {
        let (text, taken) = (self.text, self.taken);
        self.owned.get_or_insert_with(|| {
            let mut owned = String::with_capacity(text.len() + 32);
            owned.push_str(&text[..taken]);
            owned
        })
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.own().push_str(text);
    }

    pub(super) fn push(&mut self, c: char) {
        self.own().push(c);
    }

    pub(super) fn string(&mut self, text: &str) {
        write_string(self.own(), text);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match &mut self.owned {
            None => self.taken = len,
            Some(owned) => owned.truncate(len),
        }
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        match &self.owned {
            None => &self.text[range],
            Some(owned) => &owned[range],
        }
    }
}
