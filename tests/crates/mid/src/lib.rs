//! A framework that hands the SDK on to its users, who depend on it alone (field report B11).

pub use tool_runtime as sdk;
pub use tool_runtime::tool;

/// Makes a tool that takes nothing and answers 42. It is written in the user's crate, where only this crate is known.
#[macro_export]
macro_rules! answer_tool {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[$crate::sdk::tool(crate = $crate::sdk)]
        #[must_use]
        pub fn $name() -> u8 {
            42
        }
    };
}

/// Makes a type for arguments and results in the user's crate.
#[macro_export]
macro_rules! pair_type {
    ($name:ident) => {
        /// Two numbers.
        #[$crate::sdk::tool_type(crate = $crate::sdk)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            /// The first.
            pub a: u8,
            /// The second.
            #[arg(default = 7)]
            pub b: u8,
        }
    };
}
