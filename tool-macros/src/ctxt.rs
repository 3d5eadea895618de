//! The list that every phase adds its errors to.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::cell::RefCell;
use std::fmt::Display;

/// Collects all errors of one item, so that the author reads them in one go.
///
/// Dropping it without [`Ctxt::check`] is a bug of this crate, and panics.
pub(crate) struct Ctxt {
    errors: RefCell<Option<Vec<syn::Error>>>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Ctxt { errors: RefCell::new(Some(Vec::new())) }
    }

    /// Adds an error on exactly these tokens.
    pub(crate) fn error(&self, tokens: impl ToTokens, message: impl Display) {
        // Not generic below this line: one copy instead of one per token type.
        self.spanned(tokens.into_token_stream(), message.to_string());
    }

    fn spanned(&self, tokens: TokenStream, message: String) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error that a parser made.
    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// The value, or `None` with the error added.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Ends the collection: all errors as one.
    pub(crate) fn check(self) -> syn::Result<()> {
        let errors = self.errors.borrow_mut().take().unwrap_or_default();
        let combined = errors.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        combined.map_or(Ok(()), Err)
    }
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.errors.borrow().is_some() {
            panic!("the errors of an item were collected but not reported");
        }
    }
}
