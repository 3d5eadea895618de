//! What a recorded call costs in a database, as a multiple of the least that it could: one insert and one update.
//!
//! `cargo bench -p tool-runtime --features sqlite --bench ledgers` prints lines `ratio NAME = X.XX`: medians of the time on
//! the wall, the cases in turn within one run, in one folder, with write-ahead logging and `synchronous=NORMAL`. With
//! `synchronous=FULL`, the default, it would be the disk that is measured. A call has three slots, each found in a source.
//!
//! Each case begins at rest, as a call does that a model has taken seconds to propose, and so that what a case leaves to
//! be done isn't counted to the next: a pool looks after each connection that it is given back. What the same costs
//! without a rest, one after another, is printed beside it; there it depends most on which threads are still awake.
//!
//! The raw pair goes through a pool, as statements of hosts do that share a database among tasks; the same pair on a
//! connection that one task keeps, as the ledger's writer does, is printed beside it. Against that one, one row is what
//! is compared: a row of the ledger stands in two more indexes (open calls, conversations), so that a call writes seven
//! pages where the pair writes four.

use std::fs;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tool_runtime::{
    AllowAll, Ask, Checklist, Harness, Hit, LedgerKey, Location, Lookup, Normalisation, Pointer, Registry, SourceKind,
    SqlLedger, SqlOptions, Survives, ToolCall, source_fn, tool,
};

/// Sends money.
#[tool(host(concurrency_safe))]
async fn pay(
    /// To whom.
    to: String,
    /// How much.
    amount: u32,
    /// What for.
    purpose: String,
) -> String {
    format!("{amount} to {to} for {purpose}")
}

const ARGUMENTS: &str = r#"{"to":"alice","amount":10,"purpose":"lunch"}"#;

/// How often each case is timed.
const ROUNDS: usize = 401;

/// Long enough for all threads to sleep.
const REST: Duration = Duration::from_millis(2);

/// The least: a row comes, and changes once.
const INSERT: &str = "INSERT INTO raw (id, verdict) VALUES ($1, $2)";
const UPDATE: &str = "UPDATE raw SET ended = $2 WHERE id = $1";

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

async fn measure(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("raw.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal);
    let pool = SqlitePoolOptions::new().max_connections(8).test_before_acquire(false).connect_with(options).await?;
    let mut kept = pool.acquire().await?;
    sqlx::query("CREATE TABLE raw (id TEXT PRIMARY KEY, verdict TEXT, ended TEXT)").execute(&pool).await?;
    let key = LedgerKey::new("bench", [1; 32])?;
    let ledger =
        SqlLedger::sqlite(folder.join("ledger.db"), key, SqlOptions::new().survives(Survives::ProcessCrash)).await?;
    let registry = Registry::builder().tool(PayTool::host()).build()?;
    let known = source_fn(SourceKind::Preset, |ask: Ask| {
        let value = ask.value().unwrap_or_default().to_owned();
        let at = Location::whole(Pointer::Preset(ask.slot().to_owned()), &value);
        std::future::ready(Lookup::Hit(Hit::new(at, value, Normalisation::Exact)))
    });
    let checklist = Checklist::builder().source(known).build(&registry)?;
    let in_memory = Harness::new(registry.clone(), AllowAll).checklist(checklist.clone()).conversation("bench");
    let harness = Harness::new(registry, AllowAll).checklist(checklist).ledger(ledger.clone()).conversation("bench");
    let calls = |count: usize| (0..count).map(|place| ToolCall::new(format!("call_{place}"), "pay", ARGUMENTS));
    // What the ledger writes of a call is what the raw pair writes.
    harness.run(calls(1)).await;
    let written = SqliteConnectOptions::new().filename(folder.join("ledger.db"));
    let mut written = SqliteConnection::connect_with(&written).await?;
    let row = sqlx::query("SELECT verdict, ended FROM tool_calls").fetch_one(&mut written).await?;
    let bodies: [String; 2] = [row.try_get(0)?, row.try_get(1)?];
    written.close().await?;
    if bodies[0].matches(r#""state":"found""#).count() != 3 {
        return Err(format!("three slots are found: {}", bodies[0]).into());
    }
    for (manner, rest) in [("one after another", Duration::ZERO), ("at rest", REST)] {
        let mut times: [Vec<Duration>; 5] = Default::default();
        for round in 0..ROUNDS {
            for step in 0..times.len() {
                // A different case comes first in each round.
                let case = (round + step) % times.len();
                let id = format!("call-{manner}-{case}-{round}");
                let pair =
                    || (sqlx::query(INSERT).bind(&id).bind(&bodies[0]), sqlx::query(UPDATE).bind(&id).bind(&bodies[1]));
                if !rest.is_zero() {
                    tokio::time::sleep(rest).await;
                }
                let begun = Instant::now();
                match case {
                    0 => {
                        let (insert, update) = pair();
                        insert.execute(&pool).await?;
                        update.execute(&pool).await?;
                    }
                    1 => {
                        let (insert, update) = pair();
                        insert.execute(&mut *kept).await?;
                        update.execute(&mut *kept).await?;
                    }
                    2 => drop(harness.run(calls(1)).await),
                    3 => drop(in_memory.run(calls(1)).await),
                    _ => drop(harness.run(calls(10)).await),
                }
                times[case].push(begun.elapsed());
            }
        }
        let [raw, kept, one, memory, ten] = times.each_mut().map(|times| median(times) * 1e6);
        let ten = ten / 10.0;
        println!("{manner}, in µs: a raw pair {raw:.0} by a pool, {kept:.0} by a connection that is kept");
        println!("  a recorded call {one:.0}, of ten {ten:.0} each, with the in-memory ledger {memory:.0}");
        println!(
            "  {:.2} and {:.2} of the pool's pair, {:.2} and {:.2} of the kept one's",
            one / raw,
            ten / raw,
            one / kept,
            ten / kept
        );
        if !rest.is_zero() {
            println!("ratio sqlite = {:.2}", one / raw);
            println!("ratio sqlite10 = {:.2}", ten / raw);
        }
    }
    ledger.close().await;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let folder = std::env::temp_dir().join(format!("ledgers-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let measured = runtime.block_on(measure(&folder));
    fs::remove_dir_all(&folder)?;
    measured
}
