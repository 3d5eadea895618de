//! A ledger in a database, which several hosts may share.

mod connection;
mod read;
mod replying;
mod statements;
mod uses;
mod writer;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use connection::{Column, Connection, Connections, Value};
use statements::{ABOUT, EARLIER_STARTS, MIGRATIONS, Statements};
use tokio::sync::{mpsc, oneshot};
use writer::{Append, Job, ROOM, Writer};

use super::file::hex;
use super::key::{Mac, random};
use super::waiting::sealed_names;
use super::{
    Amount, ClaimError, Claimed, Clearing, Entry, History, Ledger, LedgerError, LedgerKey, Owner, Parking, Query,
    Refusal, Reply, ReplyError, Stored, Tally,
};
use crate::BoxFuture;
use crate::call::CaseId;
use crate::gate::QuestionId;

/// Keeps entries in a SQLite or PostgreSQL database, one row a call.
///
/// Several hosts may share one: what waits for an answer may be answered by one and gone on with by
/// another, and whoever is first to claim it is the only one. Times are the database's; only until when a call waits is
/// said by the host that lets it wait, and held against the database's clock.
///
/// Every text has a code under the ledger's key (HMAC-SHA-256), so that a record that was forged or
/// edited is refused. What no code can show is that a database was put back to an earlier state, or
/// that rows are missing.
///
/// Entries that come while others are written are written together, in one transaction. It needs a
/// `tokio` runtime, the one that it was opened on.
#[derive(Clone)]
pub struct SqlLedger {
    inner: Arc<Inner>,
}

struct Inner {
    connections: Connections,
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
}

/// What the ledger and its writer know.
struct Shared {
    /// Written under this, and read also under those before it.
    key: LedgerKey,
    /// The name of the key of what names none.
    first: String,
    ledger: String,
    host: Owner,
    /// The same, as it stands in rows.
    owner: String,
    statements: &'static Statements,
    claimed: Mutex<HashSet<CaseId>>,
    /// Calls on their way that have taken something of limits.
    took: Mutex<HashSet<CaseId>>,
}

/// How a [`SqlLedger`] is opened.
#[derive(Debug, Clone)]
pub struct SqlOptions {
    host: Option<String>,
    lease: Duration,
    survives: Survives,
}

/// What entries survive once they are acknowledged. Of SQLite; PostgreSQL is set up where it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Survives {
    /// That the machine loses its power (`synchronous=FULL`).
    PowerLoss,
    /// That the process ends; the last of them may be missing after the machine lost its power
    /// (`synchronous=NORMAL`). Many times faster.
    ProcessCrash,
}

impl SqlOptions {
    /// A host without a name, which nobody can tell from a new one after its restart; leases of a
    /// minute; entries survive that the power is lost.
    pub fn new() -> Self {
        SqlOptions { host: None, lease: Duration::from_secs(60), survives: Survives::PowerLoss }
    }

    /// Names this host, so that after a restart its own calls need not wait for their lease to end. Two
    /// processes that run at a time must not have the same name.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.host = Some(name.into());
        self
    }

    /// Sets how long this host is taken to be alive after it was last heard of: 30 ms or more. It says so three times in
    /// that span.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        // Below that it would do nothing else.
        self.lease = lease.max(Duration::from_millis(30));
        self
    }

    /// Sets what entries survive.
    #[must_use]
    pub fn survives(mut self, what: Survives) -> Self {
        self.survives = what;
        self
    }
}

impl Default for SqlOptions {
    fn default() -> Self {
        SqlOptions::new()
    }
}

