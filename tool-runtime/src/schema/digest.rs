use std::fmt;

use sha2::{Digest as _, Sha256};

use super::json::Json;

/// The SHA-256 of a value's canonical form (RFC 8785, except that integers outside ±2^53 keep
/// their digits, or two ids would share one digest).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }

    pub(crate) fn of(value: &Json) -> Self {
        let mut text = String::new();
        value.write_sorted(&mut text);
        Self::of_bytes(text.as_bytes())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
