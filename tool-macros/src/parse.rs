//! Syntax → attributes. Nothing is judged here, except that a key is one that exists.

use crate::attr::{self, Attr, Entry};
use crate::conditions::Condition;
use crate::crate_path::CratePath;
use crate::ctxt::Ctxt;
use crate::doc;
use crate::keys::Place;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{AttrStyle, Attribute, Expr, FnArg, ImplItemFn, LitStr, Meta, Path, Signature, Token, Visibility};

/// A function whose body stays as it was written, unparsed.
pub(crate) struct FnItem {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

/// `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct ToolAttrs {
    pub(crate) name: Attr<LitStr>,
    pub(crate) description: Attr<Expr>,
    pub(crate) defer: Attr<bool>,
    pub(crate) type_: Attr<Ident>,
    pub(crate) args: Attr<Ident>,
    pub(crate) krate: Attr<Path>,
    pub(crate) host: HostAttrs,
}

/// `host(…)`.
#[derive(Default)]
pub(crate) struct HostAttrs {
    pub(crate) timeout: Attr<LitStr>,
    /// `None` inside for the bare key.
    pub(crate) concurrency_safe: Attr<Option<Expr>>,
    pub(crate) reads: Attr<Vec<Ident>>,
    pub(crate) writes: Attr<Vec<Ident>>,
    pub(crate) project: Attr<Path>,
    pub(crate) finalize: Attr<Path>,
    pub(crate) present_call: Attr<Path>,
    pub(crate) present_result: Attr<Path>,
    pub(crate) read_only: Attr<bool>,
    pub(crate) destructive: Attr<bool>,
    pub(crate) idempotent: Attr<bool>,
    pub(crate) deterministic: Attr<bool>,
    pub(crate) changes: Attr<Vec<LitStr>>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) causes: Attr<bool>,
    pub(crate) inline: Attr<bool>,
}

/// `#[toolset(…)]`.
#[derive(Default)]
pub(crate) struct SetAttrs {
    pub(crate) prefix: Attr<LitStr>,
    pub(crate) krate: Attr<Path>,
}

/// `#[tool_type(…)]`.
#[derive(Default)]
pub(crate) struct TypeAttrs {
    pub(crate) krate: Attr<Path>,
}

/// `#[host]`, `#[args]`, `#[arg(…)]` and the doc comment of a parameter or field.
#[derive(Default)]
pub(crate) struct ParamAttrs {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) host: Option<Attribute>,
    pub(crate) args: Option<Attribute>,
    pub(crate) arg: Option<Attribute>,
    /// `None` inside for the bare key.
    pub(crate) default: Attr<Option<Expr>>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) rename: Attr<LitStr>,
    pub(crate) examples: Vec<(Ident, Expr)>,
    pub(crate) range: Attr<Expr>,
    pub(crate) length: Attr<Expr>,
    pub(crate) pattern: Attr<LitStr>,
    pub(crate) format: Attr<LitStr>,
    pub(crate) path: Attr<bool>,
    pub(crate) secret: Attr<bool>,
    pub(crate) authored: Attr<bool>,
}

impl ToolAttrs {
    /// Reads what stands between the parentheses of `#[tool(…)]`.
    pub(crate) fn read(cx: &Ctxt, tokens: TokenStream) -> Self {
        let mut attrs = ToolAttrs::default();
        let mut host = Attr::default();
        for entry in attr::entries(cx, tokens) {
            let e = &entry;
            match e.key.unraw().to_string().as_str() {
                "name" => attrs.name.set(cx, e, attr::string(cx, e)),
                "description" => attrs.description.set(cx, e, attr::expr(cx, e)),
                "defer" => attrs.defer.set(cx, e, attr::flag(cx, e)),
                "type" => attrs.type_.set(cx, e, type_name(cx, e)),
                "args" => attrs.args.set(cx, e, type_name(cx, e)),
                "crate" => attrs.krate.set(cx, e, CratePath::read(cx, e)),
                "host" => host.set(cx, e, attr::nested(cx, e)),
                _ => attr::unknown(cx, e, Place::Model),
            }
        }
        if let Some(tokens) = host.into_value() {
            attrs.host = HostAttrs::read(cx, tokens);
        }
        attrs
    }
}

