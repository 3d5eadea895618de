use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::key::LedgerKey;
use crate::call::CallId;
use crate::schema::Digest;
use crate::schema::json::{Json, JsonPath, Segment};

/// What a yes is for: the whole set of slots and values of one revision of one call, under one
/// definition of its tool. A value that changes, comes in or goes out makes it another set.
///
/// Values are digests under the ledger's key (of their form by RFC 8785), so that nobody finds out a
/// short secret by trying. An array is one value: what stands where in it is no slot of its own.
#[derive(Clone, PartialEq, Eq)]
pub struct Binding {
    digest: Digest,
    /// In the order of their pointers.
    pairs: Vec<(String, Digest)>,
}

/// The call that a binding is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) call_id: &'a CallId,
    pub(crate) tool: &'a str,
    pub(crate) definition: &'a Digest,
    pub(crate) revision: u32,
}

impl Binding {
    /// Of accepted arguments, given their canonical text.
    pub(crate) fn of(key: &LedgerKey, bound: Bound<'_>, canonical: &str) -> Self {
        // An accepted text is JSON. If it weren't, its bytes would stand for themselves.
        let arguments = Json::parse(canonical).unwrap_or_else(|_| Json::string(canonical));
        let mut pairs = Vec::new();
        leaves(&arguments, &JsonPath::root(), &mut |path, value| {
            let pointer = path.to_pointer();
            let digest = key.digest("pair", &[pointer.as_bytes(), value.canonical().as_bytes()]);
            pairs.push((pointer, digest));
        });
        pairs.sort();
        let revision = bound.revision.to_le_bytes();
        let head: [&[u8]; 4] =
            [bound.call_id.as_str().as_bytes(), bound.tool.as_bytes(), bound.definition.as_bytes(), &revision];
        let body = pairs.iter().flat_map(|(pointer, digest)| [pointer.as_bytes(), digest.as_bytes().as_slice()]);
        let parts: Vec<&[u8]> = head.into_iter().chain(body).collect();
        Binding { digest: key.digest("set", &parts), pairs }
    }

    /// Identifies the set, its call, its revision and its tool's definition.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// JSON Pointers of the slots, with the digests of their values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.pairs.iter().map(|(pointer, digest)| (pointer.as_str(), digest))
    }

    /// The slots whose values are what they were in an earlier revision: they can be shown as confirmed
    /// already. What differs is to be asked about anew, and so is the set.
    pub fn unchanged_since<'a>(&'a self, earlier: &Binding) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(|pair| earlier.pairs.binary_search(pair).is_ok()).map(|(pointer, _)| pointer.as_str())
    }

    /// As a ledger has it.
    pub(super) fn read(json: &Json) -> Option<Self> {
        let digest = json.get("digest")?.as_str()?.parse().ok()?;
        let mut pairs = Vec::new();
        for (pointer, value) in json.get("pairs")?.as_object()? {
            pairs.push((pointer.clone(), value.as_str()?.parse().ok()?));
        }
        pairs.sort();
        Some(Binding { digest, pairs })
    }
}

/// Every value that is no object, and empty objects.
fn leaves(value: &Json, path: &JsonPath, take: &mut dyn FnMut(&JsonPath, &Json)) {
    match value {
        Json::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                let mut inner = path.clone();
                inner.push(Segment::Key(key.clone()));
                leaves(value, &inner, take);
            }
        }
        _ => take(path, value),
    }
}

impl Serialize for Binding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Pairs<'a>(&'a [(String, Digest)]);
        impl Serialize for Pairs<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.0.len()))?;
                for (pointer, digest) in self.0 {
                    map.serialize_entry(pointer, &digest.to_string())?;
                }
                map.end()
            }
        }
        let mut fields = serializer.serialize_struct("Binding", 2)?;
        fields.serialize_field("digest", &self.digest.to_string())?;
        fields.serialize_field("pairs", &Pairs(&self.pairs))?;
        fields.end()
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding").field("digest", &self.digest).field("pairs", &self.pairs.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(revision: u32, text: &str) -> Binding {
        let key = LedgerKey::new("k", [1; 32]).unwrap();
        let (call_id, definition) = (CallId::from("c"), Digest::of_bytes(b""));
        Binding::of(&key, Bound { call_id: &call_id, tool: "pay", definition: &definition, revision }, text)
    }

    #[test]
    fn a_changed_added_or_removed_value_is_another_set() {
        let one = binding(1, r#"{"to":"alice","amount":10,"more":{"a":[1,2]}}"#);
        assert_eq!(one, binding(1, r#"{"amount":10,"to":"alice","more":{"a":[1,2]}}"#));
        assert_eq!(one.pairs().map(|(pointer, _)| pointer).collect::<Vec<_>>(), ["/amount", "/more/a", "/to"]);
        for other in [
            r#"{"to":"bob","amount":10,"more":{"a":[1,2]}}"#,
            r#"{"to":"alice","amount":10,"more":{"a":[2,1]}}"#,
            r#"{"to":"alice","amount":10}"#,
            r#"{"to":"alice","amount":10,"more":{"a":[1,2]},"cc":null}"#,
            r#"{"to":"alice","amount":"10","more":{"a":[1,2]}}"#,
        ] {
            assert_ne!(one.digest(), binding(1, other).digest(), "{other}");
        }
        let next = binding(2, r#"{"to":"bob","amount":10,"more":{"a":[1,2]}}"#);
        assert_ne!(one.digest(), binding(2, r#"{"to":"alice","amount":10,"more":{"a":[1,2]}}"#).digest());
        assert_eq!(next.unchanged_since(&one).collect::<Vec<_>>(), ["/amount", "/more/a"]);
    }

    #[test]
    fn a_binding_is_read_back() {
        let one = binding(1, r#"{"to":"alice","a~/b":{}}"#);
        let text = crate::schema::json::ser::write(&one).unwrap();
        assert_eq!(Binding::read(&Json::parse(&text).unwrap()), Some(one));
    }
}
