//! Expressions of conditions and derivations: CEL over arguments and state.

mod call;
mod check;
mod compare;
mod data;
mod error;
mod evaluate;
mod functions;
mod kinds;
mod node;
mod parse;
mod place;
#[cfg(test)]
mod tests;
mod time;
mod value;

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use data::Facts;
pub use error::{ExpressionError, ExpressionFault, Reason, ReasonKind, ScopeError};
use evaluate::{Evaluation, Halt};
use node::Node;
pub use place::Scope;
use place::{Place, Root};

/// A condition or a derivation in CEL (the [Common Expression Language](https://cel.dev)), compiled.
///
/// ```
/// use tool_runtime::{Expression, Facts, Scope, Truth, tool};
///
/// /// Pays somebody.
/// #[tool(host(inline))]
/// fn pay(
///     /// Whom.
///     to: String,
///     /// How much.
///     amount: i64,
///     /// What for.
///     memo: Option<String>,
/// ) {
///     let _ = (to, amount, memo);
/// }
///
/// let tool = PayTool::host();
/// let scope = Scope::new().tool(&tool).state("account").caller("role");
/// let condition = Expression::condition("state.account.balance >= args.amount || caller.role == 'bank'", &scope)?;
///
/// let facts = Facts::new(r#"{"to":"bob","amount":30}"#).state("account", r#"{"balance":50}"#);
/// assert_eq!(condition.judge(&facts), Truth::True);
///
/// // Without the state nobody knows.
/// let facts = Facts::new(r#"{"to":"bob","amount":30}"#);
/// let Truth::Unknown(reason) = condition.judge(&facts) else { panic!() };
/// assert_eq!(reason.to_string(), "line 1, column 7: `state.account` isn't given");
///
/// let error = Expression::condition("args.amuont < 100 && args.memo != ''", &scope).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 6: there is no `args.amuont`; did you mean `args.amount`?\n\
///      line 1, column 22: `args.memo` may be absent: ask `has(args.memo)` first, as in `has(args.memo) && …`",
/// );
/// # Ok::<(), tool_runtime::ExpressionError>(())
/// ```
///
/// # What differs from CEL
///
/// Where both have an answer it is the same one, but for fractions, which are decimals here. Other things have no
/// answer at all, so that a condition is neither true nor false by accident:
///
/// - Numbers are as JSON has them: an integer is held if 64 bits with a sign hold it, a fraction if its 18 digits
///   after the point do, exactly; any other can't be read. Integers and fractions can be mixed in sums, and
///   compared, but not an integer of 2⁵³ or more with a fraction. There is no `uint`.
/// - Sums and products are exact or have no answer; so are quotients: `7 / 2` has none, `7.0 / 2` is 3.5.
/// - Values of different kinds are neither equal nor unequal. `null` is compared with by writing it down.
/// - `has(a.b)` is false for a `null`, and where anything on the way to `b` isn't there.
/// - A part that has no answer leaves the whole without one; `false && x` and `true || x` don't ask for `x`.
/// - A comprehension can't stand inside of another. No `matches`, no `type`, no bytes, no messages.
/// - Also there: `list.sum()`, `list.min()`, `list.max()`, `text.trim()`, `text.lowerAscii()`, `text.upperAscii()`.
#[derive(Clone)]
pub struct Expression {
    text: Box<str>,
    node: Node,
    reads: Reads,
}

/// What a condition comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It doesn't.
    False,
    /// Nobody can say.
    Unknown(Reason),
}

/// What an [`Expression`] reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    arguments: BTreeSet<String>,
    state: BTreeSet<String>,
    caller: BTreeSet<String>,
    now: bool,
}

impl Reads {
    fn add(&mut self, place: &Place) {
        match &place.root {
            Root::Arguments => self.arguments.insert(crate::gate::written_argument(&place.steps)),
            Root::State(name) => self.state.insert(name.to_string()),
        };
    }

    /// The paths of the arguments, as rules write them: `items[*].price`.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &str> {
        self.arguments.iter().map(String::as_str)
    }

    /// The names of the states.
    pub fn state(&self) -> impl ExactSizeIterator<Item = &str> {
        self.state.iter().map(String::as_str)
    }

    /// What of the caller.
    pub fn caller(&self) -> impl ExactSizeIterator<Item = &str> {
        self.caller.iter().map(String::as_str)
    }

    /// It depends on the time.
    pub fn now(&self) -> bool {
        self.now
    }
}

impl Expression {
    /// An expression that has any value, such as a declared derivation.
    ///
    /// # Errors
    /// With everything that is wrong, each with its place: a text of more than 4 KiB, or that is no CEL; names that
    /// the scope doesn't have; comparisons that can never be; arguments that may be absent and are read without
    /// [`has`](Expression#what-differs-from-cel); comprehensions inside of others.
    pub fn compile(text: &str, scope: &Scope<'_>) -> Result<Self, ExpressionError> {
        Self::checked(text, scope, false)
    }

    /// An expression that is true or false.
    ///
    /// # Errors
    /// As [`compile`](Expression::compile), and if it can't be a boolean.
    pub fn condition(text: &str, scope: &Scope<'_>) -> Result<Self, ExpressionError> {
        Self::checked(text, scope, true)
    }

    fn checked(text: &str, scope: &Scope<'_>, is_condition: bool) -> Result<Self, ExpressionError> {
        let (node, reads) =
            parse::with_tree(text, |tree, source| check::check(tree, source, text, scope, is_condition))?;
        Ok(Expression { text: text.into(), node, reads })
    }

    /// Is it so? Takes a bounded number of steps.
    pub fn judge(&self, facts: &Facts) -> Truth {
        match self.evaluate(facts, |evaluation| evaluation.boolean(&self.node)) {
            Ok(true) => Truth::True,
            Ok(false) => Truth::False,
            Err(reason) => Truth::Unknown(reason),
        }
    }

    /// The value, as canonical JSON: members in order, numbers in one spelling. Timestamps are texts of RFC 3339 in
    /// UTC, durations such as `"5400s"`. Takes a bounded number of steps.
    ///
    /// May hold secrets, where [`reads`](Expression::reads) names arguments that are.
    ///
    /// # Errors
    /// If it has none.
    pub fn value(&self, facts: &Facts) -> Result<String, Reason> {
        self.evaluate(facts, |evaluation| {
            let value = evaluation.value(&self.node)?;
            evaluation.write(self.node.at, &value)
        })
    }

    fn evaluate<'a, T>(
        &'a self,
        facts: &'a Facts,
        work: impl FnOnce(&mut Evaluation<'a>) -> Result<T, Halt>,
    ) -> Result<T, Reason> {
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut Evaluation::new(facts))));
        let halt = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(halt)) => halt,
            Err(_) => Halt { at: 0, kind: ReasonKind::Broken, what: "the evaluation broke".to_owned(), about: None },
        };
        let (line, column) = error::place(&self.text, halt.at);
        Err(Reason { kind: halt.kind, line, column, what: halt.what, about: halt.about })
    }

    /// What it reads.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// The text that it was compiled from.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
