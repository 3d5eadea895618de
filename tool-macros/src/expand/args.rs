//! The arguments: their struct, their table, and the function that describes and reads them.

use super::{args_type, outside, visibility};
use crate::crate_path::at;
use crate::model::{Named, Param, Tool};
use crate::types;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit};

/// The struct of the arguments.
pub(super) fn definition(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let cfgs = &tool.cfgs;
    let vis = visibility(&tool.item.vis);
    let ident = &tool.args;
    let allows = super::allows(&tool.allowed);
    let doc = format!("The arguments of the tool `{}`.", tool.name.text);
    let fields = tool.named().map(|(param, named)| {
        let field = &named.field;
        let text = &named.text;
        let ty = outside(tool, types::owned(&param.ty));
        quote_spanned!(span=> #[doc = #text] #vis #field: #ty,)
    });
    quote_spanned! {span=>
        #(#cfgs)*
        #[doc = #doc]
        #allows
        #vis struct #ident { #(#fields)* }
    }
}

/// What is known of each argument without looking at its type.
pub(super) fn table(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let params = tool.named().map(|(_, named)| row(named));
    quote_spanned!(span=> const __PARAMS: &[__rt::Param] = &[#(#params),*];)
}

fn row(named: &Named) -> TokenStream {
    let span = Span::mixed_site();
    let name = &named.property;
    let text = &named.text;
    let mut row = quote_spanned!(span=> __rt::Param::new(#name, #text));
    for alias in &named.aliases {
        row.extend(quote_spanned!(span=> .alias(#alias)));
    }
    if let Some(range) = &named.range {
        if let Some(minimum) = &range.minimum {
            row.extend(quote_spanned!(span=> .minimum(#minimum)));
        }
        match &range.maximum {
            Some(maximum) if range.exclusive => {
                row.extend(quote_spanned!(span=> .exclusive_maximum(#maximum)));
            }
            Some(maximum) => row.extend(quote_spanned!(span=> .maximum(#maximum))),
            None => {}
        }
    }
    if let Some(length) = &named.length {
        let minimum = optional(length.minimum);
        let maximum = optional(length.maximum);
        row.extend(quote_spanned!(span=> .length(#minimum, #maximum)));
    }
    if let Some(pattern) = &named.pattern {
        row.extend(quote_spanned!(span=> .pattern(#pattern)));
    }
    if let Some(format) = &named.format {
        row.extend(quote_spanned!(span=> .format(#format)));
    }
    let flags = [
        (named.path, quote_spanned!(span=> .path())),
        (named.secret, quote_spanned!(span=> .secret())),
        (named.authored, quote_spanned!(span=> .authored())),
    ];
    row.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, call)| call));
    for label in &named.labels {
        row.extend(match label.word.as_str() {
            "required" => quote_spanned!(span=> .required_label()),
            "confirm" => quote_spanned!(span=> .confirm_label()),
            _ => quote_spanned!(span=> .notice_label()),
        });
    }
    row
}

fn optional(bound: Option<u64>) -> TokenStream {
    let span = Span::mixed_site();
    match bound {
        Some(bound) => {
            let bound = Literal::u64_unsuffixed(bound);
            quote_spanned!(span=> ::core::option::Option::Some(#bound))
        }
        None => quote_spanned!(span=> ::core::option::Option::None),
    }
}

/// The function that visits each argument once, to describe it or to read it.
pub(super) fn read(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let args = args_type(tool);
    let body = match tool.whole() {
        Some(param) => {
            let span = at(param.ty.span());
            quote_spanned!(span=> __rt::whole::<#args>(__visit))
        }
        None => fields(tool),
    };
    quote_spanned! {span=>
        fn __args(__visit: &mut __rt::Visit<'_>) -> ::core::option::Option<#args> { #body }
    }
}

fn fields(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let args = &tool.args;
    let (locals, reads): (Vec<_>, Vec<_>) = tool
        .named()
        .enumerate()
        .map(|(index, (param, named))| {
            let local = quote::format_ident!("__a{}", index, span = span);
            let read = visit(tool, index, param, named);
            (local, read)
        })
        .unzip();
    let fields = tool.named().map(|(_, named)| &named.field);
    // All are visited before the first that failed ends it: all problems of one call come together. One pattern in
    // the place of a `?` each is half the code.
    let all = (!locals.is_empty()).then(|| {
        quote_spanned! {span=>
            let (#(::core::option::Option::Some(#locals),)*) = (#(#reads,)*) else {
                return ::core::option::Option::None;
            };
        }
    });
    quote_spanned! {span=>
        #all
        ::core::option::Option::Some(#args { #(#fields: #locals),* })
    }
}

/// The one expression that judges an argument's type.
fn visit(tool: &Tool, index: usize, param: &Param, named: &Named) -> TokenStream {
    let span = at(param.ty.span());
    let index = Literal::usize_unsuffixed(index);
    let ty = outside(tool, types::owned(&param.ty));
    if named.default.is_none() && named.examples.is_empty() {
        return quote_spanned!(span=> __rt::arg::<#ty>(__visit, #index));
    }
    let default = match &named.default {
        None => quote_spanned!(span=> ::core::option::Option::None),
        Some(default) => {
            let span = at(default.key.span());
            let make = match &default.value {
                None => quote_spanned!(span=> ::core::default::Default::default),
                Some(expr) => make(tool, &ty, expr),
            };
            quote_spanned!(span=> ::core::option::Option::Some(#make))
        }
    };
    let examples = named.examples.iter().map(|(_, expr)| make(tool, &ty, expr));
    quote_spanned! {span=>
        __rt::arg_with::<#ty>(
            __visit,
            #index,
            __rt::Extras { default: #default, examples: &[#(#examples),*] },
        )
    }
}

/// A function that makes the value. A string literal makes whatever can be made from one.
fn make(tool: &Tool, ty: &TokenStream, expr: &Expr) -> TokenStream {
    let span = at(expr.span());
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(string), .. }) if !types::is_scalar(ty) => {
            quote_spanned!(span=> || ::core::convert::Into::into(#string))
        }
        other => {
            let expr = outside(tool, other.to_token_stream());
            quote_spanned!(span=> || #expr)
        }
    }
}
