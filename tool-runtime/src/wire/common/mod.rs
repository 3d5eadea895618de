//! What the formats share.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unused_macros,
    reason = "no format needs all of it, and each can be built alone"
)]

mod assembled;
mod error;
mod gathered;
mod ids;
mod kept;
pub(crate) mod names;
mod places;
mod results;
mod value;

pub(super) use assembled::assembled;
pub(crate) use error::Fail;
pub use error::MessageError;
pub(super) use error::reported;
pub(super) use gathered::{Gathered, mended};
pub(super) use ids::{Listed, given, id_of, identified, ids};
pub(super) use kept::Kept;
pub(super) use places::Places;
pub(super) use results::{as_text, has_images, images, object, parts_of, text_beside};
pub(crate) use value::Value;
