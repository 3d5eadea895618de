//! What has to be known before a call runs.

#[cfg(feature = "cel")]
mod expression;
mod slot;

#[cfg(feature = "cel")]
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Facts, Reads, Reason, ReasonKind, Scope, ScopeError, Truth,
};
pub use slot::{Checklist, Party, Report, Unknown};