fn type_name(cx: &Ctxt, entry: &Entry) -> Option<Ident> {
    attr::path_or_string(cx, entry, |input| input.parse())
}

impl HostAttrs {
    fn read(cx: &Ctxt, tokens: TokenStream) -> Self {
        let mut attrs = HostAttrs::default();
        for entry in attr::entries(cx, tokens) {
            let e = &entry;
            match e.key.unraw().to_string().as_str() {
                "timeout" => attrs.timeout.set(cx, e, attr::string(cx, e)),
                "concurrency_safe" => attrs.concurrency_safe.set(cx, e, attr::flag_or_expr(cx, e)),
                "reads" => attrs.reads.set(cx, e, attr::idents(cx, e)),
                "writes" => attrs.writes.set(cx, e, attr::idents(cx, e)),
                "project" => attrs.project.set(cx, e, attr::path(cx, e)),
                "finalize" => attrs.finalize.set(cx, e, attr::path(cx, e)),
                "present_call" => attrs.present_call.set(cx, e, attr::path(cx, e)),
                "present_result" => attrs.present_result.set(cx, e, attr::path(cx, e)),
                "read_only" => attrs.read_only.set(cx, e, attr::flag(cx, e)),
                "destructive" => attrs.destructive.set(cx, e, attr::flag(cx, e)),
                "idempotent" => attrs.idempotent.set(cx, e, attr::flag(cx, e)),
                "deterministic" => attrs.deterministic.set(cx, e, attr::flag(cx, e)),
                "changes" => attrs.changes.set(cx, e, attr::strings(cx, e)),
                "condition" => attrs.conditions.extend(Condition::read(cx, e)),
                "causes" => attrs.causes.set(cx, e, attr::flag(cx, e)),
                "inline" => attrs.inline.set(cx, e, attr::flag(cx, e)),
                _ => attr::unknown(cx, e, Place::Host),
            }
        }
        attrs
    }
}

impl SetAttrs {
    /// Reads what stands between the parentheses of `#[toolset(…)]`.
    pub(crate) fn read(cx: &Ctxt, tokens: TokenStream) -> Self {
        let mut attrs = SetAttrs::default();
        for entry in attr::entries(cx, tokens) {
            let e = &entry;
            match e.key.unraw().to_string().as_str() {
                "prefix" => attrs.prefix.set(cx, e, attr::string(cx, e)),
                "crate" => attrs.krate.set(cx, e, CratePath::read(cx, e)),
                _ => attr::unknown(cx, e, Place::Set),
            }
        }
        attrs
    }
}

impl TypeAttrs {
    /// Reads what stands between the parentheses of `#[tool_type(…)]`.
    pub(crate) fn read(cx: &Ctxt, tokens: TokenStream) -> Self {
        let mut attrs = TypeAttrs::default();
        for entry in attr::entries(cx, tokens) {
            let e = &entry;
            match e.key.unraw().to_string().as_str() {
                "crate" => attrs.krate.set(cx, e, CratePath::read(cx, e)),
                _ => attr::unknown(cx, e, Place::Type),
            }
        }
        attrs
    }
}

impl ParamAttrs {
    /// Takes our own attributes out of `attrs`; what belongs to others stays.
    pub(crate) fn take(cx: &Ctxt, attrs: &mut Vec<Attribute>) -> Self {
        let mut read = ParamAttrs::default();
        attrs.retain(|attr| !read.take_one(cx, attr));
        read
    }

    /// The same for a field, whose doc comment and conditions are legal where they are.
    pub(crate) fn take_from_field(cx: &Ctxt, attrs: &mut Vec<Attribute>) -> Self {
        let mut read = ParamAttrs::default();
        attrs.retain(|attr| doc::is_doc(attr) || attr.path().is_ident("cfg") || !read.take_one(cx, attr));
        read
    }

