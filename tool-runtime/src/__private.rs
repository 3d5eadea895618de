//! All that generated code may call. No part of this crate's API: it changes without notice.

pub use schemars;
pub use serde;

pub use crate::call::Content;
pub use crate::schema::ToolSchema;
pub use crate::tool::generated::*;
pub use crate::tool::{CallContext, Card, Final, HostTool, StoredResult, Tool};