impl SqlLedger {
    /// Opens a SQLite database, and makes it if there is none.
    ///
    /// # Errors
    /// If it can't be opened or brought to this version, or was written under another key; and if the path is one that
    /// means no file to SQLite, such as an empty one or `:memory:`: what is kept there nobody would read again.
    #[cfg(feature = "sqlite")]
    pub async fn sqlite(
        path: impl AsRef<std::path::Path>,
        key: LedgerKey,
        options: SqlOptions,
    ) -> Result<Self, LedgerError> {
        use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
        let synchronous = match options.survives {
            Survives::PowerLoss => SqliteSynchronous::Full,
            Survives::ProcessCrash => SqliteSynchronous::Normal,
        };
        let connect = SqliteConnectOptions::new()
            .filename(path.as_ref())
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous)
            .busy_timeout(Duration::from_secs(10));
        // A file doesn't go away as a server does: nothing to ask before each use.
        let pool = SqlitePoolOptions::new().max_connections(8).test_before_acquire(false).connect_with(connect).await;
        let of_file = |cause| LedgerError::new(OfFile { path: path.as_ref().to_owned(), cause });
        let pool = pool.map_err(|error| of_file(error.into()))?;
        let file = "SELECT file FROM pragma_database_list WHERE name = 'main'";
        let file = sqlx::query_scalar::<_, Option<String>>(file).fetch_one(&pool).await;
        if file.map_err(|error| of_file(error.into()))?.is_none_or(|file| file.is_empty()) {
            return Err(of_file("SQLite would keep it in memory, for one connection, and lose it".into()));
        }
        SqlLedger::open(Connections::Sqlite(pool), key, options).await.map_err(|error| of_file(error.into_cause()))
    }

    /// Opens a PostgreSQL database by its URL.
    ///
    /// # Errors
    /// If it can't be opened or brought to this version, or was written under another key.
    #[cfg(feature = "postgres")]
    pub async fn postgres(url: &str, key: LedgerKey, options: SqlOptions) -> Result<Self, LedgerError> {
        let connect: sqlx::postgres::PgConnectOptions = url.parse().map_err(LedgerError::new)?;
        let pool = sqlx::postgres::PgPoolOptions::new()
            .max_connections(8)
            .connect_with(connect)
            .await
            .map_err(LedgerError::new)?;
        SqlLedger::open(Connections::Postgres(pool), key, options).await
    }

    async fn open(connections: Connections, key: LedgerKey, options: SqlOptions) -> Result<Self, LedgerError> {
        let boot = hex(&random::<8>().map_err(LedgerError::new)?);
        let named = options.host.is_some();
        let host = Owner::new(options.host.unwrap_or_else(|| format!("host-{boot}")), boot);
        let mut connection = connections.acquire().await.map_err(LedgerError::new)?;
        let begin = connections.dialect().begin();
        connection.run(begin, Vec::new()).await.map_err(LedgerError::new)?;
        let (ledger, first) = match migrated(&mut connection, &connections, &key).await {
            Ok(ledger) => ledger,
            Err(error) => {
                // Closed in the middle of it, nothing of it is done.
                connection.discard().await.map_err(LedgerError::new)?;
                return Err(error);
            }
        };
        connection.run("COMMIT", Vec::new()).await.map_err(LedgerError::new)?;
        let statements = connections.dialect().statements();
        if named {
            let earlier = Value::text(&format!("{}/", host.host()));
            connection.run(EARLIER_STARTS, vec![earlier]).await.map_err(LedgerError::new)?;
        }
        let owner = host.to_string().replace('\0', "\u{fffd}");
        let shared = Arc::new(Shared {
            key,
            first,
            ledger,
            host,
            owner,
            statements,
            claimed: Mutex::default(),
            took: Mutex::default(),
        });
        lease(&mut connection, &shared, options.lease).await.map_err(LedgerError::new)?;
        connection.run(statements.erase_forgotten, Vec::new()).await.map_err(LedgerError::new)?;
        drop(connection);
        let (jobs, incoming) = mpsc::channel(ROOM);
        let writer = Writer {
            connections: connections.clone(),
            shared: Arc::clone(&shared),
            connection: None,
            asked: HashSet::new(),
        };
        tokio::spawn(writer.run(incoming));
        let inner = Arc::new(Inner { connections, shared, jobs });
        tokio::spawn(stay_alive(Arc::downgrade(&inner), options.lease));
        Ok(SqlLedger { inner })
    }

    /// Removes calls that ended longer ago than `age`, and the secrets of calls that have waited in vain
    /// for as long. Gives the number of calls.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn prune(&self, age: Duration) -> Result<u64, LedgerError> {
        let age = || vec![Value::Integer(Some(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)))];
        let say = self.inner.shared.statements;
        let mut connection = self.inner.connections.acquire().await.map_err(LedgerError::new)?;
        let failed = LedgerError::new;
        connection.run(say.prune_secrets, age()).await.map_err(failed)?;
        connection.run(say.prune_entries, age()).await.map_err(failed)?;
        connection.run(say.prune_uses, age()).await.map_err(failed)?;
        connection.run(say.prune_calls, age()).await.map_err(failed)
    }

    /// Waits until all that was handed over is written, and closes the connections. Whatever comes
    /// after that fails.
    pub async fn close(&self) {
        let (done, written) = oneshot::channel();
        if self.inner.jobs.send(Job::Close(done)).await.is_ok() {
            let _ = written.await;
        }
        self.inner.connections.close().await;
    }

    async fn write(&self, entries: Vec<Entry>, sealed: Option<Vec<u8>>) -> Result<(), LedgerError> {
        let over = uses::ended(&entries);
        let mut lines = Vec::with_capacity(entries.len());
        for entry in entries {
            let text = entry.to_text()?;
            lines.push((entry, text));
        }
        let (done, written) = oneshot::channel();
        self.inner.jobs.send(Job::Append(Append { lines, sealed, done })).await.map_err(|_| ended())?;
        written.await.map_err(|_| ended())??;
        self.release(over).await;
        Ok(())
    }
}

