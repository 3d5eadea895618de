//! An expression as it is evaluated.

use super::functions::Function;
use crate::checklist::number::Fraction;

/// A part of an expression, with its offset in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: usize,
    pub(super) op: Op,
}

#[derive(Debug, Clone)]
pub(super) enum Op {
    Null,
    Boolean(bool),
    Integer(i64),
    Fraction(Fraction),
    Text(String),
    Arguments,
    State(Box<str>),
    Now,
    Caller(Box<str>),
    /// The element that a comprehension is at.
    Element,
    /// The member by the first of these names that there is; and how the author writes it.
    Member {
        of: Box<Node>,
        names: Box<[Box<str>]>,
        shown: Box<str>,
    },
    At {
        of: Box<Node>,
        index: Box<Node>,
    },
    Has(Box<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<[Node; 3]>),
    Compare(Comparison, Box<Node>, Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    In(Box<Node>, Box<Node>),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
    Call(Function, Vec<Node>),
    Each {
        how: Each,
        list: Box<Node>,
        filter: Option<Box<Node>>,
        body: Box<Node>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

/// What a comprehension makes of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}
