//! The host's last look at an outcome before it is settled.

use super::ending::{End, Ending};
use super::execute::Outcome;
use crate::call::{Code, Content};
use crate::tool::{StoredResult, caught};

/// What a review makes of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reviewed {
    /// As it is.
    Accept,
    /// The model reads this instead.
    Replace(Content),
    /// The model reads only this, as an error.
    Withhold(Content),
}

/// Looks at outcomes before a model does. Closures are reviews.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a review",
    label = "can't look at results",
    note = "implement `Review` for it, or write a closure: `|result: &StoredResult| …`"
)]
pub trait Review: Send + Sync {
    /// Looks at one. A panic withholds it.
    fn review(&self, result: &StoredResult) -> Reviewed;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&StoredResult) -> Reviewed + Send + Sync> Review for F {
    fn review(&self, result: &StoredResult) -> Reviewed {
        self(result)
    }
}

impl Outcome {
    /// Has it looked at.
    #[must_use = "a call that isn't settled leaves the model without a result"]
    pub fn review(self, review: &dyn Review) -> Outcome {
        Outcome(self.0.review(review))
    }
}

impl Ending {
    /// Has the tool run, or has somebody said no? What was never judged is no outcome to look at.
    pub(super) fn is_reviewed(&self) -> bool {
        self.started() || (self.code() == Code::Denied && !self.0.ruling.broken)
    }

    /// Has it looked at.
    pub(super) fn review(mut self, review: &dyn Review) -> Self {
        let end = self.end();
        let seen = end.stored();
        let reviewed = caught(|| review.review(&seen)).unwrap_or_else(|panic| {
            tracing::error!(target: "tool_runtime", panic, "a review panicked; the result is withheld");
            let ran = if seen.started { " The tool ran; its effects may have happened." } else { "" };
            Reviewed::Withhold(Content::text(format!("The result was withheld.{ran}")))
        });
        let end = self.end();
        match reviewed {
            Reviewed::Accept => {}
            Reviewed::Replace(content) => end.content = content,
            Reviewed::Withhold(content) => {
                let End { started, took, .. } = *end;
                *end = End { started, took, ..End::new(Code::Withheld, content) };
            }
        }
        self
    }
}
