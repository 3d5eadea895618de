//! `#[tool_type]`: what an author's struct or enum needs as (part of) an argument or result.

mod field;
mod serde_attrs;

use crate::crate_path::{CratePath, at};
use crate::ctxt::Ctxt;
use crate::parse::{self, TypeAttrs};
use field::{Field, Owner};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, Generics, Item, Path, Token};

/// What is derived, and from which crate of `__private`.
const DERIVES: &[(&str, &str)] = &[("serde", "Serialize"), ("serde", "Deserialize"), ("schemars", "JsonSchema")];

/// Expands `#[tool_type(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut parsed: Item = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let cx = Ctxt::new();
    let attrs = TypeAttrs::read(&cx, attr);
    let krate = CratePath::new(attrs.krate.into_value());
    let expanded = match &mut parsed {
        Item::Struct(item) => {
            let owner = Owner::new(&item.ident, &item.generics, None, &item.attrs);
            let fields = take_fields(&cx, &owner, &mut item.fields);
            Expanded::new(&cx, &krate, &item.ident, &item.generics, &item.attrs, &fields)
        }
        Item::Enum(item) => {
            let mut fields = Vec::new();
            for variant in &mut item.variants {
                let name = Some(&variant.ident);
                let owner = Owner::new(&item.ident, &item.generics, name, &item.attrs);
                fields.extend(take_fields(&cx, &owner, &mut variant.fields));
            }
            Expanded::new(&cx, &krate, &item.ident, &item.generics, &item.attrs, &fields)
        }
        other => {
            cx.error(keyword(other), "`#[tool_type]` goes on a `struct` or an `enum`");
            Expanded::default()
        }
    };
    let Expanded { import, derives, defaults } = expanded;
    let errors = cx.check().err().map(syn::Error::into_compile_error);
    quote!(#import #derives #parsed #defaults #errors)
}

/// What an error on the whole item points at.
fn keyword(item: &Item) -> TokenStream {
    let mut tokens = item.to_token_stream().into_iter();
    tokens
        .find(|token| matches!(token, TokenTree::Ident(ident) if ident != "pub"))
        .map_or_else(|| item.to_token_stream(), Into::into)
}

fn take_fields(cx: &Ctxt, owner: &Owner, fields: &mut Fields) -> Vec<Field> {
    fields.iter_mut().enumerate().map(|(index, field)| Field::take(cx, owner, index, field)).collect()
}

/// What is emitted around the item.
#[derive(Default)]
struct Expanded {
    /// A name for a path that can't be written in a string.
    import: TokenStream,
    derives: TokenStream,
    defaults: TokenStream,
}

impl Expanded {
    fn new(
        cx: &Ctxt,
        krate: &CratePath,
        ident: &Ident,
        generics: &Generics,
        attrs: &[Attribute],
        fields: &[Field],
    ) -> Self {
        let alias = format_ident!("__private_for_{}", ident, span = at(ident.span()));
        let (import, base) = match krate.text() {
            Some(text) => (TokenStream::new(), format!("{text}::__private")),
            None => (import(krate, &alias, attrs), alias.to_string()),
        };
        Expanded {
            import,
            derives: derives(cx, krate, &base, attrs),
            defaults: defaults(ident, generics, attrs, fields),
        }
    }
}

fn import(krate: &CratePath, alias: &Ident, attrs: &[Attribute]) -> TokenStream {
    let span = Span::mixed_site();
    let cfgs = parse::cfgs(attrs);
    quote_spanned! {span=>
        #(#cfgs)*
        #[doc(hidden)]
        use #krate::__private as #alias;
    }
}

/// The derives, minus those that the author has already written: one error is enough.
fn derives(cx: &Ctxt, krate: &CratePath, base: &str, attrs: &[Attribute]) -> TokenStream {
    let span = Span::mixed_site();
    let already = already_derived(attrs);
    for path in &already {
        cx.error(path, "`#[tool_type]` derives this: remove it here");
    }
    let wanted = |name: &str| !already.iter().any(|path| is_named(path, name));
    let derives = DERIVES.iter().filter(|(_, name)| wanted(name)).map(|(package, name)| {
        let package = Ident::new(package, span);
        let name = Ident::new(name, span);
        quote_spanned!(span=> #krate::__private::#package::#name)
    });
    let serde = format!("{base}::serde");
    let schemars = format!("{base}::schemars");
    // By its path, for crates without the prelude.
    quote_spanned! {span=>
        #[::core::prelude::v1::derive(#(#derives),*)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
    }
}

fn already_derived(attrs: &[Attribute]) -> Vec<Path> {
    let mut derived = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        let list = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let ours = |path: &Path| DERIVES.iter().any(|(_, name)| is_named(path, name));
        derived.extend(list.into_iter().flatten().filter(ours));
    }
    derived
}

fn is_named(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == name)
}

/// The functions that make the defaults of fields, where serde can name them.
fn defaults(ident: &Ident, generics: &Generics, attrs: &[Attribute], fields: &[Field]) -> TokenStream {
    let functions: Vec<TokenStream> = fields.iter().filter_map(Field::default_fn).collect();
    if functions.is_empty() {
        return TokenStream::new();
    }
    let span = Span::mixed_site();
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let cfgs = parse::cfgs(attrs);
    quote_spanned! {span=>
        #(#cfgs)*
        const _: () = {
            impl #impl_generics #ident #ty_generics #where_clause {
                #(#functions)*
            }
        };
    }
}
