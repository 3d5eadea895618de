use std::borrow::Cow;
use std::fmt;

/// What a value starts with, read up to where its content begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    /// The digits as they stand in the text.
    Number(&'a str),
    /// What stands between the quotes, still escaped if `escaped`.
    String {
        raw: &'a str,
        escaped: bool,
    },
    ArrayStart,
    ObjectStart,
}

/// The text stops being JSON here; the cursor knows [why](Cursor::error). Has no size, so that what
/// goes well costs nothing for what may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault;

/// A member's name, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key<'a> {
    text: &'a str,
    pub(crate) escaped: bool,
    /// Of the comma before it, or of the brace for the first one.
    pub(crate) separator: usize,
    /// Of its opening quote.
    pub(crate) start: usize,
    /// After its closing quote, and after the colon.
    pub(crate) end: usize,
    pub(crate) after_colon: usize,
}

impl<'a> Key<'a> {
    /// What stands between the quotes, still escaped if `escaped`.
    #[inline]
    pub(crate) fn raw(&self) -> &'a str {
        &self.text[self.start + 1..self.end - 1]
    }

    #[inline]
    pub(crate) fn name(&self) -> Cow<'a, str> {
        Token::unescape(self.raw(), self.escaped)
    }

    /// Is it this name, letter by letter?
    #[inline]
    pub(crate) fn is(&self, name: &str) -> bool {
        !self.escaped && &self.text.as_bytes()[self.start + 1..self.end - 1] == name.as_bytes()
    }
}

/// A place where a text stops being JSON (RFC 8259).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) what: &'static str,
    pub(crate) offset: usize,
}

impl SyntaxError {
    /// Line and column, both from 1; the column counts characters.
    pub(crate) fn line_column(&self, text: &str) -> (usize, usize) {
        let mut end = self.offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// Reads JSON from left to right, a token at a time, without recursion and without copying.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pos: usize,
    fault: &'static str,
    /// Escapes of surrogates that have no partner pass.
    lone_surrogates: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self::at(text, 0)
    }

