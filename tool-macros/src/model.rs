//! What a tool is: one plain struct, complete enough that expansion has nothing left to decide.
//!
//! A value that can't be read is reported here and left out; whether the values go together is [`check`]'s business.
//!
//! [`check`]: crate::check

use crate::attr::{Attr, Keyed};
use crate::conditions::Condition;
use crate::crate_path::{CratePath, at, moved};
use crate::ctxt::Ctxt;
use crate::doc::{self, Text};
use crate::duration;
use crate::labels::{self, Label};
use crate::limits::{self, Length, Range};
use crate::names;
use crate::parse::{self, FnItem, HostAttrs, ParamAttrs, ToolAttrs};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, ExprLit, FnArg, Lit, LitStr, Pat, Path, Receiver, Type};

pub(crate) struct Tool {
    pub(crate) krate: CratePath,
    /// The function as written, without our attributes.
    pub(crate) item: FnItem,
    /// Set for a method of a toolset.
    pub(crate) method: Option<Method>,
    pub(crate) cfgs: Vec<Attribute>,
    /// The lints that the author allows (or expects) on the function, or on the impl around it.
    pub(crate) allowed: Vec<Path>,
    pub(crate) name: Name,
    pub(crate) description: Description,
    pub(crate) defer: bool,
    /// The generated type.
    pub(crate) tool: Ident,
    /// The generated struct of arguments; not generated for `#[args]`.
    pub(crate) args: Ident,
    /// `args = …`, as written.
    pub(crate) args_key: Option<Ident>,
    pub(crate) params: Vec<Param>,
    pub(crate) hosting: Hosting,
}

/// The impl that a method stands in.
pub(crate) struct Method {
    pub(crate) self_ty: Type,
    pub(crate) receiver: Option<Receiver>,
}

/// The name that the model sees.
pub(crate) struct Name {
    pub(crate) text: String,
    /// The tokens that it comes from.
    pub(crate) origin: TokenStream,
    /// Written as `name = "…"`.
    pub(crate) explicit: bool,
}

pub(crate) struct Description {
    pub(crate) text: Text,
    /// `description = …`, as written.
    pub(crate) expr: Option<Expr>,
    pub(crate) labels: Vec<Label>,
}

/// A parameter, in the order of the signature.
pub(crate) struct Param {
    pub(crate) pat: Pat,
    pub(crate) ty: Type,
    pub(crate) marks: ParamMarks,
    pub(crate) role: Role,
}

/// The attributes that say whose parameter it is, for errors.
pub(crate) struct ParamMarks {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) host: Option<Attribute>,
    pub(crate) args: Option<Attribute>,
    pub(crate) arg: Option<Attribute>,
}

pub(crate) enum Role {
    /// `#[host]`: injected.
    Host,
    /// `#[args]`: the whole argument object.
    Whole,
    /// One argument that the model fills in.
    Named(Box<Named>),
}

pub(crate) struct Named {
    /// The name in the schema.
    pub(crate) property: String,
    pub(crate) rename: Option<LitStr>,
    /// The tokens that the name comes from.
    pub(crate) origin: TokenStream,
    /// The field of the generated struct. `None` if the pattern gives no name for one.
    pub(crate) field: Option<Ident>,
    pub(crate) text: Text,
    pub(crate) labels: Vec<Label>,
    pub(crate) default: Option<Keyed<Option<Expr>>>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) examples: Vec<(Ident, Expr)>,
    pub(crate) range: Option<Range>,
    pub(crate) length: Option<Length>,
    pub(crate) pattern: Option<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) path: bool,
    pub(crate) secret: bool,
    pub(crate) authored: bool,
}

/// What stays in the host.
pub(crate) struct Hosting {
    pub(crate) timeout: Option<Timeout>,
    pub(crate) concurrency: Concurrency,
    pub(crate) reads: Vec<Resource>,
    pub(crate) writes: Vec<Resource>,
    pub(crate) project: Option<Path>,
    pub(crate) finalize: Option<Path>,
    pub(crate) present_call: Option<Path>,
    pub(crate) present_result: Option<Path>,
    pub(crate) read_only: Option<Ident>,
    pub(crate) destructive: Option<Ident>,
    pub(crate) idempotent: Option<Ident>,
    pub(crate) deterministic: Option<Ident>,
    pub(crate) changes: Vec<LitStr>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) causes: Option<Ident>,
    pub(crate) inline: Option<Ident>,
}

pub(crate) struct Timeout {
    pub(crate) literal: LitStr,
    /// `None` if the literal is no duration.
    pub(crate) millis: Option<u64>,
}

pub(crate) enum Concurrency {
    /// Not said: calls run alone.
    Alone,
    Safe,
    /// Asked for each call.
    By(Path),
}

/// An argument named by `reads(…)` or `writes(…)`.
pub(crate) struct Resource {
    pub(crate) ident: Ident,
    /// Its place among the model-facing arguments. `None` if there is none of that name.
    pub(crate) index: Option<usize>,
}

