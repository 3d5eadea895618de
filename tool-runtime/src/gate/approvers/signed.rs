use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct;

use crate::BoxFuture;
use crate::gate::{Answer, Approver, QuestionSet};

/// Who answered, and how the answer came.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signer {
    by: Arc<str>,
    channel: Arc<str>,
}

impl Signer {
    /// A person as the host knows them, and the way on which the answer came, such as `web`.
    pub fn new(by: impl Into<Arc<str>>, channel: impl Into<Arc<str>>) -> Self {
        Signer { by: by.into(), channel: channel.into() }
    }

    /// The person.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// The way.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Writes the parts of one, if there is one, into a record's object.
    pub(crate) fn serialize_into<S: SerializeStruct>(signer: Option<&Self>, fields: &mut S) -> Result<(), S::Error> {
        match signer {
            Some(signer) => {
                fields.serialize_field("by", signer.by())?;
                fields.serialize_field("channel", signer.channel())
            }
            None => {
                fields.skip_field("by")?;
                fields.skip_field("channel")
            }
        }
    }
}

/// An approver whose answers are those of one person on one way: their records say so.
///
/// ```
/// use tool_runtime::{NeverAsk, Approver, Signed, Signer};
///
/// let approver = Signed::new(NeverAsk, Signer::new("ann", "terminal"));
/// assert_eq!(approver.signer().map(|signer| signer.by().to_owned()).as_deref(), Some("ann"));
/// ```
pub struct Signed<A> {
    approver: A,
    signer: Signer,
}

impl<A: Approver> Signed<A> {
    /// What `approver` answers is what `signer` says.
    pub fn new(approver: A, signer: Signer) -> Self {
        Signed { approver, signer }
    }
}

#[diagnostic::do_not_recommend]
impl<A: Approver> Approver for Signed<A> {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let (set, signer) = (questions.clone(), self.signer.clone());
        let answering = self.approver.ask(questions);
        Box::pin(async move {
            let answers = answering.await;
            // Also of an approver that has others sign.
            set.questions.iter().for_each(|question| set.sign(&question.id, signer.clone()));
            answers
        })
    }

    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        self.approver.tell(notices)
    }

    fn signer(&self) -> Option<Signer> {
        Some(self.signer.clone())
    }
}

impl<A> fmt::Debug for Signed<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed").field("signer", &self.signer).finish_non_exhaustive()
    }
}
