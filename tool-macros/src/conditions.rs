//! `condition(…)`: a condition of the provider's checklist, written at the function.

use crate::attr::{self, Attr, Entry};
use crate::ctxt::Ctxt;
use crate::keys::Place;
use crate::names;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::LitStr;
use syn::ext::IdentExt as _;

/// What a condition is checked by, of which it has one.
const TESTS: [&str; 4] = ["holds", "prohibits", "approve_if", "check"];

/// What may follow from a `check`.
const THEN: [&str; 3] = ["holds", "prohibits", "approve_if"];

/// One `condition(…)`, as written.
pub(crate) struct Condition {
    /// The word `condition`, for errors.
    key: Ident,
    /// Its keys, in the order of `KEYS`.
    cells: [Attr<LitStr>; 8],
    /// One of its keys is none, so that nobody knows what was meant by it.
    misspelt: bool,
}

const KEYS: [&str; 8] = ["name", "text", "holds", "prohibits", "approve_if", "check", "then", "approver"];

impl Condition {
    pub(crate) fn read(cx: &Ctxt, entry: &Entry) -> Option<Self> {
        let tokens = attr::nested(cx, entry)?;
        let mut cells: [Attr<LitStr>; 8] = Default::default();
        let mut misspelt = false;
        for inner in attr::entries(cx, tokens) {
            let key = inner.key.unraw().to_string();
            match KEYS.iter().position(|known| *known == key) {
                Some(at) => cells[at].set(cx, &inner, attr::string(cx, &inner)),
                None => {
                    misspelt = true;
                    attr::unknown(cx, &inner, Place::Condition);
                }
            }
        }
        Some(Condition { key: entry.key.clone(), cells, misspelt })
    }

    fn get(&self, key: &str) -> Option<&LitStr> {
        KEYS.iter().position(|known| *known == key).and_then(|at| self.cells[at].get())
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &LitStr)> {
        KEYS.into_iter().zip(&self.cells).filter_map(|(key, cell)| Some((key, cell.get()?)))
    }

    /// Does it say one thing? Each error stands at the token at fault.
    pub(crate) fn check(&self, cx: &Ctxt) {
        for (key, value) in self.given() {
            if value.value().trim().is_empty() {
                cx.error(value, format_args!("`{key}` is empty"));
            }
        }
        let was_tried =
            |key: &str| KEYS.iter().position(|known| *known == key).is_some_and(|at| self.cells[at].is_seen());
        for (key, what) in [
            ("name", "which records and reports call it by"),
            ("text", "what it says, in words that people and models read"),
        ] {
            if !self.misspelt && !was_tried(key) {
                cx.error(&self.key, format_args!("a condition needs a `{key} = \"…\"`: {what}"));
            }
        }
        let tests: Vec<(&str, &LitStr)> = self.given().filter(|(key, _)| TESTS.contains(key)).collect();
        match &tests[..] {
            [] if !self.misspelt && !TESTS.into_iter().any(was_tried) => cx.error(
                &self.key,
                "a condition needs one of `holds`, `prohibits`, `approve_if` (an expression) and `check` (a registered check)",
            ),
            [] | [_] => {}
            [(first, _), others @ ..] => {
                for (key, value) in others {
                    cx.error(
                        value,
                        format_args!("`{key}` beside `{first}`: a condition is checked once, write another `condition(…)`"),
                    );
                }
            }
        }
        let mut asks = self.get("approve_if").is_some();
        if let Some(then) = self.get("then") {
            let word = then.value();
            asks |= word == "approve_if";
            if !was_tried("check") {
                cx.error(then, "`then` says what follows from a `check`, and there is none");
            } else if !THEN.contains(&&*word) && !word.trim().is_empty() {
                let meant = names::nearest(&word, &THEN).map(|word| format!(", did you mean `{word}`?"));
                let meant = meant.unwrap_or_else(|| format!(", it is one of {}", names::list(&THEN)));
                cx.error(then, format_args!("`{word}` follows from nothing{meant}"));
            }
        }
        if let Some(approver) = self.get("approver") {
            let word = approver.value();
            let is_known = matches!(&*word, "user" | "approver")
                || word.strip_prefix('@').is_some_and(|name| !name.trim().is_empty());
            if !asks {
                cx.error(approver, "`approver` says who agrees where `approve_if` holds, and there is none");
            } else if !is_known && !word.trim().is_empty() {
                cx.error(approver, "an approver is \"user\", \"approver\", or somebody by name: \"@name\"");
            }
        }
    }

    /// Pairs of keys and values, as a file has them.
    pub(crate) fn to_tokens(&self) -> TokenStream {
        let pairs = self.given().map(|(key, value)| quote!((#key, #value)));
        quote!(&[#(#pairs),*])
    }
}
