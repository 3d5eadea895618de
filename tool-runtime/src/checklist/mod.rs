//! What has to be known before a call runs.

mod applied;
mod argument;
mod ask;
mod builder;
mod condition;
mod conversation;
#[cfg(feature = "cel")]
mod derive;
pub(crate) mod examine;
#[cfg(feature = "cel")]
mod expression;
mod extension;
mod file;
mod given;
mod intent;
mod judge;
mod labels;
mod leaves;
pub(crate) mod limit;
mod list;
mod location;
mod look_up;
mod notices;
pub(crate) mod number;
mod origin;
mod recorded;
mod report;
mod search;
mod shape;
mod slot;
mod snapshot;
mod source;
mod texts;
mod words;

pub use ask::Ask;
pub use builder::ChecklistBuilder;
pub use condition::{CheckedCall, Condition, State};
pub(crate) use conversation::{Asked as AskedInWords, Takes as TakesValue};
pub use conversation::{Conversation, Observation, TurnAnswer, TurnValue};
#[cfg(feature = "cel")]
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Facts, Reads, Reason, ReasonKind, Scope, ScopeError, Truth,
};
pub use file::Principle;
pub use given::{Answers, Consent, Kept, KeptError, Memory, PresetError, Presets, Prior, ProcessMemory};
pub(crate) use labels::unlabelled;
pub(crate) use leaves::put;
pub use list::Checklist;
pub use location::{Location, Pointer, PointerError};
pub use look_up::{Came, Tried, look_up, look_up_all};
pub use notices::Notices;
pub use origin::{ListKind, Origin};
pub(crate) use recorded::Recorded;
pub use report::Report;
pub use search::Lexicon;
pub use shape::Shape;
pub use slot::{Party, Slot, SlotKind, SlotState, Unknown};
pub(crate) use snapshot::Snapshot;
pub use source::{Hit, Lookup, Normalisation, Source, SourceKind, SourceKindError, SourceSet, source_fn};
pub use texts::ChecklistError;
