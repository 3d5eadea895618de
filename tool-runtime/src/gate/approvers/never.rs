use crate::BoxFuture;
use crate::gate::{Answer, Approver, QuestionSet};

/// For sessions in which nobody may be asked: whatever would have to be asked does not run, and the
/// model reads that a rule forbids asking, not that a person said no.
///
/// ```
/// use tool_runtime::{AllowAll, Harness, NeverAsk, Registry};
///
/// let harness = Harness::new(Registry::builder().build()?, AllowAll).approver(NeverAsk);
/// # Ok::<(), tool_runtime::RegistryError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct NeverAsk;

#[diagnostic::do_not_recommend]
impl Approver for NeverAsk {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Forbidden; questions.questions.len()]))
    }
}
