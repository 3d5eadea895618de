//! All that generated code may call. No part of this crate's API: it changes without notice.

pub use crate::__a_tool_in_an_impl_needs_toolset_on_the_impl as a_tool_in_an_impl_needs_toolset_on_the_impl;
pub use schemars;
pub use serde;
pub use tool_macros::__items;

pub use crate::call::Content;
pub use crate::schema::ToolSchema;
pub use crate::tool::generated::*;
pub use crate::tool::{CallContext, Card, Final, HostTool, StoredResult, Tool};

/// The items in its braces, as one item: inside of an `impl` it is one error, which names this macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __a_tool_in_an_impl_needs_toolset_on_the_impl {
    ($items:tt) => {
        #[$crate::__private::__items $items]
        struct __Tool;
    };
}
