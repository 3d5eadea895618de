//! What becomes of a condition for one call.

use std::borrow::Cow;
use std::sync::Arc;

use super::decimal::{Decimal, Number};
use super::directory::Directory;
use super::pattern::Pattern;
use super::place::Found;
use super::test::{Absent, Comparison};
use crate::schema::Kind;
use crate::schema::json::Token;

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
#[derive(Debug)]
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

/// A value as tests read it, for all tests of it at once.
#[derive(Debug)]
pub(super) enum Operand<'a> {
    Null,
    Boolean(bool),
    Text(Cow<'a, str>),
    /// `None` if it can't be compared.
    Number(Option<Decimal<&'a str>>),
    /// An array or an object.
    Several,
}

impl<'a> From<Token<'a>> for Operand<'a> {
    fn from(token: Token<'a>) -> Self {
        match token {
            Token::Null => Operand::Null,
            Token::Bool(boolean) => Operand::Boolean(boolean),
            Token::String { raw, escaped } => Operand::Text(Token::unescape(raw, escaped)),
            Token::Number(digits) => Operand::Number(Decimal::of_digits(digits)),
            Token::ArrayStart | Token::ObjectStart => Operand::Several,
        }
    }
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

    fn is(&self, operand: &Operand<'_>) -> Outcome {
        match (self, operand) {
            // Whatever it is, it isn't nothing.
            (Wanted::Null, operand) => matches!(operand, Operand::Null).into(),
            (Wanted::Boolean(wanted), Operand::Boolean(boolean)) => (wanted == boolean).into(),
            (Wanted::Text(wanted), Operand::Text(text)) => (**wanted == **text).into(),
            (Wanted::Number(wanted), Operand::Number(Some(number))) => wanted.compared(number).is_eq().into(),
            _ => Outcome::Unreadable,
        }
    }
}

impl Check {
    pub(super) fn takes_null(&self) -> bool {
        matches!(self, Check::OneOf(wanted) if wanted.contains(&Wanted::Null))
    }

    pub(super) fn test(&self, operand: &Operand<'_>) -> Outcome {
        match (self, operand) {
            (Check::OneOf(wanted), operand) => {
                // A value is read if it has the type of any of them.
                let mut all = Outcome::Unreadable;
                for wanted in wanted {
                    match wanted.is(operand) {
                        Outcome::Holds => return Outcome::Holds,
                        Outcome::Fails => all = Outcome::Fails,
                        Outcome::Unreadable => {}
                    }
                }
                all
            }
            (Check::Matches(pattern), Operand::Text(text)) => pattern.matches(text).into(),
            (Check::Under(directory), Operand::Text(text)) => directory.holds(text),
            (Check::Compare(comparison, number), Operand::Number(Some(operand))) => {
                comparison.holds(number.compared(operand)).into()
            }
            _ => Outcome::Unreadable,
        }
    }
}

/// A condition of a rule, for one tool.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) check: Arc<Check>,
    pub(super) absent: Option<Absent>,
    /// Of several values all have to pass, where one is enough otherwise.
    pub(super) every: bool,
    /// The argument as its author wrote it, to be shown.
    pub(super) argument: Arc<str>,
}

impl Condition {
    /// Before any value was looked at.
    pub(super) fn begin(&self) -> Outcome {
        if self.every { Outcome::Holds } else { Outcome::Fails }
    }

    /// With one more value, or with what is there in the place of any.
    pub(super) fn add(&self, all: &mut Outcome, found: &Found<Operand<'_>>) {
        let begin = self.begin();
        // Once a value has decided it, no other can.
        if *all == begin || *all == Outcome::Unreadable {
            let outcome = self.of(found);
            if outcome != begin {
                *all = outcome;
            }
        }
    }

    fn of(&self, found: &Found<Operand<'_>>) -> Outcome {
        match found {
            Found::Value(Operand::Null) if !self.check.takes_null() => self.absent(),
            Found::Value(operand) => self.check.test(operand),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inv15_a_value_of_another_type_is_unreadable() {
        let text = || Operand::from(Token::String { raw: "a", escaped: false });
        let number = || Operand::from(Token::Number("1"));
        let compare = Check::Compare(Comparison::Above, Number::new("0").unwrap());
        assert_eq!(compare.test(&number()), Outcome::Holds);
        for operand in [text(), Operand::Boolean(true), Operand::Several] {
            assert_eq!(compare.test(&operand), Outcome::Unreadable);
        }
        let matches = Check::Matches(Pattern::new("a*").unwrap());
        assert_eq!(matches.test(&text()), Outcome::Holds);
        assert_eq!(matches.test(&number()), Outcome::Unreadable);
        let one_of = Check::OneOf(vec![Wanted::Text("b".into()), Wanted::Boolean(true)]);
        assert_eq!(one_of.test(&text()), Outcome::Fails);
        assert_eq!(one_of.test(&Operand::Boolean(true)), Outcome::Holds);
        assert_eq!(one_of.test(&number()), Outcome::Unreadable);
        assert_eq!(one_of.test(&Operand::Several), Outcome::Unreadable);
    }

    #[test]
    fn text_is_compared_after_its_escapes_were_read() {
        let check = Check::OneOf(vec![Wanted::Text("a\n\"é".into())]);
        assert_eq!(check.test(&Token::String { raw: r#"a\n\"é"#, escaped: true }.into()), Outcome::Holds);
        // Another form of the same letter is another text.
        assert_eq!(check.test(&Token::String { raw: "a\\n\\\"e\u{301}", escaped: true }.into()), Outcome::Fails);
    }
}
