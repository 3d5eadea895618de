//! Invariants 3 and 8 to 10 on whole turns: whatever their calls do, whoever breaks, and whenever the turn is
//! cancelled or dropped, each call has one result in its place, what conflicts never overlaps, and nothing runs on.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use tests::config;
use tool_runtime::{
    Answer, BoxFuture, CallFacts, Decision, Entry, Harness, Ledger, LedgerError, QuestionSet, Registry, ToolCall, tool,
    tool_type,
};

/// What a body does.
#[tool_type]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Error,
    Panic,
    /// Never ends by itself.
    Forever,
}

/// What runs at the moment, and whether two ran together that must not.
#[derive(Default)]
struct Running {
    now: Vec<(usize, Touches)>,
    next: usize,
    clash: Option<(Touches, Touches)>,
    began: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Touches {
    Everything,
    Nothing,
    Copies { from: String, to: String },
}

impl Touches {
    fn clashes(&self, other: &Touches) -> bool {
        match (self, other) {
            (Touches::Everything, _) | (_, Touches::Everything) => true,
            (Touches::Copies { from, to }, Touches::Copies { from: other_from, to: other_to }) => {
                to == other_to || to == other_from || from == other_to
            }
            _ => false,
        }
    }
}

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Running>>);

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, touches: Touches) -> Guard {
        let mut running = self.lock();
        if let Some((_, other)) = running.now.iter().find(|(_, other)| other.clashes(&touches)) {
            running.clash = Some((other.clone(), touches.clone()));
        }
        running.began += 1;
        running.next += 1;
        let number = running.next;
        running.now.push((number, touches));
        Guard(self.clone(), number)
    }
}

struct Guard(Watch, usize);

impl Drop for Guard {
    fn drop(&mut self) {
        let mut running = self.0.lock();
        running.now.retain(|(number, _)| *number != self.1);
    }
}

