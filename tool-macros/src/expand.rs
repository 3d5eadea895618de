//! The model → tokens. Nothing is decided here.
//!
//! All that is generated has the hygiene of `mixed_site`: locals are invisible to the author's expressions, and lints
//! know the code as not written by the author. What can be wrong with the author's types and paths is wrong in exactly
//! one expression each, located at the type or path.

mod args;
mod definition;

use crate::crate_path::{at, moved};
use crate::model::{Param, Role, Tool};
use crate::types;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Path, Receiver, ReceiverKind, ReturnType, Type, Visibility};

/// Everything that is generated beside the function itself.
pub(crate) fn tool(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let krate = &tool.krate;
    let cfgs = &tool.cfgs;
    let structs = structs(tool);
    let args = args::read(tool);
    let params = args::table(tool);
    let settle = settle(tool);
    let run = run(tool);
    let definition = definition::table(tool);
    let api = definition::api(tool);
    let allows = allows(&tool.allowed);
    quote_spanned! {span=>
        #structs
        #(#cfgs)*
        #allows
        const _: () = {
            use #krate::__private as __rt;
            #params
            #args
            #settle
            #run
            #definition
            #api
        };
    }
}

/// The two types: the tool, and its arguments unless they are the author's own.
fn structs(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let cfgs = &tool.cfgs;
    let vis = visibility(&tool.item.vis);
    let ident = &tool.tool;
    let doc = format!("The tool `{}`.", tool.name.text);
    let args = tool.whole().is_none().then(|| args::definition(tool));
    // Where its name is: that is what a clash of names points at.
    let item = quote_spanned!(ident.span()=> struct #ident;);
    quote_spanned! {span=>
        #args
        #(#cfgs)*
        #[doc = #doc]
        #vis #item
    }
}

/// What the author allows is allowed for what repeats the author's types. Nothing more: a crate may forbid the lint.
pub(crate) fn allows(allowed: &[Path]) -> Option<TokenStream> {
    let span = Span::mixed_site();
    (!allowed.is_empty()).then(|| quote_spanned!(span=> #[allow(#(#allowed),*)]))
}

/// The visibility, located so that lints don't take the generated item for the author's.
pub(crate) fn visibility(vis: &Visibility) -> TokenStream {
    let tokens = vis.to_token_stream().into_iter().map(|mut token| {
        token.set_span(at(token.span()));
        token
    });
    tokens.collect()
}

/// Author's tokens for use outside of the author's impl.
pub(crate) fn outside(tool: &Tool, tokens: impl ToTokens) -> TokenStream {
    let tokens = tokens.into_token_stream();
    match &tool.method {
        Some(method) => types::without_self(tokens, &method.self_ty),
        None => tokens,
    }
}

/// The type of the argument object.
fn args_type(tool: &Tool) -> TokenStream {
    match tool.whole() {
        Some(param) => outside(tool, types::owned(&param.ty)),
        None => tool.args.to_token_stream(),
    }
}

/// The one place that judges the return type, describes it and turns a value of it into a reply.
fn settle(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let output = match &tool.item.sig.output {
        ReturnType::Type(_, ty) => outside(tool, ty),
        ReturnType::Default => quote_spanned!(at(tool.item.sig.ident.span())=> ()),
    };
    let generics = types::has_lifetime(&output).then_some(&tool.item.sig.generics);
    let where_clause = generics.and_then(|generics| generics.where_clause.as_ref());
    let project = match &tool.hosting.project {
        Some(path) => {
            let span = at(path.span());
            let path = outside(tool, path);
            // As a field: a path of another type is then the one thing that is wrong.
            quote_spanned!(span=> ::core::option::Option::Some { 0: #path })
        }
        None => quote_spanned!(span=> ::core::option::Option::None),
    };
    let judge = judge(&output);
    quote_spanned! {span=>
        fn __settle #generics (__returned: __rt::Settle<'_, #output>) -> __rt::Settled #where_clause {
            use __rt::PlainReturn as _;
            #judge.settle(__returned, #project)
        }
    }
}

/// `__rt::ReturnOf::<T>::judge()`, from the first to the last token of the type, so that errors underline all of it.
fn judge(output: &TokenStream) -> TokenStream {
    let (first, last) = ends(output);
    let start = quote_spanned!(first=> __rt::ReturnOf::);
    let judge = quote_spanned!(last=> >::judge);
    let call = quote_spanned!(last=> ());
    quote_spanned!(first=> #start <#output #judge #call)
}

/// The first and the last token's spans: the author's own, or the error would be one of the macro's.
fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|token| match token {
        TokenTree::Group(group) => (group.span_open(), group.span_close()),
        other => (other.span(), other.span()),
    });
    let (first, mut last) = spans.next().unwrap_or((Span::call_site(), Span::call_site()));
    if let Some((_, end)) = spans.last() {
        last = end;
    }
    (first, last)
}

/// The thunk from the erased body to the author's function.
fn run(tool: &Tool) -> TokenStream {
    // A future that isn't `Send` is an error of the author's function, and is reported there.
    let span = at(tool.item.sig.ident.span());
    let args = args_type(tool);
    let receiver =
        tool.receiver().map(|(_, self_ty)| quote_spanned!(span=> let __self = __rt::receiver::<#self_ty>(&__cx);));
    let call = call(tool);
    let awaited = tool.item.sig.asyncness.map(|_| quote_spanned!(span=> .await));
    let body = quote_spanned! {span=>
        let (__args, __cx) = __body.open::<#args>();
        #receiver
        let __returned = #call #awaited;
        __settle(__rt::Settle::Returned(&__cx, __returned)).reply()
    };
    match tool.item.sig.asyncness {
        Some(_) => {
            let author = tool.item.sig.ident.span();
            let future = quote_spanned!(author=> __rt::tool_future_must_be_send(async move { #body }));
            quote_spanned!(span=> fn __run(__body: __rt::Body) -> __rt::RunFuture { #future })
        }
        None => quote_spanned! {span=>
            fn __run(__body: __rt::Body) -> __rt::Reply { #body }
        },
    }
}

fn call(tool: &Tool) -> TokenStream {
    let ident = moved(&tool.item.sig.ident);
    let span = ident.span();
    let params = tool.params.iter().map(|param| passed(tool, param));
    let Some(method) = &tool.method else {
        return quote_spanned!(span=> #ident(#(#params),*));
    };
    let self_ty = &method.self_ty;
    let receiver = tool.receiver().map(|(receiver, _)| {
        let span = at(receiver.self_token.span());
        if is_lent(receiver) { quote_spanned!(span=> &__self,) } else { quote_spanned!(span=> __self,) }
    });
    quote_spanned!(span=> <#self_ty>::#ident(#receiver #(#params),*))
}

fn is_lent(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => types::as_reference(ty).is_some(),
        _ => false,
    }
}

/// The expression that a parameter gets.
fn passed(tool: &Tool, param: &Param) -> TokenStream {
    let span = at(param.ty.span());
    match &param.role {
        Role::Host => {
            let ty = outside(tool, types::injected(&param.ty));
            if types::as_reference(&param.ty).is_some() {
                quote_spanned!(span=> __rt::host_ref::<#ty>(&__cx))
            } else {
                quote_spanned!(span=> __rt::host::<#ty>(&__cx))
            }
        }
        Role::Whole => {
            let lend = lend(&param.ty, span);
            quote_spanned!(span=> #lend __args)
        }
        Role::Named(named) => {
            let lend = lend(&param.ty, span);
            let field = &named.field;
            quote_spanned!(span=> #lend __args.#field)
        }
    }
}

fn lend(ty: &Type, span: Span) -> Option<TokenStream> {
    types::as_reference(ty).map(|_| quote_spanned!(span=> &))
}
