//! One function per rule. Each reports on the token at fault; none stops the others.

pub(crate) mod params;

use crate::ctxt::Ctxt;
use crate::duration;
use crate::labels::{self, Label};
use crate::model::{Resource, Tool};
use crate::names;
use crate::types::{self, Flaw};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{GenericParam, ReceiverKind, ReturnType, Safety, Type};

/// Applies all rules for one tool.
pub(crate) fn tool(cx: &Ctxt, tool: &Tool) {
    plain_function(cx, tool);
    no_generics(cx, tool);
    receiver(cx, tool);
    concrete_result(cx, tool);
    legal_name(cx, tool);
    described(cx, tool);
    known_labels(cx, &tool.description.labels);
    distinct_types(cx, tool);
    params::check(cx, tool);
    timeout(cx, tool);
    inline_is_sync(cx, tool);
    hints_agree(cx, tool);
    changes_named(cx, tool);
    tool.hosting.conditions.iter().for_each(|condition| condition.check(cx));
    resources_exist(cx, tool);
}

fn plain_function(cx: &Ctxt, tool: &Tool) {
    let sig = &tool.item.sig;
    match &sig.safety {
        Safety::Unsafe(token) => {
            cx.error(token, "a model can't keep the promises of an `unsafe fn`");
        }
        Safety::Safe(token) => cx.error(token, "a tool is a plain `fn`"),
        Safety::Default => {}
    }
    if let Some(abi) = &sig.abi {
        cx.error(abi, "a tool is a plain `fn`, without `extern`");
    }
    if let Some(variadic) = &sig.variadic {
        cx.error(variadic, "a tool has a fixed list of arguments");
    }
    if tool.item.body.to_string().trim() == ";" {
        cx.error(&sig.ident, "a tool needs a body");
    }
}

fn no_generics(cx: &Ctxt, tool: &Tool) {
    for param in &tool.item.sig.generics.params {
        let what = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(_) => "type",
            GenericParam::Const(_) => "const",
        };
        cx.error(
            param,
            format_args!("a tool can't have {what} parameters: each of its arguments needs one concrete type"),
        );
    }
}

fn receiver(cx: &Ctxt, tool: &Tool) {
    let Some(receiver) = tool.item.sig.receiver() else {
        return;
    };
    if tool.method.is_none() {
        cx.error(receiver, "`#[tool]` on a method needs `#[toolset]` on the `impl` around it");
        return;
    }
    let lent = match &receiver.kind {
        ReceiverKind::Value => None,
        ReceiverKind::Reference(_, _, mutability) => Some(mutability.is_none()),
        ReceiverKind::Typed(_, ty) => match types::as_reference(ty) {
            Some(reference) => Some(reference.mutability.is_none()),
            // Whatever else it is, it may be an `Arc` by another name.
            None => Some(!types::is_unshared_pointer(ty)),
        },
        _ => None,
    };
    if lent != Some(true) || receiver.mutability.is_some() {
        cx.error(receiver, "a toolset is shared by all calls: take `&self` or `self: Arc<Self>`");
    }
}

fn concrete_result(cx: &Ctxt, tool: &Tool) {
    let ReturnType::Type(_, ty) = &tool.item.sig.output else {
        return;
    };
    if let Type::Never(_) = types::peel(ty) {
        cx.error(ty, "a tool that never returns has no result for the model");
    }
    for flaw in types::flaws(ty) {
        if let Flaw::Impl(token) = flaw {
            cx.error(token, "a tool's result needs one concrete type, so that it has a schema");
        }
    }
}

fn legal_name(cx: &Ctxt, tool: &Tool) {
    if names::is_tool_name(&tool.name.text) {
        return;
    }
    let rule = names::NAME_RULE;
    let name = &tool.name.text;
    if tool.name.explicit {
        cx.error(&tool.name.origin, rule);
    } else {
        cx.error(&tool.name.origin, format_args!("`{name}` can't be the tool's name, write `name = \"…\"`: {rule}"));
    }
}

