//! What a rule asks of the value of an argument.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::argument::{Found, Hop, find};
use super::decimal::Number;
use super::pattern::Pattern;
use crate::schema::json::{Cursor, Token, write_f64};
use crate::schema::{Kind, normalised};

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

    /// The whole text matches a [`Pattern`].
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

    fn holds(self, value_to_bound: Ordering) -> bool {
        match self {
            Comparison::Above => value_to_bound.is_gt(),
            Comparison::AtLeast => value_to_bound.is_ge(),
            Comparison::Below => value_to_bound.is_lt(),
            Comparison::AtMost => value_to_bound.is_le(),
        }
    }
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Holds,
    Fails,
    /// It can't be told.
    Unreadable,
}

impl From<bool> for Outcome {
    fn from(holds: bool) -> Self {
        if holds { Outcome::Holds } else { Outcome::Fails }
    }
}

/// A test, ready to be made.
#[derive(Debug, Clone)]
pub(super) enum Check {
    OneOf(Vec<Wanted>),
    Matches(Pattern),
    Under(Directory),
    Compare(Comparison, Number),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Null,
    Boolean(bool),
    Text(Box<str>),
    Number(Number),
}

impl Wanted {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Wanted::Null => Kind::Null,
            Wanted::Boolean(_) => Kind::Boolean,
            Wanted::Text(_) => Kind::String,
            Wanted::Number(number) if number.is_whole() => Kind::Integer,
            Wanted::Number(_) => Kind::Fraction,
        }
    }

    fn is(&self, token: Token<'_>) -> Outcome {
        match (self, token) {
            // Whatever it is, it isn't nothing.
            (Wanted::Null, token) => (token == Token::Null).into(),
            (Wanted::Boolean(wanted), Token::Bool(boolean)) => (*wanted == boolean).into(),
            (Wanted::Text(wanted), Token::String { raw, escaped }) => {
                (**wanted == *Token::unescape(raw, escaped)).into()
            }
            (Wanted::Number(wanted), Token::Number(digits)) => match wanted.compared(digits) {
                Some(ordering) => ordering.is_eq().into(),
                None => Outcome::Unreadable,
            },
            _ => Outcome::Unreadable,
        }
    }
}

impl Check {
    pub(super) fn takes_null(&self) -> bool {
        matches!(self, Check::OneOf(wanted) if wanted.contains(&Wanted::Null))
    }

    pub(super) fn test(&self, token: Token<'_>) -> Outcome {
        match (self, token) {
            (Check::OneOf(wanted), token) => {
                // A value is read if it has the type of any of them.
                let mut all = Outcome::Unreadable;
                for wanted in wanted {
                    match wanted.is(token) {
                        Outcome::Holds => return Outcome::Holds,
                        Outcome::Fails => all = Outcome::Fails,
                        Outcome::Unreadable => {}
                    }
                }
                all
            }
            (Check::Matches(pattern), Token::String { raw, escaped }) => {
                pattern.matches(&Token::unescape(raw, escaped)).into()
            }
            (Check::Under(directory), Token::String { raw, escaped }) => {
                directory.holds(&Token::unescape(raw, escaped))
            }
            (Check::Compare(comparison, number), Token::Number(digits)) => match number.compared(digits) {
                Some(ordering) => comparison.holds(ordering).into(),
                None => Outcome::Unreadable,
            },
            _ => Outcome::Unreadable,
        }
    }
}

/// A condition of a rule, for one tool.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// Which of the tool's arguments it is about: one, unless forms of a call disagree about its name.
    pub(super) slots: Box<[usize]>,
    /// How to get on from there.
    pub(super) hops: Box<[Hop]>,
    pub(super) check: std::sync::Arc<Check>,
    pub(super) absent: Option<Absent>,
    /// The argument as its author wrote it, to be shown.
    pub(super) argument: std::sync::Arc<str>,
}

