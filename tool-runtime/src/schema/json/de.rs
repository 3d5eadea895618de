//! Reads a Rust value from canonical text.
//!
//! The text was checked when it was accepted, so this reader only has to be exact and quick. It is
//! not `serde_json`'s, because what that hands to a visitor depends on features of somebody
//! else's build: with `arbitrary_precision` a number inside a tagged enum becomes a map.

use std::fmt;

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::super::quick::{self, Expected, Found};
use super::{Cursor, Fault, Token};

/// A value that a type refuses although its schema takes it.
#[derive(Debug)]
pub(crate) struct DecodeError {
    pub(crate) message: String,
    /// Where the refused value begins.
    pub(crate) offset: Option<usize>,
}

impl DecodeError {
    #[cold]
    fn at(mut self, offset: usize) -> Self {
        self.offset.get_or_insert(offset);
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        DecodeError { message: message.to_string(), offset: None }
    }

    /// Without the value that came: it may be a secret.
    #[cold]
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}"))
    }

    #[cold]
    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format_args!("expected {expected}"))
    }
}

/// Reads one value that stands in `text` from `start` on.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(text: &'de str, start: usize) -> Result<T, DecodeError> {
    let mut reader = Reader { cursor: Cursor::at(text, start), expected: None, depth: 0 };
    T::deserialize(&mut reader).map_err(|error| error.at(start))
}

/// Reads values one after the other. With `expected` it follows the schema along and stops where it
/// is unsure; without, the text is known to be what the schema asks for.
#[derive(Debug)]
pub(crate) struct Reader<'de, 'g> {
    cursor: Cursor<'de>,
    expected: Option<Expected<'g>>,
    depth: usize,
}

impl<'de, 'g> Reader<'de, 'g> {
    /// Over a text that comes from outside.
    pub(crate) fn following(text: &'de str, expected: Expected<'g>) -> Self {
        Reader { cursor: Cursor::new(text), expected: Some(expected), depth: 0 }
    }

    #[cold]
    fn syntax(&self) -> DecodeError {
        let error = self.cursor.error();
        DecodeError { message: error.to_string(), offset: Some(error.offset) }
    }

    #[inline]
    fn token(&mut self) -> Result<Token<'de>, DecodeError> {
        let start = self.cursor.offset();
        let token = self.cursor.token().map_err(|Fault| self.syntax())?;
        match self.expected {
            None => Ok(token),
            Some(expected) if self.is_sure(token, expected, start) => Ok(token),
            Some(_) => Err(unsure()),
        }
    }

    /// A string without escapes, if one comes that is fine. `None` leaves everything as it was.
    #[inline]
    fn ordinary_string(&mut self) -> Option<&'de str> {
        let start = self.cursor.offset();
        if self.cursor.byte() != Some(b'"') {
            return None;
        }
        if self.cursor.skip_string() == Ok(false) {
            let quoted = self.cursor.slice_from(start);
            let raw = &quoted[1..quoted.len() - 1];
            if self.expected.is_none_or(|expected| expected.takes_string(raw)) {
                return Some(raw);
            }
        }
        self.cursor.go_back(start);
        None
    }

    /// A positive integer of at most 18 digits, if one comes that is fine. `None` leaves everything as
    /// it was.
    #[inline]
    fn ordinary_integer(&mut self) -> Option<u64> {
        let start = self.cursor.offset();
        if !matches!(self.cursor.byte(), Some(b'1'..=b'9')) {
            return None;
        }
        let value = self.cursor.short_integer()?;
        if self.expected.is_none_or(|expected| expected.takes_integer(value.into())) {
            return u64::try_from(value).ok();
        }
        self.cursor.go_back(start);
        None
    }

    /// Is the token what the schema asks for, in its canonical spelling and without a space before?
    #[inline]
    fn is_sure(&self, token: Token<'de>, expected: Expected<'g>, start: usize) -> bool {
        let width = self.cursor.offset() - start;
        match token {
            Token::String { raw, escaped } => !escaped && raw.len() + 2 == width && expected.takes_string(raw),
            Token::Number(digits) => {
                let spelt = digits.len() == width && digits != "-0";
                spelt
                    && super::is_integer_literal(digits)
                    && digits.parse().is_ok_and(|value| expected.takes_integer(value))
            }
            Token::Null => width == 4 && expected.takes_null(),
            Token::Bool(value) => width == 5 - usize::from(value) && expected.takes_bool(value),
            // What is inside is followed there.
            Token::ArrayStart | Token::ObjectStart => width == 1 && self.depth < super::MAX_DEPTH,
        }
    }

    /// The object that makes up the whole text, a member at a time. `None`: unsure.
    pub(crate) fn open_object(&mut self) -> Option<(quick::Members<'g>, Option<super::Key<'de>>)> {
        let members = self.expected?.object()?;
        let token = self.token().ok()?;
        if token != Token::ObjectStart {
            return None;
        }
        self.depth = 1;
        let before = self.cursor.offset();
        let key = self.cursor.first_key().ok()?;
        self.is_tight(key, before).then_some((members, key))
    }

    /// The next key of that object.
    pub(crate) fn next_key(&mut self) -> Option<Option<super::Key<'de>>> {
        let before = self.cursor.offset();
        let key = self.cursor.next_key().ok()?;
        self.is_tight(key, before).then_some(key)
    }

    /// Nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.cursor.is_at_end()
    }

    /// Reads the value that comes.
    pub(crate) fn value<T: de::Deserialize<'de>>(&mut self, found: Found<'g>) -> Option<T> {
        if found.null_is_absence && self.cursor.byte() == Some(b'n') {
            return None;
        }
        self.expected = Some(found.expected);
        T::deserialize(self).ok()
    }

    /// Does a key, or the end of an object, stand as canonical text has it?
    #[inline]
    fn is_tight(&self, key: Option<super::Key<'de>>, before: usize) -> bool {
        match key {
            // The first key has its brace before it, every other one its comma.
            Some(key) => {
                !key.escaped
                    && key.start == key.separator + 1
                    && key.after_colon == key.end + 1
                    && (key.separator == before || key.start == before)
            }
            None => self.cursor.offset() == before + 1,
        }
    }
}

