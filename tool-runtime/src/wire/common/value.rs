use super::{Fail, Gathered};
use crate::call::RawArguments;
use crate::schema::json::{Cursor, Fault, Key};

/// A JSON value as it stands in a text that is known to be JSON. Nothing is copied, and nothing is read before it is
/// asked for: arguments stay as they were sent, whatever is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// # Errors
    /// If the text isn't one JSON value.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Fail> {
        let mut cursor = Cursor::around(text, 0);
        let value = Self::read(&mut cursor);
        value.and_then(|value| cursor.finish().map(|()| value)).map_err(|Fault| {
            let error = cursor.error();
            let (line, column) = error.line_column(text);
            Fail::Syntax { what: error.what, line, column }
        })
    }

    /// What begins as a value and may stop being JSON: its members and elements end there.
    pub(crate) fn beginning(text: &'a str) -> Self {
        Value(text)
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Fault> {
        cursor.skip_space();
        let start = cursor.offset();
        cursor.skip_any_depth()?;
        Ok(Value(cursor.slice_from(start)))
    }

    /// The text itself.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    fn begins(self, with: char) -> bool {
        self.0.starts_with(with)
    }

    pub(crate) fn is_object(self) -> bool {
        self.begins('{')
    }

    pub(crate) fn is_array(self) -> bool {
        self.begins('[')
    }

    pub(crate) fn is_true(self) -> bool {
        self.0 == "true"
    }

    pub(crate) fn is_bool(self) -> bool {
        matches!(self.0, "true" | "false")
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_number(self) -> bool {
        self.0.starts_with(|first: char| first == '-' || first.is_ascii_digit())
    }

    /// The members of these names. One that is `null` is as absent; all are, if this is no object.
    ///
    /// # Errors
    /// If one of them is given twice: which one counts is not for us to say.
    pub(crate) fn members<const N: usize>(self, names: [&str; N]) -> Result<[Option<Value<'a>>; N], Fail> {
        let mut found = [None; N];
        for (key, value) in self.entries() {
            let Some(index) = names.iter().position(|name| names_it(&key, name)) else { continue };
            if found[index].replace(value).is_some() {
                return Err(Fail::Form(format!("`{}` is given twice", names[index])));
            }
        }
        Ok(found.map(|value| value.filter(|value| value.0 != "null")))
    }

    /// All members; none, if this is no object.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Key<'a>, Value<'a>)> {
        let mut cursor = self.is_object().then(|| Cursor::around(self.0, 1));
        let mut first = true;
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            let key = if std::mem::take(&mut first) { cursor.first_key() } else { cursor.next_key() };
            let key = key.ok().flatten()?;
            Some((key, Self::read(cursor).ok()?))
        })
    }

    /// The elements; none, if this is no array.
    pub(crate) fn elements(self) -> impl Iterator<Item = Value<'a>> {
        let mut cursor = self.is_array().then(|| Cursor::around(self.0, 1));
        let mut first = true;
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            let more = if std::mem::take(&mut first) { cursor.first_element() } else { cursor.next_element() };
            if !more.ok()? {
                return None;
            }
            Self::read(cursor).ok()
        })
    }

    /// What stands between the quotes of a string.
    pub(crate) fn escaped(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The characters of a string.
    pub(crate) fn text(self) -> Option<String> {
        self.escaped().map(|_| self.gathered().into_text())
    }

    /// Is it this string?
    pub(crate) fn is(self, word: &str) -> bool {
        match self.escaped() {
            Some(raw) if !raw.contains('\\') => raw == word,
            Some(_) => self.text().as_deref() == Some(word),
            None => false,
        }
    }

    pub(crate) fn as_index(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The characters of a string, or the text of any other value.
    pub(crate) fn gathered(self) -> Gathered {
        let mut text = Gathered::default();
        match self.escaped() {
            Some(raw) => text.push_escaped(raw),
            None => text.push(self.0),
        }
        text
    }

    /// Arguments that came as text, or as the value itself.
    pub(crate) fn arguments(self) -> RawArguments {
        self.gathered().into_arguments()
    }
}

/// Does a key say this name, however its letters are escaped?
fn names_it(key: &Key<'_>, name: &str) -> bool {
    if !key.escaped {
        return key.is(name);
    }
    Gathered::of_escaped(key.raw()).into_text() == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_out_as_they_stand() {
        let value =
            Value::parse(" {\"a\" : {\"n\": 1.0, \"n\":12345678901234567890}, \"\\u0062\":[1 , \"x\\u0041\"]}\n");
        let [a, b, c] = value.unwrap().members(["a", "b", "c"]).unwrap();
        assert_eq!(a.unwrap().raw(), "{\"n\": 1.0, \"n\":12345678901234567890}");
        let elements: Vec<_> = b.unwrap().elements().map(Value::raw).collect();
        assert_eq!(elements, ["1", "\"x\\u0041\""]);
        assert_eq!(c, None);
    }

    #[test]
    fn a_member_that_is_given_twice_is_refused_where_it_matters() {
        let value = Value::parse(r#"{"a":1,"\u0061":2,"b":null}"#).unwrap();
        assert!(value.members(["a"]).is_err());
        assert_eq!(value.members(["b"]), Ok([None]));
    }

    #[test]
    fn i14_depth_is_not_bounded_and_needs_no_stack() {
        for depth in [1, 1_000, 300_000] {
            let text = format!("{}{}", "[{\"a\":".repeat(depth) + "[", "]".to_owned() + &"}]".repeat(depth));
            assert_eq!(Value::parse(&text).unwrap().raw(), text);
            assert!(matches!(Value::parse(&text[1..]), Err(Fail::Syntax { .. })));
            let mut value = Value::parse(&text).unwrap();
            for _ in 0..depth.min(5) {
                value = value.elements().next().unwrap().members(["a"]).unwrap()[0].unwrap();
            }
        }
    }

    #[test]
    fn places_are_lines_and_columns() {
        let error = Value::parse("{\n \"ä\": x}").unwrap_err().of("Test");
        assert_eq!(error.line_column(), Some((2, 7)));
        assert_eq!(
            error.to_string(),
            "not a message of Test: not valid JSON: expected a JSON value (line 2, column 7)"
        );
    }

    #[test]
    fn b45_an_unpaired_surrogate_spoils_one_string_and_no_text_around_it() {
        let value = Value::parse(r#"{"a":"\ud800é","b":"\ud83c\udf78"}"#).unwrap();
        let [a, b] = value.members(["a", "b"]).unwrap();
        assert_eq!(a.unwrap().text().unwrap(), "\u{fffd}é");
        assert!(a.unwrap().arguments().text().is_err());
        assert_eq!(b.unwrap().text().unwrap(), "🍸");
    }
}
