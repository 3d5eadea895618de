//! The same call again and again.

use tool_runtime::{CallFacts, Decision, Harness, Registry, Repeats, ToolCall, tool};

/// Looks something up.
#[tool(host(read_only))]
async fn look_up(
    /// What.
    what: String,
    /// Where.
    #[arg(default)]
    place: String,
    /// The key.
    #[arg(secret)]
    key: Option<String>,
) -> usize {
    what.len() + place.len() + key.map_or(0, |key| key.len())
}

/// Says what time it is.
#[tool]
async fn get_time() -> String {
    "noon".to_owned()
}

fn harness(repeats: &Repeats) -> Harness {
    let registry =
        Registry::builder().tools([LookUpTool::host(), GetTimeTool::host()]).build().expect("they are sound");
    let policy = |call: &CallFacts<'_>| match call.arguments().get("/what") {
        Some("\"denied\"") => Decision::deny("no"),
        _ => Decision::Allow,
    };
    Harness::new(registry, policy).repeats(repeats.clone())
}

/// What is said besides, call by call.
async fn asides(harness: &Harness, tool: &str, arguments: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    for arguments in arguments {
        let results = harness.run([ToolCall::new("1", tool, *arguments)]).await;
        said.push(results[0].asides().iter().map(|aside| aside.to_text()).collect::<Vec<_>>().join("|"));
    }
    said
}

#[tokio::test]
async fn d85_the_third_and_the_fifth_equal_call_in_a_row_draw_a_word() {
    let repeats = Repeats::after([5, 3]).expect("they make sense").except(["get_time"]);
    let harness = harness(&repeats);
    // Equal however they are spelt; an excluded tool neither counts nor starts over; a refused one neither.
    let spelt = [r#"{"what":"boat"}"#, r#"{"place":"","what":"boat"}"#];
    assert_eq!(asides(&harness, "look_up", &spelt).await, ["", ""]);
    assert_eq!(asides(&harness, "get_time", &["", "", "", ""]).await, ["", "", "", ""]);
    assert_eq!(asides(&harness, "look_up", &["[]"]).await, [""]);
    let said = asides(&harness, "look_up", &[spelt[0]; 4]).await;
    assert_eq!(said[0], "`look_up` was called 3 times in a row with the same arguments.");
    assert_eq!(said[1], "");
    assert!(said[2].contains("5 times") && said[2].contains(r#"{"what":"boat""#), "{}", said[2]);
    assert_eq!(said[3], "");
    // Another call, and the user, start over.
    asides(&harness, "look_up", &[r#"{"what":"sea"}"#]).await;
    assert_eq!(asides(&harness, "look_up", &[spelt[0]; 2]).await, ["", ""]);
    repeats.user_spoke();
    assert_eq!(asides(&harness, "look_up", &[spelt[0]; 2]).await, ["", ""]);
}

#[tokio::test]
async fn d85_denied_calls_count_conversations_apart_and_no_secret_is_said() {
    let repeats = Repeats::after([2, 3]).expect("they make sense");
    let one = harness(&repeats);
    let said = asides(&one, "look_up", &[r#"{"what":"denied","key":"t0k"}"#; 3]).await;
    assert!(said[1].contains("2 times") && said[2].contains("[redacted]") && !said[2].contains("t0k"), "{said:?}");
    let other = harness(&Repeats::after([2]).expect("it makes sense"));
    assert_eq!(asides(&other, "look_up", &[r#"{"what":"denied","key":"t0k"}"#]).await, [""]);
    for wrong in [&[][..], &[1], &[0, 3], &[3, 3]] {
        assert!(Repeats::after(wrong.iter().copied()).is_err(), "{wrong:?}");
    }
}
