//! Looking for values in what people and tools write.

mod closed;
mod find;
mod lexicon;
mod readings;
mod text;

pub(crate) use closed::{About, Anchors, Closed, Mention, Spoken};
pub(crate) use find::{Budget, Needle};
pub use lexicon::Lexicon;
pub(crate) use readings::{Read, Reading, readings};
pub(crate) use text::{Sentence, Words};
