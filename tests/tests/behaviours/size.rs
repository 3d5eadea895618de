//! Results that are too long: cut between characters, with what is missing said, and kept whole for the host.

use std::sync::Arc;

use tool_runtime::path::Settled;
use tool_runtime::{AllowAll, Block, CallContext, Code, Content, Harness, HostTool, MemoryLedger, ToolCall, tool};

use super::support::logged;

/// Says much.
#[tool]
async fn much(
    /// How much of it.
    bytes: usize,
    /// Fail with it?
    #[arg(default)]
    fail: bool,
) -> Result<String, String> {
    let text: String = ('a'..='z').cycle().take(bytes).collect();
    if fail { Err(text) } else { Ok(text) }
}

#[allow(clippy::ptr_arg, reason = "what a renderer is given is what the tool returns")]
fn several(sizes: &Vec<usize>) -> Content {
    Content::blocks(sizes.iter().enumerate().map(|(index, size)| match index {
        2 => Block::Image { media_type: "image/png".into(), base64: "A".repeat(*size).into() },
        _ => Block::Text("t".repeat(*size).into()),
    }))
}

/// Says much in several blocks, of which the third is an image.
#[tool(host(project = several))]
async fn blocks(
    /// How much in each.
    sizes: Vec<usize>,
) -> Vec<usize> {
    sizes
}

async fn settle(tool: HostTool, cap: usize, arguments: String) -> Settled {
    let name = tool.name().to_owned();
    let ledger = Arc::new(MemoryLedger::default());
    let harness = Harness::new(logged([tool]).0, AllowAll).result_cap(cap).ledger(ledger);
    let mut settled = harness.run_settled([ToolCall::new("call_7", name, arguments)], None).await;
    settled.pop().expect("one call has one result")
}

/// How many bytes a text says are left out, and what stands before and behind that.
fn left_out(text: &str) -> (&str, usize, &str) {
    let (head, rest) = text.split_once("\n[… ").expect("it says so");
    let (mark, tail) = rest.split_once(" …]\n").expect("the mark ends");
    let (count, handle) = mark.split_once(" bytes left out; ").expect("it counts");
    assert_eq!(handle, "the host has the whole as `call_7`");
    (head, count.parse().expect("a number"), tail)
}

