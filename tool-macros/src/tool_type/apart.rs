//! The schema of a type that must not be mentioned: one that is deprecated, or has fields of a type that is.
//!
//! What schemars derives mentions the type and those of its fields, and a lint of the author's crate sees that; unlike
//! serde's derives, schemars' allows nothing. So it derives for a copy of the type, where the lints are allowed.

use super::serde_attrs;
use crate::crate_path::CratePath;
use crate::{expand, parse, types};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Attribute, Fields, Generics, Item, Path, Visibility, parse_quote};

/// What is allowed on a type, and has to be in what is derived for it. `None` if schemars can derive it in place.
pub(super) fn lints(item: &mut Item) -> Option<Vec<Path>> {
    let mut all = Vec::new();
    each_attrs(item, &mut |attrs| all.extend(parse::allowed(attrs)));
    all.iter().any(|lint| lint.is_ident("deprecated")).then_some(all)
}

/// The schema of `item`, as a copy has it of which `derive` makes one. Takes out of the item what is about its schema.
pub(super) fn take_schema(item: &mut Item, krate: &CratePath, derive: &TokenStream, lints: &[Path]) -> TokenStream {
    let span = Span::mixed_site();
    let mut copy = item.clone();
    let mut default = TokenStream::new();
    let (original, copied, generics, attrs) = match &mut copy {
        Item::Struct(item) => {
            let (original, copied) = rename(&mut item.ident, &mut item.vis);
            if serde_attrs::has_default(&item.attrs) {
                default = self::default(&item.fields, &original, &copied, &item.generics);
            }
            (original, copied, item.generics.clone(), &mut item.attrs)
        }
        Item::Enum(item) => {
            let (original, copied) = rename(&mut item.ident, &mut item.vis);
            (original, copied, item.generics.clone(), &mut item.attrs)
        }
        _ => return TokenStream::new(),
    };
    // By this schemars knows what the type is called.
    let name = original.unraw().to_string();
    attrs.insert(0, parse_quote!(#[serde(remote = #name)]));
    let cfgs = parse::cfgs(attrs);
    each_attrs(&mut copy, &mut |attrs| {
        attrs.retain(|attr| {
            ["doc", "cfg", "serde", "schemars", "deprecated"].iter().any(|name| attr.path().is_ident(name))
        });
    });
    each_attrs(item, &mut |attrs| attrs.retain(|attr| !attr.path().is_ident("schemars")));
    let allows = expand::allows(lints);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    // Its parts are of the type itself, not of the copy.
    let copy = types::without_self(copy.into_token_stream(), &parse_quote!(#original #ty_generics));
    let predicates = where_clause.into_iter().flat_map(|clause| &clause.predicates);
    quote_spanned! {span=>
        #(#cfgs)*
        #allows
        // Nobody makes a copy, or reads one.
        #[allow(dead_code)]
        const _: () = {
            use #krate::__private::schemars as __schemars;
            #derive
            #copy
            #default
            impl #impl_generics __schemars::JsonSchema for #original #ty_generics
            where #(#predicates,)* #copied #ty_generics: __schemars::JsonSchema
            {
                fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                    <#copied #ty_generics as __schemars::JsonSchema>::schema_name()
                }
                fn schema_id() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                    <#copied #ty_generics as __schemars::JsonSchema>::schema_id()
                }
                fn json_schema(__generator: &mut __schemars::SchemaGenerator) -> __schemars::Schema {
                    <#copied #ty_generics as __schemars::JsonSchema>::json_schema(__generator)
                }
                fn inline_schema() -> ::core::primitive::bool {
                    <#copied #ty_generics as __schemars::JsonSchema>::inline_schema()
                }
            }
        };
    }
}

/// The names of the type and of its copy, which gets its own.
fn rename(ident: &mut Ident, vis: &mut Visibility) -> (Ident, Ident) {
    *vis = Visibility::Inherited;
    let copied = format_ident!("__SchemaOf{}", ident, span = Span::mixed_site());
    (std::mem::replace(ident, copied.clone()), copied)
}

/// The attributes of a type, its variants and its fields.
fn each_attrs(item: &mut Item, change: &mut dyn FnMut(&mut Vec<Attribute>)) {
    match item {
        Item::Struct(item) => {
            change(&mut item.attrs);
            item.fields.iter_mut().for_each(|field| change(&mut field.attrs));
        }
        Item::Enum(item) => {
            change(&mut item.attrs);
            for variant in &mut item.variants {
                change(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| change(&mut field.attrs));
            }
        }
        _ => {}
    }
}

/// The copy's default, which is the original's.
fn default(fields: &Fields, original: &Ident, copied: &Ident, generics: &Generics) -> TokenStream {
    let span = Span::mixed_site();
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let fields: Vec<TokenStream> = fields
        .members()
        .zip(fields)
        .enumerate()
        .map(|(index, (member, field))| {
            let (cfgs, value) = (parse::cfgs(&field.attrs), format_ident!("__{index}", span = span));
            quote_spanned!(span=> #(#cfgs)* #member: #value)
        })
        .collect();
    quote_spanned! {span=>
        impl #impl_generics ::core::default::Default for #copied #ty_generics #where_clause {
            fn default() -> Self {
                let #original { #(#fields),* } = <#original #ty_generics as ::core::default::Default>::default();
                Self { #(#fields),* }
            }
        }
    }
}
