//! What each provider is shown of a tool, and the way back.

#![allow(missing_docs, reason = "the types of the zoo say what they are by their fields")]

#[path = "../properties/instance.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod instance;
#[path = "../properties/json.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod json;
#[path = "../properties/oracle.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod oracle;
#[path = "../properties/schema.rs"]
mod schema;
#[path = "../properties/tape.rs"]
#[allow(dead_code, reason = "shared with the properties")]
mod tape;

mod async_openai;
mod own;
mod properties;
mod schemas;
mod strangers;
mod support;
