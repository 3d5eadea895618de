//! A tool that pays, people who answer later, and ledgers to keep it all in.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tool_runtime::path::Settled;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, CaseId, Code, Decision, FileLedger, Harness, HostTool, Ledger, LedgerKey, Query,
    QuestionId, QuestionSet, Registry, Reply, Signer, ToolCall, tool,
};

/// How often a tool of a test ran.
#[derive(Clone, Default)]
pub(crate) struct Ran(Arc<AtomicUsize>);

impl Ran {
    pub(crate) fn ran(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Pays.
#[tool(host(destructive))]
pub(crate) async fn pay(
    /// To whom.
    to: String,
    /// How much.
    amount: u32,
    #[host] ran: &Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    format!("{amount} to {to}")
}

/// Unlocks.
#[tool]
pub(crate) async fn unlock(
    /// What.
    door: String,
    /// By which.
    #[arg(secret)]
    pin: String,
    #[host] ran: &Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    format!("{door} opened by {} digits", pin.len())
}

pub(crate) fn fine<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn registry(ran: &Ran, tools: impl IntoIterator<Item = HostTool>) -> Registry {
    fine(Registry::builder().tools(tools).state(ran.clone()).build())
}

/// Asks about every call; the answer comes later.
pub(crate) fn patient(ran: &Ran, ledger: impl Ledger + 'static) -> Harness {
    asking(registry(ran, [PayTool::host(), UnlockTool::host()]), ledger)
}

pub(crate) fn asking(registry: Registry, ledger: impl Ledger + 'static) -> Harness {
    Harness::new(registry, |_: &CallFacts<'_>| Decision::ask("money"))
        .approver(|set: QuestionSet| -> BoxFuture<'static, Vec<Answer>> {
            Box::pin(async move { vec![Answer::Later; set.questions.len()] })
        })
        .ledger(ledger)
        .conversation("talk")
}

pub(crate) fn key() -> LedgerKey {
    fine(LedgerKey::new("test", [7; 32]))
}

pub(crate) fn signed(question: &QuestionId, answer: Answer) -> Reply {
    Reply::new(question.clone(), answer, ann())
}

pub(crate) fn ann() -> Signer {
    Signer::new("ann", "web")
}

pub(crate) fn payment(amount: u32) -> ToolCall {
    ToolCall::new("call_1", "pay", format!(r#"{{"to":"alice","amount":{amount}}}"#))
}

/// Proposes one call, which then waits.
pub(crate) async fn propose(harness: &Harness, ledger: &dyn Ledger, call: ToolCall) -> (CaseId, QuestionId) {
    let settled = harness.run_settled([call], None).await;
    assert_eq!(code(&settled[0]), Code::ApprovalPending, "{}", settled[0].result().text());
    waiting(ledger, settled[0].record().case()).await
}

pub(crate) async fn waiting(ledger: &dyn Ledger, case: CaseId) -> (CaseId, QuestionId) {
    let history = fine(ledger.history(Query::all().case(case)).await);
    let question = history.case(case).and_then(|case| case.question());
    (case, question.unwrap_or_else(|| panic!("{case} has no question")))
}

pub(crate) fn code(settled: &Settled) -> Code {
    settled.record().code()
}

/// A folder of this test's own, which is gone after it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tool-ledger-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        fine(std::fs::create_dir_all(&path));
        Folder(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("ledger.jsonl")
    }

    /// All that is in its files, whatever they are.
    pub(crate) fn bytes(&self) -> String {
        let mut bytes = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for file in fine(std::fs::read_dir(folder)) {
                let path = fine(file).path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    bytes.extend(fine(std::fs::read(path)));
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How many sealed secrets there are beside a file.
    pub(crate) fn sealed(&self) -> usize {
        std::fs::read_dir(self.0.join("ledger.jsonl.sealed")).into_iter().flatten().count()
    }

    pub(crate) fn open(&self) -> Arc<FileLedger> {
        Arc::new(fine(FileLedger::open(self.file(), key())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
