use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::schema::{REDACTED, hints};

/// A value that is shown to the handler and to nobody else: redacted in every record, event, error
/// and prompt, wherever in the arguments it stands.
///
/// Its `Debug` prints `[redacted]`, and its `Serialize` writes that.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Keeps a value.
    pub fn new(value: T) -> Self {
        Secret(value)
    }

    /// The value itself.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What `T` says of a value that it refuses may quote the value.
        T::deserialize(deserializer)
            .map(Secret)
            .map_err(|_| serde::de::Error::custom("expected a secret of the right form"))
    }
}

impl<T: JsonSchema> JsonSchema for Secret<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Secret_{}", T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("tool_runtime::Secret<{}>", T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            return String::json_schema(generator);
        }
        let mut schema = generator.subschema_for::<T>();
        schema.insert(hints::SECRET.to_owned(), true.into());
        schema
    }
}
