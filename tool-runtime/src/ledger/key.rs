use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

use super::Ledger;
use crate::schema::Digest;

/// The key under which a host's ledgers are written. Who has it can write records that count; who
/// hasn't can change none unseen. Cheap to clone.
///
/// One secret gives a key for each use (HMAC-SHA-256, RFC 2104, of the use's name): one for the codes
/// of records, one for digests of values, one to seal secrets with.
///
/// A key is changed by beginning to write under a new one, and keeping the old one to
/// [read](Self::with_earlier) what was written under it; every record says by its name which it was.
///
/// ```
/// use tool_runtime::LedgerKey;
///
/// let key = LedgerKey::new("2026-11", [7; 32])?;
/// assert_eq!(key.id(), "2026-11");
/// assert!(LedgerKey::from_hex("2026-11", "abc").is_err());
/// # Ok::<(), tool_runtime::LedgerKeyError>(())
/// ```
#[derive(Clone)]
pub struct LedgerKey {
    keys: Arc<Keys>,
    /// The newest first. These have no earlier ones of their own.
    earlier: Arc<[LedgerKey]>,
}

struct Keys {
    id: String,
    records: Hmac<Sha256>,
    values: Hmac<Sha256>,
    #[cfg(feature = "sealed")]
    secrets: chacha20poly1305::XChaCha20Poly1305,
}

/// The code of a record: 32 bytes.
pub(crate) type Mac = [u8; 32];

impl LedgerKey {
    /// The key of a secret, with a name for it that goes into the records.
    ///
    /// # Errors
    /// If the name isn't 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub fn new(id: impl Into<String>, secret: [u8; 32]) -> Result<Self, LedgerKeyError> {
        let id = id.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if id.is_empty() || id.len() > 64 || !id.bytes().all(plain) {
            return Err(LedgerKeyError("the name of a key is 1 to 64 of `A-Z a-z 0-9 . _ -`"));
        }
        Ok(LedgerKey::derived(id, &secret))
    }

    /// As [`new`](Self::new), of 64 hexadecimal digits.
    ///
    /// # Errors
    /// If they aren't that, or the name is none.
    pub fn from_hex(id: impl Into<String>, secret: &str) -> Result<Self, LedgerKeyError> {
        let secret: Digest = secret
            .trim()
            .to_ascii_lowercase()
            .parse()
            .map_err(|_| LedgerKeyError("the secret of a key is 64 hexadecimal digits"))?;
        LedgerKey::new(id, *secret.as_bytes())
    }

    /// Reads what was written under an earlier key, too, and under those that it reads. What is written
    /// from now on is written under this one.
    ///
    /// A remembered no and the approval of a call that waits count under the key under which they were
    /// given, for as long as it is here.
    ///
    /// # Errors
    /// If two keys have one name.
    ///
    /// ```
    /// use tool_runtime::LedgerKey;
    ///
    /// let old = LedgerKey::new("2026-11", [7; 32])?;
    /// let key = LedgerKey::new("2027-01", [8; 32])?.with_earlier(&old)?;
    /// assert_eq!(key.id(), "2027-01");
    /// assert!(old.clone().with_earlier(&old).is_err());
    /// # Ok::<(), tool_runtime::LedgerKeyError>(())
    /// ```
    pub fn with_earlier(mut self, earlier: &LedgerKey) -> Result<Self, LedgerKeyError> {
        let mut all = self.earlier.to_vec();
        for key in earlier.all() {
            if self.named(key.id()).is_some() {
                return Err(LedgerKeyError("two keys of a ledger have one name"));
            }
            all.push(LedgerKey { keys: Arc::clone(&key.keys), earlier: Arc::default() });
        }
        self.earlier = all.into();
        Ok(self)
    }

    /// This one, and the earlier ones that are read.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LedgerKey> {
        std::iter::once(self).chain(&*self.earlier)
    }

    /// The one of this name, among them.
    pub(crate) fn named(&self, id: &str) -> Option<&LedgerKey> {
        self.all().find(|key| key.id() == id)
    }

    /// A key of the system's random numbers, which nobody else has, and which ends with the process
    /// unless it is told apart by [`new`](Self::new).
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> Result<Self, LedgerKeyError> {
        Ok(LedgerKey::derived("process".to_owned(), &random()?))
    }

    /// The key of a ledger, or else one that ends with the process.
    pub(crate) fn of(ledger: &dyn Ledger) -> LedgerKey {
        static PROCESS: OnceLock<LedgerKey> = OnceLock::new();
        let own = || {
            PROCESS.get_or_init(|| {
                let secret = random().unwrap_or_else(|_| {
                    // The standard library's hashers have keys from the same numbers, and panic without.
                    let words: [u64; 4] = std::array::from_fn(|place| RandomState::new().hash_one(place));
                    let mut bytes = [0; 32];
                    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
                        chunk.copy_from_slice(&word.to_le_bytes());
                    }
                    bytes
                });
                LedgerKey::derived("process".to_owned(), &secret)
            })
        };
        ledger.key().unwrap_or_else(own).clone()
    }

    /// Identifies what would run, given its digest, which is nobody else's to see.
    pub(crate) fn of_what_runs(&self, digest: Digest) -> Digest {
        self.digest("what-runs", &[digest.as_bytes()])
    }

    fn derived(id: String, secret: &[u8; 32]) -> Self {
        let root = keyed(secret);
        let derive = |what: &str| -> [u8; 32] { root.clone().chain_update(what).finalize().into_bytes().into() };
        let keys = Arc::new(Keys {
            records: keyed(&derive("tool-runtime/ledger/records/1")),
            values: keyed(&derive("tool-runtime/ledger/values/1")),
            #[cfg(feature = "sealed")]
            secrets: <chacha20poly1305::XChaCha20Poly1305 as chacha20poly1305::KeyInit>::new(
                &derive("tool-runtime/ledger/secrets/1").into(),
            ),
            id,
        });
        LedgerKey { keys, earlier: Arc::default() }
    }

    /// The name, which stands in the records.
    pub fn id(&self) -> &str {
        &self.keys.id
    }

    /// The code of parts of a record. `domain` says what they are.
    pub(crate) fn mac(&self, domain: &str, parts: &[&[u8]]) -> Mac {
        over(&self.keys.records, domain, parts).finalize().into_bytes().into()
    }

    /// Is it their code? Takes as long whether it is or not.
    pub(crate) fn is_mac(&self, domain: &str, parts: &[&[u8]], mac: &[u8]) -> bool {
        over(&self.keys.records, domain, parts).verify_slice(mac).is_ok()
    }

    /// A digest that tells values apart and tells nobody without the key what they are.
    pub(crate) fn digest(&self, domain: &str, parts: &[&[u8]]) -> Digest {
        Digest::from(<[u8; 32]>::from(over(&self.keys.values, domain, parts).finalize().into_bytes()))
    }
}

