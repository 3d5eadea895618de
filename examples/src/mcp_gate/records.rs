use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use tool_runtime::{FileLedger, Ledger, LedgerKey, SqlLedger, SqlOptions};

use super::BoxError;
use super::desk::hex;
use super::options::{Options, read};

/// The ledger: a database if the file is called `.db`, lines otherwise. Nothing runs before its verdict is on the disk.
pub(super) async fn open(options: &Options) -> Result<Arc<dyn Ledger>, BoxError> {
    let key = key(&options.key)?;
    let file = &options.ledger;
    let failed = |error: &dyn std::error::Error| format!("{}: {error}", file.display());
    if file.extension().is_some_and(|extension| extension == "db") {
        let options = SqlOptions::new().host("mcp_gate");
        return Ok(Arc::new(SqlLedger::sqlite(file, key, options).await.map_err(|error| failed(&error))?));
    }
    Ok(Arc::new(FileLedger::open(file, key).map_err(|error| failed(&error))?))
}

/// The key under which nobody else changes the ledger unseen. Made by whoever needs it first.
fn key(file: &Path) -> Result<LedgerKey, BoxError> {
    if !fs::exists(file)? {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        let mut open = OpenOptions::new();
        open.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
        let mut made = open.open(file).map_err(|error| format!("{}: {error}", file.display()))?;
        made.write_all(hex(&secret).as_bytes())?;
        made.sync_all()?;
    }
    LedgerKey::from_hex("mcp_gate", &read(file)?).map_err(|error| format!("{}: {error}", file.display()).into())
}
