//! What a parameter's type looks like from outside: owned, lent, or something that can't be passed.

use crate::crate_path::at;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Lifetime, PathArguments, Type, TypeReference};

/// The type of the value that is kept while a tool borrows it: `T` for `&T`, `String` for `&str`, `Vec<T>` for `&[T]`.
pub(crate) fn owned(ty: &Type) -> TokenStream {
    let Some(reference) = as_reference(ty) else {
        return ty.to_token_stream();
    };
    let lent = peel(&reference.elem);
    let span = at(lent.span());
    match lent {
        Type::Path(path) if path.path.is_ident("str") => {
            quote_spanned!(span=> ::std::string::String)
        }
        Type::Slice(slice) => {
            let elem = &slice.elem;
            quote_spanned!(span=> ::std::vec::Vec<#elem>)
        }
        other => other.to_token_stream(),
    }
}

/// The type that the host looks for: `T` for `T` and for `&T`.
pub(crate) fn injected(ty: &Type) -> TokenStream {
    match as_reference(ty) {
        Some(reference) => reference.elem.to_token_stream(),
        None => ty.to_token_stream(),
    }
}

/// The reference, if the type is one.
pub(crate) fn as_reference(ty: &Type) -> Option<&TypeReference> {
    match peel(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// The type without parentheses and without the invisible groups around `$t:ty`.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// Something inside a type that a tool's signature can't have.
pub(crate) enum Flaw {
    /// `impl Trait`.
    Impl(Ident),
    /// `&`, behind something else.
    Reference(TokenTree),
    /// `'_` or a named lifetime.
    Lifetime(Lifetime),
}

/// The flaws of a type, outermost first. Function types (`dyn Fn(&str)`) may say what they take.
pub(crate) fn flaws(tokens: impl ToTokens) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    scan(tokens.into_token_stream(), &mut flaws);
    flaws
}

fn scan(tokens: TokenStream, flaws: &mut Vec<Flaw>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "impl" => flaws.push(Flaw::Impl(ident)),
            // From here on it is the type of a function, up to the end of this group.
            TokenTree::Ident(ident) if ident == "dyn" || ident == "fn" => return,
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                flaws.push(Flaw::Reference(punct.into()));
                // The lifetime of a reference is part of the same flaw.
                if let Some(TokenTree::Punct(quote)) = tokens.peek()
                    && quote.as_char() == '\''
                {
                    tokens.next();
                    tokens.next();
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                if let Some(TokenTree::Ident(name)) = tokens.next()
                    && name != "static"
                {
                    flaws.push(Flaw::Lifetime(Lifetime { apostrophe: punct.span(), ident: name }));
                }
            }
            // `[u8; { … }]`: what computes a length is no type.
            TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => {
                scan(group.stream(), flaws);
            }
            _ => {}
        }
    }
}

/// Whether a lifetime is written somewhere in the type.
pub(crate) fn has_lifetime(ty: &TokenStream) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '\'',
        TokenTree::Group(group) => has_lifetime(&group.stream()),
        _ => false,
    })
}

/// Whether this is a pointer of the standard library that calls can't share.
pub(crate) fn is_unshared_pointer(ty: &Type) -> bool {
    let Type::Path(path) = peel(ty) else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| ["Box", "Rc", "Pin"].iter().any(|name| last.ident == name))
}

/// Whether this is a number, `bool` or `char`, as far as it can be seen: no string makes one.
pub(crate) fn is_scalar(ty: &TokenStream) -> bool {
    const SCALARS: &[&str] = &[
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "bool",
        "char",
    ];
    let mut tokens = ty.clone().into_iter();
    let only = tokens.next().filter(|_| tokens.next().is_none());
    matches!(only, Some(TokenTree::Ident(ident)) if SCALARS.iter().any(|scalar| ident == scalar))
}

/// Whether one of the names is written somewhere in the type.
pub(crate) fn mentions(ty: &TokenStream, names: &[&Ident]) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        _ => false,
    })
}

/// Replaces `Self`, for types and paths that are repeated outside of the impl.
pub(crate) fn without_self(tokens: TokenStream, self_ty: &Type) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => respanned(self_ty, ident.span()),
        TokenTree::Group(group) => {
            let inner = without_self(group.stream(), self_ty);
            let mut new = proc_macro2::Group::new(group.delimiter(), inner);
            new.set_span(group.span());
            TokenTree::Group(new).into()
        }
        other => other.into(),
    });
    replaced.collect()
}

fn respanned(ty: &Type, span: Span) -> TokenStream {
    let moved = turbofished(ty).to_token_stream().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(span));
        token
    });
    moved.collect()
}

/// The type as it can also stand in an expression: `Store::<u8>` in `Store::<u8>::LIMIT`.
fn turbofished(ty: &Type) -> Type {
    let mut ty = peel(ty).clone();
    if let Type::Path(path) = &mut ty {
        for segment in &mut path.path.segments {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                arguments.colon2_token.get_or_insert_default();
            }
        }
    }
    ty
}
