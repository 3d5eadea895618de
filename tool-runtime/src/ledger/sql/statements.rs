//! All that is said to the databases.

use super::connection::Dialect;

/// One for each version that a database may be brought on from. What stands in braces is the dialect's.
pub(super) const MIGRATIONS: [&str; 5] = [
    "
CREATE TABLE tool_hosts (owner TEXT PRIMARY KEY, expires BIGINT NOT NULL);
CREATE TABLE tool_calls (
    seq {seq},
    case_id TEXT NOT NULL UNIQUE,
    conversation TEXT,
    tool TEXT NOT NULL,
    question TEXT,
    state TEXT NOT NULL,
    owner TEXT NOT NULL,
    began BIGINT NOT NULL,
    expires BIGINT,
    ended_at BIGINT,
    verdict TEXT,
    verdict_mac {bytes},
    ended TEXT,
    ended_mac {bytes}
);
CREATE INDEX tool_calls_open ON tool_calls (state) WHERE state <> 'ended';
CREATE INDEX tool_calls_conversation ON tool_calls (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX tool_calls_question ON tool_calls (question) WHERE question IS NOT NULL;
CREATE TABLE tool_entries (
    seq {seq},
    case_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    conversation TEXT,
    what TEXT,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    body TEXT NOT NULL,
    mac {bytes} NOT NULL
);
CREATE INDEX tool_entries_case ON tool_entries (case_id);
CREATE INDEX tool_entries_what ON tool_entries (what, conversation) WHERE what IS NOT NULL;
CREATE TABLE tool_secrets (case_id TEXT PRIMARY KEY, sealed {bytes} NOT NULL);
",
    // Keys can be changed. What names none was written under the one of `tool_ledger`.
    "
ALTER TABLE tool_calls ADD COLUMN verdict_key TEXT;
ALTER TABLE tool_calls ADD COLUMN ended_key TEXT;
ALTER TABLE tool_entries ADD COLUMN key_id TEXT;
ALTER TABLE tool_secrets ADD COLUMN filled {bytes};
",
    // What cleared calls have taken of limits.
    "
CREATE TABLE tool_uses (
    limit_id TEXT NOT NULL,
    case_id TEXT NOT NULL,
    amount TEXT NOT NULL,
    at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (limit_id, case_id)
);
CREATE INDEX tool_uses_at ON tool_uses (limit_id, at);
CREATE INDEX tool_uses_case ON tool_uses (case_id);
    ",
    // Where calls stopped, apart from the texts, so that they are found among any number that did not. An index over an
    // expression in the texts would be read by the database for every call, and PostgreSQL has no `jsonb` for each of them.
    "
ALTER TABLE tool_calls ADD COLUMN stopped TEXT;
UPDATE tool_calls SET stopped = CASE
    WHEN state IN ('waiting', 'answered', 'claimed') THEN 'approval_pending'
    WHEN ended IS NOT NULL THEN nullif({code of ended}, 'ok')
    WHEN state = 'refused' THEN {verdict of verdict}
END;
CREATE INDEX tool_calls_stopped ON tool_calls (tool) WHERE stopped IS NOT NULL;
",
    // By what each key is known again, also while nothing is written under it.
    "
CREATE TABLE tool_keys (key_id TEXT PRIMARY KEY, mac {bytes} NOT NULL);
",
];

/// The table that says which version a database is of, and whose.
pub(super) const ABOUT: &str = "CREATE TABLE IF NOT EXISTS tool_ledger (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, key_id TEXT NOT NULL, version INTEGER NOT NULL)";

impl Dialect {
    /// Definitions in its words.
    pub(super) fn definitions(self, text: &str) -> String {
        let [seq, bytes, code, verdict] = match self {
            #[cfg(feature = "sqlite")]
            Dialect::Sqlite => {
                ["INTEGER PRIMARY KEY", "BLOB", "json_extract(ended, '$.code')", "json_extract(verdict, '$.verdict')"]
            }
            // Within a JSON text no other quotes stand so.
            #[cfg(feature = "postgres")]
            Dialect::Postgres => [
                "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
                "BYTEA",
                r#"substring(ended from '"code":"([a-z_]+)"')"#,
                r#"substring(verdict from '"verdict":"([a-z_]+)"')"#,
            ],
        };
        let text = text.replace("{seq}", seq).replace("{bytes}", bytes);
        text.replace("{code of ended}", code).replace("{verdict of verdict}", verdict)
    }

    pub(super) fn statements(self) -> &'static Statements {
        match self {
            #[cfg(feature = "sqlite")]
            Dialect::Sqlite => &SQLITE,
            #[cfg(feature = "postgres")]
            Dialect::Postgres => &POSTGRES,
        }
    }
}

