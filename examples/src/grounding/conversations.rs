//! The recorded conversations, and what the airline's tools take.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_runtime::{Day, Shape};

/// A conversation of the file.
#[derive(Deserialize)]
pub(crate) struct Recorded {
    pub(crate) task: u32,
    pub(crate) trial: u32,
    /// 1 if the trial came to what was wanted.
    pub(crate) reward: f64,
    pub(crate) expected_actions: Vec<Expected>,
    pub(crate) messages: Vec<Message>,
}

#[derive(Deserialize)]
pub(crate) struct Expected {
    pub(crate) name: String,
    pub(crate) kwargs: Value,
}

#[derive(Deserialize)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: Option<String>,
    #[serde(default)]
    pub(crate) tool_calls: Option<Vec<Call>>,
    pub(crate) tool_call_id: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) function: Function,
}

#[derive(Deserialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Reads JSON lines, compressed by gzip or not.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, Box<dyn Error>> {
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(bytes).read_to_string(&mut text)?;
    } else {
        text.push_str(std::str::from_utf8(bytes)?);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1).into()))
        .collect()
}

/// The airline's list: its tools, and the words by which people speak of their arguments.
pub(crate) struct Airline {
    pub(crate) now: Day,
    tools: BTreeMap<String, Tool>,
    says: BTreeMap<String, Vec<String>>,
    computed: Vec<String>,
    airports: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Tool {
    schema: Value,
    #[serde(default)]
    writes: bool,
    #[serde(default)]
    pure: bool,
}

impl Airline {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        #[derive(Deserialize)]
        struct File {
            now: String,
            tools: BTreeMap<String, Tool>,
            says: BTreeMap<String, Vec<String>>,
            computed: Vec<String>,
            airports: BTreeMap<String, String>,
        }
        let file: File = serde_json::from_str(include_str!("airline.json"))?;
        let File { now, tools, says, computed, airports } = file;
        Ok(Airline { now: now.parse()?, tools, says, computed, airports })
    }

    pub(crate) fn writes(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.writes)
    }

    /// Its tools, by name: what each takes, and whether it changes anything.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&str, &Value, bool)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), &tool.schema, tool.writes))
    }

    pub(crate) fn is_pure(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.pure)
    }

    pub(crate) fn shape(&self, tool: &str, slot: &str) -> Shape {
        let schema = self.tools.get(tool).map(|tool| tool.schema.to_string());
        schema.and_then(|schema| Shape::of_schema(&schema, slot)).unwrap_or(Shape::Any)
    }

    /// Other words for the values of an argument: the cities of airports.
    pub(crate) fn aliases(&self, slot: &str) -> Vec<(String, String)> {
        let is_airport = matches!(slot, "/origin" | "/destination");
        let airports = self.airports.iter().filter(|_| is_airport);
        airports.map(|(code, city)| (Value::from(code.as_str()).to_string(), city.clone())).collect()
    }

    /// May the value of an argument be one that a pure tool has computed from others?
    pub(crate) fn may_be_computed(&self, slot: &str) -> bool {
        self.computed.iter().any(|name| slot.ends_with(&format!("/{name}")))
    }

    pub(crate) fn says(&self, slot: &str) -> &[String] {
        let name = slot.rsplit('/').next().unwrap_or_default();
        self.says.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The scalars of arguments, each with its JSON Pointer.
pub(crate) fn leaves(arguments: &Value) -> Vec<(String, Value)> {
    fn walk(value: &Value, pointer: String, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, inner)| walk(inner, format!("{pointer}/{key}"), found));
            }
            Value::Array(elements) => {
                elements.iter().enumerate().for_each(|(at, inner)| walk(inner, format!("{pointer}/{at}"), found));
            }
            Value::Null => {}
            leaf => found.push((pointer, leaf.clone())),
        }
    }
    let mut found = Vec::new();
    walk(arguments, String::new(), &mut found);
    found
}
