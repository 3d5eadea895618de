use tool_runtime::{AllowAll, BoxFuture, Entry, Harness, Ledger, LedgerError, MemoryLedger, Registry};

struct Lines;

impl Ledger for Lines {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            std::fs::write("ledger", entry.to_text()?)?;
            Ok(())
        })
    }
}

fn main() {
    let ledger = MemoryLedger::default();
    let _ = Harness::new(Registry::builder().build().unwrap(), AllowAll).ledger(&ledger);
}