/// What a schema is unsure of is walked instead; nobody reads this.
fn unsure() -> DecodeError {
    DecodeError { message: String::new(), offset: None }
}

#[inline]
fn visit_number<'de, V: Visitor<'de>>(digits: &'de str, visitor: V) -> Result<V::Value, DecodeError> {
    if let Ok(number) = digits.parse::<u64>() {
        visitor.visit_u64(number)
    } else if let Ok(number) = digits.parse::<i64>() {
        visitor.visit_i64(number)
    } else if super::is_integer_literal(digits) {
        // Who asks for any number would be given another one than was judged.
        Err(de::Error::custom("expected an integer of at most 64 bits"))
    } else {
        visit_double(digits, visitor)
    }
}

fn visit_double<'de, V: Visitor<'de>>(digits: &'de str, visitor: V) -> Result<V::Value, DecodeError> {
    let number = digits.parse().map_err(|_| de::Error::custom("expected a number"))?;
    visitor.visit_f64(number)
}

impl<'de> Reader<'de, '_> {
    fn double<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        let value = match self.token()? {
            Token::Number(digits) => visit_double(digits, visitor),
            _ => Err(de::Error::custom("expected a number")),
        };
        value.map_err(|error| error.at(start))
    }

    fn wide_integer<T: std::str::FromStr>(&mut self) -> Result<T, DecodeError> {
        match self.token()? {
            Token::Number(digits) => {
                digits.parse().map_err(|_| de::Error::custom("expected an integer of at most 128 bits"))
            }
            _ => Err(de::Error::custom("expected an integer")),
        }
    }
}

