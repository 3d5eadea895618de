//! What becomes of calls: the sentences of the seed about slots, unknowns, asking and verdicts, each by its gist.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::{
    AllowAll, Answer, Answers, Ask, BoxFuture, CallFacts, CheckedCall, Checklist, Code, Conversation, Decision,
    DynamicTool, Entry, Harness, Hit, ListKind, Location, Lookup, MemoryLedger, Normalisation, Notices, Party, Pointer,
    ProcessMemory, QuestionSet, Registry, Reported, SlotKind, SlotState, SourceKind, ToolCall, source_fn,
};

use crate::bench::{Bench, PAY, Ran, check, code_of, fills, pay, presets, says, seen};

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

/// "It has to be able to write 'no result', because when there is nothing to write, it invents."
#[tokio::test]
async fn no_result_for_a_required_value_is_asked_for_and_not_refused() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder().source(presets(&[("/amount", "5")])))
        .approver(fills(&[("The account that is paid.", "DE7")], &sets));
    let call = pay(r#"{"amount":5}"#).with_reported(Reported::new([("/iban", Reported::NO_RESULT)]));
    let (code, _) = code_of(&harness, call).await;
    assert_eq!(code, Code::Ok);
    // "Once the list is full, it is already there": no model call in between.
    assert_eq!(seen(&bench.ran), [r#"{"iban":"DE7","amount":5}"#]);
    let verdicts = bench.verdicts();
    assert_eq!((verdicts.len(), verdicts[0].revision()), (1, 2));
    assert!(matches!(bench.slot("/iban"), (_, SlotState::Answered(_))));
    let sets = sets.lock().unwrap();
    let question = &sets[0].questions[0];
    assert!(question.reasons.is_empty(), "nothing but the blank is asked for: {:?}", question.reasons);
}

/// "Ask about blanks in one batch, naturally."
#[tokio::test]
async fn all_blanks_of_a_turn_are_asked_in_one_batch() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder())
        .approver(fills(&[("The account that is paid.", "DE7"), ("How much, in euros.", "12")], &sets));
    let calls = [pay(r#"{"iban":"DE1","amount":5}"#), ToolCall::new("call_2", "pay", r#"{"iban":"DE2","amount":6}"#)];
    let results = harness.run(calls).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    let sets = sets.lock().unwrap();
    assert_eq!(sets.len(), 1);
    let blanks: Vec<usize> = sets[0].questions.iter().map(|question| question.blanks.len()).collect();
    assert_eq!(blanks, [2, 2]);
    let words = sets[0].in_words();
    assert!(
        words.contains("The account that is paid.") && !words.contains("pay\"") && !words.contains("/iban"),
        "{words}"
    );
}

/// "What is recorded should be looked up, not asked again."
#[tokio::test]
async fn what_was_answered_once_is_not_asked_again() {
    let bench = Bench::with("Pays.", PAY);
    let (sets, answers) = (Arc::default(), Answers::new());
    let list = Checklist::builder().answers(&answers).source(presets(&[("/amount", "5")]));
    let harness = bench.harness(AllowAll, list).approver(fills(&[("The account that is paid.", "DE7")], &sets));
    assert_eq!(code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await.0, Code::Ok);
    let again = ToolCall::new("call_2", "pay", r#"{"iban":"DE7","amount":5}"#);
    assert_eq!(code_of(&harness, again).await.0, Code::Ok);
    assert_eq!(seen(&bench.ran), [r#"{"iban":"DE7","amount":5}"#; 2]);
    assert_eq!(sets.lock().unwrap().len(), 1);
    let (_, state) = bench.slot("/iban");
    let SlotState::Found { at, .. } = state else { panic!("{state:?}") };
    assert_eq!(at.source(), SourceKind::Answer);
}

/// A blank takes what the tool takes.
#[tokio::test]
async fn a_blank_is_typed() {
    let bench = Bench::with("Pays.", PAY);
    let refused = Arc::new(Mutex::new(Vec::new()));
    let noted = refused.clone();
    let harness = bench.harness(AllowAll, Checklist::builder().source(presets(&[("/iban", "\"DE1\"")]))).approver(
        move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            let question = &set.questions[0];
            for wrong in ["many", "0", "1.5", "null", "[1]"] {
                noted.lock().unwrap().push(set.fill_text(&question.id, "/amount", wrong).unwrap_err().to_string());
            }
            set.fill(&question.id, "/iban", "\"X\"").unwrap_err();
            set.fill_text(&question.id, "/amount", " 12 ").unwrap();
            Box::pin(std::future::ready(vec![Answer::Yes]))
        },
    );
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Ok, vec![r#"{"iban":"DE1","amount":12}"#.to_owned()]));
    assert_eq!(refused.lock().unwrap().len(), 5);
}

/// A yes that leaves a blank empty is no yes.
#[tokio::test]
async fn a_remaining_blank_halts_execution() {
    let bench = Bench::with("Pays.", PAY);
    let yes = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
    };
    let harness = bench.harness(AllowAll, Checklist::builder()).approver(yes);
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Unanswered, vec![]));
}

/// "[confirm] — a slot that cannot be filled without user approval." Nobody's allow is one.
#[tokio::test]
async fn a_confirm_is_asked_although_the_policy_allows() {
    let parameters = PAY.replace("The account that is paid.", r"The account.\n[confirm] money goes there");
    let bench = Bench::with("Pays.\n[confirm] Money leaves the account.", &parameters);
    let harness = Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::ApprovalUnavailable, "{said}");

    let sets = Arc::default();
    let harness = harness.approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let sets = sets.lock().unwrap();
    let reasons = &sets[0].questions[0].reasons;
    // The pair is shown, and the call costs one question.
    assert_eq!(*reasons, [r#"money goes there: "DE1""#, "Money leaves the account."]);
    assert!(matches!(bench.slot("/iban"), (SlotKind::Value, SlotState::Given)));
    let verdicts = bench.verdicts();
    let iban = verdicts.last().unwrap().slots().iter().find(|slot| slot.name() == "/iban").unwrap();
    assert_eq!(iban.approved(), verdicts.last().unwrap().question());
    assert!(matches!(bench.slot("confirm"), (SlotKind::Condition, SlotState::Answered(_))));
}

/// Policy's ask and the list's are one question.
#[tokio::test]
async fn there_is_one_question_with_every_reason() {
    let bench = Bench::with("Pays.\n[confirm] Money leaves the account.", PAY);
    let asks = |_: &CallFacts<'_>| Decision::ask("payments are looked at");
    let sets = Arc::default();
    let harness = bench
        .harness(asks, Checklist::builder().source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")])))
        .approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let sets = sets.lock().unwrap();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].questions[0].reasons, ["payments are looked at", "Money leaves the account."]);
}

/// A denied call asks nothing, however many blanks it has.
#[tokio::test]
async fn nothing_is_asked_about_a_denied_call() {
    let bench = Bench::with("Pays.", PAY);
    let sets = Arc::default();
    let harness = bench
        .harness(|_: &CallFacts<'_>| Decision::deny("no payments"), Checklist::builder())
        .approver(fills(&[], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, sets.lock().unwrap().len()), (Code::Denied, 0));
}

/// "The answer 'the condition was not met' can exist."
#[tokio::test]
async fn a_condition_can_be_not_met() {
    for (then, truth, code) in [
        ("holds", Ok(true), Code::Ok),
        ("holds", Ok(false), Code::ConditionNotMet),
        ("holds", Err("the registry is down"), Code::Unanswered),
        ("prohibits", Ok(true), Code::ConditionNotMet),
        ("prohibits", Ok(false), Code::Ok),
        ("prohibits", Err("?"), Code::Unanswered),
        ("approve_if", Ok(false), Code::Ok),
        ("approve_if", Ok(true), Code::ApprovalUnavailable),
        ("approve_if", Err("?"), Code::Unanswered),
    ] {
        let bench = Bench::with("Pays.", PAY);
        let harness =
            bench.harness(AllowAll, Checklist::builder().condition("known", says(truth)).json("ours", check(then)));
        let (came, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
        assert_eq!(came, code, "{then} {truth:?}: {said}");
        if came == Code::ConditionNotMet {
            assert!(said.contains("the recipient is known") && said.contains("treasury policy 4"), "{said}");
        }
        if came == Code::Unanswered {
            // The user can't settle it.
            assert!(said.contains("Only the host") && !said.contains("Ask the user"), "{said}");
        }
    }
}

/// An error of the check, and a panic, are neither a yes nor a no.
#[tokio::test]
async fn a_check_that_panics_lets_nothing_run() {
    let bench = Bench::with("Pays.", PAY);
    let panics = |_: CheckedCall| -> BoxFuture<'static, Result<bool, String>> { panic!("boom") };
    let harness = bench.harness(AllowAll, Checklist::builder().condition("known", panics).json("ours", check("holds")));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Unanswered, vec![]));
    assert!(!said.contains("boom"));
}

/// Deny beats a false condition, which beats blanks, which beat asking.
#[tokio::test]
async fn the_order_of_judgement_is_one() {
    let bench = Bench::with("Pays.\n[confirm] Sure?", PAY);
    let list = || {
        let lines = check("holds").replace(r#","scope":{"calls":"none"}"#, "");
        Checklist::builder().condition("known", says(Ok(false))).json("ours", lines)
    };
    let call = || pay(r#"{"iban":"DE1","amount":5}"#);
    let harness = bench.harness(|_: &CallFacts<'_>| Decision::deny("no"), list());
    assert_eq!(code_of(&harness, call()).await.0, Code::Denied);
    let harness = bench.harness(AllowAll, list());
    assert_eq!(code_of(&harness, call()).await.0, Code::ConditionNotMet);
    let harness = bench.harness(AllowAll, Checklist::builder());
    assert_eq!(code_of(&harness, call()).await.0, Code::Unanswered);
    // The record has all that applied.
    let reasons = bench.verdicts();
    assert!(
        reasons[0].reasons().iter().any(|reason| reason.contains("the recipient is known")),
        "{:?}",
        reasons[0].reasons()
    );
}

/// "Any error while evaluating = unknown": what a provider wrote is the provider's.
#[tokio::test]
async fn a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user() {
    let parameters = PAY.replacen(
        r#""type":"object","#,
        r#""type":"object","x-tool-checklist":[{"name":"ok","check":"nobody_has_it","text":"it is fine"}],"#,
        1,
    );
    let bench = Bench::with("Pays.", &parameters);
    let sets = Arc::default();
    let harness =
        Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger)).approver(fills(&[], &sets));
    let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, sets.lock().unwrap().len()), (Code::Unanswered, 0));
    assert!(said.contains("its provider"), "{said}");
    // Exporters drop the keyword, and the definition is another one for it.
    let tool = bench.registry.get("pay").unwrap();
    assert!(!tool.schema().as_json().contains("x-tool-checklist"));
    assert_ne!(tool.digest(), Bench::with("Pays.", PAY).registry.get("pay").unwrap().digest());
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

/// A tool with a fixed change, and another.
fn lights() -> (Ran, Registry) {
    /// Switches the light off.
    #[tool_runtime::tool(host(inline, changes("light.off")))]
    fn turn_off_light() -> &'static str {
        "off"
    }

    /// Dims the light.
    #[tool_runtime::tool(host(inline, changes("light.dim", "light.warm")))]
    fn light_control() -> &'static str {
        "dim"
    }

    let tools = [TurnOffLightTool::host(), LightControlTool::host()];
    (Ran::default(), Registry::builder().tools(tools).build().unwrap())
}

