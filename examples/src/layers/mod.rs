//! A retry, a cache and a metric around the execution of tools.
//!
//! A layer is given an attempt at a permitted call. It may run it, run it again, or answer in its place; the call, its
//! arguments and what was decided of it are out of its reach.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tool_runtime::{
    AllowAll, Attempt, BoxFuture, Code, Digest, Harness, Layer, Ran, Registry, ToolCall, tool, tool_type,
};

/// How often a body began.
#[derive(Clone, Default)]
struct Bodies(Arc<AtomicU32>);

/// A price and its currency.
#[tool_type]
struct Price {
    cents: u32,
    currency: String,
}

/// Look up what an article costs.
#[tool(host(read_only, idempotent, concurrency_safe, timeout = "2s"))]
async fn look_up_price(
    /// The article's number.
    article: u32,
    #[host] bodies: &Bodies,
) -> Result<Price, String> {
    // The shop's server is a moody one: every other request fails.
    if bodies.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        return Err("The shop did not answer.".to_owned());
    }
    Ok(Price { cents: article * 10 + 99, currency: "EUR".to_owned() })
}

/// Order an article.
#[tool(host(timeout = "2s"))]
async fn order(
    /// The article's number.
    article: u32,
    #[host] bodies: &Bodies,
) -> Result<String, String> {
    bodies.0.fetch_add(1, Ordering::Relaxed);
    Err(format!("The shop has no article {article}."))
}

/// Tries again what may be tried again: tools say so (`idempotent`), errors don't.
struct Retry {
    times: u32,
    pause: Duration,
}

impl Layer for Retry {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let mut ran = attempt.run().await;
            for _ in 0..self.times {
                let helps = matches!(ran.code(), Code::ToolError | Code::Panicked);
                if !helps || !attempt.tool().hints().idempotent {
                    break;
                }
                tokio::time::sleep(self.pause).await;
                ran = attempt.run().await;
            }
            ran
        })
    }
}

/// Answers what was asked before. The key has the definition in it: another version of a tool is another tool.
#[derive(Default)]
struct Cache(Mutex<BTreeMap<(Digest, String), Ran>>);

impl Layer for Cache {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            if !attempt.tool().hints().read_only {
                return attempt.run().await;
            }
            let key = (*attempt.definition(), attempt.arguments().as_str().to_owned());
            let kept = lock(&self.0).get(&key).cloned();
            if let Some(kept) = kept {
                return kept;
            }
            let ran = attempt.run().await;
            if !ran.is_error() {
                lock(&self.0).insert(key, ran.clone());
            }
            ran
        })
    }
}

/// Counts calls by their tools and how they ended.
#[derive(Clone, Default)]
struct Metrics(Arc<Mutex<BTreeMap<(String, Code), Measured>>>);

#[derive(Default)]
struct Measured {
    calls: u32,
    spent: Duration,
}

impl Layer for Metrics {
    fn around<'a>(&'a self, mut attempt: Attempt<'a>) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let begun = Instant::now();
            let ran = attempt.run().await;
            let mut seen = lock(&self.0);
            let measured = seen.entry((attempt.tool().name().to_owned(), ran.code())).or_default();
            measured.calls += 1;
            measured.spent += begun.elapsed();
            drop(seen);
            ran
        })
    }
}

/// A lock that a panic elsewhere doesn't take away.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a few calls and writes down what came of them.
///
/// # Errors
/// If `out` can't be written to.
pub fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(play(out))
}

async fn play(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (bodies, metrics) = (Bodies::default(), Metrics::default());
    let registry =
        Registry::builder().tools([LookUpPriceTool::host(), OrderTool::host()]).state(bodies.clone()).build()?;
    // From the outside in: what is measured includes what the others do.
    let harness = Harness::new(registry, AllowAll)
        .layer(metrics.clone())
        .layer(Cache::default())
        .layer(Retry { times: 2, pause: Duration::from_millis(5) });

    writeln!(out, "Three layers around every body: metrics, inside them a cache, inside it a retry.\n")?;
    let calls = [
        ("look_up_price", r#"{"article":7}"#, "fails once, and is tried again"),
        ("look_up_price", r#"{"article":7.0}"#, "the same call: the cache answers, no body runs"),
        ("order", r#"{"article":7}"#, "not idempotent: it is tried once, and never kept"),
        ("order", r#"{"article":"seven"}"#, "refused before any layer hears of it"),
    ];
    for (number, (tool, arguments, note)) in calls.into_iter().enumerate() {
        let before = bodies.0.load(Ordering::Relaxed);
        let settled = harness.run_settled([ToolCall::new(format!("call_{number}"), tool, arguments)], None).await;
        let ran = bodies.0.load(Ordering::Relaxed) - before;
        for settled in settled {
            let first = settled.result().text();
            let first = first.lines().next().unwrap_or_default();
            writeln!(out, "{tool} {arguments}\n  {note}")?;
            writeln!(out, "  {}, bodies run: {ran}; the model reads: {first}\n", settled.record().code())?;
        }
    }
    writeln!(out, "What was measured:")?;
    for ((tool, code), measured) in &*lock(&metrics.0) {
        let spent = measured.spent.as_secs_f64() * 1e3;
        writeln!(out, "  {tool}: {code} × {}, {spent:.1} ms", measured.calls)?;
    }
    Ok(())
}
