/// What becomes of a call whose `[notice]` lines nobody could be shown. A default of [`Checklist`](crate::Checklist) is
/// [`Notices::MustBeShown`].
///
/// Shown it was if the user was asked something about the call, since every set of questions begins with them; if a
/// [grant](crate::Grants) of such a question spares another; or if [`Approver::tell`](crate::Approver::tell) says so. Approvers that are closures can't tell, and neither can
/// [`ChannelApprover`](crate::ChannelApprover): with one of these alone, a call with a notice and nothing to ask about
/// doesn't run, unless the host says that [it is enough to record it](crate::Checklist::with_notices).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Notices {
    /// It doesn't run (`unanswered`), and its result says that the host has to show them.
    #[default]
    MustBeShown,
    /// It runs, and its verdict says that nobody was told. For hosts that show descriptions of tools in another way.
    RecordedOnly,
}
