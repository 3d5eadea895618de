use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::Content;
use crate::schema::text;

/// Notices that a model makes the same call again and again, and tells it so beside the result.
///
/// The same call is one of the same tool with the same accepted arguments, however they were
/// written; denied calls count, and calls that were refused for their arguments don't. Any other call
/// starts over, and so does [`user_spoke`](Self::user_spoke). A clone shares what was counted: take one
/// for each conversation.
///
/// ```
/// use tool_runtime::{AllowAll, Harness, Registry, Repeats};
///
/// let repeats = Repeats::after([3, 5])?.except(["get_time"]);
/// let harness = Harness::new(Registry::builder().build()?, AllowAll).repeats(repeats.clone());
/// // When the user says something:
/// repeats.user_spoke();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Repeats {
    /// In ascending order: a short word at the first, one with the arguments at each later one.
    thresholds: Vec<u32>,
    except: BTreeSet<String>,
    run: Arc<Mutex<Run>>,
}

#[derive(Default)]
struct Run {
    /// Tool and canonical arguments.
    last: Option<(String, String)>,
    times: u32,
}

/// How much of the arguments is said again, in characters.
const SHOWN: usize = 300;

impl Repeats {
    /// Says something when the same call is made so often in a row: a short word the first time, and
    /// with the arguments from the second threshold on.
    ///
    /// # Errors
    /// If there is no threshold, one is below 2, or one is there twice.
    pub fn after(thresholds: impl IntoIterator<Item = u32>) -> Result<Self, RepeatsError> {
        let mut thresholds: Vec<u32> = thresholds.into_iter().collect();
        thresholds.sort_unstable();
        match thresholds.first() {
            None => return Err(RepeatsError("there is no threshold")),
            Some(0 | 1) => return Err(RepeatsError("a threshold has to be 2 or more: once is no repetition")),
            Some(_) => {}
        }
        if thresholds.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(RepeatsError("a threshold is there twice"));
        }
        Ok(Repeats { thresholds, except: BTreeSet::new(), run: Arc::default() })
    }

    /// Tools whose calls neither count nor start over.
    #[must_use]
    pub fn except<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.except.extend(tools.into_iter().map(Into::into));
        self
    }

    /// The user has said something: what is asked for may be another thing now.
    pub fn user_spoke(&self) {
        *self.lock() = Run::default();
    }

    /// Counts a call. Gives what is to be said of it, if anything is.
    pub(super) fn note(&self, tool: &str, canonical: &str, redacted: impl FnOnce() -> String) -> Option<Content> {
        if self.except.contains(tool) {
            return None;
        }
        let times = {
            let mut run = self.lock();
            let is_same = run.last.as_ref().is_some_and(|(name, arguments)| name == tool && arguments == canonical);
            if !is_same {
                *run = Run { last: Some((tool.to_owned(), canonical.to_owned())), times: 0 };
            }
            run.times = run.times.saturating_add(1);
            run.times
        };
        let threshold = self.thresholds.iter().position(|&threshold| threshold == times)?;
        let said = format!("`{tool}` was called {times} times in a row with the same arguments.");
        Some(Content::text(match threshold {
            0 => said,
            _ => format!(
                "{said} They were {}. The same call will not bring anything new: do something else, or say what is in the way.",
                text::visible(&redacted(), SHOWN)
            ),
        }))
    }

    /// Nothing of ours panics under this lock.
    fn lock(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Repeats {
    /// Without the arguments: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repeats")
            .field("thresholds", &self.thresholds)
            .field("except", &self.except)
            .finish_non_exhaustive()
    }
}

/// Thresholds that make no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatsError(&'static str);

impl fmt::Display for RepeatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thresholds of repetition: {}", self.0)
    }
}

impl std::error::Error for RepeatsError {}
