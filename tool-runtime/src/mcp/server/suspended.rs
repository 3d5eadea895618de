//! Calls whose bodies wait for a form that a client fills in between two of its requests.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ElicitRequest, ElicitResult, InputRequest, InputRequiredResult, InputResponses};
use tokio_util::sync::CancellationToken;

use super::McpServer;
use super::asking::{Asking, Wanted};
use super::going::Went;

/// How many calls may wait so.
const MOST: usize = 1_000;

/// A call on its way.
pub(super) struct Going {
    pub(super) future: Pin<Box<dyn Future<Output = Result<Went, ErrorData>> + Send>>,
    pub(super) asking: Arc<Asking>,
    pub(super) token: CancellationToken,
}

impl Drop for Going {
    fn drop(&mut self) {
        self.asking.close();
    }
}

/// The names of calls that wait for a form. Nobody can guess one.
pub(super) type Name = [u8; 16];

/// The calls that wait for forms.
#[derive(Default)]
pub(super) struct Suspended(Mutex<HashMap<Name, (Going, Wanted)>>);

impl Suspended {
    fn lock(&self) -> MutexGuard<'_, HashMap<Name, (Going, Wanted)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever comes back is the only one.
    pub(super) fn take(&self, name: &Name) -> Option<(Going, Wanted)> {
        self.lock().remove(name)
    }
}

impl McpServer {
    /// Ends the turn of a call that waits for a form. If the client doesn't come back, the call is given up after a while.
    pub(super) fn suspend(&self, tool: &str, going: Going, wanted: Wanted) -> Result<InputRequiredResult, ErrorData> {
        let limit = self.0.ask_within;
        let caller = going.asking.caller.clone();
        let mut name = Name::default();
        let full = || ErrorData::internal_error("too many calls wait for forms, or there are no random numbers", None);
        getrandom::fill(&mut name).map_err(|_| full())?;
        let request = InputRequest::Elicitation(ElicitRequest::new(wanted.form.clone()));
        let requests = BTreeMap::from([(wanted.key.clone(), request)]);
        {
            let mut suspended = self.0.suspended.lock();
            if suspended.len() >= MOST {
                return Err(full());
            }
            suspended.insert(name, (going, wanted));
        }
        let server = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            // Dropped, the call is recorded as cancelled.
            if let Some(server) = server.upgrade() {
                drop(server.suspended.take(&name));
            }
        });
        let state = self.0.waiting.seal(tool, caller.as_deref(), &name, limit + Duration::from_secs(1));
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

/// What a client that comes back has filled in.
pub(super) fn filled(wanted: &Wanted, responses: Option<&InputResponses>) -> Option<ElicitResult> {
    serde_json::from_value(responses?.get(&wanted.key)?.clone()).ok()
}
