//! The rules for parameters.

use super::{known_labels, tokens_of};
use crate::ctxt::Ctxt;
use crate::model::{Named, Param, Role, Tool, plain_name};
use crate::types::{self, Flaw};
use quote::ToTokens as _;
use std::collections::HashSet;

/// Applies all rules for the parameters of one tool.
pub(super) fn check(cx: &Ctxt, tool: &Tool) {
    for param in &tool.params {
        unconditional(cx, param);
        one_role(cx, param);
        possible_type(cx, param);
    }
    for (param, named) in tool.named() {
        plain_pattern(cx, param);
        described(cx, param, named);
        known_labels(cx, &named.labels);
        usable_name(cx, param, named);
        values(cx, named);
    }
    whole_stands_alone(cx, tool);
    distinct_names(cx, tool);
}

/// The rules that are the same for a field of a `#[tool_type]`.
pub(crate) fn values(cx: &Ctxt, named: &Named) {
    names_not_empty(cx, named);
    limits_not_empty(cx, named);
    secret_not_shown(cx, named);
}

fn unconditional(cx: &Ctxt, param: &Param) {
    for cfg in &param.marks.cfgs {
        cx.error(cfg, "`cfg` on a parameter is not supported: put it on the function, and write the function twice");
    }
}

fn plain_pattern(cx: &Ctxt, param: &Param) {
    if plain_name(&param.pat).is_none() {
        cx.error(
            &param.pat,
            "a tool's parameter needs a plain name, which the model sees: take the pattern apart inside the function",
        );
    }
}

fn one_role(cx: &Ctxt, param: &Param) {
    let marks = &param.marks;
    if let (Some(_), Some(args)) = (&marks.host, &marks.args) {
        cx.error(args, "a parameter comes from the host (`#[host]`) or from the model (`#[args]`), not both");
    }
    let Some(arg) = &marks.arg else { return };
    if marks.host.is_some() {
        cx.error(arg, "`#[arg]` is for what the model fills in, and the host fills in this one");
    } else if marks.args.is_some() {
        cx.error(arg, "`#[args]` takes the whole object: put `#[arg]` on the fields of its type");
    }
}

fn possible_type(cx: &Ctxt, param: &Param) {
    let is_host = matches!(param.role, Role::Host);
    let Some(reference) = types::as_reference(&param.ty) else {
        return flaws(cx, types::peel(&param.ty).to_token_stream(), is_host);
    };
    if let Some(token) = &reference.mutability {
        let instead = if is_host {
            "what the host injects is shared by all calls: take `&T`"
        } else {
            "an argument is the tool's own: take it by value, `mut` if it is changed"
        };
        cx.error(token, instead);
    } else if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        cx.error(lifetime, "nothing that is passed to a tool lives that long: take the owned value, or `&T`");
    }
    flaws(cx, reference.elem.to_token_stream(), is_host);
}

fn flaws(cx: &Ctxt, ty: proc_macro2::TokenStream, is_host: bool) {
    for flaw in types::flaws(ty) {
        let message = match (&flaw, is_host) {
            (Flaw::Impl(_), false) => "a tool's argument needs one concrete type, so that it has a schema",
            (Flaw::Impl(_), true) => "the host finds what it injects by its type, so the type must be concrete",
            (Flaw::Reference(_), false) => {
                "an argument owns its data: write an owned type, such as `String` for `&str`"
            }
            (Flaw::Reference(_), true) => "what the host injects owns its data, only the whole can be taken by `&`",
            (Flaw::Lifetime(_), false) => {
                "an argument owns its data: write an owned type, such as `String`, without a lifetime"
            }
            (Flaw::Lifetime(_), true) => "what the host injects owns its data: its type has no lifetime but `'static`",
        };
        cx.error(tokens_of(&flaw), message);
    }
}

fn described(cx: &Ctxt, param: &Param, named: &Named) {
    // A pattern that is no name has its own error.
    if let Some(name) = plain_name(&param.pat)
        && named.text.is_blank()
    {
        cx.error(
            name,
            format_args!(
                "the model needs a description of `{}`: write a doc comment `/// …` above, or mark it `#[host]` if the host fills it in",
                named.property
            ),
        );
    }
}

fn usable_name(cx: &Ctxt, param: &Param, named: &Named) {
    if let Some(name) = plain_name(&param.pat)
        && named.field.is_none()
    {
        cx.error(
            name,
            "leading underscores are not part of an argument's name, and nothing usable is left of this one",
        );
    }
}

fn names_not_empty(cx: &Ctxt, named: &Named) {
    for name in named.rename.iter().chain(&named.aliases) {
        if name.value().is_empty() {
            cx.error(name, "an argument needs a name");
        }
    }
}

fn limits_not_empty(cx: &Ctxt, named: &Named) {
    if let Some(pattern) = &named.pattern
        && pattern.value().is_empty()
    {
        cx.error(pattern, "an empty pattern says nothing");
    }
    if let Some(format) = &named.format
        && format.value().is_empty()
    {
        cx.error(format, "an empty format says nothing");
    }
}

fn secret_not_shown(cx: &Ctxt, named: &Named) {
    if !named.secret {
        return;
    }
    for (key, _) in &named.examples {
        cx.error(key, "the example of a `secret` argument would be shown to the model: remove it");
    }
    if let Some(default) = &named.default {
        cx.error(
            &default.key,
            "the default of a `secret` argument would be shown to the model: take an `Option` instead",
        );
    }
}

fn whole_stands_alone(cx: &Ctxt, tool: &Tool) {
    let mut wholes = tool.params.iter().filter(|param| matches!(param.role, Role::Whole));
    if wholes.next().is_none() {
        return;
    }
    for second in wholes {
        cx.error(&second.marks.args, "only one parameter can be the whole argument object");
    }
    for (param, _) in tool.named() {
        cx.error(
            &param.pat,
            "`#[args]` is the whole argument object: make this a field of its type, or mark it `#[host]`",
        );
    }
}

fn distinct_names(cx: &Ctxt, tool: &Tool) {
    let mut names = HashSet::new();
    let mut fields = HashSet::new();
    for (param, named) in tool.named().filter(|(_, named)| !named.property.is_empty()) {
        let taken = |name: &str| format!("there is already an argument named `{name}`");
        if !names.insert(named.property.clone()) {
            cx.error(&named.origin, taken(&named.property));
        } else if let Some(field) = &named.field
            && !fields.insert(field.to_string())
        {
            // `_x` renamed next to `x`: two names for the model, one field.
            cx.error(&param.pat, taken(&field.to_string()));
        }
        for alias in named.aliases.iter().filter(|alias| !alias.value().is_empty()) {
            if !names.insert(alias.value()) {
                cx.error(alias, taken(&alias.value()));
            }
        }
    }
}
