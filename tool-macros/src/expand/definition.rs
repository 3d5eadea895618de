//! The definition: one constant table per tool, and the type that leads to it.

use super::{args_type, outside};
use crate::conditions::Condition;
use crate::crate_path::at;
use crate::labels::Label;
use crate::model::{Concurrency, Hosting, Resource, Role, Tool};
use crate::types;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Path;
use syn::spanned::Spanned as _;

/// `static __DEFINITION`.
pub(super) fn table(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let name = &tool.name.text;
    let description = &tool.description.text;
    let kind = Ident::new(
        match (&tool.item.sig.asyncness, &tool.hosting.inline) {
            (Some(_), _) => "Async",
            (None, Some(_)) => "Inline",
            (None, None) => "Blocking",
        },
        span,
    );
    let labels = labels(&tool.description.labels);
    let needs = host_needs(tool);
    let settings = settings(tool);
    let hooks = hooks(tool);
    let functions = hooks.iter().map(|hook| &hook.function);
    let setters = hooks.iter().map(|hook| &hook.setter);
    // Functions, where closures would do: a closure that becomes a function pointer costs twice its code.
    quote_spanned! {span=>
        fn __boxed(__visit: &mut __rt::Visit<'_>) -> ::core::option::Option<__rt::ErasedArgs> {
            __rt::boxed(__args(__visit))
        }
        fn __output() -> __rt::OutputType {
            __settle(__rt::Settle::Describe).described()
        }
        #(#functions)*
        const __LABELS: &[__rt::Label] = &[#(#labels),*];
        const __HOST_NEEDS: &[__rt::HostNeed] = &[#(#needs),*];
        static __DEFINITION: __rt::Definition = __rt::Definition::new(
            #name,
            #description,
            __PARAMS,
            __boxed,
            __rt::Run::#kind(__run),
        )
        .output(__output)
        #settings
        #(#setters)*
        .labels(__LABELS)
        .host_needs(__HOST_NEEDS)
        .module(::core::module_path!());
    }
}

fn labels(labels: &[Label]) -> impl Iterator<Item = TokenStream> + '_ {
    labels.iter().map(|label| {
        let span = Span::mixed_site();
        let kind = Ident::new(&label.word, span);
        let text = &label.text;
        quote_spanned!(span=> __rt::Label::#kind(#text))
    })
}

fn host_needs(tool: &Tool) -> impl Iterator<Item = TokenStream> + '_ {
    let injected = tool.params.iter().filter(|param| matches!(param.role, Role::Host));
    injected.map(|param| {
        let span = Span::mixed_site();
        let ty = outside(tool, types::injected(&param.ty));
        quote_spanned!(span=> __rt::HostNeed::of::<#ty>())
    })
}

/// What was said beyond name, description, arguments and result.
fn settings(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let hosting = &tool.hosting;
    let mut settings = TokenStream::new();
    if tool.defer {
        settings.extend(quote_spanned!(span=> .deferred()));
    }
    if tool.whole().is_some() {
        settings.extend(quote_spanned!(span=> .whole()));
    }
    if let Some(millis) = hosting.timeout.as_ref().and_then(|timeout| timeout.millis) {
        let millis = Literal::u64_unsuffixed(millis);
        settings.extend(quote_spanned!(span=> .timeout_millis(#millis)));
    }
    if let Concurrency::Safe = tool.hosting.concurrency {
        settings.extend(quote_spanned!(span=> .concurrency_safe()));
    }
    settings.extend(resources("reads", &hosting.reads));
    settings.extend(resources("writes", &hosting.writes));
    settings.extend(hints(hosting));
    if !hosting.changes.is_empty() {
        let changes = &hosting.changes;
        settings.extend(quote_spanned!(span=> .changes(&[#(#changes),*])));
    }
    if !hosting.conditions.is_empty() {
        let conditions = hosting.conditions.iter().map(Condition::to_tokens);
        settings.extend(quote_spanned!(span=> .conditions(&[#(#conditions),*])));
    }
    settings
}

fn resources(method: &str, resources: &[Resource]) -> TokenStream {
    let span = Span::mixed_site();
    let indexes: Vec<Literal> =
        resources.iter().filter_map(|resource| resource.index).map(Literal::usize_unsuffixed).collect();
    if indexes.is_empty() {
        return TokenStream::new();
    }
    let method = Ident::new(method, span);
    quote_spanned!(span=> .#method(&[#(#indexes),*]))
}

fn hints(hosting: &Hosting) -> TokenStream {
    let span = Span::mixed_site();
    let hints = [
        ("read_only", &hosting.read_only),
        ("destructive", &hosting.destructive),
        ("idempotent", &hosting.idempotent),
        ("deterministic", &hosting.deterministic),
        ("causes", &hosting.causes),
    ];
    let set = hints.into_iter().filter(|(_, key)| key.is_some());
    set.map(|(name, _)| {
        let name = Ident::new(name, span);
        quote_spanned!(span=> .#name())
    })
    .collect()
}

/// A function of the author's, made to take the erased arguments.
struct Hook {
    function: TokenStream,
    setter: TokenStream,
}

/// The functions that are named in `host(…)`. Each is located at its path, which is what can be wrong.
fn hooks(tool: &Tool) -> Vec<Hook> {
    let hosting = &tool.hosting;
    let args = args_type(tool);
    let mut hooks = Vec::new();
    if let Concurrency::By(path) = &hosting.concurrency {
        let (span, path) = located(tool, path);
        hooks.push(Hook {
            function: quote_spanned! {span=>
                fn __concurrency_safe(__erased: &__rt::ErasedArgs) -> bool {
                    __rt::with_args::<#args, bool>(__erased, #path)
                }
            },
            setter: quote_spanned!(span=> .concurrency_safe_with(__concurrency_safe)),
        });
    }
    if let Some(path) = &hosting.present_call {
        let (span, path) = located(tool, path);
        hooks.push(Hook {
            function: quote_spanned! {span=>
                fn __present_call(__erased: &__rt::ErasedArgs) -> __rt::Card {
                    __rt::with_args::<#args, __rt::Card>(__erased, #path)
                }
            },
            setter: quote_spanned!(span=> .present_call(__present_call)),
        });
    }
    if let Some(path) = &hosting.present_result {
        let (span, path) = located(tool, path);
        hooks.push(Hook {
            function: quote_spanned! {span=>
                fn __present_result(__erased: &__rt::ErasedArgs, __result: &__rt::StoredResult) -> __rt::Card {
                    __rt::with_args2::<#args>(__erased, __result, #path)
                }
            },
            setter: quote_spanned!(span=> .present_result(__present_result)),
        });
    }
    if let Some(path) = &hosting.finalize {
        let (span, path) = located(tool, path);
        hooks.push(Hook {
            function: quote_spanned! {span=>
                fn __finalize(
                    __erased: ::core::option::Option<&__rt::ErasedArgs>,
                    __final: &__rt::Final<'_>,
                ) -> ::core::option::Option<__rt::Content> {
                    __rt::with_final::<#args>(__erased, __final, #path)
                }
            },
            setter: quote_spanned!(span=> .finalize(__finalize)),
        });
    }
    hooks
}

/// An author's path, and where it is.
fn located(tool: &Tool, path: &Path) -> (Span, TokenStream) {
    (at(path.span()), outside(tool, path))
}

/// What an author and a registry call.
pub(super) fn api(tool: &Tool) -> TokenStream {
    let span = Span::mixed_site();
    let ident = &tool.tool;
    let args = args_type(tool);
    let host = match tool.receiver() {
        Some((_, self_ty)) => {
            let located = at(self_ty.span());
            let make = quote_spanned!(located=> __rt::HostTool::from_method(&__DEFINITION, receiver));
            quote_spanned! {span=>
                /// The tool for a registry, run on `receiver`. It stays in the host.
                #[must_use]
                pub fn host(receiver: ::std::sync::Arc<#self_ty>) -> __rt::HostTool {
                    #make
                }
            }
        }
        None => quote_spanned! {span=>
            /// The tool for a registry. It stays in the host.
            #[must_use]
            pub fn host() -> __rt::HostTool {
                __rt::HostTool::from_definition(&__DEFINITION)
            }
        },
    };
    quote_spanned! {span=>
        impl #ident {
            /// What the model sees of the tool.
            #[must_use]
            pub fn schema() -> &'static __rt::ToolSchema {
                __DEFINITION.schema()
            }
            #host
        }
        impl __rt::Tool for #ident {
            type Args = #args;
            fn definition() -> &'static __rt::Definition {
                &__DEFINITION
            }
        }
    }
}
