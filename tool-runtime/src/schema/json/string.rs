use std::cmp::Ordering;
use std::fmt::Write as _;

use super::cursor::ENDS_RUN;

/// Writes a JSON string with its quotes, escaping just what RFC 8785 escapes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| ENDS_RUN[byte as usize]) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        match special.as_bytes()[0] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x09 => out.push_str("\\t"),
            0x0a => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            0x0d => out.push_str("\\r"),
            byte => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
        rest = &special[1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// The order of keys that RFC 8785 asks for: by UTF-16 code units.
pub(crate) fn cmp_utf16(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_rfc_8785_says() {
        let mut out = String::new();
        write_string(&mut out, "€$\u{f}\nA'B\"\\\\\"/\u{7f}\u{2028}");
        assert_eq!(out, "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\u{2028}\"");
    }

    #[test]
    fn keys_are_ordered_by_utf16_units() {
        assert_eq!(cmp_utf16("\u{fb33}", "\u{1f600}"), Ordering::Greater);
        assert_eq!("\u{fb33}".cmp("\u{1f600}"), Ordering::Less);
    }
}
