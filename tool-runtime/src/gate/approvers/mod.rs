//! Approvers to begin with.

mod channel;
mod first_of;
mod never;
mod terminal;

pub use channel::{AnswerError, ChannelApprover, PendingSet};
pub use first_of::FirstOf;
pub use never::NeverAsk;
pub use terminal::TerminalApprover;