/// Which file it was that could not be opened: SQLite doesn't say.
#[cfg(feature = "sqlite")]
#[derive(Debug)]
struct OfFile {
    path: std::path::PathBuf,
    cause: Box<dyn std::error::Error + Send + Sync>,
}

#[cfg(feature = "sqlite")]
impl fmt::Display for OfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` can't be opened", self.path.display())
    }
}

#[cfg(feature = "sqlite")]
impl std::error::Error for OfFile {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

fn ended() -> LedgerError {
    LedgerError::new("the task that writes the ledger has ended")
}

impl Shared {
    fn mac(&self, text: &str) -> Mac {
        self.key.mac(DOMAIN, &text_parts(&self.ledger, self.key.id(), text))
    }

    /// The key of this name, if what it was written under is.
    fn key_of(&self, id: &str, text: &str, mac: &[u8]) -> Option<&LedgerKey> {
        self.key.named(id).filter(|key| key.is_mac(DOMAIN, &text_parts(&self.ledger, id, text), mac))
    }

    fn has_claimed(&self, case: CaseId) -> bool {
        let claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        !claimed.is_empty() && claimed.contains(&case)
    }
}

const DOMAIN: &str = "sql-entry";
const KEY_DOMAIN: &str = "sql-key";

/// What a text's code is over, under the key of this name.
fn text_parts<'a>(ledger: &'a str, id: &'a str, text: &'a str) -> [&'a [u8]; 3] {
    [ledger.as_bytes(), id.as_bytes(), text.as_bytes()]
}

/// Brings the database to this version. Gives its id, and the name of the key under which it was begun.
async fn migrated(
    connection: &mut Connection,
    connections: &Connections,
    key: &LedgerKey,
) -> Result<(String, String), LedgerError> {
    let dialect = connections.dialect();
    if let Some(lock) = dialect.lock() {
        connection.define(lock.to_owned()).await.map_err(LedgerError::new)?;
    }
    connection.define(ABOUT.to_owned()).await.map_err(LedgerError::new)?;
    let about = "SELECT id, key_id, CAST(version AS BIGINT) FROM tool_ledger".to_owned();
    let columns = [Column::Text, Column::Text, Column::Integer];
    let foreign = |error| LedgerError::new(format!("the table `tool_ledger` isn't a ledger's: {error}"));
    let mut rows = connection.rows(about, Vec::new(), &columns).await.map_err(foreign)?;
    let latest = MIGRATIONS.len() as i64;
    let (id, first, version) = match rows.pop().map(<[Value; 3]>::try_from) {
        Some(Ok([id, key_id, version])) => {
            let key_id = key_id.into_text().unwrap_or_default();
            if key.named(&key_id).is_none() {
                return Err(LedgerError::new(format!(
                    "the ledger was written under the key `{key_id}`, which isn't there"
                )));
            }
            (id.into_text().unwrap_or_default(), key_id, version.into_integer().unwrap_or_default())
        }
        _ => (hex(&random::<16>().map_err(LedgerError::new)?), key.id().to_owned(), 0),
    };
    let Some(later) = usize::try_from(version).ok().and_then(|version| MIGRATIONS.get(version..)) else {
        return Err(LedgerError::new(format!(
            "the ledger is of version {version}, and this program knows those up to {latest}: use the one that wrote it, or a later one"
        )));
    };
    for migration in later {
        let hindered = |error| match version {
            0 => LedgerError::new(format!("the tables of a ledger can't be made in this database: {error}")),
            _ => LedgerError::new(format!("the ledger can't be brought from version {version} to {latest}: {error}")),
        };
        connection.define(dialect.definitions(migration)).await.map_err(hindered)?;
    }
    let values = vec![Value::text(&id), Value::text(&first), Value::Integer(Some(latest))];
    let set = "INSERT INTO tool_ledger (one, id, key_id, version) VALUES (1, $1, $2, $3) ON CONFLICT (one) DO UPDATE SET version = excluded.version";
    connection.run(set, values).await.map_err(LedgerError::new)?;
    if (1..KEYS_SINCE).contains(&version) {
        known_by_last(connection, (&id, &first), key).await?;
    }
    known(connection, &id, key).await?;
    Ok((id, first))
}

/// The version from which on a database knows its keys.
const KEYS_SINCE: i64 = 5;

/// Are the keys those that the database has by their names? It gets to know the one that is written under.
///
/// Another secret under such a name could read nothing, and would write what nobody else can read.
async fn known(connection: &mut Connection, ledger: &str, key: &LedgerKey) -> Result<(), LedgerError> {
    let sql = "SELECT key_id, mac FROM tool_keys".to_owned();
    let rows = connection.rows(sql, Vec::new(), &[Column::Text, Column::Bytes]).await.map_err(LedgerError::new)?;
    for row in rows {
        let Ok([id, mac]) = <[Value; 2]>::try_from(row) else { continue };
        let (id, mac) = (id.into_text().unwrap_or_default(), mac.into_bytes().unwrap_or_default());
        let parts = [ledger.as_bytes(), id.as_bytes()];
        if key.named(&id).is_some_and(|key| !key.is_mac(KEY_DOMAIN, &parts, &mac)) {
            return Err(another_secret(&id));
        }
    }
    let mac = key.mac(KEY_DOMAIN, &[ledger.as_bytes(), key.id().as_bytes()]).to_vec();
    let learn = "INSERT INTO tool_keys (key_id, mac) VALUES ($1, $2) ON CONFLICT (key_id) DO NOTHING";
    let values = vec![Value::text(key.id()), Value::Bytes(Some(mac))];
    connection.run(learn, values).await.map(drop).map_err(LedgerError::new)
}

/// The same of a database that doesn't know its keys yet, by the last that was written in it.
async fn known_by_last(
    connection: &mut Connection,
    (ledger, first): (&str, &str),
    key: &LedgerKey,
) -> Result<(), LedgerError> {
    let sql =
        "SELECT verdict, verdict_mac, verdict_key FROM tool_calls WHERE verdict IS NOT NULL ORDER BY seq DESC LIMIT 1";
    let columns = [Column::Text, Column::Bytes, Column::Text];
    let rows = connection.rows(sql.to_owned(), Vec::new(), &columns).await.map_err(LedgerError::new)?;
    let Some(Ok([text, mac, id])) = rows.into_iter().next().map(<[Value; 3]>::try_from) else { return Ok(()) };
    let (text, mac) = (text.into_text().unwrap_or_default(), mac.into_bytes().unwrap_or_default());
    let id = id.into_text().unwrap_or_else(|| first.to_owned());
    match key.named(&id).is_none_or(|key| key.is_mac(DOMAIN, &text_parts(ledger, &id, &text), &mac)) {
        true => Ok(()),
        false => Err(another_secret(&id)),
    }
}

fn another_secret(id: &str) -> LedgerError {
    let id = crate::schema::text::shown(id, 64);
    LedgerError::new(format!("the key `{id}` has another secret than the one that the ledger was written under"))
}

async fn lease(connection: &mut Connection, shared: &Shared, lease: Duration) -> Result<(), sqlx::Error> {
    // Added to the database's time, it stays within what a row can hold.
    let span = i64::try_from(lease.as_micros()).unwrap_or(i64::MAX).min(i64::MAX / 2);
    let values = vec![Value::text(&shared.owner), Value::Integer(Some(span))];
    connection.run(shared.statements.lease, values).await.map(drop)
}

/// Says that the host is alive, for as long as somebody has the ledger.
async fn stay_alive(inner: Weak<Inner>, span: Duration) {
    loop {
        tokio::time::sleep(span / 3).await;
        let Some(inner) = inner.upgrade() else { return };
        let said = match inner.connections.acquire().await {
            Ok(mut connection) => lease(&mut connection, &inner.shared, span).await,
            Err(error) => Err(error),
        };
        match said {
            Ok(()) => {}
            Err(sqlx::Error::PoolClosed) => return,
            Err(error) => tracing::error!(target: "tool_runtime", %error, "a host's lease could not be renewed"),
        }
    }
}

/// How far a call came, as its row says.
async fn about_case(connection: &mut Connection, case: CaseId) -> Result<Option<String>, LedgerError> {
    let sql = "SELECT state FROM tool_calls WHERE case_id = $1".to_owned();
    let rows = connection.rows(sql, vec![Value::text(&case.to_string())], &[Column::Text]).await;
    let state = rows.map_err(LedgerError::new)?.pop().and_then(|mut row| row.pop());
    Ok(state.and_then(Value::into_text))
}

impl Ledger for SqlLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(self.write(vec![entry], None))
    }

    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(self.write(entries, None))
    }

    fn key(&self) -> Option<&LedgerKey> {
        Some(&self.inner.shared.key)
    }

    fn owner(&self) -> Option<&Owner> {
        Some(&self.inner.shared.host)
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        Box::pin(async move { self.read_history(&query).await })
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            let seal = |whole: &Arc<str>| {
                let [name, _] = sealed_names(parking.verdict.case());
                self.inner.shared.key.seal(&name, whole).map_err(LedgerError::new)
            };
            let sealed = parking.whole.as_ref().map(seal).transpose()?;
            self.write(vec![parking.entry()], sealed).await
        })
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        Box::pin(async move {
            if !reply.is_final() {
                return Err(ReplyError::NoAnswer);
            }
            let asked: Stored = self.asked(&reply).await?;
            let (done, replied) = oneshot::channel();
            let job = Job::Reply { reply, asked: Box::new(asked), done };
            self.inner.jobs.send(job).await.map_err(|_| ended())?;
            replied.await.map_err(|_| ended())?
        })
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        Box::pin(async move { self.claimed(case).await })
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        Box::pin(async move { self.refused_before(&refusal).await })
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        Box::pin(async move { self.used_of(&tallies).await })
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        Box::pin(self.cleared(clearing))
    }
}

impl fmt::Debug for SqlLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlLedger").field("owner", &self.inner.shared.owner).finish_non_exhaustive()
    }
}
