use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tool_runtime::{BoxFuture, Entry, Ledger, LedgerError, serde_json};

use super::BoxError;

/// A ledger in a file, a line an entry. Nothing runs before its verdict is on the disk.
pub(super) struct LineLedger(Arc<Mutex<File>>);

impl LineLedger {
    pub(super) fn open(path: &Path) -> Result<Self, BoxError> {
        let mut open = OpenOptions::new();
        open.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
        let file = open.open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(LineLedger(Arc::new(Mutex::new(file))))
    }
}

impl Ledger for LineLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let file = Arc::clone(&self.0);
        Box::pin(async move {
            let has_to_last = !matches!(entry, Entry::End(_) | Entry::LateEnd(_));
            let written = tokio::task::spawn_blocking(move || {
                let mut line = serde_json::to_vec(&entry).map_err(BoxError::from)?;
                line.push(b'\n');
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(&line)?;
                if has_to_last {
                    file.sync_data()?;
                }
                Ok::<(), BoxError>(())
            });
            written.await.map_err(LedgerError::new)?.map_err(LedgerError::new)
        })
    }
}
