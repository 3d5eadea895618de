//! Doc comments → the text that the model reads.

use crate::attr;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// A text known now, or with parts that only the compiler can evaluate.
#[derive(Clone, Default)]
pub(crate) struct Text {
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Known(String),
    /// `concat!(…)`, `include_str!(…)`, a path to a constant.
    Evaluated(Expr),
}

/// A text together with its lines, for whoever looks for labels in them.
pub(crate) struct Doc {
    pub(crate) text: Text,
    pub(crate) lines: Vec<Line>,
}

/// One line that is no code.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) attr: Attribute,
}

impl Text {
    /// `description = …`.
    pub(crate) fn from_expr(expr: &Expr) -> Self {
        let part = match expr {
            Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => Part::Known(string.value()),
            other => Part::Evaluated(other.clone()),
        };
        Text { parts: vec![part] }
    }

    /// Whether there is nothing to read in it.
    pub(crate) fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Known(text) => text.trim().is_empty(),
            Part::Evaluated(_) => false,
        })
    }

    /// Joins lines and expressions as `///` lines are joined, without blank lines at either end.
    fn join(fragments: Vec<Part>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for (index, fragment) in fragments.into_iter().enumerate() {
            if index > 0 {
                push_known(&mut parts, "\n");
            }
            match fragment {
                Part::Known(text) => push_known(&mut parts, &text),
                evaluated @ Part::Evaluated(_) => parts.push(evaluated),
            }
        }
        if let Some(Part::Known(first)) = parts.first_mut() {
            *first = without_leading_blank_lines(first).to_owned();
        }
        if let Some(Part::Known(last)) = parts.last_mut() {
            last.truncate(last.trim_end().len());
        }
        parts.retain(|part| !matches!(part, Part::Known(text) if text.is_empty()));
        Text { parts }
    }
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let span = Span::mixed_site();
        tokens.extend(match self.parts.as_slice() {
            [] => quote_spanned!(span=> ""),
            [only] => only.to_token_stream(),
            parts => quote_spanned!(span=> ::core::concat!(#(#parts),*)),
        });
    }
}

impl ToTokens for Part {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Part::Known(text) => text.to_tokens(tokens),
            Part::Evaluated(expr) => expr.to_tokens(tokens),
        }
    }
}

/// Whether this is a doc comment (or `#[doc = …]`), not `#[doc(hidden)]` and the like.
pub(crate) fn is_doc(attr: &Attribute) -> bool {
    attr.path().is_ident("doc") && matches!(attr.meta, Meta::NameValue(_))
}

/// Reads all doc comments among `attrs`.
pub(crate) fn read(attrs: &[Attribute]) -> Doc {
    let mut fragments = Vec::new();
    let mut lines = Vec::new();
    let mut fence = Fence::default();
    for doc in attrs.iter().filter(|attr| is_doc(attr)) {
        let Meta::NameValue(meta) = &doc.meta else {
            continue;
        };
        match attr::ungrouped(meta.value.clone()) {
            Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) => {
                let text = undecorated(&string.value());
                for line in text.lines().filter(|line| !fence.covers(line)) {
                    lines.push(Line { text: line.to_owned(), attr: doc.clone() });
                }
                fragments.push(Part::Known(text));
            }
            other => fragments.push(Part::Evaluated(other)),
        }
    }
    Doc { text: Text::join(fragments), lines }
}

/// The text of one comment without what belongs to the comment: the blank after `///`, the ` * ` of a block.
fn undecorated(comment: &str) -> String {
    let Some((first, rest)) = comment.split_once('\n') else {
        return without_blank(comment).to_owned();
    };
    let rest: Vec<&str> = rest.split('\n').collect();
    let written = |line: &&&str| !line.trim().is_empty();
    if rest.iter().filter(written).count() > 0
        && rest.iter().filter(written).all(|line| line.trim_start().starts_with('*'))
    {
        let starless = rest.iter().map(|line| without_blank(line.trim_start().strip_prefix('*').unwrap_or_default()));
        return joined(without_blank(first), starless);
    }
    if first.trim().is_empty() {
        // A block whose text starts on its own line is indented as a whole.
        let indent = rest
            .iter()
            .filter(written)
            .map(|line| line.len() - line.trim_start_matches(' ').len())
            .min()
            .unwrap_or_default();
        return joined("", rest.iter().map(|line| line.get(indent..).unwrap_or("")));
    }
    joined(without_blank(first), rest.iter().map(|line| without_blank(line)))
}

fn joined<'a>(first: &str, rest: impl Iterator<Item = &'a str>) -> String {
    rest.fold(first.to_owned(), |mut text, line| {
        text.push('\n');
        text.push_str(line);
        text
    })
}

fn without_blank(line: &str) -> &str {
    line.strip_prefix(' ').unwrap_or(line)
}

fn without_leading_blank_lines(mut text: &str) -> &str {
    while let Some((line, rest)) = text.split_once('\n') {
        if !line.trim().is_empty() {
            break;
        }
        text = rest;
    }
    text
}

fn push_known(parts: &mut Vec<Part>, text: &str) {
    if let Some(Part::Known(last)) = parts.last_mut() {
        last.push_str(text);
    } else {
        parts.push(Part::Known(text.to_owned()));
    }
}

/// Follows the lines in and out of fenced code.
#[derive(Default)]
struct Fence(Option<String>);

impl Fence {
    /// Whether the line is code or the fence around it.
    fn covers(&mut self, line: &str) -> bool {
        let line = line.trim();
        let marks = |mark: char| line.chars().take_while(|c| *c == mark).count();
        match &self.0 {
            Some(open) => {
                let mark = if open.starts_with('~') { '~' } else { '`' };
                if marks(mark) >= open.len() && line.chars().all(|c| c == mark) {
                    self.0 = None;
                }
                true
            }
            None => {
                let opening = ['`', '~'].into_iter().find(|mark| marks(*mark) >= 3);
                self.0 = opening
                    .map(|mark| line.chars().take_while(|c| *c == mark).collect())
                    // ```` ```like this``` ```` is code within a line.
                    .filter(|open: &String| !line[open.len()..].contains('`'));
                self.0.is_some()
            }
        }
    }
}
