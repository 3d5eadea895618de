//! What `approvals` and `ledger` show of checklists and records.

use std::sync::Arc;

use tool_runtime::agreement::Quarantine;
use tool_runtime::{DynamicTool, Signer};

/// What an example does in a folder of its own.
fn in_folder<T>(name: &str, does: impl AsyncFnOnce(&std::path::Path) -> T) -> T {
    let folder = std::env::temp_dir().join(format!("examples-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(does(&folder));
    std::fs::remove_dir_all(&folder).unwrap();
    done
}

#[test]
fn a_checklist_asks_for_what_nobody_gave_and_takes_rules_while_it_runs() {
    let shown = in_folder("checklist", async |folder| {
        let mut out = Vec::new();
        examples::approvals::checklist::run(folder, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert!(lines.contains(&"Asked for: Which account should the money go to?"), "{shown}");
    assert_eq!(
        lines.iter().filter(|line| **line == "result: paid 25 to DE02120300000000202051 (lamp)").count(),
        1,
        "{shown}"
    );
    assert!(!shown.contains("paid 25 to DE9999"), "{shown}");
    assert!(
        lines.iter().any(|line| line.starts_with("result: `pay` did not run: it is not so that the payment is within")),
        "{shown}"
    );
    assert!(lines.iter().any(|line| line.starts_with("/amount: found at u1 (exact)")), "{shown}");
    assert!(shown.contains(r#""problem":"names_nothing""#), "{shown}");
}

#[test]
fn approvals_are_for_values_and_outlast_a_process() {
    let shown = in_folder("durable", async |folder| {
        let mut out = Vec::new();
        // The test's own process can't be started again: another host will do.
        let second = |database: &std::path::Path, case| {
            let database = database.to_owned();
            let other = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let ledger = examples::approvals::durable::shared(&database, "second").await.unwrap();
                    let mut out = Vec::new();
                    examples::approvals::durable::resume(&ledger, case, &mut out).await.unwrap();
                    String::from_utf8(out).unwrap()
                })
            });
            Ok(other.join().unwrap())
        };
        examples::approvals::durable::run(folder, second, &mut out).await.unwrap();
        String::from_utf8(out).unwrap()
    });
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert!(lines.contains(&"confirmed before: /to; to be confirmed: /amount"), "{shown}");
    assert!(lines.contains(&"refused: nobody has answered yet"), "{shown}");
    // One is taken back; of the other a value has come in.
    assert_eq!(lines.iter().filter(|line| line.starts_with("approval_void: ")).count(), 2, "{shown}");
    assert!(lines.contains(&r#"agreed to: {"to":"alice","amount":10}"#), "{shown}");
    assert!(lines.contains(&r#"would run: {"to":"alice","amount":10,"fee":2}"#), "{shown}");
    assert!(lines.contains(&"confirmed before: /amount, /to; to be confirmed: /fee"), "{shown}");
    assert!(lines.contains(&"ok: paid 10 to alice, and kept 2"), "{shown}");
    assert!(lines.contains(&"ok: paid 25 to alice"), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("ann, on the web: 7, which can't be taken")), "{shown}");
    assert!(lines.contains(&"ok: paid 30 to bob"), "{shown}");
    assert!(lines.contains(&"refused: no such call waits: it is over, or somebody else goes on with it"), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("refused: line ")), "{shown}");
    assert!(!shown.contains("paid 1000") && !shown.contains("paid 99") && !lines.contains(&"taken"), "{shown}");
}

#[test]
fn a_ledger_says_what_became_of_calls_and_why() {
    in_folder("ledger", async |folder| {
        let key = || tool_runtime::LedgerKey::new("main", [1; 32]).unwrap();
        for store in ["ledger.jsonl", "ledger.db"] {
            let store = folder.join(store).to_str().unwrap().to_owned();
            let ask = async |words: &[&str]| {
                let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                let mut out = Vec::new();
                examples::ledger::run(&words, key(), &mut out).await.map(|()| String::from_utf8(out).unwrap())
            };
            let case = {
                let ledger = examples::ledger::open(&store, key(), "host").await.unwrap();
                let mut out = Vec::new();
                let quarantine = Quarantine::open(Arc::clone(&ledger)).await.unwrap();
                let tool = DynamicTool::builder("search", "Searches.").output("true");
                let tool = tool.run(|_, _| async { Ok("1".to_owned()) }).unwrap();
                quarantine.hold(&tool, "it races").await.unwrap();
                let ann = Signer::new("ann", "terminal");
                quarantine.lift_by_person("search", ann, "it was mended").await.unwrap();
                examples::approvals::durable::propose(&ledger, 7, &mut out).await.unwrap().0
            };
            let declared = ask(&["declared", &store]).await.unwrap();
            let lines = ["search  quarantined: it races", "search  lifted: it was mended (ann by terminal)"];
            assert_eq!(declared.lines().collect::<Vec<_>>(), lines);
            let calls = ask(&["calls", &store, "--conversation", "demo"]).await.unwrap();
            assert!(calls.contains(r#"pay {"to":"alice","amount":7}  waits for an answer"#), "{calls}");
            assert_eq!(ask(&["calls", &store, "--tool", "other"]).await.unwrap(), "");
            let waiting = ask(&["waiting", &store]).await.unwrap();
            assert!(waiting.contains("because: payments are confirmed") && waiting.contains("question: "), "{waiting}");
            let why = ask(&["why", &store, &case.to_string()]).await.unwrap();
            assert!(why.contains("stopped at: approval_pending"), "{why}");
            assert!(why.contains("rules: payments are confirmed"), "{why}");
            assert_eq!(ask(&["stops", &store]).await.unwrap(), "pay approval_pending × 1\n");
            assert_eq!(ask(&["failed", &store]).await.unwrap(), "");
            assert!(ask(&["report", &store]).await.unwrap().contains(r#""findings": []"#));
            assert_eq!(ask(&["repair", &store]).await.unwrap(), "");
            assert!(ask(&["nothing", &store]).await.is_err());
        }
        let store = folder.join("ledger.jsonl").to_str().unwrap().to_owned();
        let ask = async |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut out = Vec::new();
            examples::ledger::run(&words, key(), &mut out).await.map(|()| String::from_utf8(out).unwrap())
        };
        let head = ask(&["head", &store]).await.unwrap();
        let verified = ask(&["verify", &store, "--expect", head.trim()]).await.unwrap();
        assert!(verified.contains("all as they were written"), "{verified}");
        let text = std::fs::read_to_string(&store).unwrap();
        std::fs::write(&store, &text[..text.len() - 1]).unwrap();
        assert!(ask(&["verify", &store]).await.is_err());
        let cut = text[..text.len() - 1].rfind('\n').unwrap() + 1;
        std::fs::write(&store, &text[..cut]).unwrap();
        assert!(ask(&["verify", &store]).await.is_ok());
        assert!(ask(&["verify", &store, "--expect", head.trim()]).await.is_err());
    });
}

/// A rule is tried on what happened before it decides anything.
#[test]
fn a_ledger_says_what_other_rules_would_have_decided() {
    use tool_runtime::{AllowAll, Answers, BoxFuture, CheckedCall, Checklist, Harness, Registry, ToolCall};

    in_folder("replay", async |folder| {
        let key = || tool_runtime::LedgerKey::new("main", [1; 32]).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let parameters = r#"{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]}"#;
        let tools =
            file("tools.json", &format!(r#"[{{"name":"pay","description":"Pays.","parameters":{parameters}}}]"#));
        let line = |limit: &str| {
            format!(
                r#"{{"scope":{{"calls":"none"}},"line":[{{"name":"limit","check":"{limit}","text":"it is within the limit"}}]}}"#
            )
        };
        let (old, new) = (file("old.json", &line("within_limit")), file("new.json", &line("is_working_day")));
        let rules = file("rules.toml", "[[rule]]\ndecision = \"deny\"\ntool = \"pay\"\nreason = \"not any more\"\n");
        let store = folder.join("ledger.jsonl").to_str().unwrap().to_owned();
        {
            let tool = DynamicTool::builder("pay", "Pays.").parameters(parameters).output("true");
            let tool = tool.run(|_, _| async { Ok("true".to_owned()) }).unwrap();
            let registry = Registry::builder().tool(tool).build().unwrap();
            let within = |call: CheckedCall| -> BoxFuture<'static, Result<bool, String>> {
                Box::pin(async move { Ok(call.arguments().read::<u32>("/amount").ok_or("none")? <= 20) })
            };
            let list = Checklist::builder().answers(&Answers::new()).condition("within_limit", within).file(&old);
            let list = list.build(&registry).unwrap();
            let ledger = examples::ledger::open(&store, key(), "host").await.unwrap();
            let harness = Harness::new(registry, AllowAll).checklist(list).ledger(ledger);
            for amount in [5, 25] {
                harness.run([ToolCall::new("c", "pay", format!(r#"{{"amount":{amount}}}"#))]).await;
            }
        }
        let ask = async |options: &[&str]| {
            let words = [&["replay", &store, "--tools", &tools][..], options].concat();
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let mut out = Vec::new();
            let done = examples::ledger::run(&words, key(), &mut out).await;
            done.map(|()| String::from_utf8(out).unwrap())
        };
        let same = ask(&["--list", &old, "--check", "within_limit"]).await.unwrap();
        assert_eq!(same, "0 of 2 would come to something else\n");
        let all = ask(&["--list", &old, "--check", "within_limit", "--all"]).await.unwrap();
        assert!(all.contains("was cleared, and would be again"), "{all}");
        // Whether it was a working day nobody looked up then.
        let other = ask(&["--list", &new, "--check", "is_working_day"]).await.unwrap();
        assert_eq!(other.matches("would be unanswered: it is within the limit").count(), 2, "{other}");
        assert!(other.contains("    limit: holds -> open\n"), "{other}");
        let denied = ask(&["--rules", &rules]).await.unwrap();
        assert!(denied.contains("was cleared; would be denied: not any more"), "{denied}");
        assert!(denied.contains("was condition_not_met; would be denied"), "{denied}");
        for wrong in [&["--what"][..], &["--rules"], &["--list", "nowhere.json"]] {
            assert!(ask(wrong).await.is_err(), "{wrong:?}");
        }
    });
}
