//! What expressions are judged by: arguments and state in the kinds of values that expressions know.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use super::time::Moment;
use crate::checklist::number::Fraction;
use crate::schema::json::{Json, Number};
use crate::schema::{JsonPath, Segment};

/// A JSON value as expressions read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Boolean(bool),
    Integer(i64),
    Fraction(Fraction),
    Text(String),
    List(Vec<Data>),
    Map(BTreeMap<String, Data>),
    /// A number that can't be held exactly, or a text that isn't JSON.
    Unreadable(&'static str),
    /// Not known yet.
    Open,
}

impl Data {
    fn parse(text: &str) -> Self {
        Json::parse(text).map_or(Data::Unreadable("is not valid JSON"), Data::of)
    }

    fn of(json: Json) -> Self {
        match json {
            Json::Null => Data::Null,
            Json::Bool(boolean) => Data::Boolean(boolean),
            Json::Number(digits) => Self::of_number(&digits),
            Json::String(text) => Data::Text(text),
            Json::Array(elements) => Data::List(elements.into_iter().map(Data::of).collect()),
            Json::Object(members) => {
                Data::Map(members.into_iter().map(|(name, value)| (name, Data::of(value))).collect())
            }
        }
    }

    fn of_number(digits: &str) -> Self {
        match Number::parse(digits) {
            Some(Number::Integer(integer)) => {
                i64::try_from(integer).map_or(Data::Unreadable("is an integer beyond 64 bits"), Data::Integer)
            }
            _ => Fraction::parse(digits)
                .map_or(Data::Unreadable("is a number that can't be held exactly"), Data::Fraction),
        }
    }

    /// Marks what is at a path, or will be, as not known yet.
    fn open(&mut self, path: &[Segment]) {
        let Some((step, rest)) = path.split_first() else {
            *self = Data::Open;
            return;
        };
        match (step, self) {
            (Segment::Key(name), Data::Map(members)) => match members.get_mut(name) {
                Some(member) => member.open(rest),
                None => {
                    members.insert(name.clone(), Data::Open);
                }
            },
            (Segment::Index(index), Data::List(elements)) if *index < elements.len() => elements[*index].open(rest),
            // What it will be has another form than what is there.
            (_, here) => *here = Data::Open,
        }
    }
}

/// What an [`Expression`](super::Expression) is judged by.
///
/// Texts are JSON. One that isn't is no error here: whatever reads it has no answer.
///
/// Holds no name that the expression's [`Scope`](super::Scope) doesn't have to know: what isn't given is unknown.
#[derive(Clone)]
pub struct Facts {
    pub(super) arguments: Option<Data>,
    pub(super) states: BTreeMap<Box<str>, Data>,
    pub(super) now: Option<Moment>,
    pub(super) caller: BTreeMap<Box<str>, Data>,
}

impl Facts {
    /// Of a call with these arguments, in their canonical text.
    pub fn new(arguments: &str) -> Self {
        Facts { arguments: Some(Data::parse(arguments)), ..Facts::without_arguments() }
    }

    /// Of no call: `args` is unknown.
    pub fn without_arguments() -> Self {
        Facts { arguments: None, states: BTreeMap::new(), now: None, caller: BTreeMap::new() }
    }

    /// The arguments are a draft, and at this path there is no value yet: what depends on it has no answer, whether
    /// something stands there or not.
    #[must_use]
    pub fn open(mut self, path: &JsonPath) -> Self {
        if let Some(arguments) = &mut self.arguments {
            arguments.open(path.segments());
        }
        self
    }

    /// What was observed under this name, as JSON. `null` says that it was looked up and there is none.
    #[must_use]
    pub fn state(mut self, name: impl Into<String>, observed: &str) -> Self {
        self.states.insert(name.into().into(), Data::parse(observed));
        self
    }

    /// What time it is. A time outside of the years 1 to 9999 counts as not given.
    #[must_use]
    pub fn now(mut self, now: SystemTime) -> Self {
        self.now = Moment::of_system(now);
        self
    }

    /// As [`now`](Facts::now), from what [`time`](Facts::time) gives. A text that is no such time counts as not given.
    pub(in crate::checklist) fn at(mut self, time: &str) -> Self {
        self.now = Moment::parse(time);
        self
    }

    /// What time it is, by RFC 3339.
    pub(in crate::checklist) fn time(&self) -> Option<String> {
        self.now.map(Moment::text)
    }

    /// Something about the caller. What isn't given is unknown, also to `has`.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.caller.insert(name.into().into(), Data::Text(value.into()));
        self
    }
}

/// Names only: what they stand for may be secret.
impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("states", &self.states.keys())
            .field("now", &self.now.map(Moment::text))
            .field("caller", &self.caller.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_unreadable() {
        assert_eq!(Data::parse("9223372036854775807"), Data::Integer(i64::MAX));
        assert_eq!(Data::parse("-9223372036854775808"), Data::Integer(i64::MIN));
        assert_eq!(Data::parse("30.0"), Data::Integer(30));
        assert_eq!(Data::parse("0.5"), Data::Fraction(Fraction::parse("0.5").unwrap()));
        for text in ["9223372036854775808", "18446744073709551615", "1e30", "1e-300", "1e400"] {
            assert!(matches!(Data::parse(text), Data::Unreadable(_)), "{text}");
        }
    }

    #[test]
    fn what_is_open_is_open_whether_it_is_there_or_not() {
        let opened = |text: &str, pointer: &str| {
            let mut data = Data::parse(text);
            data.open(JsonPath::from_pointer(pointer).unwrap().segments());
            data
        };
        let map = |name: &str, data| Data::Map([(name.to_owned(), data)].into());
        assert_eq!(opened("{}", "/a"), map("a", Data::Open));
        assert_eq!(opened(r#"{"a":1}"#, "/a"), map("a", Data::Open));
        assert_eq!(opened("{}", "/a/b/0"), map("a", Data::Open));
        assert_eq!(opened(r#"{"a":{}}"#, "/a/b"), map("a", map("b", Data::Open)));
        assert_eq!(opened(r#"{"a":[1]}"#, "/a/0"), map("a", Data::List(vec![Data::Open])));
        assert_eq!(opened(r#"{"a":[1]}"#, "/a/1"), map("a", Data::Open));
        assert_eq!(opened(r#"{"a":null}"#, "/a/b"), map("a", Data::Open));
    }
}
