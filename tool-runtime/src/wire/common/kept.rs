use super::Fail;

/// How much of one stream is kept: arguments, text, and what goes into the history.
const LIMIT: usize = 256 << 20;

/// Counts what a stream keeps, so that one that never ends doesn't fill the memory.
#[derive(Debug, Clone)]
pub(in crate::wire) struct Kept {
    limit: usize,
    used: usize,
}

impl Kept {
    /// # Errors
    /// If there is no room for so many bytes more.
    pub(in crate::wire) fn add(&mut self, bytes: usize) -> Result<(), Fail> {
        // What stands around it: a list's entry, or a little more.
        let used = self.used.saturating_add(bytes).saturating_add(64);
        if used > self.limit {
            return Err(Fail::TooLong { limit: self.limit });
        }
        self.used = used;
        Ok(())
    }

    pub(in crate::wire) fn unbounded() -> Self {
        Kept { limit: usize::MAX, used: 0 }
    }

    #[cfg(test)]
    pub(in crate::wire) fn at_most(limit: usize) -> Self {
        Kept { limit, used: 0 }
    }
}

impl Default for Kept {
    fn default() -> Self {
        Kept { limit: LIMIT, used: 0 }
    }
}
