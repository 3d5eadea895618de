//! What a rule asks of the value of an argument.

use std::cmp::Ordering;

use crate::schema::json::write_f64;

/// A value that a rule compares with: text, a number, a boolean or `null`.
///
/// Numbers are compared exactly, digit by digit: `0.1` is one tenth, and no integer is too large.
///
/// ```
/// use tool_runtime::{Scalar, Test};
///
/// let test = Test::one_of(["red", "green"]);
/// let test = Test::equals(true);
/// let test = Test::above(0.1);
/// let test = Test::above(Scalar::number("1e400"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub(super) Value);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Text(String),
    /// The literal, which may not be one.
    Number(String),
}

impl Scalar {
    /// `null`.
    pub const NULL: Scalar = Scalar(Value::Null);

    /// A number as JSON writes it, of any size and with any number of digits. A text that is no number is
    /// refused when the rules are built.
    pub fn number(literal: impl Into<String>) -> Self {
        Scalar(Value::Number(literal.into()))
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Scalar(Value::Text(text.to_owned()))
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Scalar(Value::Text(text))
    }
}

impl From<bool> for Scalar {
    fn from(boolean: bool) -> Self {
        Scalar(Value::Boolean(boolean))
    }
}

impl From<f64> for Scalar {
    /// The shortest number that reads as this double. What isn't finite is refused when the rules are built.
    fn from(float: f64) -> Self {
        let mut literal = String::new();
        if float.is_finite() {
            write_f64(&mut literal, float);
        } else {
            literal = float.to_string();
        }
        Scalar::number(literal)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Scalar {
            fn from(integer: $integer) -> Self {
                Scalar::number(integer.to_string())
            }
        }
    )*};
}
from_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// What a rule asks of an argument.
///
/// A test is for values of a type: a number test for numbers, [`matches`](Self::matches) and
/// [`under`](Self::under) for text, [`equals`](Self::equals) for values of the type of what it names. A value of
/// another type is not "no": the rule can't read it, and the call is asked about. A test that no value of the
/// argument's type can pass is refused when the rules are built.
///
/// ```
/// use tool_runtime::{Absent, Rule, Test};
///
/// let rule = Rule::ask("transfer")
///     .because("a large amount, in dollars, to somebody outside")
///     .when("amount", Test::above(1_000))
///     .when("currency", Test::one_of(["USD", "CAD"]))
///     .when("to", Test::matches("*@*"))
///     .absent(Absent::NoMatch);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test(pub(super) Asked);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    OneOf(Vec<Scalar>, &'static str),
    Matches(String),
    Under(String),
    Compare(Comparison, Scalar),
}

impl Test {
    /// It is this very value. Text is compared byte for byte, after its escapes were read.
    pub fn equals(value: impl Into<Scalar>) -> Self {
        Test(Asked::OneOf(vec![value.into()], "equals"))
    }

    /// It is one of these.
    pub fn one_of(values: impl IntoIterator<Item = impl Into<Scalar>>) -> Self {
        Test(Asked::OneOf(values.into_iter().map(Into::into).collect(), "one_of"))
    }

    /// The whole text matches a [`Pattern`](super::Pattern).
    pub fn matches(pattern: impl Into<String>) -> Self {
        Test(Asked::Matches(pattern.into()))
    }

    /// It is the file path of this directory, or of something in it, at any depth.
    ///
    /// Both paths are normalised first: `/w/secrets`, `/w//secrets/k` and `/w/x/../secrets/./k` are under
    /// `/w/secrets`, and `/w/secretsX` is not. A relative path is taken from [`base`](super::RulesBuilder::base);
    /// without one it can't be known where it leads, nor can it for a path that begins with `~`, and the call is
    /// asked about. So it is on Windows and macOS for a path that is in the directory but for upper and lower case.
    ///
    /// Nothing is looked up: symbolic links and mounts are not followed. Where a model can make them, open files
    /// so that they are not followed either.
    pub fn under(directory: impl Into<String>) -> Self {
        Test(Asked::Under(directory.into()))
    }

    /// It is a number above this one.
    pub fn above(number: impl Into<Scalar>) -> Self {
        Test(Asked::Compare(Comparison::Above, number.into()))
    }

    /// It is this number or one above it.
    pub fn at_least(number: impl Into<Scalar>) -> Self {
        Test(Asked::Compare(Comparison::AtLeast, number.into()))
    }

    /// It is a number below this one.
    pub fn below(number: impl Into<Scalar>) -> Self {
        Test(Asked::Compare(Comparison::Below, number.into()))
    }

    /// It is this number or one below it.
    pub fn at_most(number: impl Into<Scalar>) -> Self {
        Test(Asked::Compare(Comparison::AtMost, number.into()))
    }

    pub(super) fn name(&self) -> &'static str {
        match &self.0 {
            Asked::OneOf(_, name) => name,
            Asked::Matches(_) => "matches",
            Asked::Under(_) => "under",
            Asked::Compare(comparison, _) => comparison.name(),
        }
    }
}

/// What it means for a condition that its argument isn't there, or is `null`; an array without elements has none
/// to be there for `[*]`.
///
/// ```
/// use tool_runtime::{Absent, Rule, Test};
///
/// // Only what is sent to the team is sent without a question.
/// let team = Rule::allow("send").when("to", Test::equals("team")).absent(Absent::NoMatch);
/// // Without a limit everything is deleted.
/// let all = Rule::deny("delete").because("too many").when("limit", Test::above(10)).absent(Absent::Match);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Absent {
    /// The condition holds.
    Match,
    /// The condition doesn't hold.
    NoMatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Comparison {
    pub(super) fn name(self) -> &'static str {
        match self {
            Comparison::Above => "above",
            Comparison::AtLeast => "at_least",
            Comparison::Below => "below",
            Comparison::AtMost => "at_most",
        }
    }

    pub(super) fn holds(self, value_to_bound: Ordering) -> bool {
        match self {
            Comparison::Above => value_to_bound.is_gt(),
            Comparison::AtLeast => value_to_bound.is_ge(),
            Comparison::Below => value_to_bound.is_lt(),
            Comparison::AtMost => value_to_bound.is_le(),
        }
    }
}
