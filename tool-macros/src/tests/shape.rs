//! What is emitted.

use super::{assert_clean, assert_has, assert_has_not, bare, tool, toolset, with_params};
use quote::quote;

#[test]
fn a_whole_expansion() {
    let expanded = tool(
        quote!(defer, host(timeout = "5s", concurrency_safe, read_only, reads(city))),
        quote! {
            #[doc = " Look up the weather."]
            #[doc = " [confirm] The city."]
            #[inline]
            pub(crate) async fn get_weather(
                #[doc = " City name."]
                city: String,
                #[doc = " Unit."]
                #[arg(default = Unit::Celsius, example = Unit::Kelvin)]
                unit: Unit,
                #[host] client: Arc<Client>,
                #[host] cx: &CallContext,
            ) -> Result<Weather, Error> {
                client.get(city, unit).await
            }
        },
    );
    let expected = quote! {
        #[doc = " Look up the weather."]
        #[doc = " [confirm] The city."]
        #[inline]
        pub(crate) async fn get_weather(
            city: String,
            unit: Unit,
            client: Arc<Client>,
            cx: &CallContext,
        ) -> Result<Weather, Error> {
            client.get(city, unit).await
        }

        ::tool_runtime::__private::a_tool_in_an_impl_needs_toolset_on_the_impl! { {
            #[doc = "The arguments of the tool `get_weather`."]
            pub(crate) struct GetWeatherArgs {
                #[doc = "City name."]
                pub(crate) city: String,
                #[doc = "Unit."]
                pub(crate) unit: Unit,
            }
            #[doc = "The tool `get_weather`."]
            pub(crate) struct GetWeatherTool;

            const _: () = {
                use ::tool_runtime::__private as __rt;
                const __PARAMS: &[__rt::Param] = &[
                    __rt::Param::new("city", "City name."),
                    __rt::Param::new("unit", "Unit.")
                ];
                fn __args(__visit: &mut __rt::Visit<'_>) -> ::core::option::Option<GetWeatherArgs> {
                    let (::core::option::Option::Some(__a0), ::core::option::Option::Some(__a1),) = (
                        __rt::arg::<String>(__visit, 0),
                        __rt::arg_with::<Unit>(
                            __visit,
                            1,
                            __rt::Extras {
                                default: ::core::option::Option::Some(|| Unit::Celsius),
                                examples: &[|| Unit::Kelvin]
                            },
                        ),
                    ) else {
                        return ::core::option::Option::None;
                    };
                    ::core::option::Option::Some(GetWeatherArgs { city: __a0, unit: __a1 })
                }
                fn __settle(__returned: __rt::Settle<'_, Result<Weather, Error> >) -> __rt::Settled {
                    use __rt::PlainReturn as _;
                    __rt::ReturnOf::<Result<Weather, Error> >::judge()
                        .settle(__returned, ::core::option::Option::None)
                }
                fn __run(__body: __rt::Body) -> __rt::RunFuture {
                    __rt::tool_future_must_be_send(async move {
                        let (__args, __cx) = __body.open::<GetWeatherArgs>();
                        let __returned = get_weather(
                            __args.city,
                            __args.unit,
                            __rt::host::<Arc<Client> >(&__cx),
                            __rt::host_ref::<CallContext>(&__cx)
                        ).await;
                        __settle(__rt::Settle::Returned(&__cx, __returned)).reply()
                    })
                }
                fn __boxed(__visit: &mut __rt::Visit<'_>) -> ::core::option::Option<__rt::ErasedArgs> {
                    __rt::boxed(__args(__visit))
                }
                fn __output() -> __rt::OutputType {
                    __settle(__rt::Settle::Describe).described()
                }
                const __LABELS: &[__rt::Label] = &[__rt::Label::confirm("The city.")];
                const __HOST_NEEDS: &[__rt::HostNeed] = &[
                    __rt::HostNeed::of::<Arc<Client> >(),
                    __rt::HostNeed::of::<CallContext>()
                ];
                static __DEFINITION: __rt::Definition = __rt::Definition::new(
                    "get_weather",
                    "Look up the weather.\n[confirm] The city.",
                    __PARAMS,
                    __boxed,
                    __rt::Run::Async(__run),
                )
                .output(__output)
                .deferred()
                .timeout_millis(5000)
                .concurrency_safe()
                .reads(&[0])
                .read_only()
                .labels(__LABELS)
                .host_needs(__HOST_NEEDS)
                .module(::core::module_path!());
                impl GetWeatherTool {
                    #[doc = r" What the model sees of the tool."]
                    #[must_use]
                    pub fn schema() -> &'static __rt::ToolSchema {
                        __DEFINITION.schema()
                    }
                    #[doc = r" The tool for a registry. It stays in the host."]
                    #[must_use]
                    pub fn host() -> __rt::HostTool {
                        __rt::HostTool::from_definition(&__DEFINITION)
                    }
                }
                impl __rt::Tool for GetWeatherTool {
                    type Args = GetWeatherArgs;
                    fn definition() -> &'static __rt::Definition {
                        &__DEFINITION
                    }
                }
            };
        } }
    };
    assert_eq!(bare(&expanded), bare(&expected));
}

