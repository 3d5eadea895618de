//! A connection to either database, and the two things that are done with one.

#[cfg(feature = "postgres")]
use sqlx::Postgres;
#[cfg(feature = "sqlite")]
use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Pool, Row as _, SqlSafeStr as _};

/// A pool of connections.
#[derive(Clone)]
pub(super) enum Connections {
    #[cfg(feature = "sqlite")]
    Sqlite(Pool<Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(Pool<Postgres>),
}

pub(super) enum Connection {
    #[cfg(feature = "sqlite")]
    Sqlite(PoolConnection<Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(PoolConnection<Postgres>),
}

/// What stands in a cell.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

impl Value {
    /// Text as any database keeps it: PostgreSQL has no NUL.
    pub(super) fn text(text: &str) -> Self {
        Value::Text(Some(text.replace('\0', "\u{fffd}")))
    }

    pub(super) fn into_text(self) -> Option<String> {
        if let Value::Text(text) = self { text } else { None }
    }

    pub(super) fn into_integer(self) -> Option<i64> {
        if let Value::Integer(integer) = self { integer } else { None }
    }

    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        if let Value::Bytes(bytes) = self { bytes } else { None }
    }
}

/// The type of a column.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Text,
    Integer,
    Bytes,
}

/// The same words for either database; what they mean is the database's.
macro_rules! with {
    ($of:expr, $kind:ident, $inner:ident => $does:expr) => {
        match $of {
            #[cfg(feature = "sqlite")]
            $kind::Sqlite($inner) => $does,
            #[cfg(feature = "postgres")]
            $kind::Postgres($inner) => $does,
        }
    };
}

/// A statement and what it is given.
macro_rules! bound {
    ($sql:expr, $values:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe($sql).into_sql_str());
        for value in $values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Integer(integer) => query.bind(integer),
                Value::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}

impl Connections {
    pub(super) async fn acquire(&self) -> Result<Connection, sqlx::Error> {
        match self {
            #[cfg(feature = "sqlite")]
            Connections::Sqlite(pool) => pool.acquire().await.map(Connection::Sqlite),
            #[cfg(feature = "postgres")]
            Connections::Postgres(pool) => pool.acquire().await.map(Connection::Postgres),
        }
    }

    /// Waits until all are closed.
    pub(super) async fn close(&self) {
        with!(self, Connections, pool => pool.close().await);
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self {
            #[cfg(feature = "sqlite")]
            Connections::Sqlite(_) => Dialect::Sqlite,
            #[cfg(feature = "postgres")]
            Connections::Postgres(_) => Dialect::Postgres,
        }
    }
}

impl Connection {
    /// How many rows a statement changed.
    pub(super) async fn run(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, sqlx::Error> {
        with!(self, Connection, connection => {
            bound!(sql, values).execute(&mut **connection).await.map(|done| done.rows_affected())
        })
    }

    /// As [`run`](Self::run), of a statement that was put together. Only of parts of this crate's.
    pub(super) async fn run_made(&mut self, sql: String, values: Vec<Value>) -> Result<u64, sqlx::Error> {
        with!(self, Connection, connection => {
            bound!(sql, values).execute(&mut **connection).await.map(|done| done.rows_affected())
        })
    }

    /// The rows that a statement gives, by the types of their columns.
    pub(super) async fn rows(
        &mut self,
        sql: String,
        values: Vec<Value>,
        columns: &[Column],
    ) -> Result<Vec<Vec<Value>>, sqlx::Error> {
        with!(self, Connection, connection => {
            let rows = bound!(sql, values).fetch_all(&mut **connection).await?;
            let mut read = Vec::with_capacity(rows.len());
            for row in rows {
                let mut cells = Vec::with_capacity(columns.len());
                for (place, column) in columns.iter().enumerate() {
                    cells.push(match column {
                        Column::Text => Value::Text(row.try_get(place)?),
                        Column::Integer => Value::Integer(row.try_get(place)?),
                        Column::Bytes => Value::Bytes(row.try_get(place)?),
                    });
                }
                read.push(cells);
            }
            Ok(read)
        })
    }

    /// Statements that define tables, several in one text.
    pub(super) async fn define(&mut self, sql: String) -> Result<(), sqlx::Error> {
        with!(self, Connection, connection => {
            sqlx::raw_sql(AssertSqlSafe(sql).into_sql_str()).execute(&mut **connection).await.map(drop)
        })
    }

    /// Gives it up, with whatever it was in the middle of.
    pub(super) async fn discard(self) -> Result<(), sqlx::Error> {
        with!(self, Connection, connection => connection.close().await)
    }
}

/// What the databases say in different words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
}

impl Dialect {
    /// What keeps two hosts from defining tables at the same time, where beginning doesn't.
    pub(super) fn lock(self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "sqlite")]
            Dialect::Sqlite => None,
            #[cfg(feature = "postgres")]
            Dialect::Postgres => Some("SELECT pg_advisory_xact_lock(7453010573194)"),
        }
    }

    pub(super) fn begin(self) -> &'static str {
        match self {
            // A transaction that only turns out to write later may find that it can't.
            #[cfg(feature = "sqlite")]
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            #[cfg(feature = "postgres")]
            // Whatever the database's default is: what is read behind a lock is to be what is there by then.
            Dialect::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED",
        }
    }
}
