use std::fmt;

use super::{Cursor, Token};

/// One step of a [`JsonPath`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An element of an array, from 0.
    Index(usize),
}

/// A place in a JSON value, such as `filter.tags[2]`. The empty path is the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct JsonPath(Vec<Segment>);

impl JsonPath {
    /// The value itself.
    pub fn root() -> Self {
        JsonPath(Vec::new())
    }

    /// The path of a JSON Pointer (RFC 6901): `/filter/tags/2`. A step of digits only is an index.
    ///
    /// Gives `None` for a text that is no pointer.
    pub fn from_pointer(pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(Self::root());
        }
        let steps = pointer.strip_prefix('/')?;
        let segments = steps.split('/').map(|step| {
            let plain = step.len() == 1 || !step.starts_with('0');
            if plain
                && !step.is_empty()
                && step.bytes().all(|byte| byte.is_ascii_digit())
                && let Ok(index) = step.parse()
            {
                return Segment::Index(index);
            }
            Segment::Key(step.replace("~1", "/").replace("~0", "~"))
        });
        Some(JsonPath(segments.collect()))
    }

    /// The same place as a JSON Pointer (RFC 6901).
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Segment::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }

    /// The steps, from the outside in.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    pub(crate) fn from_segments(segments: Vec<Segment>) -> Self {
        JsonPath(segments)
    }

    pub(crate) fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Of an already checked text: the text of the value at this path.
    pub(crate) fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut cursor = Cursor::new(text);
        for segment in &self.0 {
            match (segment, cursor.token().ok()?) {
                (Segment::Key(wanted), Token::ObjectStart) => {
                    let mut next = cursor.first_key();
                    loop {
                        if next.ok()??.name() == wanted.as_str() {
                            break;
                        }
                        cursor.skip_value(super::MAX_DEPTH).ok()?;
                        next = cursor.next_key();
                    }
                }
                (Segment::Index(wanted), Token::ArrayStart) => {
                    let mut more = cursor.first_element().ok()?;
                    for _ in 0..*wanted {
                        if !more {
                            return None;
                        }
                        cursor.skip_value(super::MAX_DEPTH).ok()?;
                        more = cursor.next_element().ok()?;
                    }
                    if !more {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        cursor.skip_space();
        let start = cursor.offset();
        cursor.skip_value(super::MAX_DEPTH).ok()?;
        Some(cursor.slice_from(start))
    }

    /// Of an already checked text: the path of the innermost value that holds `offset`.
    pub(crate) fn at_offset(text: &str, offset: usize) -> Self {
        let mut path = JsonPath::root();
        let mut cursor = Cursor::new(text);
        while let Some((segment, inner)) = step_towards(&mut cursor, offset) {
            path.push(segment);
            cursor = inner;
        }
        path
    }
}

/// Of the value at the cursor: the part that holds `offset`, and a cursor before it.
fn step_towards<'a>(cursor: &mut Cursor<'a>, offset: usize) -> Option<(Segment, Cursor<'a>)> {
    match cursor.token().ok()? {
        Token::ObjectStart => {
            let mut next = cursor.first_key().ok()?;
            while let Some(key) = next {
                let inner = cursor.clone();
                cursor.skip_value(super::MAX_DEPTH).ok()?;
                if (inner.offset()..cursor.offset()).contains(&offset) {
                    return Some((Segment::Key(key.name().into_owned()), inner));
                }
                next = cursor.next_key().ok()?;
            }
        }
        Token::ArrayStart => {
            let mut more = cursor.first_element().ok()?;
            let mut index = 0;
            while more {
                let inner = cursor.clone();
                cursor.skip_value(super::MAX_DEPTH).ok()?;
                if (inner.offset()..cursor.offset()).contains(&offset) {
                    return Some((Segment::Index(index), inner));
                }
                more = cursor.next_element().ok()?;
                index += 1;
            }
        }
        _ => {}
    }
    None
}

/// What a key may look like without quotes in a path.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 64
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$' | '@'))
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_plain(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                // A model chose this key: shown escaped and cut.
                Segment::Key(key) => write!(f, "[\"{}\"]", crate::schema::text::shown(key, 64))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_like_code_and_round_trip_as_pointers() {
        let path = JsonPath::from_pointer("/filter/tags/2/a~1b").unwrap();
        assert_eq!(path.to_string(), "filter.tags[2][\"a/b\"]");
        assert_eq!(path.to_pointer(), "/filter/tags/2/a~1b");
        assert_eq!(JsonPath::from_pointer("filter"), None);
        assert_eq!(JsonPath::from_pointer("").unwrap(), JsonPath::root());
        assert_eq!(JsonPath::from_pointer("/01").unwrap().segments(), [Segment::Key("01".into())]);
    }

    #[test]
    fn a_value_is_found_by_path_and_a_path_by_offset() {
        let text = r#"{"a":[1,{"b":"x"}],"c":2}"#;
        let path = JsonPath::from_pointer("/a/1/b").unwrap();
        assert_eq!(path.find(text), Some("\"x\""));
        assert_eq!(JsonPath::at_offset(text, text.find("\"x\"").unwrap()), path);
        assert_eq!(JsonPath::from_pointer("/a/2").unwrap().find(text), None);
        assert_eq!(JsonPath::from_pointer("/c/0").unwrap().find(text), None);
    }
}
