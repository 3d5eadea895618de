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
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
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
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, pos: 0 }
    }

    pub(crate) fn at(text: &'a str, pos: usize) -> Self {
        Cursor { text, pos }
    }

    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    pub(crate) fn slice_from(&self, start: usize) -> &'a str {
        &self.text[start..self.pos]
    }

    pub(crate) fn error<T>(&self, what: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { what, offset: self.pos })
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.pos += 1;
        }
    }

    /// Nothing but white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        if self.pos == self.text.len() {
            Ok(())
        } else {
            self.error("unexpected text after the value")
        }
    }

    /// The next value's first token. After `ArrayStart` or `ObjectStart` the caller goes on with
    /// [`first_element`](Self::first_element) or [`first_key`](Self::first_key).
    #[inline]
    pub(crate) fn token(&mut self) -> Result<Token<'a>, SyntaxError> {
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
            Some(_) => self.error("expected a JSON value"),
            None => self.error("the text ends where a value is expected"),
        }
    }

    fn word(&mut self, word: &'static str, token: Token<'a>) -> Result<Token<'a>, SyntaxError> {
        if self.text.as_bytes()[self.pos..].starts_with(word.as_bytes()) {
            self.pos += word.len();
            Ok(token)
        } else {
            self.error("expected a JSON value")
        }
    }

    /// A string whose opening quote is next; gives what stands between the quotes.
    #[inline]
    fn string(&mut self) -> Result<(&'a str, bool), SyntaxError> {
        let bytes = self.text.as_bytes();
        let start = self.pos + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.pos = at + 1;
                    return Ok((&self.text[start..at], escaped));
                }
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(0..=0x1f) => {
                    self.pos = at;
                    return self.error("a control character inside a string has to be escaped");
                }
                Some(_) => at += 1,
                None => {
                    self.pos = at;
                    return self.error("the text ends inside a string");
                }
            }
        }
    }

    /// Checks the escape at `at` and gives the position after it. Surrogates have to come in pairs.
    #[cold]
    fn escape(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let bytes = self.text.as_bytes();
        self.pos = at;
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => {
                let Some(unit) = hex4(bytes, at + 2) else {
                    return self.error("`\\u` needs four hexadecimal digits");
                };
                match unit {
                    0xD800..=0xDBFF => {
                        let low = (bytes.get(at + 6) == Some(&b'\\') && bytes.get(at + 7) == Some(&b'u'))
                            .then(|| hex4(bytes, at + 8))
                            .flatten();
                        match low {
                            Some(0xDC00..=0xDFFF) => Ok(at + 12),
                            _ => self.error("a surrogate that has no partner is no character"),
                        }
                    }
                    0xDC00..=0xDFFF => self.error("a surrogate that has no partner is no character"),
                    _ => Ok(at + 6),
                }
            }
            Some(_) => self.error("an escape that JSON does not have"),
            None => self.error("the text ends inside a string"),
        }
    }

    #[inline]
    fn number(&mut self) -> Result<&'a str, SyntaxError> {
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
            _ => return self.error("a number needs digits"),
        }
        if let Some(b'0'..=b'9') = bytes.get(at) {
            return self.error("a number can't start with 0");
        }
        if bytes.get(at) == Some(&b'.') {
            let end = digits(at + 1);
            if end == at + 1 {
                return self.error("a number needs digits after its point");
            }
            at = end;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let end = digits(at + 1 + sign);
            if end == at + 1 + sign {
                return self.error("a number needs digits in its exponent");
            }
            at = end;
        }
        self.pos = at;
        Ok(&self.text[start..at])
    }

    /// After `ArrayStart`: is there a first element?
    #[inline]
    pub(crate) fn first_element(&mut self) -> Result<bool, SyntaxError> {
        self.skip_space();
        if self.byte() == Some(b']') {
            self.pos += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// After an element: is there one more?
    #[inline]
    pub(crate) fn next_element(&mut self) -> Result<bool, SyntaxError> {
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
            Some(_) => self.error("expected `,` or `]`"),
            None => self.error("the text ends inside an array"),
        }
    }

    /// After `ObjectStart`: the first key, if there is one. The cursor stands before the value then.
    #[inline]
    pub(crate) fn first_key(&mut self) -> Result<Option<(&'a str, bool)>, SyntaxError> {
        self.skip_space();
        if self.byte() == Some(b'}') {
            self.pos += 1;
            return Ok(None);
        }
        self.key().map(Some)
    }

    /// After a member: the next key, if there is one.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Result<Option<(&'a str, bool)>, SyntaxError> {
        self.skip_space();
        match self.byte() {
            Some(b',') => {
                self.pos += 1;
                self.skip_space();
                self.key().map(Some)
            }
            Some(b'}') => {
                self.pos += 1;
                Ok(None)
            }
            Some(_) => self.error("expected `,` or `}`"),
            None => self.error("the text ends inside an object"),
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(&'a str, bool), SyntaxError> {
        match self.byte() {
            Some(b'"') => {}
            Some(_) => return self.error("expected a key in double quotes"),
            None => return self.error("the text ends inside an object"),
        }
        let key = self.string()?;
        self.skip_space();
        match self.byte() {
            Some(b':') => {
                self.pos += 1;
                Ok(key)
            }
            Some(_) => self.error("expected `:`"),
            None => self.error("the text ends inside an object"),
        }
    }

    /// Reads over one value, checking its syntax and that it nests at most `depth` levels.
    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<(), SyntaxError> {
        // One bit a level: is it an object? No recursion, so no input can overflow the stack.
        let mut levels: Vec<bool> = Vec::new();
        loop {
            if let open @ (Token::ArrayStart | Token::ObjectStart) = self.token()? {
                if levels.len() >= depth {
                    return self.error("nested too deeply");
                }
                let object = open == Token::ObjectStart;
                let more = if object {
                    self.first_key()?.is_some()
                } else {
                    self.first_element()?
                };
                if more {
                    levels.push(object);
                    continue;
                }
            }
            loop {
                let Some(&object) = levels.last() else { return Ok(()) };
                let more = if object {
                    self.next_key()?.is_some()
                } else {
                    self.next_element()?
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
        cursor.skip_value(super::MAX_DEPTH)?;
        cursor.finish()
    }
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits
        .iter()
        .try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
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
        if escaped {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        }
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
        for text in [
            "0",
            "-0",
            " [ ] ",
            "{}",
            "1.5e-3",
            "\"\\ud83c\\udf78\"",
            "[[],{\"a\":[null,true,false]}]",
        ] {
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
