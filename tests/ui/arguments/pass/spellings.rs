// Whether an argument may be absent is the type's business, however it is spelt.
#![allow(unused_parens)]

use tool_runtime::{tool, tool_type};

type Maybe<T> = Option<T>;

mod own {
    // Is no `Option`.
    #[tool_runtime::tool_type]
    pub struct Option<T> {
        pub inner: T,
    }
}

#[tool_type]
#[serde(from = "std::option::Option<u8>")]
struct Level(u8);

impl From<Option<u8>> for Level {
    fn from(level: Option<u8>) -> Self {
        Level(level.unwrap_or(1))
    }
}

macro_rules! with {
    ($ty:ty) => {
        /// Takes some.
        #[tool]
        fn some(
            /// Plain.
            plain: $ty,
            /// Maybe.
            maybe: Maybe<u8>,
            /// Fully named.
            full: std::option::Option<u8>,
            /// The author's own.
            own: own::Option<u8>,
            /// In parentheses.
            parens: (Option<u8>),
            /// By way of another type.
            level: Level,
        ) -> u8 {
            plain.unwrap_or(0) + maybe.or(full).or(parens).unwrap_or(own.inner) + level.0
        }
    };
}
with!(Option<u8>);

fn main() {
    let schema: serde_json::Value = serde_json::from_str(SomeTool::schema().parameters()).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["own"]), "{schema}");
}