async fn yields(times: u8) {
    for _ in 0..times {
        let mut yielded = false;
        poll_fn(|_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

async fn act(watch: &Watch, touches: Touches, pauses: u8, fault: Fault) -> Result<u8, String> {
    let _running = watch.begin(touches);
    yields(pauses).await;
    match fault {
        Fault::None => Ok(pauses),
        Fault::Error => Err("it fails".to_owned()),
        Fault::Panic => panic!("it panics"),
        Fault::Forever => std::future::pending().await,
    }
}

/// Runs alone.
#[tool]
async fn alone(
    /// How often it waits.
    pauses: u8,
    /// What it does in the end.
    fault: Fault,
    #[host] watch: &Watch,
) -> Result<u8, String> {
    act(watch, Touches::Everything, pauses, fault).await
}

/// Overlaps others.
#[tool(host(concurrency_safe))]
async fn safe(
    /// How often it waits.
    pauses: u8,
    /// What it does in the end.
    fault: Fault,
    #[host] watch: &Watch,
) -> Result<u8, String> {
    act(watch, Touches::Nothing, pauses, fault).await
}

/// Copies.
#[tool(host(reads(from), writes(to)))]
async fn copy(
    /// From where.
    from: String,
    /// To where.
    to: String,
    /// How often it waits.
    pauses: u8,
    /// What it does in the end.
    fault: Fault,
    #[host] watch: &Watch,
) -> Result<u8, String> {
    act(watch, Touches::Copies { from, to }, pauses, fault).await
}

/// What the host's own code does with a call, by the call's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    Allows,
    Denies,
    AsksAndHearsYes,
    AsksAndHearsNo,
    PolicyPanics,
    VerdictIsLost,
    VerdictPanics,
    EndIsLost,
}

const HOSTS: [Host; 8] = [
    Host::Allows,
    Host::Denies,
    Host::AsksAndHearsYes,
    Host::AsksAndHearsNo,
    Host::PolicyPanics,
    Host::VerdictIsLost,
    Host::VerdictPanics,
    Host::EndIsLost,
];

/// Ids begin with the place of their host's behaviour.
fn host(id: &str) -> Host {
    let place = id.split('-').next().and_then(|place| place.parse().ok()).unwrap_or(0_usize);
    HOSTS[place % HOSTS.len()]
}

struct Faulty;

impl Ledger for Faulty {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        let answer = match &entry {
            Entry::Verdict(verdict) => match host(verdict.call_id().as_str()) {
                Host::VerdictIsLost => Err(LedgerError::new("the disk is full")),
                Host::VerdictPanics => panic!("the ledger panics"),
                _ => Ok(()),
            },
            Entry::End(record) if host(record.call_id().as_str()) == Host::EndIsLost => {
                Err(LedgerError::new("the disk is full"))
            }
            _ => Ok(()),
        };
        Box::pin(async move {
            yields(1).await;
            answer
        })
    }
}

fn answer(questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
    Box::pin(async move {
        yields(1).await;
        let hears = |question: &tool_runtime::Question| match host(question.call_id.as_str()) {
            Host::AsksAndHearsYes => Answer::Yes,
            _ => Answer::No,
        };
        questions.questions.iter().map(hears).collect()
    })
}

fn judge(call: &CallFacts<'_>) -> Decision {
    match host(call.call_id().as_str()) {
        Host::Denies => Decision::deny("no"),
        Host::AsksAndHearsYes | Host::AsksAndHearsNo => Decision::ask("so"),
        Host::PolicyPanics => panic!("the policy panics"),
        _ => Decision::Allow,
    }
}

#[derive(Debug, Clone)]
struct Call {
    host: usize,
    tool: usize,
    pauses: u8,
    fault: Fault,
    from: u8,
    to: u8,
    /// Its arguments are no JSON.
    broken: bool,
}

#[derive(Debug, Clone)]
struct Plan {
    calls: Vec<Call>,
    room: usize,
    /// After so many polls the turn is cancelled, or dropped.
    stop: Option<(usize, bool)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let fault = prop_oneof![
        6 => Just(Fault::None),
        1 => Just(Fault::Error),
        1 => Just(Fault::Panic),
        1 => Just(Fault::Forever)
    ];
    let host = prop_oneof![12 => Just(0_usize), 8 => 0..HOSTS.len()];
    let call = (host, 0..4_usize, 0..4_u8, fault, 0..3_u8, 0..3_u8, prop::bool::weighted(0.05))
        .prop_map(|(host, tool, pauses, fault, from, to, broken)| Call { host, tool, pauses, fault, from, to, broken });
    (prop::collection::vec(call, 0..8), 1..5_usize, prop::option::weighted(0.6, (0..12_usize, any::<bool>())))
        .prop_map(|(calls, room, stop)| Plan { calls, room, stop })
}

fn propose(plan: &Plan) -> Vec<ToolCall> {
    let call = |(place, call): (usize, &Call)| {
        let Call { host, tool, pauses, fault, from, to, broken } = *call;
        let fault = format!("{fault:?}");
        let (name, arguments) = match tool {
            0 => ("alone", format!(r#"{{"pauses":{pauses},"fault":"{fault}"}}"#)),
            1 => ("safe", format!(r#"{{"pauses":{pauses},"fault":"{fault}"}}"#)),
            2 => ("copy", format!(r#"{{"from":"{from}","to":"{to}","pauses":{pauses},"fault":"{fault}"}}"#)),
            _ => ("copy", format!(r#"{{"from":"{to}","to":"{from}","pauses":{pauses},"fault":"{fault}"}}"#)),
        };
        // One id in three is there twice.
        let id = format!("{host}-{}", place - usize::from(place % 3 == 2));
        ToolCall::new(id, name, if broken { "{".to_owned() } else { arguments })
    };
    plan.calls.iter().enumerate().map(call).collect()
}

fn runs(plan: &Plan) {
    let watch = Watch::default();
    let registry = Registry::builder()
        .tools([AloneTool::host(), SafeTool::host(), CopyTool::host()])
        .state(watch.clone())
        .build()
        .expect("the tools are sound");
    let harness = Harness::new(registry, judge)
        .approver(answer)
        .ledger(Faulty)
        .max_concurrent(std::num::NonZeroUsize::new(plan.room).expect("some room"));
    let calls = propose(plan);
    let ids: Vec<_> = calls.iter().map(|call| call.id().clone()).collect();
    let mut turn = harness.turn(calls);
    let stop = turn.token();
    {
        let mut running = pin!(turn.run());
        let mut task = Context::from_waker(Waker::noop());
        // A body may wait for ever; then the turn is cancelled in the end.
        for poll in 0..400 {
            match plan.stop {
                Some((after, true)) if poll == after => stop.cancel(),
                Some((after, false)) if poll == after => break,
                _ if poll == 200 => stop.cancel(),
                _ => {}
            }
            if running.as_mut().poll(&mut task).is_ready() {
                break;
            }
        }
    }
    let settled = turn.settled();
    let answered: Vec<_> = settled.iter().map(|settled| settled.result().call_id().clone()).collect();
    assert_eq!(answered, ids);
    let running = watch.lock();
    assert_eq!(running.clash, None);
    assert!(running.now.is_empty(), "{:?} run on", running.now);
    let started = settled.iter().filter(|settled| settled.record().started()).count();
    // A body that was about to begin when the turn was dropped counts as begun: nobody can tell.
    assert!(running.began <= started, "{} began, {started} are said to have", running.began);
    for settled in &settled {
        let is_allowed =
            matches!(host(settled.result().call_id().as_str()), Host::Allows | Host::AsksAndHearsYes | Host::EndIsLost);
        assert!(is_allowed || !settled.record().started(), "{settled:?}");
        assert!(!settled.result().text().is_empty());
    }
}

#[test]
fn a_turn_has_one_result_a_call_whatever_happens() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let _entered = runtime.enter();
    let outcome = proptest::test_runner::TestRunner::new(config(10_000)).run(&plans(), |plan| {
        runs(&plan);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