/// "Matching has to be based on whether the tool can produce the state change the user wants, not on matching names."
#[tokio::test]
async fn a_tool_that_cant_make_the_wanted_change_is_filtered_out() {
    let (_, registry) = lights();
    let conversation = Conversation::new();
    conversation.user("turn off the living room light");
    let list = Checklist::builder().source(conversation.instruction()).json("ours", r#"{"fixed":{"intent":true}}"#);
    let ledger = Arc::new(MemoryLedger::default());
    let harness =
        Harness::new(registry.clone(), AllowAll).checklist(list.build(&registry).unwrap()).ledger(ledger.clone());
    let call = |tool: &str, pairs: &[(&str, &str)]| {
        ToolCall::new("c", tool, "{}").with_reported(Reported::new(pairs.iter().copied()))
    };
    let off = [("@action", "u1"), ("@change", "light.off")];
    assert_eq!(code_of(&harness, call("turn_off_light", &off)).await.0, Code::Ok);
    let (code, said) = code_of(&harness, call("light_control", &off)).await;
    assert_eq!(code, Code::ConditionNotMet);
    assert!(said.contains("light.dim"), "{said}");
    // "A tool chosen while these are empty is an off-target execution."
    assert_eq!(code_of(&harness, call("turn_off_light", &[])).await.0, Code::Unanswered);
    assert_eq!(code_of(&harness, call("turn_off_light", &[("@action", "no result")])).await.0, Code::Unanswered);
    // A place that isn't the user's is none.
    assert_eq!(code_of(&harness, call("turn_off_light", &[("@action", "r:call_7#")])).await.0, Code::Unanswered);
    let Entry::Verdict(verdict) = &ledger.entries()[0] else { panic!() };
    let action = verdict.slots().iter().find(|slot| slot.name() == "@action").unwrap();
    // What the user calls it is recorded.
    assert_eq!((action.kind(), action.value()), (SlotKind::Intent, Some(r#""turn off the living room light""#)));
    assert_eq!(action.origins()[0].list(), ListKind::Fixed);
}

/// "If the timing is unclear, do not default to immediate execution. Ask."
#[tokio::test]
async fn unclear_timing_is_asked_and_costs_no_question_of_its_own() {
    let (_, registry) = lights();
    let conversation = Conversation::new();
    conversation.user("turn off the light now");
    let list = || Checklist::builder().source(conversation.instruction()).json("ours", r#"{"fixed":{"timing":true}}"#);
    let harness = Harness::new(registry.clone(), AllowAll).checklist(list().build(&registry).unwrap());
    let call = ToolCall::new("c", "turn_off_light", "{}");
    assert_eq!(code_of(&harness, call.clone()).await.0, Code::ApprovalUnavailable);
    let said = call.clone().with_reported(Reported::new([("@when", "u1")]));
    assert_eq!(code_of(&harness, said).await.0, Code::Ok);
    let sets = Arc::default();
    let harness = Harness::new(registry.clone(), |_: &CallFacts<'_>| Decision::ask("lights are asked about"))
        .checklist(list().build(&registry).unwrap())
        .approver(fills(&[], &sets));
    assert_eq!(code_of(&harness, call).await.0, Code::Ok);
    assert_eq!(sets.lock().unwrap()[0].questions[0].reasons, ["lights are asked about", "it is done now"]);
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

/// Two sources that say different things are a choice.
#[tokio::test]
async fn a_conflict_is_asked_as_a_choice() {
    let bench = Bench::with("Pays.", PAY);
    let both = source_fn(SourceKind::Instruction, |ask: Ask| {
        let hit = |value: &str| Hit::new(Location::whole(Pointer::Turn(1), value), value, Normalisation::Exact);
        std::future::ready(match ask.slot() {
            "/iban" => Lookup::Conflict(vec![hit("\"DE1\""), hit("\"DE2\"")]),
            _ => Lookup::Hit(hit("5")),
        })
    });
    let sets = Arc::default();
    let harness = bench
        .harness(AllowAll, Checklist::builder().source(both))
        .approver(fills(&[("The account that is paid.", "DE2")], &sets));
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!((code, seen(&bench.ran)), (Code::Ok, vec![r#"{"iban":"DE2","amount":5}"#.to_owned()]));
    assert_eq!(sets.lock().unwrap()[0].questions[0].blanks[0].choices, ["\"DE1\"", "\"DE2\""]);
}

/// "[notice] — something the user should know in advance": it is shown before the run, and costs no answer.
#[tokio::test]
async fn a_notice_is_shown_before_the_run_and_costs_no_answer() {
    use std::io::Cursor;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let bench = Bench::with("Pays.\n[notice] Payments can't be taken back.", PAY);
    let screen = Screen::default();
    let terminal = tool_runtime::TerminalApprover::new(Cursor::new(""), screen.clone());
    let harness = Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger)).approver(terminal);
    let (code, _) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
    assert_eq!(code, Code::Ok);
    let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
    assert_eq!(shown, "  notice: Payments can't be taken back.\n");
    assert_eq!(bench.slot("notice").1, SlotState::Told);
}

/// "[notice] must have been shown": nobody who can show it, no run, unless the host says that a record will do.
#[tokio::test]
async fn a_notice_that_nobody_can_be_shown_keeps_the_call_from_running() {
    let bench = Bench::with("Pays.\n[notice] Payments can't be taken back.", PAY);
    let call = || pay(r#"{"iban":"DE1","amount":5}"#);
    // A closure can be asked, and can't tell.
    let agrees = |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
        Box::pin(std::future::ready(vec![Answer::Yes; set.questions.len()]))
    };
    let harness = || Harness::new(bench.registry.clone(), AllowAll).ledger(Arc::clone(&bench.ledger));
    for harness in [harness(), harness().approver(agrees)] {
        let (code, said) = code_of(&harness, call()).await;
        assert_eq!((code, seen(&bench.ran).len()), (Code::Unanswered, 0));
        assert!(said.contains("Only the host can settle this") && said.contains("can't be taken back"), "{said}");
        let verdicts = bench.verdicts();
        assert_eq!(verdicts.last().unwrap().open(), ["notice"]);
        assert!(matches!(bench.slot("notice").1, SlotState::Open { party: Party::Host, .. }));
    }
    // Whoever is asked is shown it with the question.
    let asks = |_: &CallFacts<'_>| Decision::ask("money");
    let asked = Harness::new(bench.registry.clone(), asks).ledger(Arc::clone(&bench.ledger)).approver(agrees);
    assert_eq!(code_of(&asked, call()).await.0, Code::Ok);
    assert_eq!(bench.slot("notice").1, SlotState::Told);
    // The host may say so.
    let recorded = harness().checklist(Checklist::new().with_notices(Notices::RecordedOnly));
    assert_eq!(code_of(&recorded, call()).await.0, Code::Ok);
    assert_eq!(bench.slot("notice").1, SlotState::Unconfirmed);
}

/// Secrets stand in no record.
#[tokio::test]
async fn the_record_holds_no_secret() {
    let parameters = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
    let bench = Bench::with("Pays.", &parameters);
    let harness = bench.harness(AllowAll, Checklist::builder());
    code_of(&harness, pay(r#"{"iban":"DE1","amount":5,"pin":"hunter"}"#)).await;
    let text = serde_json::to_string(&*bench.verdicts()[0]).unwrap();
    assert!(text.contains("/pin") && !text.contains("hunter"), "{text}");
}

/// Nor does a value that holds one: a line about the whole, a blank for the whole.
#[tokio::test]
async fn what_holds_a_secret_is_shown_and_recorded_as_one() {
    const CARD: &str = r#""card":{"type":"object","additionalProperties":false,"required":["number"],
        "properties":{"number":{"type":"string","x-tool-secret":true},"name":{"type":"string"}}}"#;
    let parameters = PAY.replace(r#""memo":{"type":"string"}"#, CARD).replace(r#""amount"],"#, r#""amount","card"],"#);
    let lines = r#"{"scope":{"calls":"none"},"line":[
        {"tool":"pay","argument":"card","label":"confirm","text":"the card is charged"}]}"#;
    let card = r#"{"number":"hunter","name":"Ann"}"#;
    let given = pay(&format!(r#"{{"iban":"DE1","amount":5,"card":{card}}}"#));
    let open = pay(r#"{"iban":"DE1","amount":5}"#).with_reported(Reported::new([("/card", Reported::NO_RESULT)]));
    for call in [given, open] {
        let bench = Bench::with("Pays.", &parameters);
        let (sets, answers) = (Arc::<Mutex<Vec<QuestionSet>>>::default(), Answers::new());
        let noted = Arc::clone(&sets);
        let approver = move |set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            for blank in &set.questions[0].blanks {
                assert!(blank.secret && !blank.keepable, "{blank:?}");
                set.fill(&set.questions[0].id, &blank.slot, card).unwrap();
            }
            noted.lock().unwrap().push(set);
            Box::pin(std::future::ready(vec![Answer::Yes]))
        };
        let list = Checklist::builder().answers(&answers).memory(Arc::new(ProcessMemory::new())).json("ours", lines);
        let (code, said) = code_of(&bench.harness(AllowAll, list).approver(approver), call).await;
        assert_eq!(code, Code::Ok, "{said}");
        assert_eq!(seen(&bench.ran), [format!(r#"{{"iban":"DE1","amount":5,"card":{card}}}"#)]);
        let asked = format!("{:?}", sets.lock().unwrap()[0].questions[0].reasons);
        assert!(!asked.contains("hunter"), "{asked}");
        for entry in bench.ledger.entries() {
            let text = serde_json::to_string(&entry).unwrap();
            assert!(!text.contains("hunter"), "{text}");
        }
    }
}

/// A list outlives the tools that it was built for. What a model doesn't see of a tool may change and leave its definition
/// what it was: which arguments are secret, and what the tool changes.
#[tokio::test]
async fn a_list_takes_each_tool_for_what_it_is() {
    let plain = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string"}"#);
    let secret = PAY.replace(r#""memo":{"type":"string"}"#, r#""pin":{"type":"string","x-tool-secret":true}"#);
    let conversation = Conversation::new();
    conversation.user("The pin is 4711.");
    let bench = Bench::with("Pays.", &plain);
    let lines = r#"{"line":[{"changes":"money.moved","label":"confirm","text":"money is moved"}]}"#;
    let tool = |schema: &str, changes: &[&str]| {
        let tool = DynamicTool::builder("pay", "Pays.").parameters(schema).output("true").changes(changes.to_vec());
        tool.run(|_, _| async { Ok("\"done\"".to_owned()) }).unwrap()
    };
    let moving = Registry::builder().tool(tool(&plain, &["money.moved"])).build().unwrap();
    let list = Checklist::builder()
        .source(presets(&[("/iban", "\"DE1\""), ("/amount", "5")]))
        .source(conversation.instruction())
        .json("ours", lines)
        .build(&moving)
        .unwrap();
    let call = || pay(r#"{"iban":"DE1","amount":5,"pin":"4711"}"#);
    for (registry, code, tells) in [
        (bench.registry.clone(), Code::Ok, true),
        (Registry::builder().tool(tool(&secret, &[])).build().unwrap(), Code::Ok, false),
        (moving, Code::ApprovalUnavailable, true),
        (bench.registry.clone(), Code::Ok, true),
    ] {
        let harness = Harness::new(registry, AllowAll).checklist(list.clone()).ledger(Arc::clone(&bench.ledger));
        let (came, said) = code_of(&harness, call()).await;
        assert_eq!(came, code, "{said}");
        let text = serde_json::to_string(&**bench.verdicts().last().unwrap()).unwrap();
        assert_eq!(text.contains("4711"), tells, "{text}");
    }
}

#[cfg(feature = "cel")]
mod expressions {
    use super::*;

    fn balance(
        json: Result<&'static str, &'static str>,
    ) -> impl Fn(CheckedCall) -> BoxFuture<'static, Result<String, String>> {
        move |_| Box::pin(std::future::ready(json.map(str::to_owned).map_err(str::to_owned)))
    }

    const LINE: &str = r#"{"scope":{"calls":"none"},"line":[{"tool":"pay","name":"balance","origin":"the bank",
        "holds":"args.amount <= state.balance","text":"the balance is sufficient"}]}"#;

    /// "Is the balance sufficient?"
    #[tokio::test]
    async fn a_condition_compares_an_argument_with_the_state() {
        for (state, code) in [
            (Ok("5"), Code::Ok),
            (Ok("4"), Code::ConditionNotMet),
            (Ok("\"much\""), Code::Unanswered),
            (Err("down"), Code::Unanswered),
        ] {
            let bench = Bench::with("Pays.", PAY);
            let harness =
                bench.harness(AllowAll, Checklist::builder().state("balance", balance(state)).json("ours", LINE));
            let (came, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
            assert_eq!(came, code, "{state:?}: {said}");
        }
    }

    /// A wrong expression is found when the list is loaded, with its place.
    #[test]
    fn a_wrong_expression_is_refused_with_its_place() {
        let bench = Bench::with("Pays.", PAY);
        let lines = LINE.replace("args.amount", "args.amont");
        let error = Checklist::builder().state("balance", balance(Ok("1"))).json("ours", lines).build(&bench.registry);
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("ours: line 2, column 17: line 1: for `pay`: ") && error.contains("amount"),
            "{error}"
        );
    }

    /// A condition over what is still open waits for it.
    #[tokio::test]
    async fn a_condition_over_a_blank_is_judged_once_it_is_filled() {
        for (amount, code) in [("5", Code::Ok), ("6", Code::ConditionNotMet)] {
            let bench = Bench::with("Pays.", PAY);
            let harness = bench
                .harness(AllowAll, Checklist::builder().state("balance", balance(Ok("5"))).json("ours", LINE))
                .approver(fills(&[("How much, in euros.", amount)], &Arc::default()));
            let call = pay(r#"{"iban":"DE1"}"#).with_reported(Reported::new([("/amount", Reported::NO_RESULT)]));
            assert_eq!(code_of(&harness, call).await.0, code);
        }
    }

    /// "A derived value is never silent."
    #[tokio::test]
    async fn a_derived_value_is_shown_before_it_counts() {
        let lines = r#"{"line":[{"tool":"pay","argument":"amount","derive":"state.total - state.paid"}]}"#;
        let bench = Bench::with("Pays.", PAY);
        let list = || {
            Checklist::builder()
                .source(presets(&[("/iban", "\"DE1\"")]))
                .state("total", balance(Ok("12")))
                .state("paid", balance(Ok("7")))
                .json("ours", lines)
        };
        let sets = Arc::default();
        let harness = bench.harness(AllowAll, list()).approver(fills(&[], &sets));
        let (code, said) = code_of(&harness, pay(r#"{"iban":"DE1","amount":5}"#)).await;
        assert_eq!(code, Code::Ok, "{said}");
        let reasons = sets.lock().unwrap()[0].questions[0].reasons.clone();
        assert_eq!(reasons, ["How much, in euros. 5 follows from state.total - state.paid"]);
        // Nobody has to agree: nothing runs.
        assert_eq!(
            code_of(&bench.harness(AllowAll, list()), pay(r#"{"iban":"DE1","amount":5}"#)).await.0,
            Code::ApprovalUnavailable
        );
        // Another value is none that follows.
        assert_eq!(
            code_of(&bench.harness(AllowAll, list()), pay(r#"{"iban":"DE1","amount":6}"#)).await.0,
            Code::Unanswered
        );
    }

    const SPLIT: &str = r#"{"type":"object","additionalProperties":false,"required":["price","count","parts"],"properties":{
        "price":{"type":"integer"},"count":{"type":"integer"},"parts":{"type":"array","items":{"type":"integer"}}}}"#;

    /// "Derived values need a declared derivation whose inputs have sources": what only follows from one another, or from
    /// what nobody gave, doesn't follow.
    #[tokio::test]
    async fn a_value_follows_only_from_what_has_a_source() {
        let lines = r#"{"line":[
            {"tool":"pay","argument":"parts[*]","derive":"args.price * args.count - args.parts.sum() + args.parts[0]"},
            {"tool":"pay","argument":"parts[1]","derive":"args.price * args.count - args.parts[0]"},
            {"tool":"pay","argument":"count","derive":"state.heads"}]}"#;
        // Who is found, and which of the three slots follow then.
        for (found, arguments, derived, open) in [
            (
                &["/price", "/count", "/parts/1"][..],
                r#"{"price":5,"count":2,"parts":[3,7]}"#,
                &["/parts/0"][..],
                &[][..],
            ),
            (&["/price", "/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &["/parts/1"], &[]),
            // What follows is known to others, in any order of the lines.
            (&["/price", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &["/count", "/parts/1"], &[]),
            // The two parts only follow from one another.
            (&["/price", "/count"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &[], &["/parts/0", "/parts/1"]),
            // Nobody said what it costs.
            (&["/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,7]}"#, &[], &["/parts/1", "/price"]),
            // It follows otherwise.
            (&["/price", "/count", "/parts/0"], r#"{"price":5,"count":2,"parts":[3,8]}"#, &[], &["/parts/1"]),
        ] {
            let bench = Bench::with("Pays.", SPLIT);
            let known = |slot: &str| match slot {
                "/price" => "5",
                "/count" => "2",
                "/parts/0" => "3",
                _ => "7",
            };
            let values: Vec<(&'static str, &'static str)> = found.iter().map(|slot| (*slot, known(slot))).collect();
            let list =
                Checklist::builder().source(presets(&values)).state("heads", balance(Ok("2"))).json("ours", lines);
            code_of(&bench.harness(AllowAll, list), pay(arguments)).await;
            let verdicts = bench.verdicts();
            let slots = verdicts[0].slots();
            let of = |is: fn(&SlotState) -> bool| {
                let mut names: Vec<&str> =
                    slots.iter().filter(|slot| is(slot.state())).map(|slot| slot.name()).collect();
                names.sort();
                names
            };
            assert_eq!(of(|state| matches!(state, SlotState::Derived(_))), derived, "{found:?} {arguments}");
            assert_eq!(of(|state| matches!(state, SlotState::Open { .. })), open, "{found:?} {arguments}");
        }
    }
}
