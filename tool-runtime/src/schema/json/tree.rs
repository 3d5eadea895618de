use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::number::in_digits;
use super::{Cursor, Fault, MAX_DEPTH, Segment, SyntaxError, Token, canonical_number, cmp_utf16, write_string};

/// A JSON value that keeps the order of its members and the digits of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// In its canonical spelling.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// # Errors
    /// If the text isn't one JSON value, gives a member twice, or holds a number no double can.
    pub(crate) fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new(text);
        let value = Self::read(&mut cursor, MAX_DEPTH);
        value.and_then(|value| cursor.finish().map(|()| value)).map_err(|Fault| cursor.error())
    }

    fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<Self, Fault> {
        let token = cursor.token()?;
        if depth == 0 && matches!(token, Token::ArrayStart | Token::ObjectStart) {
            return cursor.fail("nested too deeply");
        }
        Ok(match token {
            Token::Null => Json::Null,
            Token::Bool(value) => Json::Bool(value),
            Token::Number(text) => match canonical_number(text) {
                Some(number) => Json::Number(number.into_owned()),
                None => return cursor.fail("a number that is too large"),
            },
            Token::String { raw, escaped } => Json::String(Token::unescape(raw, escaped).into_owned()),
            Token::ArrayStart => {
                let mut elements = Vec::new();
                let mut more = cursor.first_element()?;
                while more {
                    elements.push(Self::read(cursor, depth - 1)?);
                    more = cursor.next_element()?;
                }
                Json::Array(elements)
            }
            Token::ObjectStart => {
                let mut members = Vec::new();
                let mut next = cursor.first_key()?;
                while let Some(key) = next {
                    members.push((key.name().into_owned(), Self::read(cursor, depth - 1)?));
                    next = cursor.next_key()?;
                }
                let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                if keys.windows(2).any(|pair| pair[0] == pair[1]) {
                    return cursor.fail("a member that is given twice");
                }
                Json::Object(members)
            }
        })
    }

    /// From a value whose member order depends on `serde_json`'s features: members come out in key
    /// order, so that the result doesn't.
    pub(crate) fn from_value(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(value) => Json::Bool(*value),
            serde_json::Value::Number(number) => {
                let text = number.to_string();
                Json::Number(canonical_number(&text).map_or_else(|| text.clone(), Cow::into_owned))
            }
            serde_json::Value::String(text) => Json::String(text.clone()),
            serde_json::Value::Array(elements) => Json::Array(elements.iter().map(Self::from_value).collect()),
            serde_json::Value::Object(members) => {
                let mut members: Vec<_> =
                    members.iter().map(|(key, value)| (key.clone(), Self::from_value(value))).collect();
                members.sort_by(|(a, _), (b, _)| cmp_utf16(a, b));
                Json::Object(members)
            }
        }
    }

    pub(crate) fn string(text: impl Into<String>) -> Self {
        Json::String(text.into())
    }

    pub(crate) fn integer(value: impl Into<i128>) -> Self {
        Json::Number(value.into().to_string())
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<&str> {
        match self {
            Json::Number(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(elements) => Some(elements),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        let Json::Object(members) = self else { return None };
        members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Of an object: sets a member in its place, or appends it. No effect on anything else.
    pub(crate) fn set(&mut self, key: &str, value: Json) {
        if let Json::Object(members) = self {
            match members.iter_mut().find(|(name, _)| name == key) {
                Some((_, old)) => *old = value,
                None => members.push((key.to_owned(), value)),
            }
        }
    }

    /// Of an object: takes a member out.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Json> {
        let Json::Object(members) = self else { return None };
        let position = members.iter().position(|(name, _)| name == key)?;
        Some(members.remove(position).1)
    }

    /// Takes out what stands at a path, if it is a member of an object there.
    pub(crate) fn take_out(&mut self, path: &[Segment]) -> Option<Json> {
        let (last, way) = path.split_last()?;
        let mut here = self;
        for segment in way {
            here = match (segment, here) {
                (Segment::Key(name), here @ Json::Object(_)) => here.get_mut(name)?,
                (Segment::Index(index), here @ Json::Object(_)) => here.get_mut(&index.to_string())?,
                (Segment::Index(index), Json::Array(elements)) => elements.get_mut(*index)?,
                _ => return None,
            };
        }
        match last {
            Segment::Key(name) => here.remove(name),
            // A member with digits for a name looks like an index in a pointer.
            Segment::Index(index) => here.remove(&index.to_string()),
        }
    }

    /// One part of an array or an object.
    pub(crate) fn part(&self, segment: &Segment) -> Option<&Json> {
        match (segment, self) {
            (Segment::Key(name), _) => self.get(name),
            (Segment::Index(index), Json::Array(elements)) => elements.get(*index),
            // A member with digits for a name looks like an index in a pointer.
            (Segment::Index(index), _) => self.get(&index.to_string()),
        }
    }

    /// The value at a JSON Pointer.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, step| match value {
            Json::Object(_) => value.get(&step.replace("~1", "/").replace("~0", "~")),
            Json::Array(elements) => elements.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Compact text, members in their own order.
    pub(crate) fn write(&self, out: &mut String) {
        self.write_with(out, false);
    }

    /// The text of RFC 8785, for a value about which no schema says anything.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::new();
        self.write_sorted(&mut text);
        text
    }

    /// The text of RFC 8785: compact, members ordered by key.
    pub(crate) fn write_sorted(&self, out: &mut String) {
        self.write_with(out, true);
    }

    /// With each number spelt so that no other spelling means the same.
    fn with_plain_numbers(self) -> Json {
        match self {
            Json::Number(text) => Json::Number(in_digits(&text).into_owned()),
            Json::Array(elements) => Json::Array(elements.into_iter().map(Json::with_plain_numbers).collect()),
            Json::Object(members) => {
                Json::Object(members.into_iter().map(|(key, value)| (key, value.with_plain_numbers())).collect())
            }
            other => other,
        }
    }

    fn write_with(&self, out: &mut String, sorted: bool) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => write_string(out, text),
            Json::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write_with(out, sorted);
                }
                out.push(']');
            }
            Json::Object(members) => {
                let mut order: Vec<&(String, Json)> = members.iter().collect();
                if sorted {
                    order.sort_by(|(a, _), (b, _)| cmp_utf16(a, b));
                }
                out.push('{');
                for (index, (key, value)) in order.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(out, key);
                    out.push(':');
                    value.write_with(out, sorted);
                }
                out.push('}');
            }
        }
    }
}

