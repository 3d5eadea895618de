//! One call of a remote tool.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, InputRequest, InputRequests,
    InputResponses, JsonObject, ResourceContents, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};

use super::link::{Link, Session};
use super::side::{OneAsked, UnderWay};
use crate::call::{Block, Content};
use crate::mcp::server::ASKING;
use crate::mcp::unanswered::Unanswered;
use crate::schema::json::{Json, is_integer_literal};
use crate::schema::{Digest, text};
use crate::tool::{CallContext, CodedError, DynamicOutput};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Which tool of which server, as it was when it was imported.
pub(super) struct Target {
    pub(super) link: Arc<Link>,
    pub(super) tool: String,
    pub(super) digest: Digest,
    pub(super) has_output: bool,
}

/// Why a remote tool gave no result. The codes are for the host.
fn failed(code: &'static str, what: impl fmt::Display) -> BoxError {
    Box::new(CodedError::new(code, what.to_string()))
}

impl Target {
    /// Sends the call once, whatever comes of it.
    pub(super) async fn call(&self, arguments: String, cx: CallContext) -> Result<DynamicOutput, BoxError> {
        let server = text::shown(&self.link.name, 80);
        let arguments = exactly(&arguments).ok_or_else(|| {
            failed("not_exact", "A number of the arguments can't be sent to the server as it is. Nothing was sent.")
        })?;
        let asking = ASKING.try_with(Arc::clone).ok().filter(|asking| self.link.forwards && asking.can_fill());
        let session = self.link.session(asking.is_some()).await.map_err(|down| {
            failed("server_down", format!("The server `{server}` can't be called: {down}. Nothing was sent."))
        })?;
        match session.digest(&self.tool) {
            Some(digest) if *digest == self.digest => {}
            now => {
                let what = if now.is_some() { "has changed its definition of" } else { "no longer has" };
                let what = format!("The server `{server}` {what} this tool since it was looked at. Nothing was sent.");
                return Err(failed("definition_changed", what));
            }
        }
        session.use_it();
        let under_way = asking
            .zip(session.asked())
            .map(|(asking, asked)| asked.begin(asking, &self.link.name, &self.tool, cx.call_id()));
        let first = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        let mut params = first.clone();
        for _ in 0..MOST_ROUNDS {
            let required = match self.send(&session, params, &cx, under_way.as_ref()).await? {
                ServerResult::CallToolResult(result) => return self.output(result),
                ServerResult::InputRequiredResult(required) => required,
                _ => {
                    let what = format!("The server `{server}` answered something else than a result.");
                    return Err(failed("server_error", what));
                }
            };
            // The server did not run the call: it comes again, as the protocol has it.
            let responses = match &under_way {
                Some(under_way) => filled(&under_way.one, required.input_requests.unwrap_or_default()).await,
                None => None,
            };
            let Some(responses) = responses else {
                let what = format!(
                    "The server `{server}` asks for something that nobody here can give, and did not run the call."
                );
                return Err(failed("input_required", what));
            };
            params = first.clone().with_input_responses(responses);
            params.request_state = required.request_state;
        }
        Err(failed("input_required", format!("The server `{server}` asks again and again, and did not run the call.")))
    }

