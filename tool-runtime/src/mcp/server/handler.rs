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
use super::going::Went;
use super::relay::Teller;
use super::waiting::{Parked, answer};
use super::{McpServer, Served, results};
use crate::call::{Code, RawArguments, ToolCall};

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
        let is_modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let waiting = &self.0.0.waiting;
        let returned = waiting.opened(&request.name, request.request_state.as_deref())?;
        let arguments = arguments(&mut context, request.arguments);
        let call = ToolCall::new(self.0.next_call(), &*request.name, arguments);
        let parked = waiting.like(&served.harness, served.asks_client, &call, returned).await;
        // One that has waited is called what it was called then.
        let own = parked.as_deref().and_then(|parked| Some(parked.question()?.call_id.clone()));
        let call_id = own.unwrap_or_else(|| call.id().clone());
        let asking = Arc::new(Asking::new(call_id, &context, is_modern, self.0.0.ask_within));
        if let Some(parked) = parked.as_deref().filter(|parked| Some(parked.case) == returned)
            && let Some(answer) = answer(parked, request.input_responses.as_ref())
        {
            self.0.reply(&served.harness, parked, answer).await;
        }
        match self.run(&served, call, parked, &asking, &context).await? {
            Went::Settled(settled) if settled.record().code() == Code::UnknownTool => {
                Err(ErrorData::invalid_params(settled.result().text(), None))
            }
            Went::Settled(settled) => {
                Ok(results::result(&settled, served.listing.get(&request.name), is_modern).into())
            }
            Went::Asks(parked) => Ok(waiting.input_required(&parked, self.0.0.ask_within).into()),
            Went::Waits => Ok(results::pending(&request.name).into()),
        }
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
        parked: Option<Arc<Parked>>,
        asking: &Arc<Asking>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Went, ErrorData> {
        let loaded = served.harness.loaded_tools();
        let before = served.listing.has_deferred().then(|| loaded.names());
        let going = self.0.go(served, call, parked, asking, context.ct.clone());
        let mut going = pin!(ASKING.scope(Arc::clone(asking), going));
        let went = match context.meta.get_progress_token() {
            None => going.await,
            Some(token) => {
                let mut listening = self.0.0.relay.listen(asking.call_id());
                let mut teller = Teller::new(context.peer.clone(), token);
                let mut heartbeat = tokio::time::interval(HEARTBEAT);
                heartbeat.tick().await;
                let went = loop {
                    tokio::select! {
                        biased;
                        Some(progress) = listening.reports.recv() => teller.tell(progress).await,
                        went = &mut going => break went,
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
                went
            }
        };
        if before.is_some_and(|before| before != loaded.names()) {
            self.0.tell_changed();
        }
        went
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
