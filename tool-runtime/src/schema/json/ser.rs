//! Writes what a tool returned as JSON text, exactly or not at all.
//!
//! Unlike `serde_json`'s writer it refuses numbers that aren't finite instead of writing `null`,
//! writes maps in key order, and knows where in the value something went wrong.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::super::quick::{self, Expected};
use super::{JsonPath, MAX_DEPTH, Segment, canonical_number, cmp_utf16, write_f64, write_string};

/// Why a value can't be written as JSON.
#[derive(Debug)]
pub(crate) struct EncodeError {
    /// In this crate's words, so that a model may read it; `None` for a message of the value's own.
    pub(crate) what: Option<&'static str>,
    /// The whole message, for the host.
    pub(crate) message: String,
    /// From the inside out.
    steps: Vec<Segment>,
}

impl EncodeError {
    #[cold]
    fn new(what: &'static str) -> Self {
        EncodeError { what: Some(what), message: what.to_owned(), steps: Vec::new() }
    }

    #[cold]
    fn inside(mut self, step: Segment) -> Self {
        self.steps.push(step);
        self
    }

    pub(crate) fn path(&self) -> JsonPath {
        JsonPath::from_segments(self.steps.iter().rev().cloned().collect())
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EncodeError {}

impl ser::Error for EncodeError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        EncodeError { what: None, message: message.to_string(), steps: Vec::new() }
    }
}

/// # Errors
/// If the value holds a number that isn't finite, nests too deeply, has keys that are no text, or
/// its own `Serialize` fails.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, EncodeError> {
    let mut out = String::with_capacity(128);
    let sure = Cell::new(false);
    value.serialize(Writer { out: &mut out, depth: 0, follow: Follow { expected: None, sure: &sure } })?;
    Ok(out)
}

/// As [`write`], following a schema along: tells whether the value is beyond doubt what it says.
pub(crate) fn write_following<T: Serialize + ?Sized>(
    value: &T,
    expected: Option<Expected<'_>>,
) -> Result<(Arc<str>, bool), EncodeError> {
    // A value's own `Serialize` may come back here; it finds an empty buffer and leaves one.
    let mut out = SCRATCH.take();
    out.clear();
    let sure = Cell::new(expected.is_some());
    value.serialize(Writer { out: &mut out, depth: 0, follow: Follow { expected, sure: &sure } })?;
    let text = Arc::from(out.as_str());
    if out.capacity() <= KEPT {
        SCRATCH.set(out);
    }
    Ok((text, sure.get()))
}

thread_local! {
    /// One buffer a thread: outputs are written often, and how long one gets is known at its end.
    static SCRATCH: Cell<String> = const { Cell::new(String::new()) };
}

/// How large a buffer may be that is kept, in bytes.
const KEPT: usize = 1 << 16;

/// What a schema says of the value that is written. `None`: nobody asks, or it is unsure already.
#[derive(Clone, Copy)]
struct Follow<'o> {
    expected: Option<Expected<'o>>,
    sure: &'o Cell<bool>,
}

impl<'o> Follow<'o> {
    /// A value without parts.
    #[inline]
    fn check(self, takes: impl FnOnce(Expected<'o>) -> bool) {
        if let Some(expected) = self.expected
            && !takes(expected)
        {
            self.sure.set(false);
        }
    }

    /// A value that is out of the ordinary.
    fn unsure(self) -> Self {
        self.sure.set(false);
        Follow { expected: None, ..self }
    }

    fn at(self, expected: Option<Expected<'o>>) -> Self {
        if expected.is_none() && self.expected.is_some() { self.unsure() } else { Follow { expected, ..self } }
    }
}

struct Writer<'o> {
    out: &'o mut String,
    depth: usize,
    follow: Follow<'o>,
}

impl<'o> Writer<'o> {
    fn open(self, bracket: char) -> Result<(&'o mut String, usize, Follow<'o>), EncodeError> {
        if self.depth >= MAX_DEPTH {
            return Err(EncodeError::new("nested too deeply"));
        }
        self.out.push(bracket);
        Ok((self.out, self.depth + 1, self.follow))
    }

