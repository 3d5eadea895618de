//! Arguments by name, as a rule writes them down.

use std::fmt::Write as _;
use std::str::Chars;

use crate::schema::{MAX_DEPTH, Step, text};

/// Reads a path as error texts write it: `filter.tags[2]`, `headers["a/b"]`, and `[*]` for every element.
///
/// # Errors
/// With what is wrong with it.
pub(crate) fn parse(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path;
    if rest.is_empty() {
        return Err("names no argument".to_owned());
    }
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = in_brackets(inside)?;
            steps.push(step);
            rest = after;
        } else {
            let name = match (steps.is_empty(), rest.strip_prefix('.')) {
                (false, Some(name)) => name,
                (true, None) => rest,
                (true, Some(_)) => return Err("begins with a point".to_owned()),
                (false, None) => return Err("needs a `.` or a `[` after each `]`".to_owned()),
            };
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
            if name.is_empty() {
                return Err("lacks a name after a point".to_owned());
            }
            if !name.chars().all(is_plain) {
                let shown = text::shown(name, 64);
                return Err(format!("has a name that has to stand in brackets and quotes: [\"{shown}\"]"));
            }
            steps.push(Step::Member(name.to_owned()));
            rest = after;
        }
    }
    if !matches!(steps.first(), Some(Step::Member(_))) {
        return Err("begins with an element, and arguments are an object".to_owned());
    }
    if steps.len() > MAX_DEPTH {
        return Err(format!("has more than {MAX_DEPTH} steps"));
    }
    Ok(steps)
}

/// What stands between `[` and `]`, and what comes after.
fn in_brackets(inside: &str) -> Result<(Step, &str), String> {
    let wrong = || Err("needs a number, `*` or a name in double quotes between `[` and `]`".to_owned());
    if let Some(quoted) = inside.strip_prefix('"') {
        let mut characters = quoted.chars();
        let mut name = String::new();
        loop {
            match characters.next() {
                Some('"') => break,
                Some('\\') => match escaped(&mut characters) {
                    Some(character) => name.push(character),
                    None => {
                        return Err("has an escape that isn't `\\\"`, `\\\\`, `\\n`, `\\t`, `\\r` or `\\u{…}`".into());
                    }
                },
                Some(character) => name.push(character),
                None => return Err("has a quote without its partner".to_owned()),
            }
        }
        return match characters.as_str().strip_prefix(']') {
            Some(after) => Ok((Step::Member(name), after)),
            None => wrong(),
        };
    }
    match inside.split_once(']') {
        Some(("*", after)) => Ok((Step::Each, after)),
        Some((digits, after)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_or_else(|_| wrong(), |index| Ok((Step::Index(index), after)))
        }
        _ => wrong(),
    }
}

fn escaped(characters: &mut Chars<'_>) -> Option<char> {
    Some(match characters.next()? {
        same @ ('"' | '\\') => same,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'u' => {
            let (digits, after) = characters.as_str().strip_prefix('{')?.split_once('}')?;
            *characters = after.chars();
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
        }
        _ => return None,
    })
}

/// The path up to its first `steps` steps, as it is written.
pub(crate) fn written(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        let _ = match step {
            Step::Index(index) => write!(out, "[{index}]"),
            Step::Each => write!(out, "[*]"),
            Step::Member(name) if parse(name).is_ok_and(|steps| steps.len() == 1) => {
                write!(out, "{}{name}", if out.is_empty() { "" } else { "." })
            }
            Step::Member(name) => write!(out, "[\"{}\"]", text::shown(name, 64)),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::JsonPath;

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn a_path_is_written_as_error_texts_write_it() {
        let steps = parse(r#"filter.tags[2]["a/b"][*].x-y"#).unwrap();
        let expected = [member("filter"), member("tags"), Step::Index(2), member("a/b"), Step::Each, member("x-y")];
        assert_eq!(steps, expected);
        assert_eq!(written(&steps), r#"filter.tags[2]["a/b"][*].x-y"#);
        for pointer in ["/a", "/a/b/0/c", "/a b/~1/x", "/\"/\\", "/ä\u{202e}\n", "/a.b"] {
            let path = JsonPath::from_pointer(pointer).unwrap();
            let steps = parse(&path.to_string()).unwrap_or_else(|wrong| panic!("{path}: {wrong}"));
            assert_eq!(written(&steps), path.to_string());
            assert_eq!(steps.len(), path.segments().len());
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "a[",
            "a[]",
            "a[-1]",
            "a[x]",
            "a]",
            "a[1]b",
            "[0]",
            "[*].a",
            "a b",
            "ä",
            "a[\"b]",
            "a[\"b\"",
            "a[\"b\"x]",
            r#"a["\x"]"#,
            "a[99999999999999999999999]",
            "a/b",
        ] {
            parse(path).expect_err(path);
        }
        parse(&vec!["a"; MAX_DEPTH + 1].join(".")).unwrap_err();
    }
}
