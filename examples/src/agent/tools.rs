//! A few files, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tool_runtime::{CallContext, Registry, RegistryError, tool};

/// All tools with their state.
pub(super) fn registry() -> Result<Registry, RegistryError> {
    let tools = [ListFilesTool::host(), CountWordsTool::host(), WriteFileTool::host()];
    Registry::builder().tools(tools).state(Files::sample()).build()
}

#[derive(Clone)]
struct Files(Arc<Mutex<BTreeMap<String, String>>>);

impl Files {
    fn sample() -> Self {
        let notes = "Buy milk. Paint the boat. Call Ada.".to_owned();
        Files(Arc::new(Mutex::new(BTreeMap::from([("notes.txt".to_owned(), notes)]))))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// List all files.
#[tool(host(read_only, concurrency_safe))]
async fn list_files(#[host] files: &Files) -> Vec<String> {
    files.lock().keys().cloned().collect()
}

/// Count the words of a file.
#[tool(host(read_only, reads(path), timeout = "10s"))]
async fn count_words(
    /// Which file.
    #[arg(path)]
    path: String,
    #[host] files: &Files,
    #[host] cx: &CallContext,
) -> Result<usize, String> {
    let text = files.lock().get(&path).cloned().ok_or_else(|| format!("There is no file {path:?}."))?;
    let lines: Vec<&str> = text.split_inclusive('.').collect();
    let mut words = 0;
    for (number, line) in lines.iter().enumerate() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        words += line.split_whitespace().count();
        cx.progress(&format!("{words} words"), (number + 1) as f64 / lines.len() as f64);
    }
    Ok(words)
}

/// Write a file.
#[tool(host(destructive, writes(path), changes("a file has other content")))]
async fn write_file(
    /// Which file.
    #[arg(path)]
    path: String,
    /// All that is to be in it.
    #[arg(authored)]
    content: String,
    #[host] files: &Files,
) -> String {
    files.lock().insert(path.clone(), content);
    format!("{path} is written.")
}