    fn elements(self) -> Result<Sequence<'o>, EncodeError> {
        let (out, depth, follow) = self.open('[')?;
        let follows = follow.expected.and_then(Expected::array);
        let follow = follow.at(follows.map(|elements| elements.each()));
        Ok(Sequence { out, depth, follow, follows, count: 0, close: "]" })
    }

    fn members(self) -> Result<Fields<'o>, EncodeError> {
        let (out, depth, follow) = self.open('{')?;
        let follows = follow.expected.and_then(Expected::object);
        let follow = if follows.is_none() { follow.at(None) } else { follow };
        Ok(Fields { out, depth, follow, follows, count: 0, close: "}", verbatim: false })
    }

    /// `{"variant":`, which no schema is sure of.
    fn variant(self, variant: &'static str) -> Result<Writer<'o>, EncodeError> {
        let (out, depth, follow) = self.open('{')?;
        write_string(out, variant);
        out.push(':');
        Ok(Writer { out, depth, follow: follow.unsure() })
    }

    fn integer(self, value: impl itoa::Integer + TryInto<i128> + Copy) {
        self.follow.check(|expected| value.try_into().is_ok_and(|value| expected.takes_integer(value)));
        self.out.push_str(itoa::Buffer::new().format(value));
    }
}

/// The names by which `serde_json` hands over what it has as text already.
const NUMBER: &str = "$serde_json::private::Number";
const RAW: &str = "$serde_json::private::RawValue";

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = Sequence<'o>;
    type SerializeTuple = Sequence<'o>;
    type SerializeTupleStruct = Sequence<'o>;
    type SerializeTupleVariant = Sequence<'o>;
    type SerializeMap = Entries<'o>;
    type SerializeStruct = Fields<'o>;
    type SerializeStructVariant = Fields<'o>;

    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        self.follow.check(|expected| expected.takes_bool(value));
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), EncodeError> {
        self.integer(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        self.follow.unsure();
        if !value.is_finite() {
            return Err(EncodeError::new("a number that isn't finite"));
        }
        // By its own shortest digits, and of two that are equally near by the even ones, as `serde_json` does:
        // as a double 0.1f32 would read 0.10000000149011612.
        let mut digits = zmij::Buffer::new();
        let digits = digits.format_finite(value);
        self.out.push_str(&canonical_number(digits).unwrap_or(Cow::Borrowed(digits)));
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        if !value.is_finite() {
            return Err(EncodeError::new("a number that isn't finite"));
        }
        self.follow.check(|expected| expected.takes_double(value));
        write_f64(self.out, value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        self.follow.check(Expected::takes_text);
        write_string(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), EncodeError> {
        self.follow.check(Expected::takes_null);
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), EncodeError> {
        self.follow.check(|expected| expected.takes_string(variant));
        write_string(self.out, variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        let Writer { out, depth, follow } = self.variant(variant)?;
        value
            .serialize(Writer { out, depth, follow })
            .map_err(|error| error.inside(Segment::Key(variant.to_owned())))?;
        out.push('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Sequence<'o>, EncodeError> {
        self.elements()
    }

    fn serialize_tuple(self, _: usize) -> Result<Sequence<'o>, EncodeError> {
        self.elements()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Sequence<'o>, EncodeError> {
        self.elements()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Sequence<'o>, EncodeError> {
        Ok(Sequence { close: "]}", ..self.variant(variant)?.elements()? })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'o>, EncodeError> {
        let (out, depth, follow) = self.open('{')?;
        Ok(Entries { out, depth, follow: follow.unsure(), entries: Vec::new(), key: None })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'o>, EncodeError> {
        if name == NUMBER || name == RAW {
            let follow = self.follow.unsure();
            let (out, depth) = (self.out, self.depth);
            return Ok(Fields { out, depth, follow, follows: None, count: 0, close: "", verbatim: true });
        }
        self.members()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields<'o>, EncodeError> {
        Ok(Fields { close: "}}", ..self.variant(variant)?.members()? })
    }
}

/// An array that is being written.
struct Sequence<'o> {
    out: &'o mut String,
    depth: usize,
    follow: Follow<'o>,
    follows: Option<quick::Elements<'o>>,
    count: usize,
    close: &'static str,
}

impl Sequence<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        if self.count > 0 {
            self.out.push(',');
        }
        let index = self.count;
        self.count += 1;
        value
            .serialize(Writer { out: self.out, depth: self.depth, follow: self.follow })
            .map_err(|error| error.inside(Segment::Index(index)))
    }

    fn finish(self) {
        if self.follows.is_some_and(|elements| !elements.takes_count(self.count)) {
            self.follow.sure.set(false);
        }
        self.out.push_str(self.close);
    }
}

macro_rules! sequence {
    ($($of:ident :: $method:ident)*) => {$(
        impl $of for Sequence<'_> {
            type Ok = ();
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
                self.element(value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

sequence! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

/// A struct that is being written, its fields in declared order.
struct Fields<'o> {
    out: &'o mut String,
    depth: usize,
    follow: Follow<'o>,
    follows: Option<quick::Members<'o>>,
    count: usize,
    close: &'static str,
    /// The only field is JSON text already.
    verbatim: bool,
}

impl Fields<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), EncodeError> {
        if self.verbatim {
            let text = write(value)?;
            let raw = super::Json::parse(&text).ok().and_then(|text| super::Json::parse(text.as_str()?).ok());
            let Some(raw) = raw else {
                return Err(EncodeError::new("raw text that isn't JSON"));
            };
            raw.write(self.out);
            return Ok(());
        }
        if self.count > 0 {
            self.out.push(',');
        }
        self.count += 1;
        write_string(self.out, name);
        self.out.push(':');
        let follow = match &mut self.follows {
            Some(members) => self.follow.at(members.find(|declared| declared == name).map(|found| found.expected)),
            None => self.follow,
        };
        value
            .serialize(Writer { out: self.out, depth: self.depth, follow })
            .map_err(|error| error.inside(Segment::Key(name.to_owned())))
    }

    fn finish(self) {
        if self.follows.is_some_and(|members| !members.finish()) {
            self.follow.sure.set(false);
        }
        self.out.push_str(self.close);
    }
}

macro_rules! fields {
    ($($of:ident)*) => {$(
        impl $of for Fields<'_> {
            type Ok = ();
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), EncodeError> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);

/// A map that is being written: gathered first, since its own order may be that of a hash.
struct Entries<'o> {
    out: &'o mut String,
    depth: usize,
    follow: Follow<'o>,
    entries: Vec<(String, String)>,
    key: Option<String>,
}

impl SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        let text = write(key)?;
        self.key = Some(match super::Json::parse(&text) {
            Ok(super::Json::String(key)) => key,
            Ok(super::Json::Number(key)) => key,
            Ok(super::Json::Bool(key)) => key.to_string(),
            _ => return Err(EncodeError::new("a map whose keys are no text")),
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        let key = self.key.take().unwrap_or_default();
        let mut text = String::new();
        match value.serialize(Writer { out: &mut text, depth: self.depth, follow: self.follow }) {
            Ok(()) => {
                self.entries.push((key, text));
                Ok(())
            }
            Err(error) => Err(error.inside(Segment::Key(key))),
        }
    }

    fn end(mut self) -> Result<(), EncodeError> {
        self.entries.sort_by(|(a, _), (b, _)| cmp_utf16(a, b));
        if self.entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(EncodeError::new("a map that has one key twice"));
        }
        for (index, (key, value)) in self.entries.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            write_string(self.out, key);
            self.out.push(':');
            self.out.push_str(value);
        }
        self.out.push('}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn b75_non_finite_numbers_are_found_where_they_stand() {
        let error = write(&HashMap::from([("a", vec![Some(1.0), Some(f64::INFINITY)])])).unwrap_err();
        assert_eq!(error.what, Some("a number that isn't finite"));
        assert_eq!(error.path().to_pointer(), "/a/1");
        assert!(write(&f32::NAN).is_err());
    }

    #[test]
    fn values_are_written_exactly() {
        assert_eq!(
            write(&(u64::MAX, i64::MIN, 0.1f32, 1e21, -0.0, 'ä', ())).unwrap(),
            "[18446744073709551615,-9223372036854775808,0.1,1e+21,0,\"ä\",null]"
        );
        assert_eq!(write(&HashMap::from([(2, "b"), (10, "a")])).unwrap(), r#"{"10":"a","2":"b"}"#);
        assert_eq!(write(&serde_json::json!({"b": 1.5, "a": [1, "\u{1}"]})).unwrap(), r#"{"a":[1,"\u0001"],"b":1.5}"#);
        assert!(write(&HashMap::from([(vec![1], 1)])).is_err());
    }

    /// Of two shortest spellings that are equally near to a single, every writer has to take the same.
    #[test]
    fn singles_have_the_digits_that_serde_json_gives_them() {
        // -3825640.25, as near to one with .2 as to one with .3.
        assert_eq!(write(&(-15_302_561_f32 / 4.0)).unwrap(), "-3825640.2");
        for single in (0..=u32::MAX).step_by(10_007).map(f32::from_bits).filter(|single| single.is_finite()) {
            let (ours, theirs) = (write(&single).unwrap(), serde_json::to_string(&single).unwrap());
            assert_eq!(ours.parse::<f64>(), theirs.parse::<f64>(), "{single:e}");
            assert_eq!(ours.parse::<f32>(), Ok(single), "{ours}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        #[derive(serde::Serialize)]
        struct Deep(Vec<Deep>);
        let deep = (0..MAX_DEPTH + 1).fold(Deep(Vec::new()), |inner, _| Deep(vec![inner]));
        assert_eq!(write(&deep).unwrap_err().what, Some("nested too deeply"));
    }
}
