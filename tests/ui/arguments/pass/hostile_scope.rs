// The author's own types may be called like those of the prelude.
#![allow(dead_code, non_camel_case_types, unused_macros)]

use ::tool_runtime::{tool, tool_type, toolset};

struct Option<T>(T);
struct Result;
struct Vec;
struct Box;
struct String;
struct Arc;
struct Send;
struct Ok;
struct Definition;
struct Param;
trait Default {}
trait Into {}
trait Clone {}
trait Iterator {}
mod serde {}
mod schemars {}
mod alloc {}
macro_rules! concat {
    () => {};
}
macro_rules! vec {
    () => {};
}
macro_rules! unreachable {
    () => {};
}

type Text = ::std::string::String;

#[tool_type]
#[derive(::std::clone::Clone)]
struct Place {
    city: Text,
    #[arg(default = "de")]
    country: Text,
    #[arg(default = Some(1), range = 1..=3)]
    floor: ::std::option::Option<u8>,
}

/// Looks up the weather.
#[tool(host(timeout = "5s"))]
async fn weather(
    /// Where.
    place: Place,
    /// How.
    #[arg(default)]
    how: u8,
    /// In what.
    #[arg(default = "C")]
    unit: Text,
    /// Named like ours.
    __args: u8,
    /// Named like ours.
    __cx: u8,
    #[host] client: &u32,
) -> ::std::result::Result<Text, Text> {
    let _ = (how, unit, __args, __cx, client);
    ::std::result::Result::Ok(place.city)
}

mod harder {
    #[derive(PartialEq)]
    struct Some;
    struct None;

    /// Adds.
    #[::tool_runtime::tool]
    fn add(
        /// The first.
        #[arg(default = 1, range = 1..=3, length = 1..=3)]
        a: u8,
        /// A text.
        text: &str,
    ) -> ::std::string::String {
        let _ = (Some == Some, None, a);
        ::std::convert::From::from(text)
    }
}

struct Files;

#[toolset]
impl Files {
    /// Reads.
    #[tool]
    fn read(self: ::std::sync::Arc<Self>) {}
}

fn main() {
    let _ = (WeatherTool::host(), ::std::sync::Arc::new(Files).tools());
}