/// A canonical text by which values are told apart: the same for all whose numbers only differ in spelling.
pub(crate) fn by_value(canonical: &str) -> Cow<'_, str> {
    // Nothing else is spelt in two ways.
    if canonical.contains("e+")
        && let Ok(value) = Json::parse(canonical)
    {
        return Cow::Owned(value.with_plain_numbers().to_string());
    }
    Cow::Borrowed(canonical)
}

/// Do two canonical texts, with their members in one order, mean one value?
pub(crate) fn same_value(a: &str, b: &str) -> bool {
    a == b || by_value(a) == by_value(b)
}

/// Does a canonical text mean one of these values? Nearly always it is spelt as one of them.
pub(crate) fn is_among(value: &str, values: &[String]) -> bool {
    values.iter().any(|other| other == value) || {
        let value = by_value(value);
        values.iter().any(|other| by_value(other) == value)
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(text) => {
                if let Ok(number) = text.parse::<i64>() {
                    serializer.serialize_i64(number)
                } else if let Ok(number) = text.parse::<u64>() {
                    serializer.serialize_u64(number)
                } else {
                    serializer.serialize_f64(text.parse().map_err(serde::ser::Error::custom)?)
                }
            }
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(elements) => {
                let mut seq = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    seq.serialize_element(element)?;
                }
                seq.end()
            }
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
