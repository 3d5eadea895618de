//! Tools of an author who knows the SDK by another name (field report B10) or through a framework only (B11).
//!
//! This crate has no dependency named `tool_runtime`, and none on serde or schemars. Its edition is an earlier one than the
//! macros', in which `gen` is a name like any other.

/// Names that expansions must not stumble over.
#[allow(dead_code, missing_docs)]
mod hostile {
    pub(super) mod serde {}
    pub(super) mod schemars {}
    pub(super) mod std {}
    pub(super) mod core {}
}

/// The SDK under the name `tk`.
pub mod as_tk {
    #[allow(unused_imports)]
    use super::hostile::{core, schemars, serde, std};

    use tk::tool;

    /// A size.
    #[tk::tool_type(crate = "tk")]
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Size {
        /// Small.
        Small,
        /// Large.
        Large,
    }

    /// Says it again.
    #[tool(crate = "tk")]
    #[must_use]
    pub fn echo(
        /// A number.
        n: u8,
    ) -> u8 {
        n
    }

    /// Gives the size back. The path to the SDK need not be text.
    #[tool(crate = tk)]
    #[must_use]
    pub fn resize(
        /// The size.
        #[arg(default = Size::Large)]
        size: Size,
    ) -> Size {
        size
    }

    /// Generates.
    #[tool(crate = tk, host(writes(gen)))]
    #[must_use]
    pub fn gen(
        /// Which generation.
        gen: u8,
    ) -> u8 {
        gen
    }

    /// Counters.
    #[derive(Debug)]
    pub struct Counters;

    #[tk::toolset(crate = "tk")]
    impl Counters {
        /// Counts.
        #[tool]
        #[must_use]
        pub fn count(
            &self,
            /// From here.
            from: u8,
        ) -> u8 {
            from + 1
        }

        /// Begins a generation.
        #[tool]
        #[must_use]
        pub fn gen(&self) -> u8 {
            0
        }
    }
}

/// The SDK as a framework hands it on.
pub mod through_mid {
    /// Does nothing.
    #[mid::tool(crate = "mid::sdk")]
    pub fn nothing() {}

    mid::answer_tool!(answer, "The answer.");
    mid::pair_type!(Pair);

    /// Adds a pair.
    #[mid::tool(crate = mid::sdk)]
    #[must_use]
    pub fn add(
        /// The pair.
        pair: Pair,
    ) -> u8 {
        pair.a + pair.b
    }
}