#[tokio::test]
async fn d72_cut_kept_and_told() {
    for fail in [false, true] {
        let settled = settle(MuchTool::host(), 200, format!(r#"{{"bytes":1600,"fail":{fail}}}"#)).await;
        let text = settled.result().text();
        assert!(text.len() <= 200, "{} bytes", text.len());
        let whole = settled.record().whole().and_then(Content::as_text).expect("the host has the whole");
        assert_eq!(whole.len(), 1600);
        let (head, count, tail) = left_out(&text);
        assert!(!head.is_empty() && whole.starts_with(head) && !tail.is_empty() && whole.ends_with(tail), "{text}");
        assert_eq!(count, 1600 - head.len() - tail.len());
        assert_eq!(settled.result().is_error(), fail);
        assert_eq!(settled.record().code(), if fail { Code::ToolError } else { Code::Ok });
        assert_eq!(settled.value().map(str::len), (!fail).then_some(1602));
    }
}

/// However it is spread over blocks, a model is told of all that it doesn't read.
#[tokio::test]
async fn d72_several_blocks_are_cut_where_the_first_does_not_fit() {
    for (sizes, kept) in [
        (vec![100, 1500], 1),
        (vec![200, 10], 0),
        (vec![199, 2], 0),
        (vec![1500, 100], 0),
        (vec![10, 10, 1500, 100], 2),
        (vec![100, 90, 40, 40], 1),
        (vec![10, 20, 30, 1000, 1], 3),
    ] {
        let arguments = format!(r#"{{"sizes":{sizes:?}}}"#);
        let settled = settle(BlocksTool::host(), 200, arguments).await;
        let read: Vec<&Block> = settled.result().content().iter().collect();
        let size = |block: &Block| match block {
            Block::Text(text) => text.len(),
            Block::Image { base64, .. } => base64.len(),
            other => panic!("{other:?}"),
        };
        let total: usize = sizes.iter().sum();
        assert!(read.iter().map(|block| size(block)).sum::<usize>() <= 200, "{sizes:?}: {read:?}");
        let whole: Vec<&Block> = settled.record().whole().expect("the host has the whole").iter().collect();
        assert_eq!(whole.len(), sizes.len());
        assert_eq!(read.len(), kept + 1, "{sizes:?}: {read:?}");
        assert_eq!(read[..kept], whole[..kept], "{sizes:?}");
        let Block::Text(last) = read[kept] else { panic!("{sizes:?}: {read:?}") };
        // Around the mark of an image's there is nothing, not even lines.
        let last = if last.starts_with('[') { format!("\n{last}\n") } else { last.to_string() };
        let (head, count, tail) = left_out(&last);
        let before: usize = sizes[..kept].iter().sum();
        assert_eq!(before + head.len() + count + tail.len(), total, "{sizes:?}: {read:?}");
        assert_eq!(tail.is_empty(), kept + 1 < sizes.len() || sizes[kept] < 200, "{sizes:?}: {read:?}");
    }
}

#[tokio::test]
async fn d73_what_fits_is_left_alone() {
    for sizes in ["[200]", "[100,100]", "[100,50,50]", "[]"] {
        let settled = settle(BlocksTool::host(), 200, format!(r#"{{"sizes":{sizes}}}"#)).await;
        assert!(settled.record().whole().is_none(), "{sizes}");
        let sizes: Vec<usize> = serde_json::from_str(sizes).expect("a list");
        let expected = if sizes.is_empty() { Content::text("(no output)") } else { several(&sizes) };
        assert_eq!(settled.result().content(), &expected);
    }
}

/// Says much beside its result.
#[tool]
async fn aside(
    /// How much in each.
    sizes: Vec<usize>,
    #[host] cx: &CallContext,
) -> u8 {
    sizes.iter().for_each(|size| cx.aside("a".repeat(*size)));
    1
}

#[tokio::test]
async fn what_is_said_beside_a_result_has_a_cap_as_well() {
    let mut counted = 0;
    for (sizes, lengths) in [
        ("[]", &[][..]),
        ("[200]", &[200]),
        ("[100,100]", &[100, 100]),
        ("[100,101]", &[100, 99]),
        ("[150,1000,1000]", &[150, 50]),
        ("[10000000]", &[199]),
        // Not even room for the words that something is missing.
        ("[190,1000,1000]", &[190, 10]),
        ("[200,1000]", &[200]),
    ] {
        let settled = settle(AsideTool::host(), 200, format!(r#"{{"sizes":{sizes}}}"#)).await;
        assert_eq!(settled.result().text(), "1");
        let asides: Vec<String> = settled.result().asides().iter().map(Content::to_text).collect();
        let found: Vec<usize> = asides.iter().map(String::len).collect();
        assert!(found == lengths && found.iter().sum::<usize>() <= 200, "{sizes}: {found:?}");
        let whole: usize =
            sizes.trim_matches(['[', ']']).split(',').filter_map(|size| size.parse::<usize>().ok()).sum();
        if let Some((_, rest)) = asides.last().and_then(|last| last.split_once("[… ")).filter(|_| whole > 200) {
            let count = rest.split_once(" bytes left out …]");
            let kept: usize = asides.iter().map(|aside| aside.matches('a').count()).sum::<usize>();
            if let Some((count, rest)) = count {
                // The mark itself has no `a`.
                assert_eq!(count.parse::<usize>().expect("a number") + kept, whole, "{sizes}: {rest}");
                counted += 1;
            }
        }
    }
    assert_eq!(counted, 3, "whoever is told that something is missing is told how much");
}