/// What is said again and again, with the time as the database's clock has it, in microseconds.
pub(super) struct Statements {
    pub(super) now: &'static str,
    pub(super) verdicts: Rows,
    pub(super) asked: &'static str,
    pub(super) parked: &'static str,
    /// The end of one call. SQLite does it in two thirds of the time that `ends` takes for one.
    pub(super) end: &'static str,
    pub(super) ends: Rows,
    pub(super) end_alone: &'static str,
    pub(super) repaired: &'static str,
    pub(super) entry: &'static str,
    pub(super) replying: &'static str,
    pub(super) reply: &'static str,
    pub(super) claim: &'static str,
    pub(super) lease: &'static str,
    pub(super) erase_forgotten: &'static str,
    pub(super) prune_entries: &'static str,
    pub(super) prune_secrets: &'static str,
    pub(super) prune_calls: &'static str,
    pub(super) prune_uses: &'static str,
    pub(super) take: &'static str,
}

/// A statement for several rows at once, each of which has so many cells. Before them it is given `$1`, the owner, and
/// `$2`, the name of the key.
pub(super) struct Rows {
    before: &'static str,
    /// `{}` stands for the cells.
    row: &'static str,
    cells: usize,
    after: &'static str,
}

impl Rows {
    /// How many rows are said in one statement, so that a connection keeps no more than so many of them.
    pub(super) const MOST: usize = 16;

    /// For so many rows.
    pub(super) fn of(&self, rows: usize) -> String {
        let mut sql =
            String::with_capacity(self.before.len() + self.after.len() + rows * (self.row.len() + 6 * self.cells));
        sql.push_str(self.before);
        let (open, close) = self.row.split_once("{}").unwrap_or((self.row, ""));
        let mut cell = 2;
        for row in 0..rows {
            sql.push_str(if row == 0 { "" } else { ", " });
            sql.push_str(open);
            for place in 0..self.cells {
                cell += 1;
                sql.push_str(if place == 0 { "$" } else { ", $" });
                sql.push_str(itoa::Buffer::new().format(cell));
            }
            sql.push_str(close);
        }
        sql.push_str(self.after);
        sql
    }
}

