//! What a host declares of single arguments, so that two ways to say one thing are one.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::canonical::{Numbers, of_text};
use crate::schema::json::{Cursor, Fault, Token, write_string};
use crate::schema::{JsonPath, MAX_DEPTH, Segment, normalised};
use crate::tool::caught;

/// What a resolver makes of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// The value that it stands for, as JSON text. What isn't JSON counts as failed.
    Resolved(String),
    /// There is no such value. It is compared as it is, so that two unknown values never become one.
    Unresolved,
    /// It couldn't be looked up. It is compared as it is.
    ResolverFailed,
}

/// How one argument is brought into canonical form.
///
/// Say it only of arguments for which it is true: what is made alike here counts as agreement.
#[derive(Clone)]
#[non_exhaustive]
pub enum ArgumentForm {
    /// A file path: `./a/../b` is `b`. Nothing is looked up.
    FilePath,
    /// An array that is a set: neither order nor repeats count.
    Unordered,
    /// A value that stands for another, as an alias does for an id. May read nothing but the sandbox of the samples'
    /// epoch.
    Resolved(Arc<dyn Fn(&str) -> Resolution + Send + Sync>),
}

impl ArgumentForm {
    /// By a function from a value's JSON text. A panic is a [`ResolverFailed`](Resolution::ResolverFailed).
    pub fn resolved(resolver: impl Fn(&str) -> Resolution + Send + Sync + 'static) -> Self {
        ArgumentForm::Resolved(Arc::new(resolver))
    }

    /// Another text for a value's text; `None` to keep it.
    fn apply(&self, text: &str, numbers: Numbers) -> Option<String> {
        match self {
            ArgumentForm::FilePath => {
                let mut cursor = Cursor::new(text);
                let Ok(Token::String { raw, escaped }) = cursor.token() else { return None };
                let path = Token::unescape(raw, escaped);
                let mut out = String::with_capacity(text.len());
                write_string(&mut out, &normalised(&path)?);
                Some(out)
            }
            ArgumentForm::Unordered => {
                let mut elements = parts(text, '[')?
                    .into_iter()
                    .map(|(_, range)| of_text(&text[range], numbers, MAX_DEPTH))
                    .collect::<Option<Vec<_>>>()?;
                elements.sort();
                elements.dedup();
                Some(format!("[{}]", elements.join(",")))
            }
            ArgumentForm::Resolved(resolver) => match caught(|| resolver(text)) {
                Ok(Resolution::Resolved(text)) => of_text(&text, numbers, MAX_DEPTH),
                Ok(Resolution::Unresolved | Resolution::ResolverFailed) => None,
                Err(panic) => {
                    tracing::error!(target: "tool_runtime", panic, "a resolver panicked; its value is compared as it is");
                    None
                }
            },
        }
    }
}

impl fmt::Debug for ArgumentForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArgumentForm::FilePath => "FilePath",
            ArgumentForm::Unordered => "Unordered",
            ArgumentForm::Resolved(_) => "Resolved",
        })
    }
}

/// The text with each form applied where it is declared, inner places first. `None` if it isn't JSON.
pub(super) fn rewritten(text: &str, forms: &[(JsonPath, ArgumentForm)], numbers: Numbers) -> Option<String> {
    of_text(text, Numbers::Written, MAX_DEPTH)?;
    let active: Vec<Active<'_>> = forms.iter().map(|(path, form)| (path.segments(), form)).collect();
    Some(rewrite(text, &active, numbers))
}

/// The steps that are left, and the form at their end.
type Active<'f> = (&'f [Segment], &'f ArgumentForm);

fn rewrite(text: &str, active: &[Active<'_>], numbers: Numbers) -> String {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    let mut out = String::new();
    let mut copied = 0;
    let inside = active.iter().any(|(steps, _)| !steps.is_empty());
    let found = text.chars().next().filter(|_| inside).and_then(|opening| parts(text, opening)).unwrap_or_default();
    for (place, range) in found {
        let inner: Vec<Active<'_>> = active
            .iter()
            .filter_map(|(steps, form)| {
                steps.split_first().filter(|(first, _)| place.is(first)).map(|(_, rest)| (rest, *form))
            })
            .collect();
        if !inner.is_empty() {
            out.push_str(&text[copied..range.start]);
            out.push_str(&rewrite(&text[range.clone()], &inner, numbers));
            copied = range.end;
        }
    }
    out.push_str(&text[copied..]);
    for (_, form) in active.iter().filter(|(steps, _)| steps.is_empty()) {
        if let Some(other) = form.apply(&out, numbers) {
            out = other;
        }
    }
    out
}

/// Where a part of a value stands in it.
enum Part {
    Named(String),
    At(usize),
}

impl Part {
    /// `*` is every part, unless it is the name of one.
    fn is(&self, step: &Segment) -> bool {
        match (self, step) {
            (Part::Named(name), Segment::Key(key)) => name == key,
            // A pointer can't tell a name of digits from a place.
            (Part::Named(name), Segment::Index(index)) => *name == index.to_string(),
            (Part::At(_), Segment::Key(key)) => key == "*",
            (Part::At(at), Segment::Index(index)) => at == index,
        }
    }
}

type Parts = Vec<(Part, Range<usize>)>;

/// The parts of an array or object, each with where its text stands. `None` for anything else.
fn parts(text: &str, opening: char) -> Option<Parts> {
    let mut cursor = Cursor::new(text);
    let mut read = || -> Result<Option<Parts>, Fault> {
        let mut found = Vec::new();
        let value = |cursor: &mut Cursor<'_>| -> Result<Range<usize>, Fault> {
            cursor.skip_space();
            let start = cursor.offset();
            cursor.skip_value(MAX_DEPTH)?;
            Ok(start..cursor.offset())
        };
        match cursor.token()? {
            Token::ArrayStart if opening == '[' => {
                let mut more = cursor.first_element()?;
                while more {
                    found.push((Part::At(found.len()), value(&mut cursor)?));
                    more = cursor.next_element()?;
                }
            }
            Token::ObjectStart if opening == '{' => {
                let mut next = cursor.first_key()?;
                while let Some(key) = next {
                    found.push((Part::Named(key.name().into_owned()), value(&mut cursor)?));
                    next = cursor.next_key()?;
                }
            }
            _ => return Ok(None),
        }
        cursor.finish()?;
        Ok(Some(found))
    };
    read().ok().flatten()
}

/// The members of an object's text, each with the text of its value.
pub(super) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let named = |(part, range): (Part, Range<usize>)| match part {
        Part::Named(name) => Some((name, text.get(range)?)),
        Part::At(_) => None,
    };
    parts(text, '{')?.into_iter().map(named).collect()
}

/// The texts of an array's elements.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    parts(text, '[')?.into_iter().map(|(_, range)| text.get(range)).collect()
}