/// Integers of whose type a value asks; what they may be is judged all the same.
macro_rules! ordinary_integers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let start = self.cursor.offset();
            match self.ordinary_integer() {
                Some(value) => visitor.visit_u64(value).map_err(|error: DecodeError| error.at(start)),
                None => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de, '_> {
    type Error = DecodeError;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        let value = match self.token()? {
            Token::Null => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Number(digits) => visit_number(digits, visitor),
            Token::String { raw, escaped: false } => visitor.visit_borrowed_str(raw),
            Token::String { raw, escaped: true } => visitor.visit_string(Token::unescape(raw, true).into_owned()),
            Token::ArrayStart => {
                let follows = match self.expected {
                    Some(expected) => Some(expected.array().ok_or_else(unsure)?),
                    None => None,
                };
                self.depth += 1;
                let mut elements = Elements { reader: self, follows, count: 0, done: false };
                match visitor.visit_seq(&mut elements) {
                    Ok(value) => elements.finish().map(|()| value),
                    Err(error) => Err(error),
                }
            }
            Token::ObjectStart => {
                let follows = match self.expected {
                    Some(expected) => Some(expected.object().ok_or_else(unsure)?),
                    None => None,
                };
                self.depth += 1;
                let mut members = Members { reader: self, follows, found: None, first: true, done: false };
                match visitor.visit_map(&mut members) {
                    Ok(value) => members.finish().map(|()| value),
                    Err(error) => Err(error),
                }
            }
        };
        value.map_err(|error| error.at(start))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.double(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.double(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        let number = self.wide_integer();
        number.and_then(|number| visitor.visit_i128(number)).map_err(|error| error.at(start))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        let number = self.wide_integer();
        number.and_then(|number| visitor.visit_u128(number)).map_err(|error| error.at(start))
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.cursor.byte() == Some(b'n') {
            self.token()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        visitor.visit_newtype_struct(self).map_err(|error| error.at(start))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let start = self.cursor.offset();
        let value = match self.token()? {
            Token::String { raw, escaped } => visitor.visit_enum(Token::unescape(raw, escaped).into_deserializer()),
            Token::ObjectStart if self.expected.is_some() => Err(unsure()),
            Token::ObjectStart => match self.cursor.first_key().map_err(|Fault| self.syntax())? {
                Some(key) => {
                    let value = visitor.visit_enum(Variant { reader: self, name: (key.raw(), key.escaped) });
                    match value {
                        Ok(value) => match self.cursor.next_key().map_err(|Fault| self.syntax())? {
                            None => Ok(value),
                            Some(_) => Err(de::Error::custom("expected one member only")),
                        },
                        Err(error) => Err(error),
                    }
                }
                None => Err(de::Error::custom("expected one member")),
            },
            _ => Err(de::Error::custom("expected a string or an object")),
        };
        value.map_err(|error| error.at(start))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.expected.is_some() {
            return Err(unsure());
        }
        self.cursor.skip_value(super::MAX_DEPTH).map_err(|Fault| self.syntax())?;
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.ordinary_string() {
            Some(raw) => visitor.visit_borrowed_str(raw),
            None => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    ordinary_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    serde::forward_to_deserialize_any! {
        bool char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

struct Elements<'r, 'de, 'g> {
    reader: &'r mut Reader<'de, 'g>,
    follows: Option<quick::Elements<'g>>,
    count: usize,
    done: bool,
}

impl Elements<'_, '_, '_> {
    fn advance(&mut self) -> Result<bool, DecodeError> {
        if self.done {
            return Ok(false);
        }
        let cursor = &mut self.reader.cursor;
        let before = cursor.offset();
        let first = self.count == 0;
        let more = if first { cursor.first_element() } else { cursor.next_element() };
        let more = more.map_err(|Fault| self.reader.syntax())?;
        if let Some(follows) = &self.follows {
            // Before a first element nothing is read but what shouldn't be there.
            let width = self.reader.cursor.offset() - before;
            let tight = width == usize::from(!(first && more));
            if !tight || (!more && !follows.takes_count(self.count)) {
                return Err(unsure());
            }
            self.reader.expected = Some(follows.each());
        }
        self.count += 1;
        if !more {
            self.done = true;
            self.reader.depth -= 1;
        }
        Ok(more)
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        if self.advance()? { Err(de::Error::custom("expected fewer elements")) } else { Ok(()) }
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de, '_> {
    type Error = DecodeError;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        if !self.advance()? {
            return Ok(None);
        }
        let start = self.reader.cursor.offset();
        seed.deserialize(&mut *self.reader).map(Some).map_err(|error| error.at(start))
    }
}

struct Members<'r, 'de, 'g> {
    reader: &'r mut Reader<'de, 'g>,
    follows: Option<quick::Members<'g>>,
    /// What the schema says of the value whose key was read.
    found: Option<Found<'g>>,
    first: bool,
    done: bool,
}

impl<'de> Members<'_, 'de, '_> {
    #[inline]
    fn advance(&mut self) -> Result<Option<super::Key<'de>>, DecodeError> {
        if self.done {
            return Ok(None);
        }
        let cursor = &mut self.reader.cursor;
        let before = cursor.offset();
        let next = if std::mem::take(&mut self.first) { cursor.first_key() } else { cursor.next_key() };
        let next = next.map_err(|Fault| self.reader.syntax())?;
        if let Some(follows) = &mut self.follows {
            let fits = match &next {
                Some(key) => {
                    self.found = follows.find(|name| key.is(name));
                    self.found.is_some()
                }
                None => follows.finish(),
            };
            if !fits || !self.reader.is_tight(next, before) {
                return Err(unsure());
            }
        }
        if next.is_none() {
            self.done = true;
            self.reader.depth -= 1;
        }
        Ok(next)
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        if self.advance()?.is_some() { Err(de::Error::custom("expected fewer members")) } else { Ok(()) }
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de, '_> {
    type Error = DecodeError;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        match self.advance()? {
            Some(key) => seed.deserialize(Key { raw: key.raw(), escaped: key.escaped }).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let start = self.reader.cursor.offset();
        if let Some(found) = self.found.take() {
            if found.null_is_absence && self.reader.cursor.byte() == Some(b'n') {
                return Err(unsure());
            }
            self.reader.expected = Some(found.expected);
        }
        seed.deserialize(&mut *self.reader).map_err(|error| error.at(start))
    }
}

/// A member's name. Maps may have numbers, booleans and unit variants as keys.
struct Key<'de> {
    raw: &'de str,
    escaped: bool,
}

macro_rules! parsed_key {
    ($($method:ident => $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.raw.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(de::Error::custom("expected a name that can be read as its key")),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DecodeError;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.escaped {
            visitor.visit_string(Token::unescape(self.raw, true).into_owned())
        } else {
            visitor.visit_borrowed_str(self.raw)
        }
    }

    parsed_key! {
        deserialize_i8 => visit_i8 deserialize_i16 => visit_i16 deserialize_i32 => visit_i32 deserialize_i64 => visit_i64
        deserialize_i128 => visit_i128 deserialize_u8 => visit_u8 deserialize_u16 => visit_u16 deserialize_u32 => visit_u32
        deserialize_u64 => visit_u64 deserialize_u128 => visit_u128 deserialize_f32 => visit_f32 deserialize_f64 => visit_f64
        deserialize_bool => visit_bool
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(Token::unescape(self.raw, self.escaped).into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant<'r, 'de, 'g> {
    reader: &'r mut Reader<'de, 'g>,
    name: (&'de str, bool),
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let (raw, escaped) = self.name;
        Ok((seed.deserialize(Key { raw, escaped })?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        de::Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DecodeError> {
        self.reader.deserialize_any(visitor)
    }
}

/// What a type makes of a member that isn't there, as serde's derive asks it: `Option` is `None`,
/// everything else an error, however the type is spelt.
pub(crate) struct Missing;

impl<'de> Deserializer<'de> for Missing {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Outer {
        a: Option<Inner>,
        m: BTreeMap<u32, Vec<(i8, String)>>,
        e: Vec<Kind>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Inner {
        x: f64,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    enum Kind {
        Unit,
        New(u64),
        Pair(bool, char),
        Named { n: i128 },
    }

    #[test]
    fn every_shape_of_value_is_read() {
        let text = r#"{"a":{"x":0.1},"m":{"7":[[-1,"A"]]},"e":["Unit",{"New":18446744073709551615},{"Pair":[true,"ä"]},{"Named":{"n":-170141183460469231731687303715884105728}}]}"#;
        let read: Outer = read(text, 0).unwrap();
        let expected = Outer {
            a: Some(Inner { x: 0.1 }),
            m: BTreeMap::from([(7, vec![(-1, "A".to_owned())])]),
            e: vec![Kind::Unit, Kind::New(u64::MAX), Kind::Pair(true, 'ä'), Kind::Named { n: i128::MIN }],
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_refusal_knows_where_it_stands_and_quotes_nothing() {
        let text = r#"{"a":{"x":"sk-live-1"},"m":{},"e":[]}"#;
        let error = read::<Outer>(text, 0).unwrap_err();
        assert_eq!(error.offset, text.find(r#""sk"#));
        assert_eq!(error.message, "expected a number");
    }
}
