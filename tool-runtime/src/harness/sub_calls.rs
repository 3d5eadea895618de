//! Calls that running calls make: they take the whole path, as every other does.

use std::sync::Arc;

use super::Parts;
use super::flow::touches;
use crate::BoxFuture;
use crate::call::{CallId, Code, ToolCall, Word};
use crate::events::EventKind;
use crate::execute::until;
use crate::path::flight::Landing;
use crate::tool::{Progress, SubCall, SubCallError, Surroundings};

impl Surroundings for Parts {
    fn progress(&self, call_id: &CallId, tool: &str, progress: Progress) {
        self.observers.tell(call_id, &Word::from(tool), || EventKind::Progress(progress));
    }

    fn call(self: Arc<Self>, sub: SubCall) -> BoxFuture<'static, Result<String, SubCallError>> {
        Box::pin(async move { self.sub_call(sub).await })
    }
}

impl Parts {
    async fn sub_call(self: &Arc<Self>, sub: SubCall) -> Result<String, SubCallError> {
        let SubCall { name, arguments, lineage, token, place } = sub;
        place.begins();
        if lineage.tools.contains(&name) {
            // A tool that calls itself, however far round, has no end that anybody could see.
            return Err(SubCallError::new(&*name, format!("`{}` is running already and can't call itself.", &*name)));
        }
        let id = CallId::from(format!("{}/{}", lineage.parent.as_str(), place.number()));
        let call = ToolCall::new(id, &*name, arguments);
        // What the caller gets is a value: nothing of it is cut.
        let landing = Landing::new(&self.ledger, &self.observers, usize::MAX, self.conversation.clone());
        let token = Some(&token);
        let judged = self.judge_alone(&landing, (call, Some(lineage)), token).await;
        let flight = match until(token, place.may_start(touches(&judged), self.room.get())).await {
            Some(()) => self.carry_out(judged, token).await,
            None => judged.0.cut_short(),
        };
        let settled = flight.settle(self.review.as_deref()).await;
        match settled.value() {
            Some(value) if settled.record().code() == Code::Ok => Ok(value.to_string()),
            _ => Err(SubCallError::new(&*name, settled.into_result().text())),
        }
    }
}
