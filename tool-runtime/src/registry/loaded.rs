use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which deferred tools a conversation has loaded. Others are refused, not only hidden.
///
/// A handle: clones share what they hold, so that the host sees what the search tool loads while
/// its harness runs. A conversation has one of its own; to branch off from it, collect its
/// [`names`](Self::names) into another.
///
/// ```
/// use tool_runtime::Loaded;
///
/// let loaded = Loaded::new();
/// let same = loaded.clone();
/// same.load("get_weather");
/// assert!(loaded.is_loaded("get_weather"));
///
/// // What a conversation had loaded, kept elsewhere and brought back.
/// let restored: Loaded = loaded.names().into_iter().collect();
/// assert_eq!(restored, loaded);
/// restored.load("get_time");
/// assert!(!loaded.is_loaded("get_time"));
/// ```
#[derive(Clone, Default)]
pub struct Loaded(Arc<Mutex<BTreeSet<String>>>);

impl Loaded {
    /// None.
    pub fn new() -> Self {
        Loaded::default()
    }

    /// Loads a tool, for all clones of this handle. A name that no tool has does no harm.
    pub fn load(&self, name: impl Into<String>) {
        let name = name.into();
        self.lock().insert(name);
    }

    /// Has the tool of this name been loaded?
    pub fn is_loaded(&self, name: &str) -> bool {
        self.lock().contains(name)
    }

    /// The names that have been loaded so far.
    pub fn names(&self) -> BTreeSet<String> {
        self.lock().clone()
    }

    /// A set is whole between any two of its operations, so a panic elsewhere takes nothing away.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N: Into<String>> FromIterator<N> for Loaded {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        Loaded(Arc::new(Mutex::new(names.into_iter().map(Into::into).collect())))
    }
}

impl PartialEq for Loaded {
    /// The same names, be it by the same handle or not.
    fn eq(&self, other: &Self) -> bool {
        // One lock at a time: the other may be the same, or be compared the other way round.
        Arc::ptr_eq(&self.0, &other.0) || self.names() == other.names()
    }
}

impl Eq for Loaded {}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisoned_lock_changes_nothing() {
        let loaded = Loaded::from_iter(["a"]);
        let held = loaded.clone();
        let panicked = std::thread::spawn(move || {
            let _held = held.lock();
            std::panic::resume_unwind(Box::new("while it is held"));
        })
        .join();
        assert!(panicked.is_err() && loaded.0.is_poisoned());
        loaded.load("b");
        assert!(loaded.is_loaded("a") && loaded.is_loaded("b"));
        assert_eq!(loaded.names(), ["a", "b"].map(str::to_owned).into());
        assert_eq!(format!("{loaded:?}"), r#"Loaded({"a", "b"})"#);
        assert_eq!(loaded, loaded.clone());
    }
}
