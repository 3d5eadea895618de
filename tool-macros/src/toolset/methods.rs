//! Which methods are tools: `#[tool]`, or `#[cfg_attr(condition, tool)]`.

use crate::check;
use crate::ctxt::Ctxt;
use crate::model::{Set, Tool};
use crate::parse::{self, FnItem, ToolAttrs};
use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, Meta, Path, Token, parse_quote};

/// Takes the tools out of the impl, whose methods stay without our attributes.
pub(super) fn take(cx: &Ctxt, item_impl: &mut ItemImpl, set: &Set<'_>) -> Vec<Tool> {
    let outer = parse::cfgs(&item_impl.attrs);
    let allowed = parse::allowed(&item_impl.attrs);
    let mut tools = Vec::new();
    for item in &mut item_impl.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(mark) = Mark::take(cx, &mut method.attrs) else {
            continue;
        };
        let mut tool = tool(cx, method, mark.keys, set);
        tool.cfgs.extend(mark.condition);
        tool.cfgs.extend(outer.iter().cloned());
        tool.allowed.extend(allowed.iter().cloned());
        tools.push(tool);
    }
    tools
}

fn tool(cx: &Ctxt, method: &mut ImplItemFn, keys: TokenStream, set: &Set<'_>) -> Tool {
    let attrs = ToolAttrs::read(cx, keys);
    let tool = Tool::new(cx, attrs, FnItem::from_method(method), Some(set));
    check::tool(cx, &tool);
    method.sig = tool.item.sig.clone();
    tool
}

/// `#[tool(…)]` as found on a method.
struct Mark {
    keys: TokenStream,
    /// `#[cfg(…)]`, if it was found inside `cfg_attr`.
    condition: Option<Attribute>,
}

impl Mark {
    /// Takes the mark out of the attributes.
    fn take(cx: &Ctxt, attrs: &mut Vec<Attribute>) -> Option<Self> {
        let mut found: Option<Mark> = None;
        let mut kept = Vec::new();
        for attr in attrs.drain(..) {
            let (mark, rest) = split(cx, attr);
            kept.extend(rest);
            let Some((meta, condition)) = mark else {
                continue;
            };
            if found.is_some() {
                cx.error(&meta, "a method is one tool: `#[tool]` is given twice");
                continue;
            }
            found = Some(Mark { keys: keys(cx, meta), condition });
        }
        *attrs = kept;
        found
    }
}

fn keys(cx: &Ctxt, meta: Meta) -> TokenStream {
    match meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens,
        Meta::NameValue(_) => {
            cx.error(&meta, "expected `#[tool]` or `#[tool(…)]`");
            TokenStream::new()
        }
    }
}

type Found = (Meta, Option<Attribute>);

/// Splits an attribute into our mark and what else there is.
fn split(cx: &Ctxt, attr: Attribute) -> (Option<Found>, Option<Attribute>) {
    if is_tool(attr.path()) {
        return (Some((attr.meta, None)), None);
    }
    if !attr.path().is_ident("cfg_attr") {
        return (None, Some(attr));
    }
    let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    // What is no list of attributes is for rustc to report.
    let Ok(list) = list else {
        return (None, Some(attr));
    };
    let mut list = list.into_iter();
    let Some(condition) = list.next() else {
        return (None, Some(attr));
    };
    let (marks, others): (Vec<Meta>, Vec<Meta>) = list.partition(|meta| is_tool(meta.path()));
    let mut marks = marks.into_iter();
    let Some(mark) = marks.next() else {
        return (None, Some(attr));
    };
    for second in marks {
        cx.error(second, "a method is one tool: `#[tool]` is given twice");
    }
    let rest = (!others.is_empty()).then(|| parse_quote!(#[cfg_attr(#condition, #(#others),*)]));
    let condition: Attribute = parse_quote!(#[cfg(#condition)]);
    (Some((mark, Some(condition))), rest)
}

/// `tool`, however it is reached: `tool_runtime::tool`, `sdk::tool`.
fn is_tool(path: &Path) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == "tool")
}
