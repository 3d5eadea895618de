//! What the host keeps of a tool: how to read its arguments, run it, and show what came of it.

mod access;
mod args;
mod built;
mod card;
mod coded;
mod context;
mod definition;
mod dynamic;
mod family;
mod going;
mod host_tool;
mod lock;
mod output;
mod panic;
mod queue;
mod secret;

pub(crate) use access::Access;
pub(crate) use args::ErasedArgs;
pub use args::ModelArg;
pub(crate) use built::NO_OUTPUT;
pub use card::{Card, CardData, CardDataError, Final, StoredResult};
pub use coded::CodedError;
pub use context::{CallContext, HostOwned, HostState, HostValue};
pub(crate) use context::{Left, Lineage, SubCall, Surroundings};
pub(crate) use definition::{Body, Run};
pub use definition::{Hints, Label, LabelKind};
pub use dynamic::{DynamicOutput, DynamicTool, DynamicToolBuilder, DynamicToolError};
pub(crate) use dynamic::{LEGAL_NAMES, is_legal_name};
pub use family::{Progress, SubCallError};
pub use host_tool::{HostTool, Tool};
pub use lock::HostOnly;
pub(crate) use output::{BodyResult, Reply, Success};
pub use output::{ModelError, ModelOutput};
pub(crate) use panic::{CatchPanic, caught};
pub(crate) use queue::Queue;
pub use secret::Secret;

/// What generated code needs of this module.
pub(crate) mod generated {
    pub use super::args::{
        ErasedArgs, Extras, ShownValue, Visit, arg, arg_with, boxed, whole, with_args, with_args2, with_final,
    };
    pub use super::context::{host, host_ref, receiver};
    pub use super::definition::{Body, Definition, HostNeed, Label, Param, Run, RunFuture, tool_future_must_be_send};
    pub use super::output::{OutputType, PlainReturn, Reply, ReturnOf, Returns, Settle, Settled};
}