    pub(crate) fn at(text: &'a str, pos: usize) -> Self {
        Cursor { text, pos, fault: "", lone_surrogates: false }
    }

    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    pub(crate) fn slice_from(&self, start: usize) -> &'a str {
        &self.text[start..self.pos]
    }

    /// Stops here.
    #[cold]
    pub(crate) fn fail<T>(&mut self, what: &'static str) -> Result<T, Fault> {
        self.fault = what;
        Err(Fault)
    }

    /// Why and where it stopped.
    #[cold]
    pub(crate) fn error(&self) -> SyntaxError {
        SyntaxError { what: self.fault, offset: self.pos }
    }

    /// Goes back to where it has been.
    pub(crate) fn go_back(&mut self, offset: usize) {
        self.pos = offset;
    }

    /// Reads over an integer of at most 18 digits that is followed by what may follow a value.
    /// `None` leaves the cursor where it was.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Option<i64> {
        let bytes = self.text.as_bytes();
        let mut at = self.pos;
        let mut value = 0_i64;
        while let Some(&digit @ b'0'..=b'9') = bytes.get(at) {
            if at - self.pos == 18 {
                return None;
            }
            value = value * 10 + i64::from(digit - b'0');
            at += 1;
        }
        if let Some(b'.' | b'e' | b'E') = bytes.get(at) {
            return None;
        }
        self.pos = at;
        Some(value)
    }

    #[inline]
    pub(crate) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.pos += 1;
        }
    }

    /// Nothing at all is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.pos == self.text.len()
    }

    /// Nothing but white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.pos == self.text.len() { Ok(()) } else { self.fail("unexpected text after the value") }
    }

    /// The next value's first token. After `ArrayStart` or `ObjectStart` the caller goes on with
    /// [`first_element`](Self::first_element) or [`first_key`](Self::first_key).
    #[inline]
    pub(crate) fn token(&mut self) -> Result<Token<'a>, Fault> {
        self.skip_space();
        match self.byte() {
            Some(b'"') => {
                let (raw, escaped) = self.string()?;
                Ok(Token::String { raw, escaped })
            }
            Some(b'-' | b'0'..=b'9') => Ok(Token::Number(self.number()?)),
            Some(b'{') => {
                self.pos += 1;
                Ok(Token::ObjectStart)
            }
            Some(b'[') => {
                self.pos += 1;
                Ok(Token::ArrayStart)
            }
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'n') => self.word("null", Token::Null),
            Some(_) => self.fail("expected a JSON value"),
            None => self.fail("the text ends where a value is expected"),
        }
    }

    fn word(&mut self, word: &'static str, token: Token<'a>) -> Result<Token<'a>, Fault> {
        if self.text.as_bytes()[self.pos..].starts_with(word.as_bytes()) {
            self.pos += word.len();
            Ok(token)
        } else {
            self.fail("expected a JSON value")
        }
    }

    /// A string whose opening quote is next; gives what stands between the quotes.
    #[inline]
    fn string(&mut self) -> Result<(&'a str, bool), Fault> {
        let start = self.pos + 1;
        let escaped = self.skip_string()?;
        Ok((&self.text[start..self.pos - 1], escaped))
    }

    /// Reads over a string whose opening quote is next. Does it have escapes?
    #[inline]
    pub(crate) fn skip_string(&mut self) -> Result<bool, Fault> {
        let bytes = self.text.as_bytes();
        let mut at = self.pos + 1;
        let mut escaped = false;
        loop {
            while let Some(&byte) = bytes.get(at) {
                if ENDS_RUN[byte as usize] {
                    break;
                }
                at += 1;
            }
            match bytes.get(at) {
                Some(b'"') => {
                    self.pos = at + 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(_) => {
                    self.pos = at;
                    return self.fail("a control character inside a string has to be escaped");
                }
                None => {
                    self.pos = at;
                    return self.fail("the text ends inside a string");
                }
            }
        }
    }

    /// Checks the escape at `at` and gives the position after it. Surrogates have to come in pairs.
    #[cold]
    fn escape(&mut self, at: usize) -> Result<usize, Fault> {
        let bytes = self.text.as_bytes();
        self.pos = at;
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
                let Some(unit) = hex4(bytes, at + 2) else {
                    return self.fail("`\\u` needs four hexadecimal digits");
                };
                match unit {
                    0xD800..=0xDFFF if self.lone_surrogates => Ok(at + 6),
                    0xD800..=0xDBFF => {
                        let low = (bytes.get(at + 6) == Some(&b'\\') && bytes.get(at + 7) == Some(&b'u'))
                            .then(|| hex4(bytes, at + 8))
                            .flatten();
                        match low {
                            Some(0xDC00..=0xDFFF) => Ok(at + 12),
                            _ => self.fail("a surrogate that has no partner is no character"),
                        }
                    }
                    0xDC00..=0xDFFF => self.fail("a surrogate that has no partner is no character"),
                    _ => Ok(at + 6),
                }
            }
            Some(_) => self.fail("an escape that JSON does not have"),
            None => self.fail("the text ends inside a string"),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<&'a str, Fault> {
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let digits = |mut at: usize| {
            while let Some(b'0'..=b'9') = bytes.get(at) {
                at += 1;
            }
            at
        };
        let mut at = start + usize::from(bytes[start] == b'-');
        match bytes.get(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at = digits(at),
            _ => return self.fail("a number needs digits"),
        }
        if let Some(b'0'..=b'9') = bytes.get(at) {
            return self.fail("a number can't start with 0");
        }
        if bytes.get(at) == Some(&b'.') {
            let end = digits(at + 1);
            if end == at + 1 {
                return self.fail("a number needs digits after its point");
            }
            at = end;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let end = digits(at + 1 + sign);
            if end == at + 1 + sign {
                return self.fail("a number needs digits in its exponent");
            }
            at = end;
        }
        self.pos = at;
        Ok(&self.text[start..at])
    }

    /// After `ArrayStart`: is there a first element?
    #[inline]
    pub(crate) fn first_element(&mut self) -> Result<bool, Fault> {
        self.skip_space();
        if self.byte() == Some(b']') {
            self.pos += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// After an element: is there one more?
    #[inline]
    pub(crate) fn next_element(&mut self) -> Result<bool, Fault> {
        self.skip_space();
        match self.byte() {
            Some(b',') => {
                self.pos += 1;
                Ok(true)
            }
            Some(b']') => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => self.fail("expected `,` or `]`"),
            None => self.fail("the text ends inside an array"),
        }
    }

    /// After `ObjectStart`: the first key, if there is one. The cursor stands before the value then.
    #[inline]
    pub(crate) fn first_key(&mut self) -> Result<Option<Key<'a>>, Fault> {
        let separator = self.pos.saturating_sub(1);
        self.skip_space();
        if self.byte() == Some(b'}') {
            self.pos += 1;
            return Ok(None);
        }
        self.key(separator).map(Some)
    }

    /// After a member: the next key, if there is one.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Result<Option<Key<'a>>, Fault> {
        self.skip_space();
        let separator = self.pos;
        match self.byte() {
            Some(b',') => {
                self.pos += 1;
                self.skip_space();
                self.key(separator).map(Some)
            }
            Some(b'}') => {
                self.pos += 1;
                Ok(None)
            }
            Some(_) => self.fail("expected `,` or `}`"),
            None => self.fail("the text ends inside an object"),
        }
    }

    #[inline]
    fn key(&mut self, separator: usize) -> Result<Key<'a>, Fault> {
        let start = self.pos;
        match self.byte() {
            Some(b'"') => {}
            Some(_) => return self.fail("expected a key in double quotes"),
            None => return self.fail("the text ends inside an object"),
        }
        let escaped = self.skip_string()?;
        let end = self.pos;
        self.skip_space();
        match self.byte() {
            Some(b':') => {
                self.pos += 1;
                Ok(Key { text: self.text, escaped, separator, start, end, after_colon: self.pos })
            }
            Some(_) => self.fail("expected `:`"),
            None => self.fail("the text ends inside an object"),
        }
    }

    /// Reads over one value, checking its syntax and that it nests at most `depth` levels, of which there
    /// can't be more than [`MAX_DEPTH`](super::MAX_DEPTH).
    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<(), Fault> {
        const { assert!(super::MAX_DEPTH <= u128::BITS as usize) };
        let depth = depth.min(super::MAX_DEPTH);
        // The innermost level is the lowest bit: is it an object? No recursion, so no input can overflow the
        // stack, and no list, so that nothing is allocated.
        let (mut levels, mut open) = (0_u128, 0);
        loop {
            if let begun @ (Token::ArrayStart | Token::ObjectStart) = self.token()? {
                if open >= depth {
                    return self.fail("nested too deeply");
                }
                let object = begun == Token::ObjectStart;
                let more = if object { self.first_key()?.is_some() } else { self.first_element()? };
                if more {
                    levels = levels << 1 | u128::from(object);
                    open += 1;
                    continue;
                }
            }
            loop {
                if open == 0 {
                    return Ok(());
                }
                let more = if levels & 1 == 1 { self.next_key()?.is_some() } else { self.next_element()? };
                if more {
                    break;
                }
                levels >>= 1;
                open -= 1;
            }
        }
    }

    /// Over what surrounds others' JSON: a surrogate without a partner is for whoever reads the string that it is in.
    /// [`Token::unescape`] reads no such strings.
    #[cfg(any(
        feature = "openai",
        feature = "openai-responses",
        feature = "anthropic",
        feature = "gemini",
        feature = "ollama",
        feature = "mcp"
    ))]
    pub(crate) fn around(text: &'a str, pos: usize) -> Self {
        Cursor { lone_surrogates: true, ..Self::at(text, pos) }
    }

    /// Reads over one value however deep it nests: how deep it may is for whoever reads it.
    #[cfg(any(
        feature = "openai",
        feature = "openai-responses",
        feature = "anthropic",
        feature = "gemini",
        feature = "ollama",
        feature = "mcp"
    ))]
    pub(crate) fn skip_any_depth(&mut self) -> Result<(), Fault> {
        // One entry a level: is it an object? No recursion, so no input can overflow the stack.
        let mut levels: Vec<bool> = Vec::new();
        loop {
            if let begun @ (Token::ArrayStart | Token::ObjectStart) = self.token()? {
                let object = begun == Token::ObjectStart;
                let more = if object { self.first_key()?.is_some() } else { self.first_element()? };
                if more {
                    levels.push(object);
                    continue;
                }
            }
            loop {
                let more = match levels.last() {
                    None => return Ok(()),
                    Some(true) => self.next_key()?.is_some(),
                    Some(false) => self.next_element()?,
                };
                if more {
                    break;
                }
                levels.pop();
            }
        }
    }

    /// Checks that a whole text is one JSON value.
    #[cfg(test)]
    pub(crate) fn check(text: &str) -> Result<(), SyntaxError> {
        let mut cursor = Cursor::new(text);
        cursor.skip_value(super::MAX_DEPTH).and_then(|()| cursor.finish()).map_err(|Fault| cursor.error())
    }
}

