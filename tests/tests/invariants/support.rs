//! What several of the invariants need.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use tool_runtime::path::Settled;
use tool_runtime::{
    BoxFuture, DynamicTool, Entry, Harness, HostTool, Ledger, LedgerError, MemoryLedger, Registry, ToolCall, Verdict,
    tool,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// What a tool may fail with, boxed.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Is a bound met? Answers `false` where asking the compiler for it would be an error.
macro_rules! implements {
    ($of:ty: $($bound:tt)+) => {{
        #[allow(dead_code, reason = "not used where the bound is met")]
        trait UnlessMet {
            const MET: bool = false;
        }
        impl<T: ?Sized> UnlessMet for T {}
        #[allow(dead_code, reason = "only its constant is asked for")]
        struct BoundOf<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "not there where the bound isn't met")]
        impl<T: ?Sized + $($bound)+> BoundOf<T> {
            const MET: bool = true;
        }
        <BoundOf<$of>>::MET
    }};
}
pub(crate) use implements;

/// A lock that a failed assertion elsewhere doesn't take away.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A registry that has to be fine.
pub(crate) fn registry(tools: impl IntoIterator<Item = HostTool>) -> Registry {
    match Registry::builder().tools(tools).state(Ran::default()).build() {
        Ok(registry) => registry,
        Err(error) => panic!("the registry was refused: {error}"),
    }
}

/// A registry whose tools note that they ran, and where they note it.
pub(crate) fn watched(tools: impl IntoIterator<Item = HostTool>) -> (Registry, Ran) {
    let ran = Ran::default();
    match Registry::builder().tools(tools).state(ran.clone()).build() {
        Ok(registry) => (registry, ran),
        Err(error) => panic!("the registry was refused: {error}"),
    }
}

/// How often bodies began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran(Arc<AtomicUsize>);

impl Ran {
    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Does something.
#[tool]
pub(crate) async fn act(
    /// How much of it.
    #[arg(default = 0)]
    n: i64,
    #[host] ran: Ran,
) -> i64 {
    ran.note();
    n
}

/// A dynamic tool that has to be fine, and gives back what it was given.
pub(crate) fn echo(name: &str, parameters: &str) -> HostTool {
    let built = DynamicTool::builder(name, "Says it again.")
        .parameters(parameters)
        .output("true")
        .run(|arguments, _| async move { Ok(arguments) });
    match built {
        Ok(tool) => tool,
        Err(error) => panic!("{error}"),
    }
}

/// One call.
pub(crate) async fn one(harness: &Harness, call: ToolCall) -> Settled {
    let mut settled = harness.run_settled([call], None).await;
    match (settled.pop(), settled.is_empty()) {
        (Some(only), true) => only,
        _ => panic!("one call has one result"),
    }
}

/// All that a ledger keeps is ours to look at afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept(Arc<MemoryLedger>);

impl Kept {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.0.entries()
    }

    pub(crate) fn verdicts(&self) -> Vec<Arc<Verdict>> {
        let verdict = |entry| match entry {
            Entry::Verdict(verdict) => Some(verdict),
            _ => None,
        };
        self.entries().into_iter().filter_map(verdict).collect()
    }
}

impl Ledger for Kept {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.0.append(entry)
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives a future on this thread, without any runtime.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park();
    }
}

/// Asks a future once how far it is.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Everything that is traced from the first call of this on, by all tests of this process: the names of spans and
/// events, and their fields.
pub(crate) fn traced() -> &'static Mutex<String> {
    static TRACED: OnceLock<&'static Mutex<String>> = OnceLock::new();
    TRACED.get_or_init(|| {
        let text: &'static Mutex<String> = Box::leak(Box::default());
        if tracing::subscriber::set_global_default(Listener { text, spans: AtomicU64::new(1) }).is_err() {
            panic!("somebody else listens already");
        }
        text
    })
}

/// Writes down whatever is traced.
struct Listener {
    text: &'static Mutex<String>,
    spans: AtomicU64,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let _ = write!(self.0, " {field}={value}");
        let mut source = value.source();
        while let Some(cause) = source {
            let _ = write!(self.0, ": {cause}");
            source = cause.source();
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = lock(self.text);
        let _ = write!(text, "\nspan {}", span.metadata().name());
        span.record(&mut Fields(&mut text));
        Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst))
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut lock(self.text)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = lock(self.text);
        let _ = write!(text, "\nevent {}", event.metadata().name());
        event.record(&mut Fields(&mut text));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
