//! `#[arg(…)]` on a field → `#[serde(…)]` and `#[schemars(…)]`, which the derives read.

use super::serde_attrs;
use crate::check;
use crate::crate_path::at;
use crate::ctxt::Ctxt;
use crate::limits::Range;
use crate::model::Named;
use crate::parse::{self, ParamAttrs};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Generics, Lit, LitStr, Type, parse_quote};

/// The struct or variant that a field stands in.
pub(super) struct Owner {
    /// How serde calls a function of the type.
    path: String,
    variant: Option<Ident>,
    transparent: bool,
}

/// A field as far as we have a say in it.
pub(super) struct Field {
    named: Named,
    ty: Type,
    cfgs: Vec<Attribute>,
    /// Its place in the declared order, if it is a property.
    order: Option<usize>,
    /// The author's own `#[serde(alias = "…")]`.
    serde_aliases: Vec<LitStr>,
    /// The function that makes its default, and how serde calls it.
    default_fn: Ident,
    default_path: String,
}

impl Owner {
    pub(super) fn new(ident: &Ident, generics: &Generics, variant: Option<&Ident>, attrs: &[Attribute]) -> Self {
        let (_, ty_generics, _) = generics.split_for_impl();
        let arguments = ty_generics.as_turbofish().into_token_stream();
        Owner {
            path: format!("{ident}{arguments}").replace(' ', ""),
            variant: variant.cloned(),
            transparent: serde_attrs::is_transparent(attrs),
        }
    }
}

impl Field {
    /// Takes our attributes out of the field, and puts in what they mean to the derives.
    pub(super) fn take(cx: &Ctxt, owner: &Owner, index: usize, field: &mut syn::Field) -> Self {
        let attrs = ParamAttrs::take_from_field(cx, &mut field.attrs);
        for mark in attrs.host.iter().chain(&attrs.args) {
            cx.error(mark, "this is for parameters: all fields of a `#[tool_type]` are data");
        }
        let origin = match &field.ident {
            Some(ident) => ident.to_token_stream(),
            None => field.ty.to_token_stream(),
        };
        let named = Named::new(cx, field.ident.as_ref(), origin, attrs);
        check::params::values(cx, &named);
        if field.ident.is_none() {
            for name in named.rename.iter().chain(&named.aliases) {
                cx.error(name, "a field without a name has none to change");
            }
        }
        let name = match &field.ident {
            Some(ident) => ident.unraw().to_string(),
            None => index.to_string(),
        };
        // With the variant's length: `A_b { c }` and `A { b_c }` are two.
        let variant = owner.variant.as_ref().map(|variant| variant.unraw().to_string());
        let variant = variant.map(|variant| format!("{}{variant}_", variant.len()));
        let function = format!("__default_{}{name}", variant.unwrap_or_default());
        let is_property = field.ident.is_some() && !owner.transparent && !serde_attrs::has_no_property(&field.attrs);
        let taken = Field {
            named,
            ty: field.ty.clone(),
            cfgs: parse::cfgs(&field.attrs),
            order: is_property.then_some(index),
            serde_aliases: serde_attrs::aliases(&field.attrs),
            default_path: format!("{}::{function}", owner.path),
            default_fn: Ident::new(&function, Span::mixed_site()),
        };
        // Before the author's own, which have the last word.
        field.attrs.splice(0..0, taken.attributes());
        taken
    }