macro_rules! statements {
    ($now:literal) => {
        Statements {
            now: concat!("SELECT ", $now),
            // Of new calls, or of ones that this host has asked about or claimed, and no others.
            verdicts: Rows {
                before: "INSERT INTO tool_calls (owner, verdict_key, case_id, conversation, tool, state, verdict, verdict_mac, stopped, began) VALUES ",
                row: concat!("($1, $2, {}, ", $now, ")"),
                cells: 7,
                after: " ON CONFLICT (case_id) DO UPDATE SET state = excluded.state, verdict = excluded.verdict, verdict_mac = excluded.verdict_mac, verdict_key = excluded.verdict_key, stopped = excluded.stopped WHERE (tool_calls.state = 'asked' OR tool_calls.state = 'claimed') AND tool_calls.owner = excluded.owner",
            },
            asked: concat!(
                "INSERT INTO tool_calls (case_id, conversation, tool, state, owner, question, began) VALUES ($1, $2, $3, 'asked', $4, $5, ",
                $now,
                ") ON CONFLICT (case_id) DO UPDATE SET question = excluded.question WHERE tool_calls.state IN ('asked', 'claimed') AND tool_calls.owner = excluded.owner"
            ),
            parked: "UPDATE tool_calls SET state = 'waiting', stopped = 'approval_pending', expires = $2, verdict = $3, verdict_mac = $4, verdict_key = $6 WHERE case_id = $1 AND state IN ('asked', 'claimed') AND owner = $5",
            // Alternatives are put as such: for a list SQLite makes a table, each time.
            end: concat!(
                "UPDATE tool_calls SET state = 'ended', ended = $4, ended_mac = $5, stopped = $6, ended_key = $2, ended_at = ",
                $now,
                " WHERE case_id = $3 AND owner = $1 AND (state = 'running' OR state = 'refused' OR state = 'asked' OR state = 'claimed')"
            ),
            ends: Rows {
                // Both databases call the columns so.
                before: concat!(
                    "UPDATE tool_calls SET state = 'ended', ended = v.column2, ended_mac = v.column3, stopped = v.column4, ended_key = $2, ended_at = ",
                    $now,
                    " FROM (VALUES "
                ),
                row: "({})",
                cells: 4,
                after: ") AS v WHERE tool_calls.case_id = v.column1 AND owner = $1 AND (state = 'running' OR state = 'refused' OR state = 'asked' OR state = 'claimed')",
            },
            end_alone: concat!(
                "INSERT INTO tool_calls (case_id, conversation, tool, state, owner, ended, ended_mac, ended_key, stopped, began, ended_at) VALUES ($1, $2, $3, 'ended', $4, $5, $6, $7, $8, ",
                $now,
                ", ",
                $now,
                ") ON CONFLICT (case_id) DO NOTHING"
            ),
            repaired: concat!(
                "UPDATE tool_calls SET state = 'ended', ended = $2, ended_mac = $3, ended_key = $4, stopped = $5, ended_at = ",
                $now,
                " WHERE case_id = $1 AND state IN ('running', 'refused', 'asked') AND NOT EXISTS (SELECT 1 FROM tool_hosts WHERE tool_hosts.owner = tool_calls.owner AND tool_hosts.expires > ",
                $now,
                ")"
            ),
            entry: concat!(
                "INSERT INTO tool_entries (case_id, kind, conversation, what, owner, body, mac, key_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ",
                $now,
                ")"
            ),
            // Waits until whoever else answers has done so.
            replying: concat!(
                "UPDATE tool_calls SET state = 'waiting' WHERE case_id = $1 AND state = 'waiting' AND (expires IS NULL OR expires > ",
                $now,
                ")"
            ),
            reply: concat!(
                "UPDATE tool_calls SET state = 'answered' WHERE case_id = $1 AND state = 'waiting' AND (expires IS NULL OR expires > ",
                $now,
                ")"
            ),
            // A claim of a host that is gone is nobody's: without a cleared verdict nothing can have run.
            claim: concat!(
                "UPDATE tool_calls SET state = 'claimed', owner = $2 WHERE case_id = $1 AND verdict = $3 AND (state = 'answered' OR (state = 'waiting' AND expires <= ",
                $now,
                ") OR (state = 'claimed' AND NOT EXISTS (SELECT 1 FROM tool_hosts WHERE tool_hosts.owner = tool_calls.owner AND tool_hosts.expires > ",
                $now,
                ")))"
            ),
            lease: concat!(
                "INSERT INTO tool_hosts (owner, expires) VALUES ($1, $2 + ",
                $now,
                ") ON CONFLICT (owner) DO UPDATE SET expires = excluded.expires"
            ),
            erase_forgotten: "DELETE FROM tool_secrets WHERE case_id NOT IN (SELECT case_id FROM tool_calls WHERE state IN ('waiting', 'answered', 'claimed', 'asked'))",
            prune_entries: concat!(
                "DELETE FROM tool_entries WHERE kind <> 'declaration' AND at < ",
                $now,
                " - $1 AND case_id NOT IN (SELECT case_id FROM tool_calls WHERE ended_at IS NULL OR ended_at >= ",
                $now,
                " - $1)"
            ),
            prune_secrets: concat!(
                "DELETE FROM tool_secrets WHERE case_id IN (SELECT case_id FROM tool_calls WHERE expires < ",
                $now,
                " - $1)"
            ),
            prune_calls: concat!("DELETE FROM tool_calls WHERE ended_at < ", $now, " - $1"),
            // Whatever is still within its period is needed, however short the age.
            prune_uses: concat!("DELETE FROM tool_uses WHERE expires < ", $now, " AND at < ", $now, " - $1"),
            take: concat!(
                "INSERT INTO tool_uses (limit_id, case_id, amount, at, expires) VALUES ($1, $2, $3, ",
                $now,
                ", $4 + ",
                $now,
                ") ON CONFLICT (limit_id, case_id) DO UPDATE SET amount = excluded.amount, at = excluded.at, expires = excluded.expires"
            ),
        }
    };
}

/// A host's earlier starts are over: `$1` begins like their names.
pub(super) const EARLIER_STARTS: &str = "DELETE FROM tool_hosts WHERE substr(owner, 1, length($1)) = $1";
pub(super) const KEEP_SECRET: &str = "INSERT INTO tool_secrets (case_id, sealed) VALUES ($1, $2) ON CONFLICT (case_id) DO UPDATE SET sealed = excluded.sealed";
pub(super) const KEEP_FILLED: &str = "UPDATE tool_secrets SET filled = $2 WHERE case_id = $1";
pub(super) const ERASE_SECRET: &str = "DELETE FROM tool_secrets WHERE case_id = $1";

#[cfg(feature = "sqlite")]
static SQLITE: Statements = statements!("CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)");
#[cfg(feature = "postgres")]
static POSTGRES: Statements = statements!("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
