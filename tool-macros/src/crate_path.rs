//! The path to the SDK, wherever it is called `tool_runtime` or something else.

use crate::attr::{self, Entry};
use crate::ctxt::Ctxt;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

/// `::tool_runtime`, or what `crate = …` says.
#[derive(Clone, Default)]
pub(crate) struct CratePath(Option<Path>);

impl CratePath {
    pub(crate) fn new(path: Option<Path>) -> Self {
        CratePath(path)
    }

    /// Reads `crate = path` or `crate = "path"`.
    pub(crate) fn read(cx: &Ctxt, entry: &Entry) -> Option<Path> {
        attr::path_or_string(cx, entry, Path::parse_mod_style)
    }

    /// The text for attributes that take the path as a string. `None` for a path that has no text:
    /// `$crate` is more than its characters.
    pub(crate) fn text(&self) -> Option<String> {
        let text = self.to_token_stream().to_string().replace(' ', "");
        (!text.contains('$')).then_some(text)
    }
}

impl ToTokens for CratePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote_spanned!(Span::mixed_site()=> ::tool_runtime)),
        }
    }
}

/// A span at the place of `span`, yet known to come from this macro: errors point there, lints leave it alone.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The author's name with a span of this macro's. Keywords go by the edition of the span, and `gen` may be a name where the
/// author is; `syn` takes it for one everywhere.
pub(crate) fn moved(author: &Ident) -> Ident {
    let mut ident = if author == "gen" { Ident::new_raw("gen", author.span()) } else { author.clone() };
    ident.set_span(at(author.span()));
    ident
}
