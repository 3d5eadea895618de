//! Who says whether a call may run: policies, guards, and people who are asked.

mod approver;
mod facts;
mod policy;
mod rules;

pub use approver::{Answer, Approver, Question, QuestionSet};
pub use facts::{Arguments, CallFacts};
pub use policy::{AllowAll, Decision, DenyAll, Guard, Policies, Policy};
pub(crate) use policy::{Ruling, judge};
pub use rules::{Absent, Hint, Pattern, PatternError, Rule, RuleFault, Rules, RulesBuilder, RulesError, Scalar, Test};
