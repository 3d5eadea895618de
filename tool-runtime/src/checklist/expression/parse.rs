//! From text to the tree of the `cel` crate, and what is wrong with a text that has none.

use std::sync::LazyLock;

use cel::common::ast::SourceInfo;
use cel::{Env, IdedExpr};

use super::error::{ExpressionError, ExpressionFault};
use crate::schema::text;

/// How many bytes an expression may have.
pub(super) const MAX_TEXT: usize = 4096;

/// How deeply brackets may nest.
const MAX_BRACKETS: u16 = 32;

/// The parser needs up to 16 MiB for [`MAX_TEXT`] bytes in a debug build and at its own depth limit; at ours, 6.
const STACK: usize = 32 << 20;

/// No macros: `has(…)` and `list.all(…)` stay the calls that they are written as.
static ENV: LazyLock<Env> = LazyLock::new(Env::default);

/// Runs `then` on the tree of a text.
///
/// In a thread of its own: the parser is recursive, and a text that fits into a line overflows the stack of a
/// worker thread. What panics there, ends there. The tree may be as deep, so that it doesn't leave the thread.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn with_tree<T: Send>(
    text: &str,
    then: impl FnOnce(&IdedExpr, &SourceInfo) -> Result<T, ExpressionError> + Send,
) -> Result<T, ExpressionError> {
    if text.len() > MAX_TEXT {
        let what = format!("the expression has {} bytes; at most {MAX_TEXT} can be read", text.len());
        return Err(ExpressionError::at(1, 1, what));
    }
    if text.trim().is_empty() {
        return Err(ExpressionError::at(1, 1, "the expression is empty"));
    }
    let work = || {
        let parser = ENV.parser().enable_optional_syntax(false).max_recursion_depth(MAX_BRACKETS);
        match parser.parse_with_source_info(text) {
            Ok((tree, source)) => then(&tree, &source),
            // Their `Display` isn't used: it panics at columns that don't fit a format's width.
            Err(errors) => Err(first_of(errors.errors.into_iter().map(|error| (error.pos, error.msg)).collect(), text)),
        }
    };
    std::thread::scope(|threads| {
        let begun =
            std::thread::Builder::new().name("expression".to_owned()).stack_size(STACK).spawn_scoped(threads, work);
        let Ok(thread) = begun else {
            return Err(ExpressionError::at(1, 1, "no thread could be started to read the expression in"));
        };
        thread.join().unwrap_or_else(|_| Err(ExpressionError::at(1, 1, "the parser broke at this expression")))
    })
}

/// The first thing that is wrong. The others follow from it.
fn first_of(errors: Vec<((isize, isize), String)>, text: &str) -> ExpressionError {
    let first = errors.into_iter().min_by_key(|(place, _)| *place);
    let (place, message) = first.unwrap_or_else(|| ((1, 1), "can't be read".to_owned()));
    let positive = |number: isize| usize::try_from(number).ok().filter(|&number| number > 0).unwrap_or(1);
    let (line, column) = (positive(place.0), positive(place.1));
    let what = words(&message, rest_at(text, line, column));
    ExpressionError::new(vec![ExpressionFault { line, column, what }])
}

/// What stands at a place and after it.
fn rest_at(text: &str, line: usize, column: usize) -> &str {
    let line = text.split('\n').nth(line - 1).unwrap_or_default();
    line.char_indices().nth(column - 1).map_or("", |(at, _)| &line[at..])
}

/// What the parser says, in words for somebody who doesn't know its grammar.
fn words(message: &str, rest: &str) -> String {
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let begins = |sign: &str| rest.starts_with(sign);
    let fixed = match &*word {
        "and" | "AND" => Some("write `&&` for `and`"),
        "or" | "OR" => Some("write `||` for `or`"),
        _ if begins("=") && !begins("==") => Some("write `==` to compare"),
        _ if begins("&") && !begins("&&") => Some("write `&&` for `and`"),
        _ if begins("|") && !begins("||") => Some("write `||` for `or`"),
        _ if message.contains("invalid int literal") => Some("an integer has to fit 64 bits, with a sign"),
        _ if message.contains("invalid double literal") => Some("this number is too large"),
        _ if message.contains("Recursion limit") => Some("brackets nest too deeply"),
        _ if message.contains("unsupported syntax") => Some("this isn't supported here"),
        _ if message.contains("'<EOF>'") || rest.is_empty() => Some("something is missing at the end"),
        _ if message.contains("invalid string literal") => Some("the text has an escape that nobody knows"),
        _ if (begins("'") || begins("\"")) && message.contains("token recognition") => {
            Some("a text isn't closed, or has an escape that nobody knows")
        }
        _ => None,
    };
    if let Some(fixed) = fixed {
        return fixed.to_owned();
    }
    if message.contains("reserved identifier") {
        return format!("`{}` is a reserved word", text::shown(&word, 64));
    }
    let here: String = match rest.chars().next() {
        Some(_) if !word.is_empty() => word,
        Some(sign) => sign.to_string(),
        None => String::new(),
    };
    format!("`{}` can't stand here", text::shown(&here, 64))
}
