//! What is known of a value before there is one.

use super::place::Place;
use crate::schema::{Kind, Reached};

/// A set of kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u16);

impl Kinds {
    pub(super) const NONE: Kinds = Kinds(0);
    pub(super) const NULL: Kinds = Kinds(1);
    pub(super) const BOOLEAN: Kinds = Kinds(2);
    pub(super) const INTEGER: Kinds = Kinds(4);
    pub(super) const FRACTION: Kinds = Kinds(8);
    pub(super) const NUMBER: Kinds = Kinds(4 | 8);
    pub(super) const STRING: Kinds = Kinds(16);
    pub(super) const LIST: Kinds = Kinds(32);
    pub(super) const MAP: Kinds = Kinds(64);
    pub(super) const MOMENT: Kinds = Kinds(128);
    pub(super) const SPAN: Kinds = Kinds(256);
    /// All that JSON can be.
    pub(super) const JSON: Kinds = Kinds(127);

    pub(super) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub(super) const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    pub(super) const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Integers and fractions are compared with each other.
    pub(super) fn comparable(self) -> Kinds {
        if self.meets(Kinds::NUMBER) { self.or(Kinds::NUMBER) } else { self }
    }

    pub(super) fn of(reached: &Reached) -> Kinds {
        let all = [
            (Kind::Null, Kinds::NULL),
            (Kind::Boolean, Kinds::BOOLEAN),
            (Kind::Integer, Kinds::INTEGER),
            (Kind::Fraction, Kinds::FRACTION),
            (Kind::String, Kinds::STRING),
            (Kind::Array, Kinds::LIST),
            (Kind::Object, Kinds::MAP),
        ];
        all.into_iter().filter(|(kind, _)| reached.takes(*kind)).fold(Kinds::NONE, |kinds, (_, kind)| kinds.or(kind))
    }

    /// In words: `string or null`.
    pub(super) fn words(self) -> String {
        let all = [
            (Kinds::NUMBER, "number"),
            (Kinds::INTEGER, "integer"),
            (Kinds::FRACTION, "fraction"),
            (Kinds::STRING, "string"),
            (Kinds::BOOLEAN, "boolean"),
            (Kinds::LIST, "list"),
            (Kinds::MAP, "map"),
            (Kinds::MOMENT, "timestamp"),
            (Kinds::SPAN, "duration"),
            (Kinds::NULL, "null"),
        ];
        let mut left = self;
        let mut words = Vec::new();
        for (kinds, word) in all {
            if left.and(kinds) == kinds {
                words.push(word);
                left = left.without(kinds);
            }
        }
        words.join(" or ")
    }
}

/// What is known of the value of a part of an expression.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) kinds: Kinds,
    /// Where it stands, if it is read from somewhere.
    pub(super) place: Option<Place>,
    /// What the elements are, if it is a list.
    pub(super) element: Option<Box<Known>>,
    /// The canonical texts of all that it can be, if these are listed.
    pub(super) listed: Option<Vec<String>>,
    /// The canonical text of what it always is, and for a list those of its elements.
    pub(super) literal: Option<String>,
}

impl Known {
    pub(super) fn of(kinds: Kinds) -> Self {
        Known { kinds, place: None, element: None, listed: None, literal: None }
    }

    /// Of what nobody said anything.
    pub(super) fn anything() -> Self {
        Known::of(Kinds::JSON.or(Kinds::MOMENT).or(Kinds::SPAN))
    }
}
