//! What becomes of calls: the sentences of the seed about slots, lists and records, each by its gist.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    AllowAll, Ask, BoxFuture, CheckedCall, Checklist, Code, Conversation, Harness, Hit, Location, Lookup,
    Normalisation, Party, Pointer, Registry, Reported, SlotKind, SlotState, SourceKind, ToolCall, source_fn,
};

use crate::bench::{Bench, PAY, check, code_of, fills, pay, presets, seen};

/// "A value with no source cannot become an argument."
#[tokio::test]
async fn a_value_without_a_source_becomes_no_argument() {
    let bench = Bench::with("Pays.", PAY);
    let sources = Checklist::builder().source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")]));
    let harness = bench.harness(AllowAll, sources);
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE2","amount":5}"#)).await;
    assert_eq!(code, Code::Unanswered);
    assert!(said.contains("`iban` (The account that is paid.)") && !said.contains("amount"), "{said}");
    assert_eq!(seen(&bench.ran).len(), 1);
    let (_, state) = bench.slot("/iban");
    assert!(matches!(state, SlotState::Open { party: Party::User, .. }), "{state:?}");
    assert!(matches!(bench.slot("/amount"), (SlotKind::Value, SlotState::Found { .. })));
}

/// "If you keep only what executed, what caused the block disappears from the log."
#[tokio::test]
async fn the_record_of_a_block_has_every_slot_with_what_was_tried() {
    let bench = Bench::with("Pays.", PAY);
    let harness = bench.harness(AllowAll, Checklist::builder().source(presets(&[("/amount", "5")])));
    code_of(&harness, pay(r#"{"iban":"DE2","amount":5}"#)).await;
    let verdicts = bench.verdicts();
    let text = serde_json::to_string(&*verdicts[0]).unwrap();
    assert!(
        text.contains(r#""state":"open""#) && text.contains(r#""tried":[{"source":"preset","came":"no_result"}]"#),
        "{text}"
    );
    assert_eq!(verdicts[0].open(), ["/iban"]);
    assert!(verdicts[0].checklist().is_some());
}

/// "Put only irreversible actions through it and let reads pass."
#[tokio::test]
async fn reads_pass_without_slots_unless_they_have_labels() {
    /// Finds.
    #[tool_runtime::tool(host(read_only, inline))]
    fn find(
        /// What.
        what: String,
    ) -> String {
        what
    }

    /// Finds more.
    ///
    /// [confirm] it costs something
    #[tool_runtime::tool(host(read_only, inline))]
    fn find_more(
        /// What.
        what: String,
    ) -> String {
        what
    }

    let registry = Registry::builder().tools([FindTool::host(), FindMoreTool::host()]).build().unwrap();
    let checklist = Checklist::builder().build(&registry).unwrap();
    let harness = Harness::new(registry.clone(), AllowAll).checklist(checklist);
    let call = |tool: &str| ToolCall::new("c", tool, r#"{"what":"x"}"#);
    assert_eq!(code_of(&harness, call("find")).await.0, Code::Ok);
    assert_eq!(code_of(&harness, call("find_more")).await.0, Code::ApprovalUnavailable);
    let all = Checklist::builder().json("ours", r#"{"scope":{"calls":"all"}}"#).build(&registry).unwrap();
    let harness = Harness::new(registry.clone(), AllowAll).checklist(all);
    assert_eq!(code_of(&harness, call("find")).await.0, Code::Unanswered);
    let off = r#"{"scope":{"calls":"all","off":["find"]}}"#;
    let off = Checklist::builder().json("ours", off).build(&registry).unwrap();
    assert_eq!(code_of(&Harness::new(registry, AllowAll).checklist(off), call("find")).await.0, Code::Ok);
}

/// "Skipping them leaves everything above running as it is": no file, no labels.
#[tokio::test]
async fn without_files_and_labels_the_rest_holds() {
    let bench = Bench::with("Pays.", PAY);
    let conversation = Conversation::new();
    conversation.user("Please pay 250 euros to DE89 3704 0044 0532 0130 00.");
    let list = Checklist::builder().source(conversation.instruction()).source(conversation.observed());
    let harness = bench.harness(AllowAll, list);
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE89370400440532013000","amount":250}"#)).await;
    assert_eq!(code, Code::Ok, "{said}");
    let (_, state) = bench.slot("/iban");
    let SlotState::Found { at, normalisation, .. } = state else { panic!("{state:?}") };
    assert_eq!((at.to_string().as_str(), normalisation), ("u1", Normalisation::Separators));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE89370400440532013000","amount":260}"#)).await;
    assert_eq!(code, Code::Unanswered);
}

/// "Point to the location, not the value": the host reads it there.
#[tokio::test]
async fn a_value_is_read_where_the_model_points() {
    let bench = Bench::with("Pays.", PAY);
    let conversation = Conversation::new();
    conversation.user("Pay 250 euros to the usual account");
    let list = Checklist::builder().source(conversation.instruction()).source(presets(&[("/iban", "\"DE1\"")]));
    let harness = bench.harness(AllowAll, list);
    let call = pay(r#"{"iban":"DE1"}"#).with_reported(Reported::new([("/amount", "u1")]));
    let (code, said) = code_of(&harness, call).await;
    assert_eq!(code, Code::Ok, "{said}");
    assert_eq!(seen(&bench.ran), [r#"{"iban":"DE1","amount":250}"#]);
    assert_eq!(bench.verdicts()[0].revision(), 2);
}

/// What stands at the place has to be what the tool takes: otherwise the slot stays open, whether the schema asks for the
/// argument or only the list does.
#[tokio::test]
async fn a_place_that_holds_no_such_value_fills_nothing() {
    let bench =
        Bench::with("Pays.", &PAY.replace(r#""memo":{"type":"string"}"#, r#""memo":{"type":"string","maxLength":3}"#));
    let memo = source_fn(SourceKind::Prior, |ask: Ask| {
        let hit = |value: &str| {
            Lookup::Hit(Hit::new(Location::whole(Pointer::Prior("m".into()), value), value, Normalisation::Exact))
        };
        std::future::ready(match (ask.slot(), ask.value()) {
            ("/memo", None) => hit("\"far too long\""),
            (_, Some(value)) => hit(value),
            _ => Lookup::NoResult,
        })
    });
    let lines = r#"{"line":[{"tool":"pay","argument":"memo","label":"required"}]}"#;
    let harness = bench.harness(AllowAll, Checklist::builder().source(memo).json("ours", lines));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Unanswered, vec![]), "{said}");
}

/// "Changing one rule requires a deployment": not here.
#[tokio::test]
async fn a_rule_changes_without_a_deployment_and_never_by_half() {
    let bench = Bench::with("Pays.", PAY);
    let folder = std::env::temp_dir().join(format!("checklist-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rules.json");
    std::fs::write(&file, r#"{"scope":{"calls":"none"}}"#).unwrap();
    let checked = Arc::new(AtomicUsize::new(0));
    let counted = checked.clone();
    let known = move |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(false)))
    };
    let checklist = Checklist::builder().condition("known", known).file(&file).build(&bench.registry).unwrap();
    let harness = Harness::new(bench.registry.clone(), AllowAll).checklist(checklist.clone());
    let call = || pay(r#"{"iban":"DE1","amount":5}"#);
    assert_eq!(code_of(&harness, call()).await.0, Code::Ok);
    let before = checklist.digest();
    std::fs::write(&file, check("holds")).unwrap();
    assert_eq!(code_of(&harness, call()).await.0, Code::ConditionNotMet);
    assert_ne!(checklist.digest(), before);
    // What can't be read changes nothing, and is told.
    std::fs::write(&file, r#"{"line":[{"tool":"pay"}],"scope":{"calls":"none"}}"#).unwrap();
    assert_eq!(code_of(&harness, call()).await.0, Code::ConditionNotMet);
    let fault = checklist.fault().unwrap().to_string();
    assert!(fault.contains("rules.json: line 1, column 10: line 1: says nothing"), "{fault}");
    assert_eq!(checked.load(Ordering::Relaxed), 2);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A shadow records, and blocks nothing.
#[tokio::test]
async fn a_shadow_blocks_nothing_and_records_what_it_would() {
    let bench = Bench::with("Pays.\n[confirm] Sure?", PAY);
    let harness = bench.harness(AllowAll, Checklist::builder().json("ours", r#"{"scope":{"shadow":true}}"#));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    assert!(matches!(bench.slot("/iban"), (_, SlotState::Open { .. })));
    // What isn't there can't run in the shadow either.
    let call = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
    assert_eq!(code_of(&harness, call).await.0, Code::Unanswered);
}

/// "An error in a source is not 'no result'": the user isn't asked for what the host can't look up.
#[tokio::test]
async fn a_source_that_failed_is_the_hosts() {
    let bench = Bench::with("Pays.", PAY);
    let fails = source_fn(SourceKind::Prior, |_| std::future::ready(Lookup::Failed("the database is down".into())));
    let sets = Arc::default();
    let harness = bench.harness(AllowAll, Checklist::builder().source(fails)).approver(fills(&[], &sets));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, sets.lock().unwrap().len()), (Code::Unanswered, 0));
    assert!(said.contains("Only the host") && !said.contains("database"), "{said}");
    assert!(matches!(bench.slot("/iban"), (_, SlotState::Open { party: Party::Host, .. })));
}