#[test]
fn sync_tools_block_or_run_inline() {
    let item = quote!(
        #[doc = " F."]
        fn f() {}
    );
    let blocking = tool(quote!(), item.clone());
    assert_has(&blocking, &quote!(__rt::Run::Blocking(__run)));
    assert_has(&blocking, &quote!(fn __run(__body: __rt::Body) -> __rt::Reply));
    assert_has(&blocking, &quote!(__rt::ReturnOf::<()>::judge()));
    assert_has(&tool(quote!(host(inline)), item.clone()), &quote!(__rt::Run::Inline(__run)));
    assert_has(&tool(quote!(host(inline = false)), item), &quote!(__rt::Run::Blocking(__run)));
}

#[test]
fn names_are_what_was_written() {
    let expanded = tool(
        quote!(name = "find-it", type = Finder, args = "Query", crate = "mid::sdk"),
        quote!(
            #[doc = " F."]
            fn r#find(#[doc = " T."] r#type: String, #[doc = " D."] mut _dry_run: bool) {}
        ),
    );
    for part in [
        quote!(
            use mid::sdk::__private as __rt;
        ),
        quote!(
            struct Finder;
        ),
        quote!(
            struct Query {
                #[doc = "T."]
                r#type: String,
                #[doc = "D."]
                dry_run: bool,
            }
        ),
        quote!(__rt::Param::new("type", "T."), __rt::Param::new("dry_run", "D.")),
        quote!(r#find(__args.r#type, __args.dry_run)),
        quote!(fn r#find(r#type: String, mut _dry_run: bool)),
    ] {
        assert_has(&expanded, &part);
    }
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " F."]
            fn r#type() {}
        ),
    );
    assert_has(
        &expanded,
        &quote!(
            struct TypeTool;
        ),
    );
    assert_has(&expanded, &quote!("type", "F.", __PARAMS));
}

#[test]
fn generated_names_are_names() {
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " F."]
            fn _1() {}
        ),
    );
    assert_has(
        &expanded,
        &quote!(
            struct _1Tool;
        ),
    );
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " F."]
            fn __() {}
        ),
    );
    assert_has(
        &expanded,
        &quote!(
            struct Tool;
        ),
    );
}

#[test]
fn what_is_lent_is_kept() {
    let expanded = with_params(quote! {
        #[doc = " S."] s: &str,
        #[doc = " B."] b: &[u8],
        #[doc = " T."] t: &Place,
    });
    assert_has(&expanded, &quote!(__rt::arg::<::std::string::String>(__visit, 0)));
    assert_has(&expanded, &quote!(__rt::arg::<::std::vec::Vec<u8>>(__visit, 1)));
    assert_has(&expanded, &quote!(__rt::arg::<Place>(__visit, 2)));
    assert_has(&expanded, &quote!(t(&__args.s, &__args.b, &__args.t)));
}

#[test]
fn rows_say_what_the_keys_say() {
    let expanded = with_params(quote! {
        #[doc = " X."]
        #[doc = " [required] x"]
        #[arg(rename = "y", alias = "z", range = 0.5..2, length = ..=3, pattern = "a", format = "b")]
        #[arg(path, secret, authored)]
        x: String
    });
    assert_has(
        &expanded,
        &quote! {
            __rt::Param::new("y", "X.\n[required] x")
                .alias("z")
                .minimum("0.5")
                .exclusive_maximum("2")
                .length(::core::option::Option::None, ::core::option::Option::Some(3))
                .pattern("a")
                .format("b")
                .path()
                .secret()
                .authored()
                .required_label()
        },
    );
}

