use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A span in which a sandbox's state is held fixed.
///
/// Whoever holds the state begins one, gives clones of it to what is sampled and probed, and [ends](Self::end) it when
/// a configuration is reloaded or a cache is emptied. Two epochs are equal only if one is a clone of the other.
#[derive(Clone)]
pub struct Epoch(Arc<AtomicBool>);

impl Epoch {
    /// A new one, equal to none before.
    pub fn begin() -> Self {
        Epoch(Arc::new(AtomicBool::new(false)))
    }

    /// The state moves. What was sampled and verified within it judges nothing any more.
    pub fn end(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// It was ended.
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl PartialEq for Epoch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Epoch {}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epoch").field("is_over", &self.is_over()).finish_non_exhaustive()
    }
}

/// A sample was taken in another epoch than those that it was to be judged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochMixed;

impl fmt::Display for EpochMixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("samples of different epochs can't be judged together")
    }
}

impl std::error::Error for EpochMixed {}
