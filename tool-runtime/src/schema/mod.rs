//! What a model sees of a tool: schemas built, walked and digested.

mod compile;
mod day;
mod describe;
mod digest;
mod facing;
mod filled;
pub(crate) mod foreign;
mod format;
pub(crate) mod hints;
pub(crate) mod json;
mod node;
mod normalise;
mod paths;
mod problem;
pub(crate) mod quick;
mod reach;
pub(crate) mod text;
mod tool_schema;
mod walk;

pub use compile::Issue;
pub(crate) use compile::{Compiled, Origin, compile, percent_decode};
pub use day::{Day, DayError};
pub(crate) use describe::got;
pub use digest::{Digest, DigestError};
pub(crate) use facing::sealed;
pub use facing::{DeclaredTool, ModelFacing};
#[cfg(feature = "cel")]
pub(crate) use format::Format;
pub use json::{JsonPath, MAX_DEPTH, Segment};
pub(crate) use node::{Graph, Purpose, Said};
pub(crate) use normalise::{for_each_subschema, normalise, shown};
pub(crate) use paths::normalised;
pub(crate) use problem::What;
pub use problem::{Problem, Problems};
pub(crate) use reach::{Kind, Reached, Step, Unreached};
pub(crate) use tool_schema::SEARCH_TOOL;
pub use tool_schema::ToolSchema;
pub(crate) use walk::{MAX_TEXT, REDACTED, Walked};
