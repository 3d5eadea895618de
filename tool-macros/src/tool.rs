//! `#[tool]`: the phases, in order.

use crate::ctxt::Ctxt;
use crate::model::Tool;
use crate::parse::{FnItem, ToolAttrs};
use crate::{check, expand, fallback};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

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
            let beside = beside(&tool, &generated);
            quote!(#item #beside)
        }
        Err(errors) => {
            let item = &tool.item;
            let errors = errors.into_compile_error();
            // Next to a method nothing can stand that isn't one.
            let stand_ins = item.sig.receiver().is_none().then(|| beside(&tool, &fallback::tool(&tool)));
            quote!(#item #stand_ins #errors)
        }
    }
}

/// What stands beside the function. Inside of an `impl`, which can't be seen from here, none of it can stand: as one item
/// it is one error there, and the macro that it comes from says by its name what is missing.
fn beside(tool: &Tool, items: &TokenStream) -> TokenStream {
    let (krate, span) = (&tool.krate, Span::mixed_site());
    quote_spanned!(span=> #krate::__private::a_tool_in_an_impl_needs_toolset_on_the_impl! { { #items } })
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
