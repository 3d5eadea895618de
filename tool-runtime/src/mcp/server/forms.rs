//! Forms that running calls have filled in, in the ledger.

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};

use super::Served;
use crate::call::CallId;
use crate::ledger::{Entry, Fill, Fills, FormEnd, FormRecord, LedgerError, Verdict};
use crate::schema::json::Json;
use crate::schema::text;

/// How much is kept of what a form says, in characters, and of what its fields are, in bytes of JSON.
const KEPT: usize = 16_000;

/// Who has a form filled in.
#[derive(Clone, Copy, Default)]
pub(in crate::mcp) struct AskedBy<'a> {
    /// A remote server, by its name. `None`: the tool itself.
    pub(in crate::mcp) server: Option<&'a str>,
    /// In which call. `None`: in the one that the client made.
    pub(in crate::mcp) call_id: Option<&'a CallId>,
}

/// A form that a person is filling in. Dropped before that, it was given up, and the ledger has that.
pub(super) struct Filling {
    served: Arc<Served>,
    /// What is known of it. `None` once it is written, or if there is nothing that it could be written beside.
    record: Option<FormRecord>,
    since: Instant,
    secrets: Vec<String>,
}

impl Filling {
    pub(super) fn new(
        served: &Arc<Served>,
        verdict: Option<Arc<Verdict>>,
        form: &ElicitRequestParams,
        server: Option<&str>,
    ) -> Self {
        let (asks, fields, secrets) = shown(form);
        let record = verdict.map(|verdict| FormRecord::new(verdict, server.map(str::to_owned), asks, fields));
        Filling { served: Arc::clone(served), record, since: Instant::now(), secrets }
    }

    /// Writes down what came of it. Whoever asked gets nothing that isn't recorded.
    pub(super) async fn ended(mut self, filled: ElicitResult) -> ElicitResult {
        let Some(record) = self.record.take() else {
            tracing::error!(target: "tool_runtime", "a form could not be recorded: nothing is known of its call");
            return self.unrecorded(filled);
        };
        let end = match filled.action {
            ElicitationAction::Accept => FormEnd::FilledIn,
            ElicitationAction::Decline => FormEnd::TurnedDown,
            _ => FormEnd::LeftOpen,
        };
        let record = record.ended(end, self.fills(&filled), self.since.elapsed());
        match append(&self.served, record).await {
            Ok(()) => filled,
            Err(error) => {
                tracing::error!(target: "tool_runtime", error = %cause(&error), "a form could not be recorded");
                self.unrecorded(filled)
            }
        }
    }

    fn unrecorded(&self, filled: ElicitResult) -> ElicitResult {
        if self.served.harness.runs_unrecorded() { filled } else { ElicitResult::new(ElicitationAction::Cancel) }
    }

    fn fills(&self, filled: &ElicitResult) -> Fills {
        let mut fills = Fills::default();
        let content = filled.content.as_ref().filter(|_| filled.action == ElicitationAction::Accept);
        for (name, value) in content.and_then(serde_json::Value::as_object).into_iter().flatten() {
            let secret = self.secrets.contains(name);
            fills.add(Fill { slot: name.clone(), value: Json::from_value(value), secret, keep: false, at: None });
        }
        fills
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        let (Some(record), Ok(runtime)) = (self.record.take(), tokio::runtime::Handle::try_current()) else { return };
        let record = record.ended(FormEnd::GivenUp, Fills::default(), self.since.elapsed());
        let served = Arc::clone(&self.served);
        runtime.spawn(async move {
            if let Err(error) = append(&served, record).await {
                tracing::error!(target: "tool_runtime", error = %cause(&error), "a form could not be recorded");
            }
        });
    }
}

async fn append(served: &Served, record: FormRecord) -> Result<(), LedgerError> {
    served.harness.records().append(Entry::Form(Arc::new(record))).await
}

fn cause(error: &LedgerError) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// What a form says and asks for, and which of its fields take secrets.
fn shown(form: &ElicitRequestParams) -> (String, Json, Vec<String>) {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = form else {
        return (String::new(), Json::Null, Vec::new());
    };
    let fields = serde_json::to_value(requested_schema).unwrap_or_default();
    let of_fields = fields.get("properties").and_then(serde_json::Value::as_object);
    let secrets = of_fields.into_iter().flatten().filter(|(name, field)| {
        let words = ["title", "description"].map(|word| field.get(word).and_then(serde_json::Value::as_str));
        seems_secret(name) || words.into_iter().flatten().any(seems_secret)
    });
    let secrets = secrets.map(|(name, _)| name.clone()).collect();
    let text = fields.to_string();
    let fields = if text.len() > KEPT { Json::string(text::excerpt(&text, KEPT)) } else { Json::from_value(&fields) };
    (text::excerpt(message, KEPT), fields, secrets)
}

/// Forms have no mark for secrets, and servers mustn't ask for any by them (MCP, 2025-11-25, Elicitation). What is called
/// as secrets are is taken for one.
fn seems_secret(words: &str) -> bool {
    const WHOLE: [&str; 8] = ["pin", "otp", "cvv", "cvc", "pwd", "iban", "ssn", "key"];
    const PARTS: [&str; 6] = ["passw", "passphrase", "secret", "token", "credential", "apikey"];
    let words = spaced(words);
    PARTS.iter().any(|part| words.contains(part)) || words.split(' ').any(|word| WHOLE.contains(&word))
}

/// In small letters, with a space between words: `apiKey`, `api_key` and `API key` are the same.
fn spaced(words: &str) -> String {
    let mut out = String::with_capacity(words.len() + 4);
    let mut after_small = false;
    for letter in words.chars() {
        if letter.is_uppercase() && after_small {
            out.push(' ');
        }
        after_small = letter.is_lowercase() || letter.is_ascii_digit();
        match letter.is_alphanumeric() {
            true => out.extend(letter.to_lowercase()),
            false => out.push(' '),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::seems_secret;

    #[test]
    fn what_is_called_as_secrets_are_is_one() {
        for words in
            ["password", "newPassword", "api_key", "API key", "authToken", "PIN", "Your pin code", "client-secret"]
        {
            assert!(seems_secret(words), "{words}");
        }
        for words in ["name", "shipping", "opinion", "keyboard", "monkey", "Your name", "spinner"] {
            assert!(!seems_secret(words), "{words}");
        }
    }
}