/// What a toolset adds to its methods.
pub(crate) struct Set<'a> {
    pub(crate) krate: &'a CratePath,
    pub(crate) self_ty: &'a Type,
    /// The last part of the type's name.
    pub(crate) self_name: String,
    pub(crate) prefix: Option<&'a LitStr>,
}

impl Tool {
    /// Puts together what was parsed. `set` is the toolset around a method.
    pub(crate) fn new(cx: &Ctxt, attrs: ToolAttrs, mut item: FnItem, set: Option<&Set<'_>>) -> Self {
        let doc = doc::read(&item.attrs);
        let params = params(cx, &mut item);
        let expr = attrs.description.into_value();
        let description = Description {
            text: expr.as_ref().map_or_else(|| doc.text.clone(), Text::from_expr),
            expr,
            labels: labels::read(&doc),
        };
        let base = set.map_or_else(String::new, |set| set.self_name.clone())
            + &names::pascal(&item.sig.ident.unraw().to_string());
        let generated = |suffix: &str| type_ident(&base, suffix, item.sig.ident.span());
        let args_key = attrs.args.into_value();
        Tool {
            krate: match (attrs.krate.into_value(), set) {
                (None, Some(set)) => set.krate.clone(),
                (path, _) => CratePath::new(path),
            },
            name: Name::new(attrs.name.into_value(), &item, set),
            description,
            defer: attrs.defer.into_value().unwrap_or_default(),
            tool: attrs.type_.into_value().unwrap_or_else(|| generated("Tool")),
            args: args_key.clone().unwrap_or_else(|| generated("Args")),
            args_key,
            hosting: Hosting::new(cx, attrs.host, &params),
            params,
            method: set.map(|set| Method { self_ty: set.self_ty.clone(), receiver: item.sig.receiver().cloned() }),
            cfgs: parse::cfgs(&item.attrs),
            allowed: parse::allowed(&item.attrs),
            item,
        }
    }

    /// The arguments that the model fills in one by one.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Param, &Named)> {
        self.params.iter().filter_map(|param| match &param.role {
            Role::Named(named) => Some((param, &**named)),
            Role::Host | Role::Whole => None,
        })
    }

    /// The type that a method's receiver is taken from.
    pub(crate) fn receiver(&self) -> Option<(&Receiver, &Type)> {
        let method = self.method.as_ref()?;
        let receiver = method.receiver.as_ref()?;
        Some((receiver, &method.self_ty))
    }

    /// The parameter that takes the whole argument object.
    pub(crate) fn whole(&self) -> Option<&Param> {
        self.params.iter().find(|param| matches!(param.role, Role::Whole))
    }
}

impl Name {
    fn new(explicit: Option<LitStr>, item: &FnItem, set: Option<&Set<'_>>) -> Self {
        if let Some(literal) = explicit {
            return Name { text: literal.value(), origin: literal.into_token_stream(), explicit: true };
        }
        let prefix = set.and_then(|set| set.prefix).map(LitStr::value);
        Name {
            text: prefix.unwrap_or_default() + &item.sig.ident.unraw().to_string(),
            origin: item.sig.ident.to_token_stream(),
            explicit: false,
        }
    }
}

/// The name of a generated type, located at the function, so that a clash points there.
fn type_ident(base: &str, suffix: &str, span: Span) -> Ident {
    let mut name = format!("{base}{suffix}");
    // After `fn _1()`, for one.
    if syn::parse_str::<Ident>(&name).is_err() {
        name.insert(0, '_');
    }
    if syn::parse_str::<Ident>(&name).is_err() {
        suffix.clone_into(&mut name);
    }
    Ident::new(&name, at(span))
}

fn params(cx: &Ctxt, item: &mut FnItem) -> Vec<Param> {
    let attrs = item.take_param_attrs(cx);
    let inputs = item.sig.inputs.iter().zip(attrs);
    let params = inputs.filter_map(|(input, attrs)| match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => Some(Param::new(cx, &typed.pat, &typed.ty, attrs)),
    });
    params.collect()
}

impl Param {
    fn new(cx: &Ctxt, pat: &Pat, ty: &Type, attrs: ParamAttrs) -> Self {
        let marks = ParamMarks {
            cfgs: attrs.cfgs.clone(),
            host: attrs.host.clone(),
            args: attrs.args.clone(),
            arg: attrs.arg.clone(),
        };
        let role = if attrs.host.is_some() {
            Role::Host
        } else if attrs.args.is_some() {
            Role::Whole
        } else {
            let named = Named::new(cx, plain_name(pat), pat.to_token_stream(), attrs);
            Role::Named(Box::new(named))
        };
        Param { pat: pat.clone(), ty: ty.clone(), marks, role }
    }
}

/// The name that a pattern binds, if it is no more than a name.
pub(crate) fn plain_name(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
        Pat::Paren(paren) => plain_name(&paren.pat),
        _ => None,
    }
}

