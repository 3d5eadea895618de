//! Which tools there are: their order, views and scopes of them, and what has drifted.

use std::collections::BTreeSet;
use std::sync::Arc;

use tool_runtime::path::Settled;
use tool_runtime::wire::openai_chat::Declarations;
use tool_runtime::{
    AllowAll, Code, Drift, DriftKind, DynamicTool, FilterError, Harness, HostTool, Loaded, Registry, RegistryBuilder,
    RegistryError, ToolCall, ToolSchema, tool,
};

/// A tool that says `says`.
fn saying(name: &str, says: &str) -> HostTool {
    let said = format!("{says:?}");
    let built = DynamicTool::builder(name, format!("Says {says}.")).output(r#"{"type":"string"}"#).run(move |_, _| {
        let said = said.clone();
        async move { Ok(said) }
    });
    fine(built)
}

/// A tool that says its own name.
pub(crate) fn named(name: &str) -> HostTool {
    saying(name, name)
}

pub(crate) fn fine<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

fn registry<const N: usize>(names: [&str; N]) -> Registry {
    fine(Registry::builder().tools(names.map(named)).build())
}

pub(crate) fn refused(builder: RegistryBuilder) -> RegistryError {
    match builder.build() {
        Ok(registry) => panic!("{registry:?} was taken"),
        Err(error) => error,
    }
}

