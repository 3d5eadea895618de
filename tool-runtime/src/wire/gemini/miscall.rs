use std::fmt;

use serde::ser::{Serialize, Serializer};

use super::{Value, object};
use crate::schema::json::Json;
use crate::schema::text;

/// A call that Gemini could not make of what its model wrote.
///
/// The response has neither a call nor text then, and looks like the end of a conversation. What is to be done is to tell
/// the model: put this, as JSON, behind the [`history`](super::history) of the response, and send the request again. Bound
/// how often: a model may write the same again.
///
/// ```
/// use tool_runtime::wire::gemini;
///
/// let response = r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL",
///     "finishMessage":"Malformed function call: print(default_api.add(a=1"}]}"#;
/// assert!(gemini::calls(response)?.is_empty());
/// let miscall = gemini::miscall(response)?.expect("a call that could not be read");
/// assert_eq!(miscall.reason(), "MALFORMED_FUNCTION_CALL");
/// let contents = [gemini::history(response)?, miscall.to_json()];
/// assert!(contents[0].contains("print(default_api.add(a=1"));
/// assert!(contents[1].starts_with(r#"{"role":"user","parts":[{"text":"Your function call could not be read"#));
/// # Ok::<(), gemini::MessageError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miscall {
    reason: &'static str,
    said: Option<String>,
}

/// The reasons that are one, and what a model is told.
const REASONS: [(&str, &str); 2] = [
    (
        "MALFORMED_FUNCTION_CALL",
        "Your function call could not be read, and nothing was run. Make it again as a function call, not as code or \
         text: the name of a declared function, and its arguments as one JSON object.",
    ),
    (
        "UNEXPECTED_TOOL_CALL",
        "You called a function that can't be called now, and nothing was run. Call none but the declared functions, or \
         answer without one.",
    ),
];

/// How much of what the model wrote is kept, in bytes.
const KEPT: usize = 8_000;

impl Miscall {
    /// Of a turn that has stopped for this reason, and that has no calls.
    pub(super) fn of(reason: Value<'_>, said: Option<Value<'_>>) -> Option<Self> {
        let (known, _) = REASONS.iter().find(|(known, _)| reason.is(known))?;
        let said = said.and_then(Value::text).filter(|said| !said.trim().is_empty());
        Some(Miscall { reason: known, said: said.map(|said| text::head(&said, KEPT).to_owned()) })
    }

    /// Gemini's word for it: `MALFORMED_FUNCTION_CALL`, or `UNEXPECTED_TOOL_CALL`.
    pub fn reason(&self) -> &str {
        self.reason
    }

    /// What Gemini says of it, which has what its model wrote, as a rule.
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// The content of the user that tells the model, as compact JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    fn json(&self) -> Json {
        let told = REASONS.iter().find(|(known, _)| *known == self.reason).map_or("", |(_, told)| told);
        let part = object([("text", Json::string(told))]);
        object([("role", Json::string("user")), ("parts", Json::Array(vec![part]))])
    }
}

impl fmt::Display for Miscall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)?;
        match &self.said {
            Some(said) => write!(f, ": {}", text::visible(said, 500)),
            None => Ok(()),
        }
    }
}

impl Serialize for Miscall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
