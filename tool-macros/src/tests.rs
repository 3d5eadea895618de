//! The macros as functions from tokens to tokens, outside of the compiler.

mod errors;
mod other_errors;
mod shape;
mod texts;
mod types;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    crate::tool::expand(attr, item)
}

fn toolset(attr: TokenStream, item: TokenStream) -> TokenStream {
    crate::toolset::expand(attr, item)
}

fn tool_type(attr: TokenStream, item: TokenStream) -> TokenStream {
    crate::tool_type::expand(attr, item)
}

/// The texts of all `compile_error!`, wherever they are.
fn errors(tokens: TokenStream) -> Vec<String> {
    let mut errors = Vec::new();
    let mut is_error = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => is_error = ident == "compile_error",
            TokenTree::Group(group) if is_error => {
                let text: syn::LitStr = syn::parse2(group.stream()).expect("one string");
                errors.push(text.value());
                is_error = false;
            }
            TokenTree::Group(group) => errors.extend(self::errors(group.stream())),
            _ => {}
        }
    }
    errors
}

#[track_caller]
fn assert_errors(tokens: TokenStream, expected: &[&str]) {
    assert_eq!(errors(tokens), expected);
}

#[track_caller]
fn assert_clean(tokens: &TokenStream) {
    assert_eq!(errors(tokens.clone()), Vec::<String>::new());
}

/// The text without blanks, which depend on how tokens were made.
fn bare(tokens: &TokenStream) -> String {
    tokens.to_string().replace([' ', '\n'], "")
}

#[track_caller]
fn assert_has(tokens: &TokenStream, expected: &TokenStream) {
    assert_clean(tokens);
    let has = bare(tokens).contains(&bare(expected));
    assert!(has, "no `{expected}` in:\n{tokens}");
}

#[track_caller]
fn assert_has_not(tokens: &TokenStream, unexpected: &TokenStream) {
    assert_clean(tokens);
    let has = bare(tokens).contains(&bare(unexpected));
    assert!(!has, "`{unexpected}` in:\n{tokens}");
}

/// A tool with these parameters, and nothing else of interest.
fn with_params(params: TokenStream) -> TokenStream {
    tool(quote!(), quote!(#[doc = " T."] fn t(#params) {}))
}