pub(crate) fn unfit(filtered: Result<Registry, FilterError>) -> String {
    match filtered {
        Ok(registry) => panic!("{registry:?} was given"),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn names(registry: &Registry) -> Vec<&str> {
    registry.iter().map(HostTool::name).collect()
}

/// One call.
async fn settle(registry: &Registry, name: &str) -> Settled {
    let harness = Harness::new(registry.clone(), AllowAll);
    let mut settled = harness.run_settled([ToolCall::new("c", name, "{}")], None).await;
    match (settled.pop(), settled.is_empty()) {
        (Some(only), true) => only,
        _ => panic!("one call has one result"),
    }
}

/// What a call of `name` says.
async fn said(registry: &Registry, name: &str) -> String {
    let settled = settle(registry, name).await;
    assert_eq!(settled.record().code(), Code::Ok, "{}", settled.result().text());
    settled.result().text()
}

/// `name` is nowhere, and calling it is as calling a name that nobody has.
pub(crate) async fn assert_absent(registry: &Registry, name: &str) {
    assert!(registry.get(name).is_none());
    assert!(!names(registry).contains(&name));
    assert!(registry.schemas().all(|schema| schema.name() != name));
    assert!(registry.declared(&Loaded::from_iter([name])).all(|schema| schema.name() != name));
    assert!(!registry.digests().contains_key(name));
    assert!(!format!("{registry:?}").contains(&format!("{name:?}")));
    let nobodys = "x".repeat(name.len());
    let (hidden, nobody) = (settle(registry, name).await, settle(registry, &nobodys).await);
    assert_eq!(hidden.record().code(), Code::UnknownTool);
    assert_eq!(nobody.record().code(), Code::UnknownTool);
    assert_eq!(hidden.result().text(), nobody.result().text().replace(&nobodys, name));
    // Nor is it suggested.
    for near in [name.to_uppercase(), format!("{name}_"), format!("{name}s")] {
        let text = settle(registry, &near).await.result().text();
        assert!(!text.contains(&format!("`{name}`")), "{text}");
    }
}

#[test]
fn d03_the_order_of_registration_does_not_show() {
    let all = ["delta", "alpha", "charlie", "bravo"];
    let declared = |names: &[&str]| {
        let registry = fine(Registry::builder().tools(names.iter().map(|name| named(name))).build());
        Declarations::of(registry.schemas()).to_json()
    };
    let first = declared(&all);
    assert_eq!(declared(&["alpha", "bravo", "charlie", "delta"]), first);
    assert_eq!(declared(&["charlie", "delta", "bravo", "alpha"]), first);
    let from_threads: BTreeSet<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..4).map(|_| scope.spawn(|| declared(&all))).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    assert_eq!(from_threads, BTreeSet::from([first.clone()]));
    // Nor does it show whether a tool came with a scope.
    let scoped = fine(registry(["delta", "bravo"]).scope().tools(["charlie", "alpha"].map(named)).build());
    assert_eq!(Declarations::of(scoped.schemas()).to_json(), first);
    assert_eq!(names(&scoped), ["alpha", "bravo", "charlie", "delta"]);
}

#[test]
fn d04_a_configured_order_is_kept() {
    let built = |order: &[&str]| {
        let tools = ["e", "b", "d", "a", "c"].map(named);
        fine(Registry::builder().tools(tools).order(order.iter().copied()).build())
    };
    assert_eq!(names(&built(&["d", "*", "a"])), ["d", "b", "c", "e", "a"]);
    assert_eq!(names(&built(&["*"])), ["a", "b", "c", "d", "e"]);
    assert_eq!(names(&built(&["e", "d", "c", "b", "a", "*"])), ["e", "d", "c", "b", "a"]);
    assert_eq!(names(&built(&[RegistryBuilder::OTHERS, "b"])), ["a", "c", "d", "e", "b"]);

    let all = built(&["d", "*", "a"]);
    let declared: Vec<_> = all.schemas().map(ToolSchema::name).collect();
    assert_eq!(declared, ["d", "b", "c", "e", "a"]);
    // Views and scopes keep it.
    let view = fine(all.without(["c", "d"]));
    assert_eq!(names(&view), ["b", "e", "a"]);
    assert_eq!(names(&fine(view.scope().tools(["d", "c2"].map(named)).build())), ["d", "b", "c2", "e", "a"]);
    // Until a scope has another.
    assert_eq!(names(&fine(view.scope().tool(named("f")).order(["f", "*"]).build())), ["f", "a", "b", "e"]);
}

#[test]
fn d04_a_wrong_order_is_refused_with_all_that_is_wrong() {
    let order = |list: &[&str]| refused(Registry::builder().tools(["a", "b"].map(named)).order(list.iter().copied()));
    for (list, said) in [
        (&["a", "b"][..], &["it has no `*`, which says where all those stand that it doesn't name"][..]),
        (&[], &["it has no `*`, which says where all those stand that it doesn't name"]),
        (&["*", "a", "*"], &["it has `*` more than once, and the tools that it doesn't name stand in one place"]),
        (&["a", "*", "a"], &["it names `a` more than once"]),
        (&["x", "*", "y"], &["no tool is named `x`, `y`; there are: `a`, `b`"]),
        (
            &["a", "y", "a", "x"],
            &[
                "it has no `*`, which says where all those stand that it doesn't name",
                "it names `a` more than once",
                "no tool is named `y`, `x`; there are: `a`, `b`",
            ],
        ),
    ] {
        let error = order(list);
        let lines: Vec<String> = said.iter().map(|said| format!("the order of the tools: {said}")).collect();
        assert_eq!(error.to_string(), lines.join("\n"), "{list:?}");
        assert_eq!(error.tools().count(), 0, "it isn't a tool's fault");
    }
    let error = refused(Registry::builder().order(["a", "*"]));
    assert_eq!(error.to_string(), "the order of the tools: no tool is named `a`; there are: none");
    // What a view hides isn't there to be placed.
    let view = fine(registry(["a", "b"]).without(["b"]));
    let error = refused(view.scope().order(["b", "*"]));
    assert_eq!(error.to_string(), "the order of the tools: no tool is named `b`; there are: `a`");
    // Beside the faults of tools.
    let error = refused(Registry::builder().tools([named("a"), named("a")]).order(["b"]));
    assert_eq!(error.to_string().lines().count(), 3, "{error}");
}

#[test]
fn d06_a_budget_of_nothing_is_an_error() {
    let built = DynamicTool::builder("wait", "Waits.")
        .output("true")
        .timeout(std::time::Duration::ZERO)
        .run(|_, _| async { Ok("1".to_owned()) });
    match built {
        Ok(tool) => panic!("{tool:?} was made"),
        Err(error) => assert_eq!(error.to_string(), "tool `wait`: its timeout has to be longer than zero"),
    }
    assert_eq!(named("wait").timeout(), None);
}

#[test]
fn d07_a_schema_that_can_not_be_enforced_is_refused_with_all_places() {
    let odd = fine(
        DynamicTool::builder("odd", "Is odd.")
            .parameters(r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}"#)
            .output(r##"{"type":"object","properties":{"b":{"$ref":"#/$defs/b"},"c":{"allOf":[]}}}"##)
            .run(|_, _| async { Ok("{}".to_owned()) }),
    );
    let all = registry(["even"]);
    for builder in [Registry::builder().tool(odd.clone()).tool(named("even")), all.scope().tool(odd)] {
        let error = refused(builder);
        assert_eq!(error.tools().collect::<Vec<_>>(), ["odd"]);
        let text = error.to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        for place in ["parameters/properties/a/$ref", "output/properties/b/$ref", "output/properties/c/allOf"] {
            assert!(text.lines().any(|line| line.contains(place)), "{place}: {text}");
        }
    }
    assert_eq!(names(&all), ["even"]);
}

#[tokio::test]
async fn d08_a_refused_change_leaves_no_trace() {
    let all = registry(["a", "b"]);
    let before = all.digests();
    let _ = refused(all.scope().tool(saying("a", "changed")).tools([named("c"), named("c")]));
    assert!(all.only(["a", "x"]).is_err());
    assert_eq!(all.digests(), before);
    assert_absent(&all, "c").await;
    let again = fine(all.scope().tool(named("c")).build());
    assert_eq!(names(&again), ["a", "b", "c"]);
}

#[tokio::test]
async fn d80_what_is_hidden_is_absent() {
    let all = registry(["read_file", "write_file", "remove"]);
    for view in [
        fine(all.without(["remove"])),
        fine(all.only(["read_file", "write_file"])),
        fine(fine(all.without(["remove"])).scope().tool(named("own")).build()),
    ] {
        assert_absent(&view, "remove").await;
        assert_eq!(view.len(), names(&view).len());
        assert_eq!(said(&view, "read_file").await, "read_file");
    }
    let nothing = fine(all.without(["read_file", "write_file", "remove"]));
    assert!(nothing.is_empty() && nothing.iter().next().is_none());
    assert_absent(&nothing, "remove").await;
    assert_eq!(said(&all, "remove").await, "remove");
}

#[tokio::test]
async fn d80_what_one_scope_has_is_absent_in_others() {
    let all = registry(["shared"]);
    let one = fine(all.scope().tool(named("only_here")).build());
    let two = fine(all.scope().tool(named("elsewhere")).build());
    assert_eq!(said(&one, "only_here").await, "only_here");
    for other in [&all, &two] {
        assert_absent(other, "only_here").await;
    }
    assert_absent(&one, "elsewhere").await;
}

#[tokio::test]
async fn d80_a_scope_shadows_and_lists_once() {
    let all = registry(["greet", "wave"]);
    let inner = fine(all.scope().tool(saying("greet", "inner")).build());
    let innermost = fine(inner.scope().tool(saying("greet", "innermost")).build());
    for (registry, says) in [(&all, "greet"), (&inner, "inner"), (&innermost, "innermost")] {
        assert_eq!(names(registry), ["greet", "wave"]);
        assert_eq!(said(registry, "greet").await, says);
        assert_eq!(said(registry, "wave").await, "wave");
        let descriptions: Vec<_> = registry.schemas().map(ToolSchema::description).collect();
        assert_eq!(descriptions, [format!("Says {says}."), "Says wave.".to_owned()]);
    }
}

/// Who asks.
#[derive(Clone)]
struct User(&'static str);

/// Says who asks.
#[tool(host(inline))]
fn whoami(#[host] user: &User) -> String {
    user.0.to_owned()
}

/// Says who asks, in a scope.
#[tool(name = "whoami_here", host(inline))]
fn whoami_here(#[host] user: User) -> String {
    user.0.to_owned()
}

#[tokio::test]
async fn d80_a_scopes_state_is_its_own_tools() {
    let all = fine(Registry::builder().tool(WhoamiTool::host()).state(User("everybody")).build());
    let scope = fine(all.scope().tool(WhoamiHereTool::host()).state(User("Ada")).build());
    assert_eq!(said(&scope, "whoami_here").await, "Ada");
    assert_eq!(said(&scope, "whoami").await, "everybody");
    // Without one of its own it has that of below.
    let scope = fine(all.scope().tool(WhoamiHereTool::host()).build());
    assert_eq!(said(&scope, "whoami_here").await, "everybody");
    // A variant for the scope.
    let scope = fine(all.scope().tool(WhoamiTool::host()).state(User("Ada")).build());
    assert_eq!((scope.len(), said(&scope, "whoami").await.as_str()), (1, "Ada"));
    assert_eq!(said(&all, "whoami").await, "everybody");
    let error = refused(registry([]).scope().tool(WhoamiTool::host())).to_string();
    assert!(error.contains("User`, which nobody gave"), "{error}");
}

/// Says whom everybody shares.
#[tool(host(inline))]
fn shared(#[host] user: Arc<User>) -> String {
    user.0.to_owned()
}

#[test]
fn state_that_was_given_with_an_arc_or_without_is_not_what_is_asked_for() {
    let below = fine(Registry::builder().state(Arc::new(User("Ada"))).build());
    for builder in [Registry::builder().state(Arc::new(User("Ada"))), below.scope()] {
        let error = refused(builder.tool(WhoamiTool::host())).to_string();
        assert!(error.contains("User`, and one in an `Arc` was given; ask for the `Arc`, or give it"), "{error}");
    }
    let below = fine(Registry::builder().state(User("Ada")).build());
    for builder in [Registry::builder().state(User("Ada")), below.scope()] {
        let error = refused(builder.tool(SharedTool::host())).to_string();
        assert!(
            error.contains("User>`, and one without the `Arc` was given; ask for it by `&`, or give it"),
            "{error}"
        );
    }
}

#[test]
fn resources_of_a_dynamic_tool_are_named_by_its_arguments() {
    let edit = |parameters: &str| {
        let builder = DynamicTool::builder("edit", "Edits a file.").parameters(parameters).output("true");
        let tool = builder.reads(["mode"]).writes(["fil", "x"]).run(|_, _| async { Ok("1".to_owned()) });
        Registry::builder().tool(fine(tool)).build()
    };
    let closed = r#"{"type":"object","properties":{"file":{"type":"string"},"mode":{}},"additionalProperties":false}"#;
    assert_eq!(
        edit(closed).unwrap_err().to_string(),
        "tool `edit`: it says that it writes what its argument `fil` names, and has no such argument; did you mean `file`?\n\
         tool `edit`: it says that it writes what its argument `x` names, and has no such argument; there are: `file`, `mode`"
    );
    // What isn't listed may be there all the same.
    edit(r#"{"type":"object","properties":{"file":{"type":"string"}}}"#).unwrap();
    assert!(
        edit(r#"{"type":"object","additionalProperties":false}"#).unwrap_err().to_string().contains("there are: none")
    );
}

#[test]
fn state_has_one_value_of_a_type() {
    let builder = || Registry::builder().tool(WhoamiTool::host()).state(User("Ada"));
    let error = refused(builder().state(1_u8).state(User("Bob")).state(User("Eve")));
    let user = std::any::type_name::<User>();
    assert_eq!(
        error.to_string(),
        format!(
            "two values of the type `{user}` were given by `.state(…)`, and a `#[host]` parameter gets its by the type; give \
             each a type of its own"
        )
    );
    assert_eq!(error.tools().count(), 0);
    // In a scope one takes the place of that of below.
    fine(fine(builder().build()).scope().state(User("Bob")).build());
}

#[test]
fn what_the_root_has_to_be_is_said_to_whoever_writes_schemas_too() {
    let schema = r#"{"properties":{"a":{"type":"string"}}}"#;
    let tool =
        DynamicTool::builder("a", "A.").parameters(schema).output("true").run(|_, _| async { Ok("1".to_owned()) });
    let error = refused(Registry::builder().tool(fine(tool))).to_string();
    assert!(error.contains(r#"a plain object (`"type": "object"`)"#), "{error}");
}

#[tokio::test]
async fn d81_views_intersect_and_are_lifted_alone() {
    let all = registry(["a", "b", "c", "d"]);
    let allowed = fine(all.only(["a", "b", "c"]));
    let both = fine(allowed.without(["b"]));
    assert_eq!(names(&both), ["a", "c"]);
    assert_eq!(names(&fine(fine(all.without(["b"])).only(["a", "c"]))), ["a", "c"]);
    assert_eq!(names(&fine(both.only(["c"]))), ["c"]);
    // Each lifted alone.
    assert_eq!(names(&allowed), ["a", "b", "c"]);
    assert_eq!(names(&fine(all.without(["b"]))), ["a", "c", "d"]);
    // Nothing was done to what they are of.
    assert_eq!(names(&all), ["a", "b", "c", "d"]);
    assert_absent(&both, "b").await;
    assert_eq!(said(&allowed, "b").await, "b");
}

#[tokio::test]
async fn d81_a_tool_added_later_passes_a_deny_list_and_no_allow_list() {
    let all = registry(["a", "b"]);
    let later = fine(all.scope().tool(named("c")).build());
    assert_eq!(names(&fine(later.without(["b"]))), ["a", "c"]);
    assert_eq!(names(&fine(later.only(["a"]))), ["a"]);
}

#[tokio::test]
async fn d81_a_scopes_own_tools_stay_whatever_was_filtered_before() {
    let all = registry(["a", "b", "c"]);
    let scope = fine(fine(all.only(["a"])).scope().tools([saying("b", "own"), named("d")]).build());
    assert_eq!(names(&scope), ["a", "b", "d"]);
    assert_eq!(said(&scope, "b").await, "own");
    assert_absent(&scope, "c").await;
    // A filter of later applies to all that is there.
    let view = fine(scope.only(["a", "b"]));
    assert_eq!(names(&view), ["a", "b"]);
    assert_absent(&view, "d").await;
    assert_eq!(names(&scope), ["a", "b", "d"]);
}

#[test]
fn d82_wrong_filters_are_refused_with_all_that_is_wrong() {
    let all = registry(["b", "a"]);
    let none: [&str; 0] = [];
    for filtered in [all.only(none), all.without(none)] {
        assert_eq!(unfit(filtered), "the filter was refused: it has to name a tool");
    }
    for filtered in [all.only(["x", "a", "y", "x"]), all.without(["x", "a", "y", "x"])] {
        let Err(error) = filtered else { panic!("it was given") };
        assert_eq!(error.unknown().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(error.to_string(), "the filter was refused: no tool is named `x`, `y`; there are: `a`, `b`");
    }
    // Hidden is as unknown.
    let view = fine(all.without(["b"]));
    assert_eq!(unfit(view.only(["b"])), "the filter was refused: no tool is named `b`; there are: `a`");
    assert_eq!(unfit(view.without(["b"])), "the filter was refused: no tool is named `b`; there are: `a`");
    let nothing = fine(view.without(["a"]));
    assert_eq!(unfit(nothing.only(["a"])), "the filter was refused: no tool is named `a`; there are: none");
    // Names are shown so that nobody is fooled.
    let said = unfit(all.only(["a\u{202e}b\n"]));
    assert_eq!(said, r"the filter was refused: no tool is named `a\u{202e}b\n`; there are: `a`, `b`");
}

#[test]
fn d82_a_reserved_name_can_not_be_filtered_taken_or_shadowed() {
    let all = registry(["a"]);
    let reserved = Registry::SEARCH_TOOL;
    for filtered in [all.only([reserved]), all.without(["x", reserved])] {
        let said = unfit(filtered);
        assert!(said.contains("`search_tools` is the built-in search tool"), "{said}");
    }
    assert!(unfit(all.without(["x", reserved])).ends_with("and no tool is named `x`; there are: `a`"));
    for builder in [Registry::builder(), all.scope()] {
        let error = refused(builder.tool(named(reserved)));
        assert_eq!(error.tools().collect::<Vec<_>>(), [reserved]);
        let said = "tool `search_tools`: this name is kept for the built-in search tool, whether it is in use or not";
        assert_eq!(error.to_string(), said);
    }
}

#[tokio::test]
async fn d83_one_name_one_tool() {
    let all = registry(["a"]);
    for builder in [Registry::builder(), all.scope()] {
        let error = refused(builder.tools([saying("a", "first"), named("b"), saying("a", "second")]));
        assert_eq!(error.tools().collect::<Vec<_>>(), ["a"]);
        let text = error.to_string();
        assert!(text.starts_with("tool `a`: two tools have this name"), "{text}");
        assert!(text.contains("make it a variant for a scope: `registry.scope().tool(…)`"), "{text}");
    }
    assert_eq!(names(&all), ["a"]);
    assert_eq!(said(&all, "a").await, "a");
    // As the text says.
    let variant = fine(all.scope().tool(saying("a", "variant")).build());
    assert_eq!((variant.len(), said(&variant, "a").await.as_str()), (1, "variant"));
}

#[tokio::test]
async fn b32_only_replace_overrides() {
    let replaced = fine(Registry::builder().tools([named("a"), named("b")]).replace(saying("a", "later")).build());
    assert_eq!(names(&replaced), ["a", "b"]);
    assert_eq!(said(&replaced, "a").await, "later");
    // Whichever is said first, and the last replacement counts.
    let builder = Registry::builder().replace(saying("a", "one")).tool(named("a")).replace(saying("a", "two"));
    assert_eq!(said(&fine(builder.build()), "a").await, "two");
    // Two that are added are two, replaced or not.
    let error = refused(Registry::builder().tools([named("a"), named("a")]).replace(named("a")));
    assert!(error.to_string().contains("two tools have this name"), "{error}");
    // What isn't here can't be replaced; in a scope, here is the scope.
    for builder in [Registry::builder(), replaced.scope()] {
        let error = refused(builder.replace(named("a")));
        assert_eq!(
            error.to_string(),
            "tool `a`: there is none of this name here that `.replace(…)` could take the place of; add it by `.tool(…)`"
        );
        assert_eq!(error.tools().collect::<Vec<_>>(), ["a"]);
    }
    // What takes a place has to be fit for it.
    let error = refused(Registry::builder().tool(named("whoami")).replace(WhoamiTool::host()));
    assert!(error.to_string().contains("which nobody gave"), "{error}");
}

#[tokio::test]
async fn b34_a_filter_holds_for_clones_and_adapters() {
    let view = fine(registry(["ls", "cat", "rm"]).without(["rm"]));
    let shared = Arc::new(view.clone());
    let served = Registry::clone(&shared);
    for registry in [&view, &shared, &served, &fine(served.scope().tool(named("mv")).build())] {
        let declared = Declarations::of(registry.schemas()).to_json();
        assert!(declared.contains(r#""name":"ls""#) && !declared.contains(r#""name":"rm""#), "{declared}");
        assert_absent(registry, "rm").await;
    }
    let harness = Harness::new(served, AllowAll);
    assert_absent(harness.registry(), "rm").await;
}

#[test]
fn drift_is_told_by_name_and_digest() {
    let pinned = registry(["a", "b", "c"]).digests();
    assert_eq!(registry(["c", "b", "a"]).drift(&pinned), [] as [Drift; 0]);
    // Kept as text and read back.
    let kept: Vec<(String, String)> = pinned.iter().map(|(name, digest)| (name.clone(), digest.to_string())).collect();
    let pinned = kept.into_iter().map(|(name, digest)| (name, fine(digest.parse()))).collect();

    let later = fine(Registry::builder().tools([named("z"), saying("b", "other"), named("a"), named("_")]).build());
    let drift = later.drift(&pinned);
    let kinds: Vec<_> = drift.iter().map(|drift| (drift.tool(), drift.kind())).collect();
    let to = *saying("b", "other").digest();
    assert_eq!(
        kinds,
        [
            ("_", DriftKind::Added),
            ("b", DriftKind::Changed { from: pinned["b"], to }),
            ("c", DriftKind::Removed),
            ("z", DriftKind::Added),
        ]
    );
    assert_eq!(drift[1].to_string(), format!("tool `b` has changed, from {} to {to}", pinned["b"]));
    assert_eq!([drift[0].to_string(), drift[2].to_string()], ["tool `_` was added", "tool `c` was removed"]);
}

/// A tool that has to be loaded first.
pub(crate) fn deferred(name: &str, description: &str) -> HostTool {
    let said = format!("{name:?}");
    let built = DynamicTool::builder(name, description).output("true").deferred().run(move |_, _| {
        let said = said.clone();
        async move { Ok(said) }
    });
    fine(built)
}

#[tokio::test]
async fn what_is_declared_is_what_is_not_refused() {
    let all = fine(Registry::builder().tools([deferred("rare", "Rare."), named("often")]).build());
    let loaded = Loaded::new();
    let declared = || all.declared(&loaded).map(ToolSchema::name).collect::<Vec<_>>();
    let harness = Harness::new(all.clone(), AllowAll).loaded(loaded.clone());
    let call = || harness.run_settled([ToolCall::new("1", "rare", "{}")], None);

    assert_eq!(declared(), ["often"]);
    let settled = call().await;
    assert_eq!(settled[0].record().code(), Code::NotLoaded);
    assert_eq!(settled[0].result().text(), "`rare` is not loaded yet, and it did not run. Search for it first.");

    // Of the host's own handle, while the harness is there.
    loaded.load("rare");
    assert_eq!(declared(), ["often", "rare"]);
    assert_eq!(call().await[0].record().code(), Code::Ok);
    // Loaded is no right: what a view hides stays hidden.
    let view = fine(all.without(["rare"]));
    let harness = Harness::new(view.clone(), AllowAll).loaded(loaded.clone());
    let settled = harness.run_settled([ToolCall::new("1", "rare", "{}")], None).await;
    assert_eq!(settled[0].record().code(), Code::UnknownTool);
    assert_absent(&view, "rare").await;
}
