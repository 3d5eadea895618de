//! What has to be known before a call runs.

mod ask;
mod conversation;
#[cfg(feature = "cel")]
mod expression;
mod given;
mod location;
mod look_up;
mod search;
mod shape;
mod slot;
mod source;

pub use ask::Ask;
pub use conversation::{Conversation, Observation};
#[cfg(feature = "cel")]
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Facts, Reads, Reason, ReasonKind, Scope, ScopeError, Truth,
};
pub use given::{Answers, Consent, Kept, KeptError, Memory, PresetError, Presets, Prior, ProcessMemory};
pub use location::{Location, Pointer, PointerError};
pub use look_up::{Came, Tried, look_up, look_up_all};
pub use search::Lexicon;
pub use shape::Shape;
pub use slot::{Checklist, Party, Report, Unknown};
pub use source::{Hit, Lookup, Normalisation, Source, SourceKind, SourceKindError, SourceSet, source_fn};