fn described(cx: &Ctxt, tool: &Tool) {
    if !tool.description.text.is_blank() {
        return;
    }
    match &tool.description.expr {
        Some(expr) => cx.error(expr, "the description is empty: the model has nothing else to choose by"),
        None => cx.error(
            &tool.item.sig.ident,
            "the model needs a description of the tool: write a doc comment `/// …` above, or `description = \"…\"`",
        ),
    }
}

/// Also for the labels of parameters.
fn known_labels(cx: &Ctxt, all: &[Label]) {
    for label in all.iter().filter(|label| !label.is_known()) {
        let word = &label.word;
        let list = names::list(labels::WORDS);
        let legal = match names::nearest(&word.to_lowercase(), labels::WORDS) {
            Some(nearest) => format!(", did you mean `[{nearest}]`? legal here: {list}"),
            None => format!(", legal here: {list}"),
        };
        cx.error(
            &label.attr,
            format_args!("unknown label `[{word}]`{legal}; if this is no label, escape the bracket: `\\[{word}]`"),
        );
    }
}

fn distinct_types(cx: &Ctxt, tool: &Tool) {
    match (&tool.args_key, tool.whole()) {
        (Some(args), Some(_)) => {
            cx.error(args, "`args` names the generated struct, and with `#[args]` none is generated");
        }
        (Some(args), None) if tool.args.unraw() == tool.tool.unraw() => {
            cx.error(args, "the tool and its arguments need two names");
        }
        _ => {}
    }
}

fn timeout(cx: &Ctxt, tool: &Tool) {
    let Some(timeout) = &tool.hosting.timeout else {
        return;
    };
    match timeout.millis {
        None => cx.error(&timeout.literal, format_args!("expected {}", duration::FORM)),
        Some(0) => cx.error(&timeout.literal, "a timeout of zero would end every call"),
        Some(_) => {}
    }
    if tool.hosting.inline.is_some() && tool.item.sig.asyncness.is_none() {
        cx.error(
            &timeout.literal,
            "a sync tool that runs `inline` can't be interrupted: remove `inline` or the timeout",
        );
    }
}

fn inline_is_sync(cx: &Ctxt, tool: &Tool) {
    if let (Some(inline), Some(_)) = (&tool.hosting.inline, &tool.item.sig.asyncness) {
        cx.error(inline, "`inline` is for sync tools: an `async fn` runs on the caller's task anyway");
    }
}

fn hints_agree(cx: &Ctxt, tool: &Tool) {
    if let (Some(_), Some(destructive)) = (&tool.hosting.read_only, &tool.hosting.destructive) {
        cx.error(destructive, "a tool can't be both `read_only` and `destructive`");
    }
}

fn changes_named(cx: &Ctxt, tool: &Tool) {
    for change in &tool.hosting.changes {
        if change.value().trim().is_empty() {
            cx.error(change, "a change needs a name, such as \"light.off\"");
        }
    }
}

fn resources_exist(cx: &Ctxt, tool: &Tool) {
    let properties: Vec<&str> =
        tool.named().map(|(_, named)| named.property.as_str()).filter(|property| !property.is_empty()).collect();
    let unknown = |resource: &&Resource| resource.index.is_none();
    let resources = tool.hosting.reads.iter().chain(&tool.hosting.writes);
    for resource in resources.filter(unknown) {
        let name = resource.ident.unraw().to_string();
        let hint = if tool.whole().is_some() {
            "; the fields of an `#[args]` type can't be seen from here, write `concurrency_safe = path`".to_owned()
        } else if let Some(nearest) = names::nearest(&name, &properties) {
            format!(", did you mean `{nearest}`?")
        } else if properties.is_empty() {
            ": the tool has none".to_owned()
        } else {
            format!(", there are {}", names::list(&properties))
        };
        cx.error(&resource.ident, format_args!("the model fills in no argument `{name}`{hint}"));
    }
}

/// The tokens of a type error on a type, for the rules of parameters.
fn tokens_of(flaw: &Flaw) -> proc_macro2::TokenStream {
    match flaw {
        Flaw::Impl(token) => token.to_token_stream(),
        Flaw::Reference(token) => token.to_token_stream(),
        Flaw::Lifetime(lifetime) => lifetime.to_token_stream(),
    }
}
