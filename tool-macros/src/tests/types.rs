//! What `#[tool_type]` says to the derives.

use super::{assert_has, assert_has_not, tool_type};
use quote::quote;

#[test]
fn derives_come_first_and_from_the_sdk() {
    let expanded = tool_type(
        quote!(crate = "mid::sdk"),
        quote!(
            #[serde(rename_all = "lowercase")]
            enum E {
                A,
            }
        ),
    );
    assert_eq!(
        expanded.to_string(),
        quote! {
            #[::core::prelude::v1::derive(
                mid::sdk::__private::serde::Serialize,
                mid::sdk::__private::serde::Deserialize
            )]
            #[serde(crate = "mid::sdk::__private::serde")]
            #[::core::prelude::v1::derive(mid::sdk::__private::schemars::JsonSchema)]
            #[schemars(crate = "mid::sdk::__private::schemars")]
            #[serde(rename_all = "lowercase")]
            enum E { A, }
        }
        .to_string()
    );
}

#[test]
fn keys_of_fields_become_keys_of_the_derives() {
    let expanded = tool_type(
        quote!(),
        quote! {
            struct Place<T> {
                #[arg(length = 1..=80, pattern = "^a", alias = "town")]
                #[serde(alias = "village")]
                city: String,
                #[arg(default, range = -1..10, rename = "n")]
                num: i64,
                #[arg(default = "x", path, authored, format = "uri", example = "y")]
                text: T,
                #[arg(secret)]
                key: String,
                #[serde(flatten)]
                rest: Rest,
            }
        },
    );
    for part in [
        quote! {
            #[schemars(extend("x-tool-order" = 0usize))]
            #[serde(alias = "town")]
            #[schemars(extend("x-tool-alias" = ["town", "village"]))]
            #[schemars(length(min = 1u64, max = 80u64,))]
            #[schemars(extend("pattern" = "^a"))]
            #[serde(alias = "village")]
            city: String
        },
        quote! {
            #[serde(rename = "n")]
            #[serde(default)]
            #[schemars(extend("minimum" = -1i64))]
            #[schemars(extend("exclusiveMaximum" = 10i64))]
            num: i64
        },
        quote! {
            #[serde(default = "Place::<T>::__default_text")]
        },
        quote! {
            #[schemars(example = &"y")]
            #[schemars(extend("format" = "uri"))]
            #[schemars(extend("x-tool-path" = true))]
            #[schemars(extend("x-tool-authored" = true))]
            text: T
        },
        quote!(#[schemars(extend("x-tool-secret" = true))] key: String),
        quote!(#[serde(flatten)] rest: Rest),
        quote! {
            impl<T> Place<T> {
                #[doc(hidden)]
                fn __default_text() -> T { ::core::convert::Into::into("x") }
            }
        },
    ] {
        assert_has(&expanded, &part);
    }
    assert_has_not(&expanded, &quote!("x-tool-order" = 4usize));
}

#[test]
fn variants_have_their_own_order_and_defaults() {
    let expanded = tool_type(
        quote!(),
        quote!(
            enum Op {
                Add {
                    a: u8,
                    #[arg(default = 3)]
                    b: u8,
                },
                Del {
                    b: u8,
                },
            }
        ),
    );
    assert_has(
        &expanded,
        &quote! {
            #[schemars(extend("x-tool-order" = 1usize))]
            #[serde(default = "Op::__default_3Add_b")]
            b: u8
        },
    );
    assert_has(
        &expanded,
        &quote!(Del {
            #[schemars(extend("x-tool-order" = 0usize))]
            b: u8,
        }),
    );
    assert_has(
        &expanded,
        &quote!(
            fn __default_3Add_b() -> u8 {
                3
            }
        ),
    );
}