#[test]
fn the_whole_object_can_be_one_type() {
    let expanded = with_params(quote!(#[args] args: &MyArgs, #[host] n: u8));
    assert_has(&expanded, &quote!(__rt::whole::<MyArgs>(__visit)));
    assert_has(&expanded, &quote!(t(&__args, __rt::host::<u8>(&__cx))));
    assert_has(&expanded, &quote!(.whole()));
    assert_has(
        &expanded,
        &quote!(
            type Args = MyArgs;
        ),
    );
    assert_has_not(&expanded, &quote!(struct TArgs));
}

#[test]
fn hooks_get_typed_arguments() {
    let expanded = tool(
        quote!(host(
            project = a,
            finalize = b,
            present_call = c,
            present_result = d,
            concurrency_safe = e,
            changes("f"),
            causes
        )),
        quote!(
            #[doc = " F."]
            fn f() {}
        ),
    );
    for part in [
        quote!(.settle(__returned, ::core::option::Option::Some { 0: a })),
        quote!(__rt::with_final::<FArgs>(__erased, __final, b)),
        quote!(__rt::with_args::<FArgs, __rt::Card>(__erased, c)),
        quote!(.present_call(__present_call)),
        quote!(__rt::with_args2::<FArgs>(__erased, __result, d)),
        quote!(__rt::with_args::<FArgs, bool>(__erased, e)),
        quote!(.causes().changes(&["f"])),
    ] {
        assert_has(&expanded, &part);
    }
}

#[test]
fn conditions_and_lints_are_repeated() {
    let expanded = tool(
        quote!(),
        quote! {
            #[doc = " F."]
            #[cfg(unix)]
            #[expect(dead_code, clippy::vec_box, reason = "…")]
            fn f() {}
        },
    );
    for part in [
        quote!(#[cfg(unix)] #[doc = "The arguments of the tool `f`."] #[allow(clippy::vec_box)] struct FArgs),
        quote!(
            #[cfg(unix)]
            #[doc = "The tool `f`."]
            struct FTool;
        ),
        quote!(#[cfg(unix)] #[allow(clippy::vec_box)] const _: () =),
    ] {
        assert_has(&expanded, &part);
    }
}

#[test]
fn lifetimes_of_results_are_declared_where_they_are_used() {
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " F."]
            fn f<'a>(#[doc = " A."] a: &'a str) -> &'a str {
                a
            }
        ),
    );
    assert_has(&expanded, &quote!(fn __settle<'a>(__returned: __rt::Settle<'_, &'a str>)));
    let expanded = tool(
        quote!(),
        quote!(
            #[doc = " F."]
            fn f<'a>(#[doc = " A."] a: &'a str) -> u8 {
                1
            }
        ),
    );
    assert_has(&expanded, &quote!(fn __settle(__returned: __rt::Settle<'_, u8>)));
}

#[test]
fn a_toolset() {
    let expanded = toolset(
        quote!(prefix = "files_"),
        quote! {
            impl Files {
                #[doc = " Get."]
                #[sdk::tool(host(present_call = Self::card))]
                pub fn get(&self, #[doc = " K."] #[arg(default = Self::KEY)] key: Key) -> Vec<Self> {}
                #[doc = " Put."]
                #[cfg_attr(feature = "put", tool(name = "put"), inline)]
                async fn put(self: Arc<Self>) {}
                #[doc = " Free."]
                #[tool]
                #[cfg(unix)]
                fn free() {}
                fn helper(&self) {}
            }
        },
    );
    for part in [
        quote!(
            #[doc = " Get."]
            pub fn get(&self, key: Key) -> Vec<Self> {}
        ),
        quote!(
            #[doc = " Put."]
            #[cfg_attr(feature = "put", inline)]
            async fn put(self: Arc<Self>) {}
        ),
        quote!(
            pub struct FilesGetArgs {
                #[doc = "K."]
                pub key: Key,
            }
        ),
        quote!("files_get", "Get.", __PARAMS),
        quote!("put", "Put.", __PARAMS),
        quote!(|| Files::KEY),
        quote!(__rt::Settle<'_, Vec<Files>>),
        quote!(with_args::<FilesGetArgs, __rt::Card>(__erased, Files::card)),
        quote!(let __self = __rt::receiver::<Files>(&__cx);),
        quote!(<Files>::get(&__self, __args.key)),
        quote!(<Files>::put(__self,).await),
        quote!(<Files>::free()),
        quote!(
            #[cfg(feature = "put")]
            #[doc = "The tool `put`."]
            struct FilesPutTool;
        ),
        quote!(pub fn host(receiver: ::std::sync::Arc<Files>) -> __rt::HostTool),
        quote!(__rt::HostTool::from_method(&__DEFINITION, receiver)),
        quote! {
            impl Files {
                #[doc = r" All tools of this toolset, for a registry."]
                #[must_use]
                pub fn tools(self: ::std::sync::Arc<Self>) -> ::std::vec::Vec<__rt::HostTool> {
                    let mut __tools = ::std::vec::Vec::new();
                    __tools.push(FilesGetTool::host(::core::clone::Clone::clone(&self)));
                    #[cfg(feature = "put")]
                    __tools.push(FilesPutTool::host(::core::clone::Clone::clone(&self)));
                    #[cfg(unix)]
                    __tools.push(FilesFreeTool::host());
                    __tools
                }
            }
        },
    ] {
        assert_has(&expanded, &part);
    }
    assert_clean(&expanded);
}

#[test]
fn a_toolset_may_have_a_raw_name() {
    let set = toolset(
        quote!(),
        quote!(
            impl r#match {
                /// Reads.
                #[tool]
                fn r#loop(&self) {}
            }
        ),
    );
    assert_has(
        &set,
        &quote!(
            struct matchLoopTool;
        ),
    );
}
