use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::json::Json;

/// The SHA-256 of a value's canonical form (RFC 8785, except that integers outside ±2^53 keep
/// their digits, or two ids would share one digest).
///
/// Written as 64 lower-case hexadecimal digits, and read back from them:
///
/// ```
/// use tool_runtime::{Digest, tool};
///
/// /// Waits.
/// #[tool]
/// fn wait() {}
///
/// let digest = *WaitTool::host().digest();
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// assert!("abc".parse::<Digest>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }

    pub(crate) fn of(value: &Json) -> Self {
        Self::of_bytes(value.canonical().as_bytes())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    /// The bytes of a digest that was made elsewhere.
    fn from(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(DigestError),
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(DigestError) };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return Err(DigestError);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Digest(bytes))
    }
}

/// A text is no digest: it isn't 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DigestError;

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest is 64 lower-case hexadecimal digits")
    }
}

impl std::error::Error for DigestError {}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At once: a record has many of them.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (digits, byte) in text.chunks_exact_mut(2).zip(self.0) {
            digits[0] = DIGITS[usize::from(byte >> 4)];
            digits[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
