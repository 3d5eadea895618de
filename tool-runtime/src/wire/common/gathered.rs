use std::borrow::Cow;

use crate::call::RawArguments;

/// Text that is put together from strings of JSON, still escaped. A character that was cut in two, as a provider may
/// whose strings are UTF-16, is one again.
#[derive(Clone, Default)]
pub(crate) struct Gathered {
    text: String,
    /// The first half of a character, of which the second may yet come.
    high: Option<u16>,
    /// The first surrogate that stayed alone, and where U+FFFD stands for it.
    lone: Option<(usize, u16)>,
}

impl Gathered {
    pub(in crate::wire) fn of_escaped(raw: &str) -> Self {
        let mut text = Gathered::default();
        text.push_escaped(raw);
        text
    }

    /// What there is so far.
    pub(in crate::wire) fn as_str(&self) -> &str {
        &self.text
    }

    pub(in crate::wire) fn len(&self) -> usize {
        self.text.len()
    }

    /// Text that is not escaped.
    pub(in crate::wire) fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.end_half();
            self.text.push_str(text);
        }
    }

    /// What stands between the quotes of a string whose syntax was checked.
    pub(in crate::wire) fn push_escaped(&mut self, raw: &str) {
        let mut rest = raw;
        while let Some(at) = rest.find('\\') {
            self.push(&rest[..at]);
            let escape = &rest.as_bytes()[at + 1..];
            let (unit, width) = match escape.first() {
                Some(b'b') => (0x08, 2),
                Some(b'f') => (0x0c, 2),
                Some(b'n') => (0x0a, 2),
                Some(b'r') => (0x0d, 2),
                Some(b't') => (0x09, 2),
                Some(b'u') => (unit(escape), 6),
                Some(&other) => (other.into(), 2),
                None => break,
            };
            self.push_unit(unit);
            rest = rest.get(at + width..).unwrap_or_default();
        }
        self.push(rest);
    }

    fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high.take() {
            if let [Ok(both)] = char::decode_utf16([high, unit]).collect::<Vec<_>>()[..] {
                self.text.push(both);
                return;
            }
            self.push_lone(high);
        }
        match char::from_u32(unit.into()) {
            Some(character) => self.text.push(character),
            None if unit < 0xDC00 => self.high = Some(unit),
            None => self.push_lone(unit),
        }
    }

    fn end_half(&mut self) {
        if let Some(high) = self.high.take() {
            self.push_lone(high);
        }
    }

    fn push_lone(&mut self, unit: u16) {
        self.lone.get_or_insert((self.text.len(), unit));
        self.text.push('\u{FFFD}');
    }

    pub(in crate::wire) fn into_text(mut self) -> String {
        self.end_half();
        self.text
    }

    /// The text, if no half of a character stayed alone.
    pub(in crate::wire) fn whole(mut self) -> Option<String> {
        self.end_half();
        self.lone.is_none().then_some(self.text)
    }

    /// The arguments that it is. A surrogate that stayed alone makes them bytes that aren't UTF-8, since whatever
    /// stood in its place would be something that the model did not write.
    pub(in crate::wire) fn into_arguments(mut self) -> RawArguments {
        self.end_half();
        let Some((at, unit)) = self.lone else { return self.text.into() };
        let mut bytes = self.text.into_bytes();
        // U+FFFD has three bytes, and so has a surrogate where one is allowed.
        let three = [0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8];
        if let Some(place) = bytes.get_mut(at..at + 3) {
            place.copy_from_slice(&three);
        }
        RawArguments::from_bytes(bytes)
    }
}

/// The unit of an escape that begins at its `u`.
fn unit(escape: &[u8]) -> u16 {
    let digits = escape.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD)
}

/// JSON as it came, but for escapes of unpaired surrogates. Providers refuse these, and so would refuse every later
/// request of a conversation that holds one; U+FFFD takes their place.
pub(in crate::wire) fn mended(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut plain = 0;
    let mut at = 0;
    while let Some(next) = json[at..].find('\\') {
        at += next;
        let bytes = json.as_bytes();
        let escape = |at: usize| {
            let escape = bytes.get(at..at + 6)?;
            escape.starts_with(b"\\u").then(|| unit(&escape[1..]))
        };
        at += match escape(at) {
            None => 2,
            Some(0xD800..=0xDBFF) if matches!(escape(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&json[plain..at]);
                mended.push_str("\\ufffd");
                plain = at + 6;
                6
            }
            Some(_) => 6,
        };
        if at >= json.len() {
            break;
        }
    }
    if plain == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[plain..]);
    Cow::Owned(mended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(pieces: &[&str]) -> Gathered {
        let mut text = Gathered::default();
        pieces.iter().for_each(|piece| text.push_escaped(piece));
        text
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        let text = r#"ä\n\"\/\u0041\\\b\f\r\t\ud83c\udf78é"#;
        assert_eq!(gathered(&[text]).into_text(), "ä\n\"/A\\\u{8}\u{c}\r\t🍸é");
    }

    #[test]
    fn b45_halves_of_a_character_find_each_other() {
        assert_eq!(gathered(&[r"a\ud83c", "", r"\udf78b"]).into_text(), "a🍸b");
        for lone in [&[r"a\ud83c"][..], &[r"a\ud83c", "b"], &[r"a\udf78b"], &[r"a\ud83c\ud83c\udf78"]] {
            let text = gathered(lone);
            assert!(text.clone().into_text().starts_with("a\u{fffd}"), "{lone:?}");
            assert_eq!(text.into_arguments().text(), Err(1), "{lone:?}");
        }
        assert_eq!(gathered(&["\u{fffd}"]).into_arguments().text(), Ok("\u{fffd}"));
    }

    #[test]
    fn b45_what_goes_into_a_request_has_no_unpaired_surrogates() {
        for (came, sent) in [
            (r#"{"a":"\ud800é\udc00"}"#, r#"{"a":"\ufffdé\ufffd"}"#),
            (r#""\ud83c\udf78""#, r#""\ud83c\udf78""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800\ud83c\udf78\ud83c""#, r#""\\\ufffd\ud83c\udf78\ufffd""#),
            (r#""\u0041""#, r#""\u0041""#),
        ] {
            assert_eq!(mended(came), sent);
        }
    }
}
