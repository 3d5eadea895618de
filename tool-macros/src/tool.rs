//! `#[tool]`: the phases, in order.

use crate::ctxt::Ctxt;
use crate::model::Tool;
use crate::parse::{FnItem, ToolAttrs};
use crate::{check, expand, fallback};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Expands `#[tool(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let parsed: FnItem = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return unparsed(item, error),
    };
    let cx = Ctxt::new();
    let attrs = ToolAttrs::read(&cx, attr);
    let tool = Tool::new(&cx, attrs, parsed, None);
    check::tool(&cx, &tool);
    match cx.check() {
        Ok(()) => {
            let item = &tool.item;
            let generated = expand::tool(&tool);
            quote!(#item #generated)
        }
        Err(errors) => {
            let item = &tool.item;
            let errors = errors.into_compile_error();
            // Next to a method nothing can stand that isn't one.
            let stand_ins = item.sig.receiver().is_none().then(|| fallback::tool(&tool));
            quote!(#item #stand_ins #errors)
        }
    }
}

/// Something that is no function, or not yet. It stays as it is, so that rustc still sees all of it.
fn unparsed(item: TokenStream, error: syn::Error) -> TokenStream {
    let keyword =
        |word: &str| item.clone().into_iter().find(|token| matches!(token, TokenTree::Ident(ident) if ident == word));
    let error = match (keyword("fn"), keyword("impl")) {
        (Some(_), _) => error,
        (None, Some(token)) => {
            syn::Error::new_spanned(token, "`#[tool]` goes on a `fn`; on an `impl` with tools inside goes `#[toolset]`")
        }
        (None, None) => syn::Error::new(error.span(), "`#[tool]` goes on a `fn`"),
    };
    let error = error.into_compile_error();
    quote!(#item #error)
}