    /// Whether the attribute is ours, and so must not be emitted again.
    fn take_one(&mut self, cx: &Ctxt, attr: &Attribute) -> bool {
        if doc::is_doc(attr) {
            self.docs.push(attr.clone());
        } else if attr.path().is_ident("cfg") {
            self.cfgs.push(attr.clone());
        } else if attr.path().is_ident("host") {
            mark(cx, attr, &mut self.host);
        } else if attr.path().is_ident("args") {
            mark(cx, attr, &mut self.args);
        } else if attr.path().is_ident("arg") {
            match &attr.meta {
                Meta::List(list) => self.read(cx, list.tokens.clone()),
                _ => cx.error(attr, "expected keys: `#[arg(default, …)]`"),
            }
            self.arg.get_or_insert_with(|| attr.clone());
        } else {
            return false;
        }
        true
    }

    fn read(&mut self, cx: &Ctxt, tokens: TokenStream) {
        for entry in attr::entries(cx, tokens) {
            let e = &entry;
            match e.key.unraw().to_string().as_str() {
                "default" => self.default.set(cx, e, attr::flag_or_expr(cx, e)),
                "alias" => self.aliases.extend(attr::string(cx, e)),
                "rename" => self.rename.set(cx, e, attr::string(cx, e)),
                "example" => {
                    let example = attr::expr(cx, e).map(|expr| (e.key.clone(), expr));
                    self.examples.extend(example);
                }
                "range" => self.range.set(cx, e, attr::expr(cx, e)),
                "length" => self.length.set(cx, e, attr::expr(cx, e)),
                "pattern" => self.pattern.set(cx, e, attr::string(cx, e)),
                "format" => self.format.set(cx, e, attr::string(cx, e)),
                "path" => self.path.set(cx, e, attr::flag(cx, e)),
                "secret" => self.secret.set(cx, e, attr::flag(cx, e)),
                "authored" => self.authored.set(cx, e, attr::flag(cx, e)),
                _ => attr::unknown(cx, e, Place::Param),
            }
        }
    }
}

/// `#[host]` and `#[args]`: a bare word, once.
fn mark(cx: &Ctxt, attr: &Attribute, seen: &mut Option<Attribute>) {
    let name = attr.path().get_ident().map(Ident::to_string);
    let name = name.unwrap_or_default();
    if !matches!(attr.meta, Meta::Path(_)) {
        cx.error(attr, format_args!("`#[{name}]` takes nothing"));
    } else if seen.is_some() {
        cx.error(attr, format_args!("`#[{name}]` is given twice"));
    }
    seen.get_or_insert_with(|| attr.clone());
}

impl Parse for FnItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(FnItem {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl FnItem {
    /// A method as the same kind of item.
    pub(crate) fn from_method(method: &ImplItemFn) -> Self {
        let (inner, attrs) = method.attrs.iter().cloned().partition(|attr| matches!(attr.style, AttrStyle::Inner(_)));
        let inner: Vec<Attribute> = inner;
        let mut body = TokenStream::new();
        method.block.brace_token.surround(&mut body, |body| {
            body.append_all(&inner);
            body.append_all(&method.block.stmts);
        });
        FnItem { attrs, vis: method.vis.clone(), sig: method.sig.clone(), body }
    }

    /// Takes our attributes out of all parameters.
    pub(crate) fn take_param_attrs(&mut self, cx: &Ctxt) -> Vec<ParamAttrs> {
        let attrs = self.sig.inputs.iter_mut().map(|input| match input {
            // Ours mean nothing there, which rustc says.
            FnArg::Receiver(_) => ParamAttrs::default(),
            FnArg::Typed(typed) => ParamAttrs::take(cx, &mut typed.attrs),
        });
        attrs.collect()
    }
}

/// The `#[cfg(…)]` among `attrs`.
pub(crate) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

/// The lints in `#[allow(…)]` and `#[expect(…)]`, except those that ask whether the function is used at all; and
/// `deprecated` for what is that itself.
pub(crate) fn allowed(attrs: &[Attribute]) -> Vec<Path> {
    let mut lints = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("deprecated") {
            lints.push(attr.path().clone());
        }
        if !attr.path().is_ident("allow") && !attr.path().is_ident("expect") {
            continue;
        }
        let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let metas = list.into_iter().flatten();
        lints.extend(metas.filter_map(|meta| match meta {
            Meta::Path(lint) if !lint.is_ident("dead_code") && !lint.is_ident("unused") => Some(lint),
            _ => None,
        }));
    }
    lints
}

impl ToTokens for FnItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}
