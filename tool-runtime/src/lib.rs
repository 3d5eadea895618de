//! Typed tools for language models: the model proposes, your code executes, and the compiler keeps
//! the two apart.
//!
//! Write [`#[tool]`](macro@tool) above a function, put the tools into a [`Registry`], give the
//! registry and a [`Policy`] to a [`Harness`], and hand it what a model proposes:
//!
//! ```
//! use tool_runtime::{AllowAll, Harness, Registry, ToolCall, tool};
//!
//! /// Adds two numbers.
//! #[tool(host(inline, read_only))]
//! fn add(
//!     /// The first.
//!     a: i64,
//!     /// The second.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::builder().tool(AddTool::host()).build()?;
//! let harness = Harness::new(registry, AllowAll);
//!
//! let results = harness.run([ToolCall::new("call_1", "add", r#"{"a": 1, "b": 2}"#)]).await;
//! assert_eq!(results[0].text(), "3");
//!
//! let results = harness.run([ToolCall::new("call_2", "add", r#"{"a": 1, "c": 2}"#)]).await;
//! assert!(results[0].is_error());
//! # Ok::<(), tool_runtime::RegistryError>(())
//! # }).unwrap();
//! ```
//!
//! # The map
//!
//! A module knows only those above it:
//!
//! | module | what lives there |
//! |---|---|
//! | `schema` | what the model sees; schemas built, walked and digested |
//! | `document` | files that people write: TOML and JSON in one tree, with places |
//! | `call` | what a model proposes and reads back: plain data |
//! | `tool` | what the host keeps: bodies, outputs, renderers, contexts |
//! | `registry` | which tools there are |
//! | `gate` | policies, rules, guards, and people who are asked |
//! | `checklist` | what has to be known before a call runs |
//! | `ledger` | the record that execution starts from |
//! | `events` | what happens to calls, told to the host while it happens |
//! | `execute` | running bodies: schedule, budgets, cancellation, layers |
//! | [`agreement`] | N sampled plans judged before one is proposed |
//! | [`path`] | the path of one call, a stage a file |
//! | [`wire`] | providers' formats; reaches `schema` and `call` alone |
//! | `harness` | the stages put together |
//! | `mcp` | tools served to MCP clients, and MCP servers' tools brought through the gate |

// The documentation says which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agreement;
mod call;
mod checklist;
mod document;
mod events;
mod execute;
mod gate;
mod harness;
mod ledger;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod path;
mod registry;
mod schema;
mod tool;
pub mod wire;

#[doc(hidden)]
pub mod __private;

use std::future::Future;
use std::pin::Pin;

pub use call::{
    Block, CallId, CaseId, CaseIdError, Code, Content, RawArguments, Reported, ToolArgsError, ToolCall,
    ToolOutputError, ToolResult, UnknownCode,
};
pub use checklist::{
    Answers, Ask, Came, CheckedCall, Checklist, ChecklistBuilder, ChecklistError, Condition, Consent, Conversation,
    Hit, Kept, KeptError, Lexicon, ListKind, Location, Lookup, Memory, Normalisation, Notices, Observation, Origin,
    Party, Pointer, PointerError, PresetError, Presets, Principle, Prior, ProcessMemory, Report, Shape, Slot, SlotKind,
    SlotState, Source, SourceKind, SourceKindError, SourceSet, State, Tried, TurnAnswer, TurnValue, Unknown, look_up,
    look_up_all, source_fn,
};
#[cfg(feature = "cel")]
pub use checklist::{
    Expression, ExpressionError, ExpressionFault, Facts, Reads, Reason, ReasonKind, Scope, ScopeError, Truth,
};
pub use document::FileFault;
pub use events::{Event, EventKind, Observer};
pub use execute::{Attempt, Layer, Ran};
pub use gate::{
    Absent, Addressee, AllowAll, Answer, AnswerError, Approver, Arguments, Blank, CallFacts, ChannelApprover,
    Confirmed, Decision, DenyAll, FillError, FirstOf, Grant, GrantScope, Grants, Guard, Hint, NeverAsk, Pattern,
    PatternError, PendingSet, Policies, Policy, Question, QuestionId, QuestionSet, Rule, Rules, RulesBuilder,
    RulesError, Scalar, Signed, Signer, TerminalApprover, Test, UnknownAnswer,
};
pub use harness::{Harness, PlansRun, Repeats, RepeatsError, Turn, TurnOutcome};
pub use ledger::{
    Amount, AnsweredRecord, AskedRecord, Binding, CaseHistory, CaseState, ClaimError, Claimed, Clearing,
    DeclarationRecord, Entry, FileHead, FileLedger, FileLedgerError, FileTail, FormEnd, FormRecord, History, LateEnd,
    Ledger, LedgerError, LedgerKey, LedgerKeyError, LimitUse, MemoryLedger, Owner, Parking, ProviderReport, Query,
    Record, Refusal, Repaired, Reply, ReplyError, SourceFailure, Standing, Stored, StoredError, StoredKind, Tally,
    TimedLedger, Verdict, VerdictKind, Verified,
};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use ledger::{SqlLedger, SqlOptions, Survives};
pub use path::{Replay, Replayed, WouldBe};
pub use registry::{Drift, DriftKind, FilterError, Loaded, Registry, RegistryBuilder, RegistryError};
pub use schema::{
    Day, DayError, DeclaredTool, Digest, DigestError, Issue, JsonPath, MAX_DEPTH, ModelFacing, Problem, Problems,
    Segment, ToolSchema,
};
pub use tool::{
    CallContext, Card, CardData, CardDataError, CodedError, DynamicOutput, DynamicTool, DynamicToolBuilder,
    DynamicToolError, Final, Hints, HostOnly, HostOwned, HostState, HostTool, HostValue, Label, LabelKind, ModelArg,
    ModelError, ModelOutput, Progress, Secret, StoredResult, SubCallError, Tool,
};
pub use tool_macros::{tool, tool_type, toolset};

/// For arguments and outputs that are any JSON: [`serde_json::Value`].
pub use serde_json;

/// Stops what runs: a turn, a body, what a layer runs.
pub use tokio_util::sync::CancellationToken;

/// A boxed future, as the traits return that hosts implement. `Box::pin(async move { … })` makes one.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
