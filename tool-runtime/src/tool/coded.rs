use std::error::Error;
use std::fmt;
use std::sync::Arc;

type BoxError = Box<dyn Error + Send + Sync>;

/// An error with a stable code, for the host: `rate_limited`, `card_declined`.
///
/// A tool returns it as it is or anywhere in the chain of its error's causes. The model reads the
/// error's own text, as it would without a code; the code is kept in the [`Record`](crate::Record),
/// for [layers](crate::Ran::error_code), reviews and whoever counts.
///
/// ```
/// use tool_runtime::{CodedError, tool};
///
/// /// Looks a word up.
/// #[tool]
/// async fn look_up(
///     /// Which.
///     word: String,
/// ) -> Result<String, CodedError> {
///     Err(CodedError::new("rate_limited", format!("too many requests; `{word}` can wait")))
/// }
/// ```
///
/// A code is 1 to 64 of the characters `a` to `z`, `0` to `9` and `_`. One that isn't is left out:
/// it is meant to be counted by, and a text that an error carries must not get there.
pub struct CodedError(Coded);

/// Stands behind [`CodedError`] as its source. Wrappers that show an error as their own
/// (`#[error(transparent)]`, `anyhow`) hide it and pass its source on.
struct Coded {
    code: Arc<str>,
    error: BoxError,
}

impl CodedError {
    /// Gives an error a code.
    pub fn new(code: impl Into<Arc<str>>, error: impl Into<BoxError>) -> Self {
        CodedError(Coded { code: code.into(), error: error.into() })
    }

    /// The code, as it was given.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// The error.
    pub fn into_inner(self) -> BoxError {
        self.0.error
    }

    /// The code that an error or one of its causes has.
    pub(super) fn code_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Arc<str>> {
        error.downcast_ref().map(|CodedError(coded)| coded).or_else(|| error.downcast_ref()).map(|coded| &coded.code)
    }
}

/// Is it something to count by?
pub(super) fn is_legal_code(code: &str) -> bool {
    (1..=64).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

impl fmt::Display for CodedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CodedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodedError").field("code", &self.0.code).field("error", &self.0.error).finish()
    }
}

impl Error for CodedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl fmt::Debug for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl Error for Coded {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
