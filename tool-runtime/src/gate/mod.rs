//! Who says whether a call may run: policies, guards, and people who are asked.

mod addressee;
mod approver;
mod approvers;
mod blank;
mod confirmed;
mod facts;
mod grants;
mod policy;
mod question;
mod rules;

pub use addressee::Addressee;
pub use approver::{Answer, Approver, UnknownAnswer};
pub use approvers::{AnswerError, ChannelApprover, FirstOf, NeverAsk, PendingSet, Signed, Signer, TerminalApprover};
pub use blank::{Blank, FillError};
pub(crate) use blank::{Sheet, Takes, Written};
pub use confirmed::Confirmed;
pub use facts::{Arguments, CallFacts};
pub(crate) use grants::what_runs;
pub use grants::{Grant, GrantScope, Grants};
pub use policy::{AllowAll, Decision, DenyAll, Guard, Policies, Policy};
pub(crate) use policy::{Ruling, judge};
pub use question::{Question, QuestionId, QuestionSet};
pub use rules::{Absent, Hint, Pattern, PatternError, Rule, Rules, RulesBuilder, RulesError, Scalar, Test};
pub(crate) use rules::{of_tools, parse_argument, written_argument};
