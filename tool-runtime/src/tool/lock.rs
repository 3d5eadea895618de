use serde::{Serialize, Serializer};

use super::HostTool;
use crate::schema::ModelFacing;

/// Stands for all that stays in the host process. There is no value of it.
#[derive(Debug)]
pub enum HostOnly {}

/// Never holds: `HostOnly` is not model-facing, and nobody can make it so. The impl exists for its
/// message, which any attempt to serialise a host tool shows.
#[doc(hidden)]
impl Serialize for HostTool
where
    for<'never> HostOnly: ModelFacing,
{
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("host-only tool metadata must never reach a model"))
    }
}
