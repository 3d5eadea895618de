//! What `rmcp` asks of a server.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::OptionFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::asking::{ASKING, Asking};
use super::caller::McpCaller;
use super::going::Went;
use super::relay::Teller;
use super::suspended::{Going, Name, filled};
use super::waiting::{Returned, answer};
use super::{McpServer, Served, results};
use crate::call::{Code, RawArguments, ToolCall};
use crate::gate::Answer;

/// How long a client may take for the last reports of a call that is over, before they are left out.
const LAST: Duration = Duration::from_secs(5);

/// What serves one connection.
pub(super) struct Handler {
    server: McpServer,
    /// Hands were shaken.
    has_begun: AtomicBool,
    /// The client is told of changes.
    is_told: AtomicBool,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.server.0.config.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // A second time the client would be another, by another revision, while calls of the first are under way.
        if self.has_begun.swap(true, Ordering::AcqRel) {
            return Err(ErrorData::invalid_request("the connection was initialized before", None));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let served = self.server.served();
        let cursor = request.and_then(|request| request.cursor);
        served.listing.page(served.harness.loaded_tools(), cursor.as_deref(), self.server.0.page_size)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.served().listing.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let served = self.server.served();
        let is_modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let waiting = &self.server.0.waiting;
        let caller = McpCaller::of(&context.extensions).map(McpCaller::mark);
        let returned = match waiting.opened(&request.name, caller.as_deref(), request.request_state.as_deref())? {
            Returned::Form(name) => return self.come_back(&served, &request, &name, context, is_modern).await,
            Returned::Case(case) => Some(case),
            Returned::Nothing => None,
        };
        let arguments = arguments(&mut context, request.arguments);
        let call = ToolCall::new(self.server.next_call(caller.as_deref()), &*request.name, arguments);
        let parked = waiting.like(&served.harness, served.asks_client, &call, caller.as_deref(), returned).await;
        // One that has waited is called what it was called then; unless somebody else goes on with it before.
        let waited = parked.as_deref().and_then(|parked| Some(parked.question()?.call_id.clone()));
        let given = if returned.is_none() { request.input_responses.clone() } else { None };
        let given = given.unwrap_or_default();
        let asking = Arc::new(Asking::new(
            Arc::clone(&served),
            (call.id().clone(), waited, caller),
            &context,
            is_modern,
            self.server.0.ask_within,
            given,
        ));
        if let Some(parked) = parked.as_deref().filter(|parked| Some(parked.case) == returned)
            && let Some(answer) = answer(parked, request.input_responses.as_ref())
        {
            if !matches!(answer, Answer::Yes | Answer::No) {
                // The question was closed. It waits on, for whoever makes the call again.
                return Ok(results::unanswered(&request.name).into());
            }
            self.server.reply(&served.harness, parked, answer).await;
        }
        let token = CancellationToken::new();
        let (server, asks, stops) = (self.server.clone(), Arc::clone(&asking), token.clone());
        let going = async move { server.go(call, parked, asks, stops).await };
        let future = Box::pin(ASKING.scope(Arc::clone(&asking), going));
        self.run(&served, &request.name, Going { future, asking, token }, context, is_modern).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.is_told.swap(true, Ordering::AcqRel) {
            self.server.remember(context.peer);
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.server.0.changes.subscribe();
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
    pub(super) fn new(server: McpServer) -> Self {
        Handler { server, has_begun: AtomicBool::new(false), is_told: AtomicBool::new(false) }
    }

    /// A client comes back with what a body waits for, and the body goes on.
    async fn come_back(
        &self,
        served: &Served,
        request: &CallToolRequestParams,
        name: &Name,
        context: RequestContext<RoleServer>,
        is_modern: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((going, wanted)) = self.server.0.suspended.take(name) else {
            let gone = "the call that waited for this was given up, or somebody has come back to it already";
            return Err(ErrorData::invalid_params(gone, None));
        };
        match filled(&wanted, request.input_responses.as_ref()) {
            Some(filled) => {
                // A body that waits no more is none of the client's business.
                let _over = wanted.reply.send(filled);
                self.run(served, &request.name, going, context, is_modern).await
            }
            None => self.server.suspend(&request.name, going, wanted).map(Into::into),
        }
    }

    /// Runs a call until it is over or its client has to be asked, and tells the client how far it is, if it wants to know.
    async fn run(
        &self,
        served: &Served,
        name: &str,
        mut going: Going,
        context: RequestContext<RoleServer>,
        is_modern: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        let loaded = served.harness.loaded_tools();
        let before = served.listing.has_deferred().then(|| loaded.names());
        let token = context.meta.get_progress_token();
        let (listening, telling) = match token {
            None => (None, None),
            Some(token) => {
                let (listening, reports) = self.server.0.relay.listen(going.asking.call_ids());
                let teller = Teller::new(context.peer.clone(), token);
                (Some(listening), Some(teller.tell_all(reports, Arc::clone(&going.asking))))
            }
        };
        let mut telling = pin!(OptionFuture::from(telling));
        let mut is_told = listening.is_none();
        // The call goes on while the client is told of it: one that doesn't read keeps no call from its end.
        let ended = loop {
            tokio::select! {
                biased;
                _ = &mut telling, if !is_told => is_told = true,
                went = &mut going.future => break Ok(went),
                wanted = going.asking.wanted() => break Err(wanted),
                () = context.ct.cancelled(), if !going.token.is_cancelled() => going.token.cancel(),
            }
        };
        drop(listening);
        if !is_told && tokio::time::timeout(LAST, telling).await.is_err() {
            tracing::debug!(target: "tool_runtime", tool = name, "an MCP client takes no progress");
        }
        if before.is_some_and(|before| before != loaded.names()) {
            self.server.tell_changed();
        }
        let went = match ended {
            Ok(went) => went?,
            Err(wanted) => return self.server.suspend(name, going, wanted).map(Into::into),
        };
        match went {
            Went::Settled(settled) if settled.record().code() == Code::UnknownTool => {
                Err(ErrorData::invalid_params(settled.result().text(), None))
            }
            Went::Settled(settled) => Ok(results::result(&settled, served.listing.get(name), is_modern).into()),
            Went::Asks(parked) => Ok(self.server.0.waiting.input_required(&parked, self.server.0.ask_within).into()),
            Went::Waits => Ok(results::pending(name).into()),
        }
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