impl Named {
    /// `ident` is the name as the author wrote it, `origin` what stands in the place of a name.
    pub(crate) fn new(cx: &Ctxt, ident: Option<&Ident>, origin: TokenStream, attrs: ParamAttrs) -> Self {
        let doc = doc::read(&attrs.docs);
        let rename = attrs.rename.into_value();
        let bare = ident.map(|ident| ident.unraw().to_string());
        let bare = bare.unwrap_or_default();
        Named {
            property: match &rename {
                Some(rename) => rename.value(),
                None => bare.trim_start_matches('_').to_owned(),
            },
            origin: rename.as_ref().map_or(origin, ToTokens::to_token_stream),
            rename,
            field: ident.and_then(field),
            labels: labels::read(&doc),
            text: doc.text,
            default: attrs.default.into_keyed(),
            aliases: attrs.aliases,
            examples: attrs.examples,
            range: read(cx, &attrs.range, limits::range),
            length: read(cx, &attrs.length, limits::length),
            pattern: attrs.pattern.into_value(),
            format: attrs.format.into_value(),
            path: is_set(attrs.path),
            secret: is_set(attrs.secret),
            authored: is_set(attrs.authored),
        }
    }
}

/// The field for a parameter: without leading underscores, which only tell the author's lints something.
fn field(ident: &Ident) -> Option<Ident> {
    let bare = ident.unraw().to_string();
    let stripped = bare.trim_start_matches('_');
    if syn::parse_str::<Ident>(stripped).is_ok() {
        return Some(moved(&Ident::new(stripped, ident.span())));
    }
    let is_keyword = syn::parse_str::<Ident>(&format!("r#{stripped}")).is_ok();
    is_keyword.then(|| Ident::new_raw(stripped, at(ident.span())))
}

fn read<T>(cx: &Ctxt, attr: &Attr<Expr>, reader: fn(&Expr) -> syn::Result<T>) -> Option<T> {
    attr.get().and_then(|expr| cx.ok(reader(expr)))
}

fn is_set(attr: Attr<bool>) -> bool {
    attr.into_value().unwrap_or_default()
}

impl Hosting {
    fn new(cx: &Ctxt, attrs: HostAttrs, params: &[Param]) -> Self {
        Hosting {
            timeout: attrs
                .timeout
                .into_value()
                .map(|literal| Timeout { millis: duration::millis(&literal.value()), literal }),
            concurrency: Concurrency::new(cx, attrs.concurrency_safe),
            reads: resources(attrs.reads, params),
            writes: resources(attrs.writes, params),
            project: attrs.project.into_value(),
            finalize: attrs.finalize.into_value(),
            present_call: attrs.present_call.into_value(),
            present_result: attrs.present_result.into_value(),
            read_only: key_if_set(attrs.read_only),
            destructive: key_if_set(attrs.destructive),
            idempotent: key_if_set(attrs.idempotent),
            deterministic: key_if_set(attrs.deterministic),
            changes: attrs.changes.into_value().unwrap_or_default(),
            conditions: attrs.conditions,
            causes: key_if_set(attrs.causes),
            inline: key_if_set(attrs.inline),
        }
    }
}

fn key_if_set(attr: Attr<bool>) -> Option<Ident> {
    attr.into_keyed().filter(|keyed| keyed.value).map(|keyed| keyed.key)
}

impl Concurrency {
    fn new(cx: &Ctxt, attr: Attr<Option<Expr>>) -> Self {
        let Some(value) = attr.into_value() else {
            return Concurrency::Alone;
        };
        match value {
            None => Concurrency::Safe,
            Some(Expr::Lit(ExprLit { lit: Lit::Bool(bool), .. })) => {
                if bool.value {
                    Concurrency::Safe
                } else {
                    Concurrency::Alone
                }
            }
            Some(Expr::Path(path)) if path.qself.is_none() => Concurrency::By(path.path),
            Some(other) => {
                cx.error(other, "expected `concurrency_safe`, or `concurrency_safe = path` to a `fn(&Args) -> bool`");
                Concurrency::Alone
            }
        }
    }
}

fn resources(attr: Attr<Vec<Ident>>, params: &[Param]) -> Vec<Resource> {
    let idents = attr.into_value().unwrap_or_default();
    let resources = idents.into_iter().map(|ident| Resource { index: index_of(&ident, params), ident });
    resources.collect()
}

/// Arguments are named as in the signature or as in the schema.
fn index_of(ident: &Ident, params: &[Param]) -> Option<usize> {
    let wanted = ident.unraw().to_string();
    let mut named = params.iter().filter_map(|param| match &param.role {
        Role::Named(named) => Some((param, named)),
        Role::Host | Role::Whole => None,
    });
    named.position(|(param, named)| {
        named.property == wanted || plain_name(&param.pat).is_some_and(|name| name.unraw() == wanted)
    })
}