#[cfg(feature = "sealed")]
impl LedgerKey {
    /// Seals a text (XChaCha20-Poly1305, with a random nonce before it) for one place.
    pub(crate) fn seal(&self, place: &str, text: &str) -> Result<Vec<u8>, LedgerKeyError> {
        use chacha20poly1305::aead::{Aead as _, Payload};
        let nonce: [u8; 24] = random()?;
        let payload = Payload { msg: text.as_bytes(), aad: place.as_bytes() };
        let sealed = self.keys.secrets.encrypt(&nonce.into(), payload).map_err(|_| UNSEALABLE)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// The text that was sealed for this place, under whichever of the keys.
    pub(crate) fn unseal(&self, place: &str, sealed: &[u8]) -> Result<String, LedgerKeyError> {
        self.all().find_map(|key| key.open(place, sealed).ok()).ok_or(UNSEALABLE)
    }

    fn open(&self, place: &str, sealed: &[u8]) -> Result<String, LedgerKeyError> {
        use chacha20poly1305::aead::{Aead as _, Payload};
        let (nonce, sealed) = sealed.split_first_chunk::<24>().ok_or(UNSEALABLE)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        let text = self.keys.secrets.decrypt(nonce.into(), payload).map_err(|_| UNSEALABLE)?;
        String::from_utf8(text).map_err(|_| UNSEALABLE)
    }
}

#[cfg(feature = "sealed")]
const UNSEALABLE: LedgerKeyError =
    LedgerKeyError("a sealed text was sealed with another key, for another call, or changed");

impl fmt::Debug for LedgerKey {
    /// Its name alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LedgerKey({})", self.keys.id)
    }
}

/// A fresh array of the system's random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], LedgerKeyError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| LedgerKeyError("the system has no random numbers"))?;
    Ok(bytes)
}

fn keyed(secret: &[u8; 32]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(secret) {
        Ok(keyed) => keyed,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

/// Each part after its length, so that no two lists of parts are the same bytes.
fn over(keyed: &Hmac<Sha256>, domain: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut hmac = keyed.clone();
    for part in std::iter::once(&domain.as_bytes()).chain(parts) {
        hmac.update(&(part.len() as u64).to_le_bytes());
        hmac.update(part);
    }
    hmac
}

/// What is no key, or a key can't do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerKeyError(&'static str);

impl fmt::Display for LedgerKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for LedgerKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2, by way of the one thing that is ours: the lengths.
    #[test]
    fn parts_are_kept_apart() {
        let key = LedgerKey::new("k", [1; 32]).unwrap();
        let mac = key.mac("d", &[b"ab", b"c"]);
        assert!(key.is_mac("d", &[b"ab", b"c"], &mac));
        for other in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""], &[b"", b"ab", b"c"]] {
            assert!(!key.is_mac("d", other, &mac));
        }
        assert!(!key.is_mac("e", &[b"ab", b"c"], &mac));
        assert!(!key.is_mac("d", &[b"ab", b"c"], &mac[..31]));
        assert!(!LedgerKey::new("k", [2; 32]).unwrap().is_mac("d", &[b"ab", b"c"], &mac));
        assert_ne!(key.digest("d", &[b"ab"]).as_bytes(), &key.mac("d", &[b"ab"]));
    }

    #[test]
    fn names_that_could_be_mistaken_are_refused() {
        for id in ["", "a b", "ä", "a\n", &"x".repeat(65)] {
            assert!(LedgerKey::new(id, [0; 32]).is_err(), "{id:?}");
        }
        assert!(LedgerKey::from_hex("k", &"0f".repeat(32)).is_ok());
    }

    #[cfg(feature = "sealed")]
    #[test]
    fn what_is_sealed_is_opened_by_its_key_for_its_place_alone() {
        let key = LedgerKey::new("k", [1; 32]).unwrap();
        let sealed = key.seal("case", "secret").unwrap();
        assert_eq!(key.unseal("case", &sealed).as_deref(), Ok("secret"));
        assert!(key.unseal("other", &sealed).is_err());
        assert!(LedgerKey::new("k", [2; 32]).unwrap().unseal("case", &sealed).is_err());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(key.unseal("case", &changed).is_err());
        }
    }
}
