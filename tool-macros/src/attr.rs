//! The common syntax of all attributes: `key`, `key = value` and `key(…)`, separated by commas.

use crate::ctxt::Ctxt;
use crate::keys::{self, Place};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, LitBool, LitStr, Path, Token};

/// One `key …` of an attribute.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    value: Value,
}

enum Value {
    Flag,
    Assign(Expr),
    /// With its parentheses.
    List(Group),
}

/// A cell for one key that owns the detection of duplicates.
pub(crate) struct Attr<T> {
    seen: bool,
    value: Option<Keyed<T>>,
}

/// A value together with the key it was written under.
pub(crate) struct Keyed<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

impl<T> Default for Attr<T> {
    fn default() -> Self {
        Attr { seen: false, value: None }
    }
}

impl<T> Attr<T> {
    /// Fills the cell. `value` is `None` if it could not be read, which was reported where it was read.
    pub(crate) fn set(&mut self, cx: &Ctxt, entry: &Entry, value: Option<T>) {
        if self.seen {
            cx.error(&entry.key, format_args!("`{}` is given twice", entry.key.unraw()));
        } else if let Some(value) = value {
            self.value = Some(Keyed { key: entry.key.clone(), value });
        }
        self.seen = true;
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().map(|keyed| &keyed.value)
    }

    /// It was given, also if it could not be read.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen
    }

    pub(crate) fn into_keyed(self) -> Option<Keyed<T>> {
        self.value
    }

    pub(crate) fn into_value(self) -> Option<T> {
        self.value.map(|keyed| keyed.value)
    }
}

/// Reads the entries. One that is no entry is reported and skipped, so that the others are still read.
pub(crate) fn entries(cx: &Ctxt, tokens: TokenStream) -> Vec<Entry> {
    let parser = |input: ParseStream<'_>| {
        let mut entries = Vec::new();
        while !input.is_empty() {
            match input.parse() {
                Ok(entry) => entries.push(entry),
                Err(error) => {
                    cx.push(error);
                    skip_to_comma(input)?;
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(entries)
    };
    cx.ok(parser.parse2(tokens)).unwrap_or_default()
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a key such as `name`"));
        }
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                return Err(syn::Error::new(key.span(), format!("`{key}` has no value after the `=`")));
            }
            Value::Assign(ungrouped(input.parse()?))
        } else if input.peek(syn::token::Paren) {
            Value::List(input.parse()?)
        } else {
            Value::Flag
        };
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error("expected `,`"));
        }
        Ok(Entry { key, value })
    }
}

/// The expression without the invisible groups around `$e:expr` and `$l:literal`.
pub(crate) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        other => other,
    }
}

/// `true` for the bare key and for `key = true`.
pub(crate) fn flag(cx: &Ctxt, entry: &Entry) -> Option<bool> {
    match &entry.value {
        Value::Flag => Some(true),
        Value::Assign(Expr::Lit(ExprLit { lit: Lit::Bool(LitBool { value, .. }), .. })) => Some(*value),
        _ => {
            let key = entry.key.unraw();
            cx.error(entry, format_args!("`{key}` is a yes or a no: write `{key}` alone"));
            None
        }
    }
}

/// `key = "…"`.
pub(crate) fn string(cx: &Ctxt, entry: &Entry) -> Option<LitStr> {
    match &entry.value {
        Value::Assign(Expr::Lit(ExprLit { lit: Lit::Str(string), .. })) => Some(string.clone()),
        _ => malformed(cx, entry),
    }
}

/// `key = …`, any expression.
pub(crate) fn expr(cx: &Ctxt, entry: &Entry) -> Option<Expr> {
    match &entry.value {
        Value::Assign(expr) => Some(expr.clone()),
        _ => malformed(cx, entry),
    }
}

/// The bare key (`None` inside) or `key = …`.
pub(crate) fn flag_or_expr(cx: &Ctxt, entry: &Entry) -> Option<Option<Expr>> {
    match &entry.value {
        Value::Flag => Some(None),
        Value::Assign(expr) => Some(Some(expr.clone())),
        Value::List(_) => malformed(cx, entry),
    }
}

/// `key = path::to::item`.
pub(crate) fn path(cx: &Ctxt, entry: &Entry) -> Option<Path> {
    match &entry.value {
        Value::Assign(Expr::Path(path)) if path.qself.is_none() => Some(path.path.clone()),
        _ => malformed(cx, entry),
    }
}

/// `key = path` or `key = "path"`, read by `parser`.
pub(crate) fn path_or_string<T>(cx: &Ctxt, entry: &Entry, parser: fn(ParseStream<'_>) -> syn::Result<T>) -> Option<T> {
    let parsed = match &entry.value {
        Value::Assign(Expr::Lit(ExprLit { lit: Lit::Str(string), .. })) => string.parse_with(parser),
        Value::Assign(Expr::Path(path)) if path.qself.is_none() => parser.parse2(path.to_token_stream()),
        _ => return malformed(cx, entry),
    };
    match parsed {
        Ok(value) => Some(value),
        Err(_) => malformed(cx, entry),
    }
}

/// `key(a, b)`, at least one name.
pub(crate) fn idents(cx: &Ctxt, entry: &Entry) -> Option<Vec<Ident>> {
    list(cx, entry, Ident::parse_any)
}

/// `key("a", "b")`, at least one string.
pub(crate) fn strings(cx: &Ctxt, entry: &Entry) -> Option<Vec<LitStr>> {
    list(cx, entry, |input| input.parse())
}

fn list<T>(cx: &Ctxt, entry: &Entry, parser: fn(ParseStream<'_>) -> syn::Result<T>) -> Option<Vec<T>> {
    let Value::List(group) = &entry.value else {
        return malformed(cx, entry);
    };
    let parser = |input: ParseStream<'_>| Punctuated::<T, Token![,]>::parse_terminated_with(input, parser);
    match parser.parse2(group.stream()) {
        Ok(list) if !list.is_empty() => Some(list.into_iter().collect()),
        _ => malformed(cx, entry),
    }
}

/// `key(key …, key …)`: the tokens inside.
pub(crate) fn nested(cx: &Ctxt, entry: &Entry) -> Option<TokenStream> {
    match &entry.value {
        Value::List(group) => Some(group.stream()),
        _ => malformed(cx, entry),
    }
}

fn malformed<T>(cx: &Ctxt, entry: &Entry) -> Option<T> {
    let key = entry.key.unraw().to_string();
    let form = keys::form(&key).unwrap_or(&key);
    cx.error(entry, format_args!("expected `{form}`"));
    None
}

/// Reports a key that is not legal in `place`.
pub(crate) fn unknown(cx: &Ctxt, entry: &Entry, place: Place) {
    let key = entry.key.unraw().to_string();
    cx.error(&entry.key, keys::not_here(&key, place));
}

impl ToTokens for Entry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let key = &self.key;
        tokens.extend(match &self.value {
            Value::Flag => quote!(#key),
            Value::Assign(expr) => quote!(#key = #expr),
            Value::List(group) => quote!(#key #group),
        });
    }
}