impl Condition {
    /// Does it hold for an argument that begins at these offsets, or isn't there? Of several values one is enough,
    /// unless it has to be `every` one.
    pub(super) fn judge(&self, arguments: &str, offsets: impl Iterator<Item = usize>, every: bool) -> Outcome {
        let (decisive, otherwise) =
            if every { (Outcome::Fails, Outcome::Holds) } else { (Outcome::Holds, Outcome::Fails) };
        let mut all = otherwise;
        let mut is_there = false;
        for offset in offsets {
            is_there = true;
            let read = find(&self.hops, &mut Cursor::at(arguments, offset), &mut |found| {
                let outcome = self.of(found);
                if all != decisive && outcome != otherwise {
                    all = outcome;
                }
            });
            if read.is_err() {
                return Outcome::Unreadable;
            }
        }
        if is_there { all } else { self.of(Found::Absent) }
    }

    fn of(&self, found: Found<'_>) -> Outcome {
        match found {
            Found::Value(Token::Null) if !self.check.takes_null() => self.absent(),
            Found::Value(token) => self.check.test(token),
            Found::Absent => self.absent(),
            Found::Elsewhere => Outcome::Unreadable,
        }
    }

    fn absent(&self) -> Outcome {
        match self.absent {
            Some(Absent::Match) => Outcome::Holds,
            Some(Absent::NoMatch) => Outcome::Fails,
            // It had to be there.
            None => Outcome::Unreadable,
        }
    }
}

/// A directory, and what relative paths are relative to.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    path: Box<str>,
    base: Option<Box<str>>,
}

/// On these systems names that differ in case alone are mostly one name.
const CASE_MAY_NOT_COUNT: bool = cfg!(any(windows, target_os = "macos", target_os = "ios"));

impl Directory {
    /// # Errors
    /// With what is wrong with the path.
    pub(super) fn new(path: &str, base: Option<&str>) -> Result<Self, &'static str> {
        let path = match (absolute(path)?, base) {
            (Some(path), _) => path,
            (None, Some(base)) => Cow::Owned(absolute(&format!("{base}/{path}"))?.unwrap_or_default().into_owned()),
            (None, None) => return Err("a relative path needs `base`, the directory that it is in"),
        };
        Ok(Directory { path: path.into(), base: base.map(Into::into) })
    }

    fn holds(&self, path: &str) -> Outcome {
        let path = match (absolute(path), &self.base) {
            (Ok(Some(path)), _) => path,
            (Ok(None), Some(base)) => match absolute(&format!("{base}/{path}")) {
                Ok(Some(path)) => Cow::Owned(path.into_owned()),
                _ => return Outcome::Unreadable,
            },
            _ => return Outcome::Unreadable,
        };
        if is_in(&self.path, &path) {
            return Outcome::Holds;
        }
        let may_be_in = (CASE_MAY_NOT_COUNT && is_in(&self.path.to_lowercase(), &path.to_lowercase()))
            || (cfg!(windows) && may_be_elsewhere(&self.path, &path));
        if may_be_in { Outcome::Unreadable } else { Outcome::Fails }
    }
}

/// A path in its normal form. `None` if it is relative.
///
/// # Errors
/// If there is no knowing where it leads.
pub(super) fn absolute(path: &str) -> Result<Option<Cow<'_, str>>, &'static str> {
    if path.starts_with('~') {
        return Err("`~` is a directory of whoever opens the file: write the path out");
    }
    let path = normalised(path).ok_or("a path can't have NUL in it")?;
    Ok((path.starts_with('/') || drive(&path).is_some()).then_some(path))
}

/// The letter of `C:/…`, on Windows.
fn drive(path: &str) -> Option<u8> {
    match path.as_bytes() {
        [letter, b':', b'/', ..] if cfg!(windows) && letter.is_ascii_alphabetic() => Some(letter.to_ascii_lowercase()),
        _ => None,
    }
}

