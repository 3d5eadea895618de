//! `#[toolset]`: an impl whose `#[tool]` methods are tools.

mod methods;

use crate::crate_path::CratePath;
use crate::ctxt::Ctxt;
use crate::model::{Set, Tool};
use crate::parse::{self, SetAttrs};
use crate::{expand, fallback, types};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt as _;
use syn::{Attribute, ImplItem, ItemImpl, LitStr, Type, Visibility};

/// Expands `#[toolset(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut item_impl: ItemImpl = match syn::parse2(item.clone()) {
        Ok(item_impl) => item_impl,
        Err(error) => return unparsed(&item, error),
    };
    let cx = Ctxt::new();
    let attrs = SetAttrs::read(&cx, attr);
    let krate = CratePath::new(attrs.krate.into_value());
    let prefix: Option<LitStr> = attrs.prefix.into_value();
    let self_ty = (*item_impl.self_ty).clone();
    let set = Set {
        krate: &krate,
        self_ty: &self_ty,
        self_name: type_name(&self_ty).map(|name| name.unraw().to_string()).unwrap_or_default(),
        prefix: prefix.as_ref(),
    };
    concrete_impl(&cx, &item_impl);
    let tools = methods::take(&cx, &mut item_impl, &set);
    some_tool(&cx, &item_impl, &tools);
    free_name(&cx, &item_impl);
    distinct_names(&cx, &tools);
    match cx.check() {
        Ok(()) => {
            let generated = tools.iter().map(expand::tool);
            let list = list(&set, &item_impl.attrs, &tools, pushes(&tools));
            quote!(#item_impl #(#generated)* #list)
        }
        Err(errors) => {
            let stand_ins = is_concrete(&item_impl).then(|| {
                let types = tools.iter().map(fallback::tool);
                let list = tools_methods(&item_impl)
                    .next()
                    .is_none()
                    .then(|| list(&set, &item_impl.attrs, &tools, quote!(::core::unreachable!())));
                quote!(#(#types)* #list)
            });
            let errors = errors.into_compile_error();
            quote!(#item_impl #stand_ins #errors)
        }
    }
}

/// Something that is no impl, or not yet. It stays as it is, so that rustc still sees all of it.
fn unparsed(item: &TokenStream, error: syn::Error) -> TokenStream {
    let is_impl =
        item.clone().into_iter().any(|token| matches!(token, proc_macro2::TokenTree::Ident(ident) if ident == "impl"));
    let error = if is_impl {
        error
    } else {
        syn::Error::new(error.span(), "`#[toolset]` goes on an `impl` whose methods are tools")
    };
    let error = error.into_compile_error();
    quote!(#item #error)
}

/// The last part of a type's path.
fn type_name(ty: &Type) -> Option<&Ident> {
    match types::peel(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

fn concrete_impl(cx: &Ctxt, item_impl: &ItemImpl) {
    if !item_impl.generics.params.is_empty() {
        cx.error(&item_impl.generics, "a toolset can't be generic: its tools need one concrete type each");
    }
    if let Some((path, _)) = &item_impl.trait_ {
        cx.error(path, "a toolset is the type's own `impl`, not that of a trait");
    }
    if type_name(&item_impl.self_ty).is_none() {
        cx.error(&item_impl.self_ty, "a toolset needs a type with a name, after which its tools are called");
    }
}

/// Whether other items can stand beside the impl and name its type.
fn is_concrete(item_impl: &ItemImpl) -> bool {
    item_impl.generics.params.is_empty() && item_impl.trait_.is_none() && type_name(&item_impl.self_ty).is_some()
}

fn some_tool(cx: &Ctxt, item_impl: &ItemImpl, tools: &[Tool]) {
    // An impl that can't be a toolset has its own error.
    if !tools.is_empty() || !is_concrete(item_impl) {
        return;
    }
    let in_macro = item_impl.items.iter().any(|item| matches!(item, ImplItem::Macro(_)));
    let hint = if in_macro { "; tools written by a macro inside the impl can't be seen from here" } else { "" };
    cx.error(item_impl.impl_token, format_args!("no method of this toolset is marked `#[tool]`{hint}"));
}

fn free_name(cx: &Ctxt, item_impl: &ItemImpl) {
    for ident in tools_methods(item_impl) {
        cx.error(ident, "`#[toolset]` adds a method `tools`: give this one another name");
    }
}

/// The author's methods that have the name of ours.
fn tools_methods(item_impl: &ItemImpl) -> impl Iterator<Item = &Ident> {
    let methods = item_impl.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(&method.sig.ident),
        _ => None,
    });
    methods.filter(|ident| *ident == "tools")
}

fn distinct_names(cx: &Ctxt, tools: &[Tool]) {
    let mut names = HashSet::new();
    // Of methods under conditions perhaps only one exists.
    for tool in tools.iter().filter(|tool| tool.cfgs.is_empty()) {
        let name = &tool.name.text;
        if !names.insert(name) {
            cx.error(&tool.name.origin, format_args!("this toolset already has a tool named `{name}`"));
        }
    }
}

/// `fn tools`, with the given body. `attrs` are the impl's.
fn list(set: &Set<'_>, attrs: &[Attribute], tools: &[Tool], body: TokenStream) -> TokenStream {
    let span = Span::mixed_site();
    let cfgs = parse::cfgs(attrs);
    let allows = expand::allows(&parse::allowed(attrs));
    let krate = set.krate;
    let self_ty = set.self_ty;
    let vis = tools.iter().map(|tool| &tool.item.vis).max_by_key(|vis| reach(vis)).map(expand::visibility);
    quote_spanned! {span=>
        #(#cfgs)*
        #allows
        const _: () = {
            use #krate::__private as __rt;
            impl #self_ty {
                /// All tools of this toolset, for a registry.
                #[must_use]
                #vis fn tools(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<__rt::HostTool> {
                    #body
                }
            }
        };
    }
}

fn pushes(tools: &[Tool]) -> TokenStream {
    let span = Span::mixed_site();
    let pushes = tools.iter().map(|tool| {
        let cfgs = &tool.cfgs;
        let ident = &tool.tool;
        let receiver = tool.receiver().map(|_| quote_spanned!(span=> ::core::clone::Clone::clone(&self)));
        quote_spanned!(span=> #(#cfgs)* __tools.push(#ident::host(#receiver));)
    });
    quote_spanned! {span=>
        let mut __tools = ::std::vec::Vec::new();
        #(#pushes)*
        __tools
    }
}

/// From how far away something is visible, for comparison only.
fn reach(vis: &Visibility) -> u8 {
    match vis {
        Visibility::Public(_) => 3,
        Visibility::Restricted(restricted) if restricted.path.is_ident("crate") => 2,
        Visibility::Restricted(_) => 1,
        Visibility::Inherited => 0,
    }
}
