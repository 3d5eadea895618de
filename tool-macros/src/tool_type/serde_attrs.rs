//! What the author's own `#[serde(…)]` says, as far as the schema's order and aliases depend on it.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token};

/// Whether the type is its only field.
pub(super) fn is_transparent(attrs: &[Attribute]) -> bool {
    metas(attrs).any(|meta| meta.path().is_ident("transparent"))
}

/// Whether absent fields are those of the type's own default.
pub(super) fn has_default(attrs: &[Attribute]) -> bool {
    metas(attrs).any(|meta| matches!(meta, Meta::Path(path) if path.is_ident("default")))
}

/// Whether the field has no property of its own.
pub(super) fn has_no_property(attrs: &[Attribute]) -> bool {
    metas(attrs).any(|meta| meta.path().is_ident("flatten") || meta.path().is_ident("skip"))
}

/// `alias = "…"`, all of them.
pub(super) fn aliases(attrs: &[Attribute]) -> Vec<LitStr> {
    let aliases = metas(attrs).filter_map(|meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("alias") => match pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(alias), .. }) => Some(alias),
            _ => None,
        },
        _ => None,
    });
    aliases.collect()
}

/// What serde can't read, serde reports.
fn metas(attrs: &[Attribute]) -> impl Iterator<Item = Meta> + '_ {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("serde") || attr.path().is_ident("schemars"))
        .filter_map(|attr| attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok())
        .flatten()
}