    fn attributes(&self) -> Vec<Attribute> {
        let mut attrs = Vec::new();
        if let Some(order) = self.order {
            let order = Literal::usize_suffixed(order);
            attrs.push(extend("x-tool-order", quote!(#order)));
        }
        self.names(&mut attrs);
        self.values(&mut attrs);
        self.limits(&mut attrs);
        self.marks(&mut attrs);
        attrs
    }

    fn names(&self, attrs: &mut Vec<Attribute>) {
        if let Some(rename) = &self.named.rename {
            attrs.push(parse_quote!(#[serde(rename = #rename)]));
        }
        for alias in &self.named.aliases {
            attrs.push(parse_quote!(#[serde(alias = #alias)]));
        }
        let all: Vec<&LitStr> = self.named.aliases.iter().chain(&self.serde_aliases).collect();
        if !all.is_empty() {
            attrs.push(extend("x-tool-alias", quote!([#(#all),*])));
        }
    }

    fn values(&self, attrs: &mut Vec<Attribute>) {
        match self.named.default.as_ref().map(|default| &default.value) {
            None => {}
            Some(None) => attrs.push(parse_quote!(#[serde(default)])),
            Some(Some(_)) => {
                let path = &self.default_path;
                attrs.push(parse_quote!(#[serde(default = #path)]));
            }
        }
        for (_, example) in &self.named.examples {
            // Bare strings are reserved by schemars, for paths.
            let by_ref = is_string(example).then(|| quote!(&));
            attrs.push(parse_quote!(#[schemars(example = #by_ref #example)]));
        }
    }

    fn limits(&self, attrs: &mut Vec<Attribute>) {
        if let Some(range) = &self.named.range {
            for (keyword, bound) in bounds(range) {
                attrs.push(extend(keyword, bound));
            }
        }
        if let Some(length) = &self.named.length {
            let minimum = length.minimum.map(|minimum| quote!(min = #minimum,));
            let maximum = length.maximum.map(|maximum| quote!(max = #maximum,));
            attrs.push(parse_quote!(#[schemars(length(#minimum #maximum))]));
        }
        if let Some(pattern) = &self.named.pattern {
            attrs.push(extend("pattern", quote!(#pattern)));
        }
        if let Some(format) = &self.named.format {
            attrs.push(extend("format", quote!(#format)));
        }
    }

    fn marks(&self, attrs: &mut Vec<Attribute>) {
        let marks = [
            ("x-tool-path", self.named.path),
            ("x-tool-secret", self.named.secret),
            ("x-tool-authored", self.named.authored),
        ];
        for (keyword, _) in marks.into_iter().filter(|(_, set)| *set) {
            attrs.push(extend(keyword, quote!(true)));
        }
    }

    /// The function behind `#[serde(default = "…")]`.
    pub(super) fn default_fn(&self) -> Option<TokenStream> {
        let expr = self.named.default.as_ref()?.value.as_ref()?;
        let span = at(expr.span());
        let cfgs = &self.cfgs;
        let function = &self.default_fn;
        let ty = &self.ty;
        let value = if is_string(expr) {
            quote_spanned!(span=> ::core::convert::Into::into(#expr))
        } else {
            expr.to_token_stream()
        };
        Some(quote_spanned! {span=>
            #(#cfgs)*
            #[doc(hidden)]
            fn #function() -> #ty { #value }
        })
    }
}

/// `#[schemars(extend("keyword" = value))]`.
fn extend(keyword: &str, value: TokenStream) -> Attribute {
    parse_quote!(#[schemars(extend(#keyword = #value))])
}

fn bounds(range: &Range) -> Vec<(&'static str, TokenStream)> {
    let maximum = if range.exclusive { "exclusiveMaximum" } else { "maximum" };
    let bounds = [("minimum", &range.minimum), (maximum, &range.maximum)];
    let written = bounds.into_iter().filter_map(|(keyword, bound)| {
        let number = number(bound.as_deref()?)?;
        Some((keyword, number))
    });
    written.collect()
}

/// A JSON number as a literal whose type holds it.
fn number(text: &str) -> Option<TokenStream> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => (Some(quote!(-)), digits),
        None => (None, text),
    };
    let literal = if let Ok(signed) = digits.parse::<i64>() {
        Literal::i64_suffixed(signed)
    } else if let (None, Ok(unsigned)) = (&minus, digits.parse::<u64>()) {
        Literal::u64_suffixed(unsigned)
    } else {
        Literal::f64_suffixed(digits.parse().ok()?)
    };
    Some(quote!(#minus #literal))
}

fn is_string(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}
