//! Errors of `#[toolset]` and `#[tool_type]`, and of macros on the wrong item.

use super::{assert_errors, tool, tool_type, toolset};
use quote::quote;

#[test]
fn other_items() {
    assert_errors(
        tool(
            quote!(),
            quote!(
                struct X;
            ),
        ),
        &["`#[tool]` goes on a `fn`"],
    );
    assert_errors(
        tool(quote!(), quote!(impl X {})),
        &["`#[tool]` goes on a `fn`; on an `impl` with tools inside goes `#[toolset]`"],
    );
    assert_errors(
        toolset(
            quote!(),
            quote!(
                struct X;
            ),
        ),
        &["`#[toolset]` goes on an `impl` whose methods are tools"],
    );
    assert_errors(
        tool_type(
            quote!(),
            quote!(
                pub fn f() {}
            ),
        ),
        &["`#[tool_type]` goes on a `struct` or an `enum`"],
    );
}

#[test]
fn toolsets() {
    let shared = "a toolset is shared by all calls: take `&self` or `self: Arc<Self>`";
    for receiver in [quote!(self), quote!(mut self), quote!(&mut self), quote!(self: &mut Self)] {
        let item = quote!(impl X { #[doc = " F."] #[tool] fn f(#receiver) {} });
        assert_errors(toolset(quote!(), item), &[shared]);
    }
    let cases = [
        (
            quote!(
                impl<T> X<T> {
                    #[doc = " F."]
                    #[tool]
                    fn f(&self) {}
                }
            ),
            "a toolset can't be generic: its tools need one concrete type each",
        ),
        (
            quote!(impl Y for X { #[doc = " F."] #[tool] fn f(&self) {} }),
            "a toolset is the type's own `impl`, not that of a trait",
        ),
        (quote!(impl X { fn f(&self) {} }), "no method of this toolset is marked `#[tool]`"),
        (
            quote!(impl X { tools!(); }),
            "no method of this toolset is marked `#[tool]`; tools written by a macro inside the impl can't be seen from here",
        ),
        (
            quote!(impl X { #[doc = " F."] #[tool] fn tools(&self) {} }),
            "`#[toolset]` adds a method `tools`: give this one another name",
        ),
        (
            quote!(impl X { #[doc = " A."] #[tool(name = "n")] fn a() {} #[doc = " B."] #[tool(name = "n")] fn b() {} }),
            "this toolset already has a tool named `n`",
        ),
        (
            quote!(impl X { #[doc = " A."] #[tool] #[cfg_attr(unix, tool)] fn a() {} }),
            "a method is one tool: `#[tool]` is given twice",
        ),
    ];
    for (item, error) in cases {
        assert_errors(toolset(quote!(), item), &[error]);
    }
}

#[test]
fn types() {
    let cases = [
        (
            quote!(
                #[derive(Debug, serde::Serialize)]
                struct X;
            ),
            "`#[tool_type]` derives this: remove it here",
        ),
        (
            quote!(
                struct X {
                    #[host]
                    a: u8,
                }
            ),
            "this is for parameters: all fields of a `#[tool_type]` are data",
        ),
        (
            quote!(
                struct X(#[arg(rename = "a")] u8);
            ),
            "a field without a name has none to change",
        ),
        (
            quote!(
                enum X {
                    A {
                        #[arg(range = 2..=1)]
                        a: u8,
                    },
                }
            ),
            "no number is in this range",
        ),
    ];
    for (item, error) in cases {
        assert_errors(tool_type(quote!(), item), &[error]);
    }
}