    /// Sends a request, and waits for what comes of it.
    async fn send(
        &self,
        session: &Session,
        params: CallToolRequestParams,
        cx: &CallContext,
        under_way: Option<&UnderWay>,
    ) -> Result<ServerResult, BoxError> {
        let server = text::shown(&self.link.name, 80);
        let peer = session.peer();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let gone = |error: &ServiceError| {
            if matches!(error, ServiceError::TransportSend(_)) {
                session.lose();
            }
            tracing::debug!(target: "tool_runtime", server = self.link.name, %error, "a call of a remote tool failed");
            let what = format!("The server `{server}` ended before it answered. The call may have had its effects.");
            failed("server_gone", what)
        };
        let mut handle = peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(|error| gone(&error))?;
        let _listening = session.reports().listen(handle.progress_token.clone(), cx);
        let unanswered = Unanswered::new(peer, &handle.id);
        let response = tokio::select! {
            response = &mut handle.rx => response,
            // Dropped with this, the server is told.
            () = cx.token().cancelled() => {
                return Err(failed("cancelled", format!("The call of the server `{server}` was cancelled.")));
            }
            () = self.own_time(under_way) => {
                let limit = self.link.limits.call.as_secs_f64();
                let what = format!("The server `{server}` took longer than {limit} s. The call may have had its effects.");
                return Err(failed("timeout", what));
            }
        };
        unanswered.end();
        match response.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => Ok(result),
            Err(ServiceError::McpError(error)) => {
                let what = format!("The server `{server}` refused the call: {}", text::visible(&error.message, 1_000));
                Err(failed("server_error", what))
            }
            Err(error) => Err(gone(&error)),
        }
    }

    /// Ends once the server has had its time, without what a person takes. Where forms aren't handed on, the tool's time
    /// budget does that, and this never ends.
    async fn own_time(&self, under_way: Option<&UnderWay>) {
        if !self.link.forwards {
            return std::future::pending().await;
        }
        let mut left = self.link.limits.call;
        while !left.is_zero() {
            let step = TICK.min(left);
            tokio::time::sleep(step).await;
            if !under_way.is_some_and(|under_way| under_way.one.is_filling()) {
                left = left.saturating_sub(step);
            }
        }
    }

    /// What a model reads of a result, and what is checked of it.
    fn output(&self, result: CallToolResult) -> Result<DynamicOutput, BoxError> {
        let content = Content::blocks(result.content.iter().map(block));
        if result.is_error == Some(true) {
            let text = content.to_text();
            let said =
                if text.trim().is_empty() { "The tool failed, and said nothing about it.".to_owned() } else { text };
            return Err(failed("tool_error", said));
        }
        let value = match (&result.structured_content, self.has_output) {
            (Some(value), _) => Json::from_value(value).to_string(),
            // It promised one: what is missing is refused by its schema.
            (None, true) => "null".to_owned(),
            (None, false) => Json::string(content.to_text()).to_string(),
        };
        let output = DynamicOutput::new(value);
        Ok(if content.is_empty() && result.structured_content.is_some() { output } else { output.shown_as(content) })
    }
}

/// How often a server may ask before it runs a call.
const MOST_ROUNDS: usize = 10;

/// How finely a server's own time is counted where persons may be asked meanwhile.
const TICK: Duration = Duration::from_millis(100);

/// What persons fill in. `None`: something is asked for that is no form.
async fn filled(one: &OneAsked, requests: InputRequests) -> Option<InputResponses> {
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let InputRequest::Elicitation(form) = request else { return None };
        let filled = one.fill_in(&key, form.params).await;
        responses.insert(key, serde_json::to_value(filled).ok()?);
    }
    Some(responses)
}

/// The accepted arguments as `rmcp` sends them, if they are the same then.
fn exactly(arguments: &str) -> Option<JsonObject> {
    let sent: JsonObject = serde_json::from_str(arguments).ok()?;
    let accepted = Json::parse(arguments).ok()?;
    let again = Json::from_value(&serde_json::Value::Object(sent.clone()));
    (holds_no_more(&accepted) && Digest::of(&accepted) == Digest::of(&again)).then_some(sent)
}

/// Are its integers those that `serde_json` holds in every build? With `arbitrary_precision`, which another crate may turn on,
/// it would hold more.
fn holds_no_more(value: &Json) -> bool {
    match value {
        Json::Number(number) if is_integer_literal(number) => {
            number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
        }
        Json::Array(elements) => elements.iter().all(holds_no_more),
        Json::Object(members) => members.iter().all(|(_, member)| holds_no_more(member)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
    }
}

/// A block as a model reads it. What there is no word for here keeps the server's form beside its text.
fn block(block: &ContentBlock) -> Block {
    let embedded = |said: String| {
        let json = serde_json::to_string(block).unwrap_or_default();
        Block::Embedded { text: said.into(), json: json.into() }
    };
    match block {
        ContentBlock::Text(text) if text.annotations.is_none() && text.meta.is_none() => {
            Block::Text(text.text.as_str().into())
        }
        ContentBlock::Text(text) => embedded(text.text.clone()),
        ContentBlock::Image(image) if image.annotations.is_none() && image.meta.is_none() => {
            Block::Image { media_type: image.mime_type.as_str().into(), base64: image.data.as_str().into() }
        }
        ContentBlock::Image(image) => embedded(format!("[an image ({})]", text::shown(&image.mime_type, 64))),
        ContentBlock::Audio(audio) => embedded(format!("[a sound ({})]", text::shown(&audio.mime_type, 64))),
        ContentBlock::Resource(resource) => embedded(match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[a resource ({})]", text::shown(uri, 500)),
            _ => "[a resource]".to_owned(),
        }),
        ContentBlock::ResourceLink(link) => embedded(format!("[a resource ({})]", text::shown(&link.uri, 500))),
        _ => embedded("[something that can't be shown]".to_owned()),
    }
}
