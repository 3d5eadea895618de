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
mod sent_back;
mod value;

pub(super) use assembled::assembled;
pub(crate) use error::Fail;
pub use error::MessageError;
pub(super) use error::reported;
pub(super) use gathered::{Gathered, mended};
pub(super) use ids::{Listed, given, id_of, identified, ids, ids_of};
pub(super) use kept::Kept;
pub(super) use places::Places;
pub(super) use results::{as_text, has_images, images, object, parts_of, text_beside};
pub(super) use sent_back::{
    Change, NOTHING, array_of, changed, of_changed, of_given_id, of_id, of_name, of_object_arguments,
    of_text_arguments, quoted, text_arguments,
};
pub(crate) use value::Value;
