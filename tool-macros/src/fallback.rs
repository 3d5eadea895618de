//! What is emitted beside the errors: the same names, so that nothing else in the author's crate breaks.

use crate::expand;
use crate::model::Tool;
use crate::types;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use std::collections::HashSet;
use syn::{GenericParam, Generics};

/// The types of a tool that has errors.
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let krate = &tool.krate;
    let cfgs = &tool.cfgs;
    let vis = expand::visibility(&tool.item.vis);
    let ident = &tool.tool;
    // Under the tool's own name it would be the tool twice.
    let args = (tool.whole().is_none() && tool.args != tool.tool).then(|| args(tool));
    let receiver = tool.receiver().map(|(_, self_ty)| quote_spanned!(span=> _: ::std::sync::Arc<#self_ty>));
    quote_spanned! {span=>
        #args
        #(#cfgs)*
        #[doc(hidden)]
        #vis struct #ident;
        #(#cfgs)*
        const _: () = {
            use #krate::__private as __rt;
            impl #ident {
                #[doc(hidden)]
                pub fn schema() -> &'static __rt::ToolSchema {
                    ::core::unreachable!()
                }
                #[doc(hidden)]
                pub fn host(#receiver) -> __rt::HostTool {
                    ::core::unreachable!()
                }
            }
        };
    }
}

/// The fields whose types can stand in a struct.
fn args(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let cfgs = &tool.cfgs;
    let vis = expand::visibility(&tool.item.vis);
    let ident = &tool.args;
    let generics = generics(&tool.item.sig.generics);
    let mut seen = HashSet::new();
    let fields = tool.named().filter_map(|(param, named)| {
        let field = named.field.as_ref().filter(|field| seen.insert(field.to_string()))?;
        let ty = types::owned(&param.ty);
        if !types::flaws(&ty).is_empty() || types::mentions(&ty, &generics) {
            return None;
        }
        let ty = expand::outside(tool, ty);
        Some(quote_spanned!(span=> #vis #field: #ty,))
    });
    quote_spanned! {span=>
        #(#cfgs)*
        #[doc(hidden)]
        #vis struct #ident { #(#fields)* }
    }
}

/// The names that mean nothing outside of the function.
fn generics(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}
