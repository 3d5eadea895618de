//! Values that nobody says, since they follow from others by formulas of the airline's list.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tool_runtime::{
    AllowAll, BoxFuture, CheckedCall, Checklist, Conversation, Day, DynamicTool, Harness, Hints, HostTool, Registry,
    SlotState, ToolCall,
};

use super::conversations::{Airline, Call};

/// The airline's lines, in the language of the checklist.
const LINES: &str = include_str!("airline.toml");

/// What the airline has said of its state, in one conversation.
#[derive(Default)]
struct Said {
    /// Fares by flight and day, then by cabin.
    fares: Map<String, Value>,
    members: BTreeMap<String, Value>,
    reservations: BTreeMap<String, Value>,
    /// The reservation that it has spoken of last.
    last: Option<String>,
}

/// A host of the airline's tools: what its checklist says of a call is what is wanted of it. It runs nothing.
pub(super) struct Derivations {
    harness: Harness,
    said: Arc<Mutex<Said>>,
}

impl Airline {
    /// Its tools, which are known by their schemas alone.
    pub(crate) fn host_tools(&self) -> Result<BTreeMap<String, HostTool>, Box<dyn Error>> {
        let tool = |(name, schema, writes): (&str, &Value, bool)| {
            let mut hints = Hints::default();
            (hints.read_only, hints.deterministic) = (!writes, true);
            let tool = DynamicTool::builder(name, "The airline's.").parameters(schema.to_string()).output("true");
            let tool = tool.hints(hints).run(|_, _| async { Err("it is only known by its schema".into()) })?;
            Ok((name.to_owned(), tool))
        };
        self.tools().map(tool).collect()
    }

    /// The words of its arguments, as lines of a checklist.
    fn lines(&self) -> String {
        fn arguments(schema: &Value, path: &str, found: &mut Vec<String>) {
            if let Some(items) = schema.get("items") {
                arguments(items, &format!("{path}[*]"), found);
            }
            for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                found.push(path.clone());
                arguments(inner, &path, found);
            }
        }
        let mut lines = Vec::new();
        for (tool, schema, _) in self.tools() {
            let mut paths = Vec::new();
            arguments(schema, "", &mut paths);
            let slots = paths.iter().map(|path| (path, format!("/{}", path.rsplit('.').next().unwrap_or(path))));
            let spoken = slots.filter(|(_, slot)| !self.says(slot).is_empty());
            lines.extend(spoken.map(|(path, slot)| json!({"tool": tool, "argument": path, "says": self.says(&slot)})));
        }
        json!({ "line": lines }).to_string()
    }
}

fn lock(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first moment of a day.
fn begin(day: Day) -> Option<SystemTime> {
    let days = (0..60_000).map(|days| SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400));
    days.into_iter().find(|moment| Day::of(*moment) == Some(day))
}

impl Derivations {
    /// Of a conversation that grows.
    pub(super) fn new(airline: &Airline, registry: &Registry, grows: &Conversation) -> Result<Self, Box<dyn Error>> {
        let said = Arc::new(Mutex::new(Said::default()));
        let state = |look: fn(&Said, &CheckedCall) -> Option<Value>| {
            let said = Arc::clone(&said);
            move |call: CheckedCall| -> BoxFuture<'static, Result<String, String>> {
                let found = look(&lock(&said), &call).ok_or_else(|| "it wasn't looked up".to_owned());
                Box::pin(std::future::ready(found.map(|found| found.to_string())))
            }
        };
        let now = begin(airline.now).ok_or("that day is too far away")?;
        let checklist = Checklist::builder()
            .source(grows.instruction())
            .source(grows.observed())
            .state("fares", state(|said, _| Some(Value::Object(said.fares.clone()))))
            .state("reservation", state(Said::reservation))
            .state("member", state(Said::member))
            .clock(move || now)
            .json("words", airline.lines())
            .toml("airline.toml", LINES)
            .build(registry)?;
        Ok(Derivations { harness: Harness::new(registry.clone(), AllowAll).checklist(checklist), said })
    }

    /// Notes what a call came to.
    pub(super) fn came(&self, call: &Call, content: &str) -> Result<(), Box<dyn Error>> {
        let arguments: Value = serde_json::from_str(&call.function.arguments)?;
        // Some answers are sentences: they say nothing of the state.
        if let Ok(result) = serde_json::from_str::<Value>(content) {
            lock(&self.said).hear(&arguments, &result);
        }
        Ok(())
    }

    /// The arguments of a call that follow from others, as JSON Pointers.
    pub(super) async fn of(&self, call: &Call) -> Vec<String> {
        let call = ToolCall::new(call.id.as_str(), call.function.name.as_str(), call.function.arguments.as_str());
        let settled = self.harness.run_settled([call], None).await;
        let slots = settled.iter().filter_map(|settled| settled.record().verdict()).flat_map(|verdict| verdict.slots());
        let derived = slots.filter(|slot| matches!(slot.state(), SlotState::Derived(_)));
        derived.map(|slot| slot.name().to_owned()).collect()
    }
}

impl Said {
    /// What a result says: a flight with its fares, a member, a reservation.
    fn hear(&mut self, arguments: &Value, result: &Value) {
        let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Value::Array(several) = result {
            several.iter().for_each(|one| self.hear(arguments, one));
        }
        if let (Some(flight), Some(fares)) = (text(result, "flight_number"), result.get("prices")) {
            // A flight with a stop says its days, since they may differ.
            if let Some(day) = text(result, "date").or_else(|| text(arguments, "date")) {
                self.fares.insert(format!("{flight} {day}"), fares.clone());
            }
        }
        if let (Some(user), Some(_)) = (text(arguments, "user_id"), result.get("membership")) {
            self.members.insert(user, result.clone());
        }
        if let (Some(id), Some(_)) = (text(result, "reservation_id"), result.get("passengers")) {
            self.last = Some(id.clone());
            self.reservations.insert(id, result.clone());
        }
    }

    /// The one that a call names, or the last.
    fn reservation(&self, call: &CheckedCall) -> Option<Value> {
        let id = call.arguments().read("/reservation_id").or_else(|| self.last.clone())?;
        self.reservations.get(&id).cloned()
    }

    /// Whom a call names, or whose its reservation is.
    fn member(&self, call: &CheckedCall) -> Option<Value> {
        let of_reservation = || self.reservation(call)?.get("user_id")?.as_str().map(str::to_owned);
        let user = call.arguments().read("/user_id").or_else(of_reservation)?;
        self.members.get(&user).cloned()
    }
}
