//! Forms that tools have the person behind a client fill in.

use std::fmt;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};

use super::server::{ASKING, AskedBy};

/// A form that a tool has the person behind an MCP client fill in: see [`ask_client`].
#[derive(Debug, Clone)]
pub struct McpForm {
    key: String,
    message: String,
    schema: ElicitationSchema,
}

impl McpForm {
    /// What the person reads, and the fields as the JSON Schema of an object whose members are text, numbers, booleans or
    /// choices: MCP has no other forms.
    ///
    /// # Errors
    /// If the schema isn't that.
    pub fn new(message: impl Into<String>, schema: &str) -> Result<Self, McpFormError> {
        let schema = serde_json::from_str(schema).map_err(|error| McpFormError(error.to_string()))?;
        Ok(McpForm { key: "form".to_owned(), message: message.into(), schema })
    }

    /// Sets under which key newer clients send the answer: `form`, unless it is set.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }
}

/// A form that MCP doesn't have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpFormError(String);

impl fmt::Display for McpFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the schema of a form: {}", self.0)
    }
}

impl std::error::Error for McpFormError {}

/// What became of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpFormAnswer {
    /// It was filled in: the fields, as JSON text. Whether they are what was asked for is to be looked at.
    Filled(String),
    /// The person said no.
    Declined,
    /// It was closed, nobody was there, or the client can't ask.
    Closed,
}

/// Has the person behind the client whose call runs fill in a form, from within an async tool.
///
/// Clients of before 2026-07-28 are asked while the call waits. With newer ones the call's turn ends, the body waits here,
/// and the client comes back with the answer: the body goes on where it was, and is never run a second time. Its time
/// budget goes on meanwhile. Outside a server, and where a client can't ask, the form is
/// [closed](McpFormAnswer::Closed).
///
/// This is for what a tool wants to know. Whether a call may run is asked by the gate.
pub async fn ask_client(form: McpForm) -> McpFormAnswer {
    let Ok(asking) = ASKING.try_with(std::sync::Arc::clone) else { return McpFormAnswer::Closed };
    let McpForm { key, message, schema } = form;
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema };
    let ElicitResult { action, content, .. } = asking.fill_in(&key, form, AskedBy::default()).await;
    match action {
        ElicitationAction::Accept => McpFormAnswer::Filled(content.unwrap_or_default().to_string()),
        ElicitationAction::Decline => McpFormAnswer::Declined,
        _ => McpFormAnswer::Closed,
    }
}
