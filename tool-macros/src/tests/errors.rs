//! All errors of an item come together, each in words that say what to write instead.

use super::{assert_clean, assert_errors, bare, errors, tool, with_params};
use crate::names;
use quote::quote;

#[test]
fn eight_mistakes_are_eight_errors() {
    let expanded = tool(
        quote!(timeout = "5s", nam = "x", host(timeout = "soon", name = "y")),
        quote! {
            async fn search(
                city: String,
                #[doc = " Size."]
                (w, h): (u8, u8),
                #[doc = " Text."]
                text: impl Into<String>,
            ) {}
        },
    );
    assert_errors(
        expanded,
        &[
            "`timeout` is a host key and never reaches the model: write `host(timeout = \"5s\")`",
            "unknown key `nam`, did you mean `name`? legal here: `name`, `description`, `defer`, `type`, `args`, `crate`, `host`",
            "`name` is about what the model sees: write `name = \"…\"` outside `host(…)`",
            "the model needs a description of the tool: write a doc comment `/// …` above, or `description = \"…\"`",
            "a tool's argument needs one concrete type, so that it has a schema",
            "the model needs a description of `city`: write a doc comment `/// …` above, or mark it `#[host]` if the host fills it in",
            "a tool's parameter needs a plain name, which the model sees: take the pattern apart inside the function",
            "expected a number and a unit, such as \"250ms\", \"5s\", \"1.5s\", \"1m30s\" or \"1h\"",
        ],
    );
}

#[test]
fn the_item_and_its_types_survive_errors() {
    let expanded = tool(
        quote!(),
        quote!(
            pub fn f<T>(#[doc = " C."] city: String, #[doc = " T."] t: Vec<T>, #[host] db: &Db) {}
        ),
    );
    let text = bare(&expanded);
    for part in [
        quote!(
            pub fn f<T>(city: String, t: Vec<T>, db: &Db) {}
        ),
        quote!(
            pub struct FArgs {
                pub city: String,
            }
        ),
        quote!(
            pub struct FTool;
        ),
        quote!(pub fn schema() -> &'static __rt::ToolSchema),
        quote!(pub fn host() -> __rt::HostTool),
    ] {
        assert!(text.contains(&bare(&part)), "no `{part}` in:\n{expanded}");
    }
    assert!(!text.contains("__rt::Toolfor"), "a tool with errors is no tool");
}

#[test]
fn a_method_alone_gets_no_items_beside_it() {
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " M."]
            fn m(&self) {}
        ),
    );
    assert!(!expanded.to_string().contains("struct"));
    assert_errors(expanded, &["`#[tool]` on a method needs `#[toolset]` on the `impl` around it"]);
}

#[test]
fn signatures() {
    let cases = [
        (
            quote!(
                unsafe fn f() {}
            ),
            "a model can't keep the promises of an `unsafe fn`",
        ),
        (
            quote!(
                extern "C" fn f() {}
            ),
            "a tool is a plain `fn`, without `extern`",
        ),
        (
            quote!(
                fn f<const N: usize>() {}
            ),
            "a tool can't have const parameters: each of its arguments needs one concrete type",
        ),
        (
            quote!(
                fn f() -> impl Sized {}
            ),
            "a tool's result needs one concrete type, so that it has a schema",
        ),
        (
            quote!(
                fn f() -> ! {}
            ),
            "a tool that never returns has no result for the model",
        ),
    ];
    for (item, error) in cases {
        assert_errors(tool(quote!(description = "D"), item), &[error]);
    }
    assert_clean(&tool(
        quote!(),
        quote!(
            #[doc = " F."]
            const fn f() {}
        ),
    ));
}

