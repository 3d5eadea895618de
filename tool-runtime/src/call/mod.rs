//! What a model proposes and what it reads back: plain data, on which nothing has been decided.

mod case;
mod code;
mod content;
mod errors;
mod reported;
mod tool_call;
mod tool_result;
mod word;

pub use case::{CaseId, CaseIdError};
pub(crate) use case::{Place, placed, unique};
pub use code::{Code, UnknownCode};
pub use content::{Block, Content};
pub use errors::{ToolArgsError, ToolOutputError};
pub use reported::Reported;
pub use tool_call::{CallId, RawArguments, ToolCall};
pub use tool_result::ToolResult;
pub(crate) use word::Word;
