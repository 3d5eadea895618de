//! Docs, labels, names, durations, limits.

use super::{assert_clean, assert_errors, assert_has, tool, with_params};
use crate::{doc, duration, labels, limits, names};
use quote::{ToTokens, quote};
use syn::{ItemFn, parse_quote};

/// The description of a function with these attributes, and its labels.
fn read(item: ItemFn) -> (String, Vec<String>) {
    let doc = doc::read(&item.attrs);
    let text = doc.text.to_token_stream();
    let text = match syn::parse2::<syn::LitStr>(text.clone()) {
        Ok(literal) => literal.value(),
        Err(_) => text.to_string(),
    };
    let labels = labels::read(&doc);
    (text, labels.into_iter().map(|label| label.word).collect())
}

fn text(item: ItemFn) -> String {
    read(item).0
}

#[test]
fn special_characters_stay() {
    let expected = r#"Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word"#;
    assert_eq!(
        text(parse_quote! {
            /// Match "**/*" with {n} at C:\tmp — a "quoted" \u{1F600} word
            fn f() {}
        }),
        expected
    );
    let block = format!(" {expected} ");
    assert_eq!(text(parse_quote!(#[doc = #block] fn f() {})), expected);
}

#[test]
fn layout_stays() {
    let expected = "Head.\n\n```json\n{\n  \"a\": 1\n}\n```\n- one\n  - two";
    assert_eq!(
        text(parse_quote! {
            ///
            /// Head.
            ///
            /// ```json
            /// {
            ///   "a": 1
            /// }
            /// ```
            /// - one
            ///   - two
            ///
            fn f() {}
        }),
        expected
    );
}

#[test]
fn blocks_lose_their_decoration() {
    let cases = [
        ("\n * Head.\n *\n * - one\n *   - two\n ", "Head.\n\n- one\n  - two"),
        (" Head.\n * Tail. ", "Head.\nTail."),
        ("\n    Head.\n      in\n", "Head.\n  in"),
        (" One line ", "One line"),
        // Not every line has a star: they are the author's.
        (" Head.\n * a\n b", "Head.\n* a\nb"),
    ];
    for (comment, expected) in cases {
        assert_eq!(text(parse_quote!(#[doc = #comment] fn f() {})), expected);
    }
}

#[test]
fn expressions_are_passed_on() {
    assert_eq!(
        text(parse_quote! {
            /// Head.
            #[doc = include_str!("d.md")]
            /// Tail.
            fn f() {}
        }),
        quote!(::core::concat!("Head.\n", include_str!("d.md"), "\nTail.")).to_string()
    );
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = concat!("a", "b")]
            fn f() {}
        ),
    );
    assert_has(&expanded, &quote!("f", concat!("a", "b"), __PARAMS));
    let expanded = tool(
        quote!(description = TEXT),
        quote!(
            fn f() {}
        ),
    );
    assert_has(&expanded, &quote!("f", TEXT, __PARAMS));
}

#[test]
fn empty_docs_are_missing() {
    for description in ["", "   ", "\n \n"] {
        let expanded = tool(quote!(), quote!(#[doc = #description] fn f() {}));
        assert_errors(
            expanded,
            &["the model needs a description of the tool: write a doc comment `/// …` above, or `description = \"…\"`"],
        );
    }
    assert_errors(
        tool(
            quote!(description = " "),
            quote!(
                fn f() {}
            ),
        ),
        &["the description is empty: the model has nothing else to choose by"],
    );
}

#[test]
fn labels_are_words_in_brackets_at_the_start() {
    let (_, found) = read(parse_quote! {
        /// Text [required] within.
        /// [required] The account.
        /// [text](url) and [Foo] and
        /// [text]: url
        /// [`code`]
        /// [Foo]
        /// [confirm]
        /// ```
        /// [todo] in code
        /// ```
        /// ```inline``` code
        /// [notice] After it.
        /// ~~~~
        /// [todo] ~~~
        /// ~~~~
        fn f() {}
    });
    assert_eq!(found, ["required", "confirm", "notice"]);
    let (_, found) = read(parse_quote!(
        #[doc = "\n * Head.\n * [confirm] Sure?\n "]
        fn f() {}
    ));
    assert_eq!(found, ["confirm"]);
    // None is lost over white space, and code is code.
    let (_, found) = read(parse_quote!(
        #[doc = "  [required] A."]
        #[doc = " [confirm]\tB."]
        #[doc = "     [notice] C."]
        fn f() {}
    ));
    assert_eq!(found, ["required", "confirm"]);
}

#[test]
fn unknown_labels_are_errors() {
    let expected = [
        "unknown label `[requird]`, did you mean `[required]`? legal here: `required`, `confirm`, `notice`; if this is no label, escape the bracket: `\\[requird]`",
    ];
    let docs = quote!(#[doc = " Head."] #[doc = " [requird] x"]);
    assert_errors(tool(quote!(), quote!(#docs fn f() {})), &expected);
    assert_errors(with_params(quote!(#docs x: u8)), &expected);
    let escaped = quote!(#[doc = " Head."] #[doc = r" \[requird] x"]);
    assert_clean(&tool(quote!(), quote!(#escaped fn f() {})));
}

#[test]
fn tool_names() {
    for name in ["a", "_a", "get_weather", "Get-2", &"a".repeat(64)] {
        assert!(names::is_tool_name(name), "{name}");
    }
    for name in ["", "-a", "2a", "a.b", "a b", "ä", &"a".repeat(65)] {
        assert!(!names::is_tool_name(name), "{name}");
    }
}

#[test]
fn type_names() {
    for (snake, pascal) in [
        ("get_weather", "GetWeather"),
        ("_private", "Private"),
        ("a__b", "AB"),
        ("v2_get", "V2Get"),
        ("Already", "Already"),
        ("übung", "Übung"),
    ] {
        assert_eq!(names::pascal(snake), pascal);
    }
}

#[test]
fn suggestions() {
    let candidates = ["timeout", "reads", "writes", "read_only"];
    for (typo, meant) in [
        ("timout", Some("timeout")),
        ("tiemout", Some("timeout")),
        ("read", Some("reads")),
        ("readonly", Some("read_only")),
        ("colour", None),
        ("", None),
    ] {
        assert_eq!(names::nearest(typo, &candidates), meant, "{typo}");
    }
}

#[test]
fn durations() {
    for (text, millis) in [
        ("250ms", Some(250)),
        ("5s", Some(5_000)),
        ("2m", Some(120_000)),
        ("1h", Some(3_600_000)),
        ("1m30s", Some(90_000)),
        ("1.5s", Some(1_500)),
        ("0.25s", Some(250)),
        ("0s", Some(0)),
        ("", None),
        ("5", None),
        ("s", None),
        ("5 s", None),
        ("5d", None),
        ("-5s", None),
        (".5s", None),
        ("1.s", None),
        ("1.2.3s", None),
        ("0.5ms", None),
        ("30s1m", None),
        ("1s1s", None),
        ("99999999999999999999s", None),
        ("9999999999999999h", None),
    ] {
        assert_eq!(duration::millis(text), millis, "{text}");
    }
}

#[test]
fn ranges() {
    let read = |expr: syn::Expr| {
        let range = limits::range(&expr).ok()?;
        Some((range.minimum, range.maximum, range.exclusive))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(read(parse_quote!(1..=100)), Some((some("1"), some("100"), false)));
    assert_eq!(read(parse_quote!(-0x10..1_000)), Some((some("-16"), some("1000"), true)));
    assert_eq!(read(parse_quote!(0.5..)), Some((some("0.5"), None, false)));
    assert_eq!(read(parse_quote!(..=1.)), Some((None, some("1.0"), false)));
    assert_eq!(read(parse_quote!(1u8..=1e3)), Some((some("1"), some("1.0e3"), false)));
    assert_eq!(read(parse_quote!(9007199254740993..=9007199254740992)), None);
    assert_eq!(read(parse_quote!(..)), None);
    assert_eq!(read(parse_quote!(5)), None);
}

#[test]
fn lengths() {
    let read = |expr: syn::Expr| {
        let length = limits::length(&expr).ok()?;
        Some((length.minimum, length.maximum))
    };
    assert_eq!(read(parse_quote!(1..=80)), Some((Some(1), Some(80))));
    assert_eq!(read(parse_quote!(..80)), Some((None, Some(79))));
    assert_eq!(read(parse_quote!(1..)), Some((Some(1), None)));
    assert_eq!(read(parse_quote!(5)), Some((Some(5), Some(5))));
    assert_eq!(read(parse_quote!(2..2)), None);
    assert_eq!(read(parse_quote!(1.5..)), None);
}
