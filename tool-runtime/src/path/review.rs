//! The host's last look at an outcome before it is settled.

use std::sync::Arc;

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
    /// The model reads this instead; whether it is an error, and what the tool returned, stay.
    Replace(Content),
    /// Another value of a success: see [`Reviewed::replace_value`].
    Value(NewValue),
    /// The model reads only this, as an error, and nothing that the call has left besides.
    Withhold(Content),
    /// One of the others, and a message that the model reads after the results of its turn.
    Aside(Box<Reviewed>, Content),
}

/// A value, as JSON text, that takes the place of a success's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewValue(String);

impl Reviewed {
    /// Another value, as JSON text, in the place of the one that the tool returned. It is checked as an
    /// output of the tool is, and what the model reads is made anew from it. `None` for a result that
    /// is no success: it has no value.
    pub fn replace_value(of: &StoredResult, json: impl Into<String>) -> Option<Self> {
        (!of.is_error).then(|| Reviewed::Value(NewValue(json.into())))
    }

    /// The same, with a message that the model reads after the results of its turn.
    #[must_use]
    pub fn with_aside(self, content: impl Into<Content>) -> Self {
        Reviewed::Aside(Box::new(self), content.into())
    }
}

/// Looks at outcomes before a model does. Closures are reviews, and so is an `Arc` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a review",
    label = "can't look at results",
    note = "implement `Review` for it, or write a closure: `|result: &StoredResult| -> Reviewed {{ … }}`"
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

#[diagnostic::do_not_recommend]
impl<R: Review + ?Sized> Review for Arc<R> {
    fn review(&self, result: &StoredResult) -> Reviewed {
        (**self).review(result)
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
        self.apply(reviewed);
        self
    }

    fn apply(&mut self, mut reviewed: Reviewed) {
        // The asides from the inside out are those from the first to the last.
        let mut asides = Vec::new();
        while let Reviewed::Aside(inner, content) = reviewed {
            asides.push(content);
            reviewed = *inner;
        }
        let tool = self.0.tool.clone();
        let end = self.end();
        match reviewed {
            Reviewed::Accept | Reviewed::Aside(..) => {}
            Reviewed::Replace(content) => end.content = content,
            Reviewed::Value(NewValue(json)) => {
                if let (Code::Ok, Some(tool)) = (end.code, tool) {
                    match tool.answer(&json) {
                        Ok(success) => (end.content, end.value) = (success.content, Some(success.value)),
                        Err((error, host)) => {
                            end.become_instead(End::new(Code::InvalidOutput, error.to_string()).with_detail(host));
                        }
                    }
                } else {
                    tracing::error!(target: "tool_runtime", "a review gave a value to a result that has none; it is left out");
                }
            }
            Reviewed::Withhold(content) => {
                end.become_instead(End::new(Code::Withheld, content));
                end.asides.clear();
            }
        }
        end.asides.extend(asides.into_iter().rev());
    }
}