/// Can a path on Windows be in a directory although it doesn't look so? Short names, streams, names that end in
/// what is left out, and paths without a drive.
fn may_be_elsewhere(directory: &str, path: &str) -> bool {
    let rest = if drive(path).is_some() { &path[2..] } else { path };
    let is_odd = |part: &str| part.contains(['~', ':']) || part.ends_with(['.', ' ']);
    drive(directory).is_some() != drive(path).is_some() || rest.split('/').any(is_odd)
}

fn is_in(directory: &str, path: &str) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || directory.ends_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn b62_a_directory_holds_every_spelling_of_what_is_in_it() {
        let directory = Directory::new("/w/x/../secrets/", Some("/w")).unwrap();
        for path in [
            "secrets/k",
            "./secrets/k",
            "/w/x/../secrets/k",
            "/w//secrets/k",
            "/w/secrets/./k",
            "/w/secrets",
            "/w/secrets/",
            "../w/secrets/k",
            "../../../w/secrets",
            "x/../secrets/a/b",
        ] {
            assert_eq!(directory.holds(path), Outcome::Holds, "{path}");
        }
        for path in ["/w/secretsX/k", "/w", "/w/secrets/../k", "", ".", "/", "../secrets", "secret", "/w/secrets\\k"] {
            assert_eq!(directory.holds(path), Outcome::Fails, "{path}");
        }
        for path in ["~/secrets", "~", "secrets\0", "/w/secrets/\0"] {
            assert_eq!(directory.holds(path), Outcome::Unreadable, "{path:?}");
        }
        let other_case = if CASE_MAY_NOT_COUNT { Outcome::Unreadable } else { Outcome::Fails };
        assert_eq!(directory.holds("/w/Secrets/k"), other_case);
        assert_eq!(Directory::new("/", None).unwrap().holds("/x"), Outcome::Holds);
        assert_eq!(Directory::new("a/..", Some("/w")).unwrap().holds("k"), Outcome::Holds);
    }

    #[test]
    fn b62_a_relative_path_is_nowhere_without_a_base() {
        let directory = Directory::new("/w/secrets", None).unwrap();
        assert_eq!(directory.holds("secrets/k"), Outcome::Unreadable);
        assert_eq!(directory.holds("/w/secrets/k"), Outcome::Holds);
        Directory::new("secrets", None).unwrap_err();
        Directory::new("~/x", Some("/w")).unwrap_err();
        Directory::new("/x\0", None).unwrap_err();
    }

    #[test]
    fn inv15_a_value_of_another_type_is_unreadable() {
        let text = Token::String { raw: "a", escaped: false };
        let number = Token::Number("1");
        let compare = Check::Compare(Comparison::Above, Number::new("0").unwrap());
        assert_eq!(compare.test(number), Outcome::Holds);
        for token in [text, Token::Bool(true), Token::ArrayStart, Token::ObjectStart] {
            assert_eq!(compare.test(token), Outcome::Unreadable);
        }
        let matches = Check::Matches(Pattern::new("a*").unwrap());
        assert_eq!(matches.test(text), Outcome::Holds);
        assert_eq!(matches.test(number), Outcome::Unreadable);
        let one_of = Check::OneOf(vec![Wanted::Text("b".into()), Wanted::Boolean(true)]);
        assert_eq!(one_of.test(text), Outcome::Fails);
        assert_eq!(one_of.test(Token::Bool(true)), Outcome::Holds);
        assert_eq!(one_of.test(number), Outcome::Unreadable);
        assert_eq!(one_of.test(Token::ObjectStart), Outcome::Unreadable);
    }

    #[test]
    fn text_is_compared_after_its_escapes_were_read() {
        let check = Check::OneOf(vec![Wanted::Text("a\n\"é".into())]);
        assert_eq!(check.test(Token::String { raw: r#"a\n\"é"#, escaped: true }), Outcome::Holds);
        // Another form of the same letter is another text.
        assert_eq!(check.test(Token::String { raw: "a\\n\\\"e\u{301}", escaped: true }), Outcome::Fails);
    }
}