/// The bytes at which a run of plain characters in a string ends: what has to be escaped.
pub(super) const ENDS_RUN: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        ends[byte] = true;
        byte += 1;
    }
    ends[b'"' as usize] = true;
    ends[b'\\' as usize] = true;
    ends
};

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}

/// The characters that an already checked string stands for.
pub(super) fn unescape(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let mut plain = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        out.push_str(&raw[plain..at]);
        let (character, width) = match bytes.get(at + 1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => {
                let unit = hex4(bytes, at + 2).unwrap_or(0xFFFD);
                if let 0xD800..=0xDBFF = unit {
                    let low = hex4(bytes, at + 8).unwrap_or(0xDC00);
                    let code = 0x10000 + ((unit - 0xD800) << 10) + (low.wrapping_sub(0xDC00) & 0x3FF);
                    (char::from_u32(code).unwrap_or('\u{FFFD}'), 12)
                } else {
                    (char::from_u32(unit).unwrap_or('\u{FFFD}'), 6)
                }
            }
            Some(&other) => (char::from(other), 2),
            None => break,
        };
        out.push(character);
        at += width;
        plain = at;
    }
    out.push_str(raw.get(plain..).unwrap_or_default());
    out
}

impl<'a> Token<'a> {
    /// The characters of a string between its quotes.
    pub(crate) fn unescape(raw: &'a str, escaped: bool) -> Cow<'a, str> {
        if escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAX_DEPTH;
    use super::*;

    fn error(text: &str) -> &'static str {
        Cursor::check(text).expect_err(text).what
    }

    #[test]
    fn syntax_is_as_strict_as_rfc_8259() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "NaN",
            "01",
            "1.",
            ".5",
            "1e",
            "+1",
            "--1",
            "'x'",
            "\"\u{1}\"",
            "\"\\x\"",
            "tru",
            "1 2",
            "[1 2]",
            "{\"a\" 1}",
            "{\"a\":}",
            "\"",
            "\"\\u12\"",
            "]",
        ] {
            Cursor::check(text).expect_err(text);
        }
        for text in ["0", "-0", " [ ] ", "{}", "1.5e-3", "\"\\ud83c\\udf78\"", "[[],{\"a\":[null,true,false]}]"] {
            Cursor::check(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
    }

    #[test]
    fn b45_surrogates_come_in_pairs() {
        for text in [r#""\ud800""#, r#""\udc00x""#, r#""\ud800\u0041""#] {
            assert_eq!(error(text), "a surrogate that has no partner is no character");
        }
        assert_eq!(unescape(r"\ud83c\udf78"), "🍸");
        assert_eq!(unescape(r#"a\n\"\/\u0041\\"#), "a\n\"/A\\");
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(error(&deep), "nested too deeply");
        let fits = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        Cursor::check(&fits).unwrap();
    }

    #[test]
    fn places_are_lines_and_columns() {
        let text = "{\n  \"ä\": x";
        let error = Cursor::check(text).unwrap_err();
        assert_eq!(error.line_column(text), (2, 8));
    }
}
