//! Approvers to begin with.

mod channel;
mod first_of;
mod never;
mod signed;
mod terminal;

pub use channel::{AnswerError, ChannelApprover, PendingSet};
pub use first_of::FirstOf;
pub use never::NeverAsk;
pub use signed::{Signed, Signer};
pub use terminal::TerminalApprover;
