//! What `rmcp` asks of a server.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig,
    SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::asking::{ASKING, Asking};
use super::relay::Teller;
use super::{McpServer, Served, results};
use crate::call::{CallId, Code, RawArguments, ToolCall};
use crate::path::Settled;

/// How often a client that waits for a person hears that it is to wait on. Clients give up after a minute.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What serves one connection.
#[derive(Clone)]
pub(crate) struct Handler(pub(super) McpServer);

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.0.0.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let served = self.0.served();
        let cursor = request.and_then(|request| request.cursor);
        served.listing.page(served.harness.loaded_tools(), cursor.as_deref(), self.0.0.page_size)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.served().listing.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let served = self.0.served();
        let call_id = self.0.next_call();
        let is_modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let state = request.request_state.as_deref();
        let answered = self.0.0.waiting.answered(&request.name, state, request.input_responses.as_ref())?;
        let arguments = arguments(&mut context, request.arguments);
        let call = ToolCall::new(call_id.clone(), &*request.name, arguments);
        let asking = Arc::new(Asking::new(call_id.clone(), &context, is_modern, self.0.0.ask_within, answered));
        let settled = self.run(&served, call, &call_id, &asking, &context).await?;
        if settled.record().code() == Code::UnknownTool {
            return Err(ErrorData::invalid_params(settled.result().text(), None));
        }
        if settled.record().code() == Code::ApprovalPending
            && let Some(wanted) = asking.take_wanted()
        {
            let asked = self.0.0.waiting.input_required(&request.name, wanted, self.0.0.ask_within);
            return asked.map(CallToolResponse::from).map_err(|error| {
                tracing::error!(target: "tool_runtime", %error, "no random numbers");
                ErrorData::internal_error("nobody can be asked", None)
            });
        }
        Ok(results::result(&settled, served.listing.get(&request.name), is_modern).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.remember(context.peer);
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.0.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Handler {
    /// Runs a call, and tells the client how far it is, if it wants to know.
    async fn run(
        &self,
        served: &Served,
        call: ToolCall,
        call_id: &CallId,
        asking: &Arc<Asking>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Settled, ErrorData> {
        let loaded = served.harness.loaded_tools();
        let before = served.listing.has_deferred().then(|| loaded.names());
        let running = served.harness.run_settled([call], Some(context.ct.clone()));
        let mut running = pin!(ASKING.scope(Arc::clone(asking), running));
        let settled = match context.meta.get_progress_token() {
            None => running.await,
            Some(token) => {
                let mut listening = self.0.0.relay.listen(call_id);
                let mut teller = Teller::new(context.peer.clone(), token);
                let mut heartbeat = tokio::time::interval(HEARTBEAT);
                heartbeat.tick().await;
                let settled = loop {
                    tokio::select! {
                        biased;
                        Some(progress) = listening.reports.recv() => teller.tell(progress).await,
                        settled = &mut running => break settled,
                        _ = heartbeat.tick() => {
                            if asking.waits() {
                                teller.wait().await;
                            }
                        }
                    }
                };
                while let Ok(progress) = listening.reports.try_recv() {
                    teller.tell(progress).await;
                }
                settled
            }
        };
        if before.is_some_and(|before| before != loaded.names()) {
            self.0.tell_changed();
        }
        settled.into_iter().next().ok_or_else(|| ErrorData::internal_error("the call was lost", None))
    }
}

/// The arguments as the peer wrote them, if the transport kept them; else what `rmcp` has read.
fn arguments(context: &mut RequestContext<RoleServer>, read: Option<rmcp::model::JsonObject>) -> RawArguments {
    if let Some(arguments) = context.extensions.remove::<RawArguments>() {
        return arguments;
    }
    if let Some(parts) = context.extensions.get::<http::request::Parts>()
        && let Some(arguments) = parts.extensions.get::<RawArguments>()
    {
        return arguments.clone();
    }
    read.map_or_else(RawArguments::absent, |read| RawArguments::from(serde_json::Value::Object(read)))
}