#[test]
fn types_of_parameters() {
    let owned = "an argument owns its data: write an owned type, such as `String` for `&str`";
    let lifetime = "an argument owns its data: write an owned type, such as `String`, without a lifetime";
    let cases = [
        (quote!(x: Option<&str>), owned),
        (quote!(x: &[&str]), owned),
        (quote!(x: (u8, &u8)), owned),
        (quote!(x: Cow<'_, str>), lifetime),
        (quote!(x: &mut u8), "an argument is the tool's own: take it by value, `mut` if it is changed"),
        (quote!(x: &'static str), "nothing that is passed to a tool lives that long: take the owned value, or `&T`"),
    ];
    for (param, error) in cases {
        assert_errors(with_params(quote!(#[doc = " X."] #param)), &[error]);
    }
    for host in [
        quote!(x: &Db),
        quote!(x: Arc<dyn Fn(&str) -> u8 + Send>),
        quote!(x: Cow<'static, str>),
        quote!((a, b): (u8, u8)),
    ] {
        assert_clean(&with_params(quote!(#[host] #host)));
    }
}

#[test]
fn roles_of_parameters() {
    let cases = [
        (
            quote!(#[host] #[arg(default)] x: u8),
            "`#[arg]` is for what the model fills in, and the host fills in this one",
        ),
        (
            quote!(#[args] #[arg(default)] x: u8),
            "`#[args]` takes the whole object: put `#[arg]` on the fields of its type",
        ),
        (
            quote!(#[args] x: A, #[doc = " Y."] y: u8),
            "`#[args]` is the whole argument object: make this a field of its type, or mark it `#[host]`",
        ),
        (
            quote!(#[host] #[args] x: A),
            "a parameter comes from the host (`#[host]`) or from the model (`#[args]`), not both",
        ),
        (
            quote!(#[doc = " X."] #[cfg(unix)] x: u8),
            "`cfg` on a parameter is not supported: put it on the function, and write the function twice",
        ),
    ];
    for (params, error) in cases {
        assert_errors(with_params(params), &[error]);
    }
}

#[test]
fn names_of_arguments() {
    let taken = "there is already an argument named `x`";
    let nothing_left = "leading underscores are not part of an argument's name, and nothing usable is left of this one";
    let cases = [
        (quote!(#[doc = " X."] x: u8, #[doc = " X."] _x: u8), taken),
        (quote!(#[doc = " X."] x: u8, #[doc = " Y."] #[arg(alias = "x")] y: u8), taken),
        (quote!(#[doc = " X."] x: u8, #[doc = " Y."] #[arg(rename = "x")] y: u8), taken),
        (quote!(#[doc = " X."] x: u8, #[doc = " Y."] #[arg(rename = "y")] _x: u8), taken),
        (quote!(#[doc = " X."] #[arg(rename = "")] x: u8), "an argument needs a name"),
        (quote!(#[doc = " X."] __: u8), nothing_left),
        (quote!(#[doc = " X."] _1: u8), nothing_left),
        (quote!(#[doc = " X."] _self: u8), nothing_left),
    ];
    for (params, error) in cases {
        assert_errors(with_params(params), &[error]);
    }
}

#[test]
fn keys_of_arguments() {
    let cases = [
        (quote!(range = 5..=1), "no number is in this range"),
        (quote!(range = 1..1), "no number is in this range"),
        (quote!(range = A..), "a bound is a number, written as a literal"),
        (quote!(length = -1..), "a length is a whole number, 0 or more, written as a literal"),
        (quote!(length = 0..0), "no length is in this range"),
        (quote!(pattern = ""), "an empty pattern says nothing"),
        (quote!(secret, example = 1), "the example of a `secret` argument would be shown to the model: remove it"),
        (
            quote!(secret, default),
            "the default of a `secret` argument would be shown to the model: take an `Option` instead",
        ),
        (quote!(default, default = 1), "`default` is given twice"),
        (quote!(host), "`host` is an attribute of its own: write `#[host]`"),
        (quote!(pattern = 3), "expected `pattern = \"…\"`"),
        (quote!(timeout = "5s"), "`timeout` belongs on the function: write `#[tool(host(timeout = \"5s\"))]` there"),
        (quote!(description = "D"), "the description is the doc comment: write `/// …` above"),
    ];
    for (keys, error) in cases {
        assert_errors(with_params(quote!(#[doc = " X."] #[arg(#keys)] x: u8)), &[error]);
    }
}

#[test]
fn keys_of_the_host() {
    let cases = [
        (quote!(timeout = "0s"), "a timeout of zero would end every call"),
        (
            quote!(inline, timeout = "5s"),
            "a sync tool that runs `inline` can't be interrupted: remove `inline` or the timeout",
        ),
        (quote!(read_only, destructive), "a tool can't be both `read_only` and `destructive`"),
        (quote!(changes("")), "a change needs a name, such as \"light.off\""),
        (quote!(changes()), "expected `changes(\"…\")`"),
        (
            quote!(condition(name = "a", text = "b", hold = "true")),
            "unknown key `hold`, did you mean `holds`? legal here: `name`, `text`, `holds`, `prohibits`, `approve_if`, `check`, `then`, `approver`",
        ),
        (
            quote!(condition(name = "a", text = "b", check = "c", then = "approve")),
            "`approve` follows from nothing, did you mean `approve_if`?",
        ),
        (
            quote!(concurrency_safe = 3),
            "expected `concurrency_safe`, or `concurrency_safe = path` to a `fn(&Args) -> bool`",
        ),
        (quote!(reads(paht)), "the model fills in no argument `paht`, did you mean `path`?"),
        (quote!(writes(db)), "the model fills in no argument `db`, there are `path`"),
        (quote!(defer), "`defer` is about what the model sees: write `defer` outside `host(…)`"),
    ];
    for (keys, error) in cases {
        let item = quote!(
            #[doc = " F."]
            fn f(#[doc = " P."] path: String, #[host] db: &Db) {}
        );
        assert_errors(tool(quote!(host(#keys)), item), &[error]);
    }
    assert_errors(
        tool(
            quote!(host(inline)),
            quote!(
                #[doc = " F."]
                async fn f() {}
            ),
        ),
        &["`inline` is for sync tools: an `async fn` runs on the caller's task anyway"],
    );
}

#[test]
fn names_of_tools() {
    for name in ["", "...", "cat.query", "with space", "ns:act", "日本", "1st"] {
        let expanded = tool(
            quote!(name = #name),
            quote!(
                #[doc = " F."]
                fn f() {}
            ),
        );
        assert_errors(expanded, &[names::NAME_RULE]);
    }
    let expanded = tool(
        quote!(type = F, args = F),
        quote!(
            #[doc = " F."]
            fn f() {}
        ),
    );
    assert_errors(expanded, &["the tool and its arguments need two names"]);
}

#[test]
fn unfinished_attributes_leave_the_others_readable() {
    let expanded = tool(
        quote!(name = , defer = 3, host),
        quote!(
            #[doc = " F."]
            fn f() {}
        ),
    );
    assert_eq!(
        errors(expanded),
        ["`name` has no value after the `=`", "`defer` is a yes or a no: write `defer` alone", "expected `host(…)`",],
    );
}
