//! `#[tool_type]`: what an author's struct or enum needs as (part of) an argument or result.

mod apart;
mod field;
mod serde_attrs;

use crate::crate_path::{CratePath, at};
use crate::ctxt::Ctxt;
use crate::expand;
use crate::parse::{self, TypeAttrs};
use field::{Field, Owner};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, Generics, Item, Path, Token};

/// What is derived.
const DERIVES: &[&str] = &["Serialize", "Deserialize", "JsonSchema"];

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
    let apart = apart::lints(&mut parsed);
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
    let Expanded { import, derives, schema_derive, defaults } = expanded;
    let schema = apart.map(|lints| apart::take_schema(&mut parsed, &krate, &schema_derive, &lints));
    let in_place = schema.is_none().then_some(schema_derive);
    let errors = cx.check().err().map(syn::Error::into_compile_error);
    quote!(#import #derives #in_place #parsed #schema #defaults #errors)
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
    /// That of the schema, which may have to be elsewhere.
    schema_derive: TokenStream,
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
        let already = already_derived(attrs);
        for path in &already {
            cx.error(path, "`#[tool_type]` derives this: remove it here");
        }
        Expanded {
            import,
            derives: derive(krate, &base, "serde", &["Serialize", "Deserialize"], &already),
            schema_derive: derive(krate, &base, "schemars", &["JsonSchema"], &already),
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

/// The derives of one crate, minus those that the author has already written: one error is enough.
fn derive(krate: &CratePath, base: &str, package: &str, names: &[&str], already: &[Path]) -> TokenStream {
    let span = Span::mixed_site();
    let place = format!("{base}::{package}");
    let package = Ident::new(package, span);
    let wanted = names.iter().filter(|name| !already.iter().any(|path| is_named(path, name)));
    let derives: Vec<TokenStream> = wanted
        .map(|name| {
            let name = Ident::new(name, span);
            quote_spanned!(span=> #krate::__private::#package::#name)
        })
        .collect();
    if derives.is_empty() {
        return TokenStream::new();
    }
    // By its path, for crates without the prelude.
    quote_spanned! {span=>
        #[::core::prelude::v1::derive(#(#derives),*)]
        #[#package(crate = #place)]
    }
}

fn already_derived(attrs: &[Attribute]) -> Vec<Path> {
    let mut derived = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        let list = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
        let ours = |path: &Path| DERIVES.iter().any(|name| is_named(path, name));
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
    let allows = expand::allows(&parse::allowed(attrs));
    quote_spanned! {span=>
        #(#cfgs)*
        #allows
        const _: () = {
            impl #impl_generics #ident #ty_generics #where_clause {
                #(#functions)*
            }
        };
    }
}
