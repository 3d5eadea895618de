//! The tools of a registry as `tools/list` has them.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, ListToolsResult, Tool, ToolAnnotations};

use crate::registry::{Loaded, Registry};
use crate::schema::Digest;
use crate::tool::HostTool;

/// All tools of a registry, made once.
pub(super) struct Listing {
    tools: Vec<Listed>,
    places: HashMap<String, usize>,
    has_deferred: bool,
}

struct Listed {
    tool: Tool,
    defer: bool,
    digest: Digest,
}

/// A schema that can't be shown as it is enforced.
#[derive(Debug)]
pub(super) struct Unlisted {
    pub(super) tool: String,
    pub(super) what: &'static str,
}

impl Listing {
    /// # Errors
    /// If a schema is no object, which only a tool that returns anything at all may have, and then only for its output.
    pub(super) fn new(registry: &Registry) -> Result<Self, Unlisted> {
        let mut tools = Vec::with_capacity(registry.len());
        for tool in registry.iter() {
            tools.push(Listed { tool: listed(tool)?, defer: tool.schema().defer(), digest: *tool.digest() });
        }
        let places = tools.iter().enumerate().map(|(place, listed)| (listed.tool.name.to_string(), place)).collect();
        let has_deferred = tools.iter().any(|listed| listed.defer);
        Ok(Listing { tools, places, has_deferred })
    }

    pub(super) fn has_deferred(&self) -> bool {
        self.has_deferred
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).map(|&place| &self.tools[place].tool)
    }

    /// One page. A cursor says where it begins and in which list, so that nobody reads on in another.
    pub(super) fn page(
        &self,
        loaded: &Loaded,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<ListToolsResult, ErrorData> {
        let loaded = loaded.names();
        let shown: Vec<&Listed> =
            self.tools.iter().filter(|listed| !listed.defer || loaded.contains(&*listed.tool.name)).collect();
        let list = self.name_of(&shown);
        let begin = match cursor {
            None => 0,
            Some(cursor) => cursor
                .split_once('-')
                .filter(|(of, _)| *of == list)
                .and_then(|(_, begin)| begin.parse().ok())
                .filter(|&begin| begin > 0 && begin < shown.len())
                .ok_or_else(|| {
                    ErrorData::invalid_params("no page begins at this cursor: the list may have changed", None)
                })?,
        };
        let end = shown.len().min(begin.saturating_add(size));
        let tools = shown[begin..end].iter().map(|listed| listed.tool.clone()).collect();
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = (end < shown.len()).then(|| format!("{list}-{end}"));
        Ok(page)
    }

    /// Changes with whatever is shown.
    fn name_of(&self, shown: &[&Listed]) -> String {
        let mut bytes = Vec::with_capacity(shown.len() * 32);
        for listed in shown {
            bytes.extend_from_slice(listed.digest.as_bytes());
        }
        Digest::of_bytes(&bytes).to_string()[..16].to_owned()
    }

    /// Do they list the same?
    pub(super) fn is_like(&self, other: &Listing) -> bool {
        let all = |listing: &Listing| listing.tools.iter().map(|listed| listed.tool.clone()).collect::<Vec<_>>();
        self.tools.len() == other.tools.len() && all(self) == all(other)
    }
}

fn listed(tool: &HostTool) -> Result<Tool, Unlisted> {
    let schema = tool.schema();
    let unlisted = |what| Unlisted { tool: schema.name().to_owned(), what };
    let Some(parameters) = object(schema.parameters()) else {
        return Err(unlisted("its parameters"));
    };
    let mut listed = Tool::new(schema.name().to_owned(), schema.description().to_owned(), parameters);
    // `true` and `{}` say nothing, and a tool that returns nothing has nothing structured to show.
    listed.output_schema =
        object(tool.output_schema()).filter(|schema| !schema.is_empty() && !is_null(schema)).map(Arc::new);
    let hints = tool.hints();
    let annotations = ToolAnnotations::from_raw(
        None,
        hints.read_only.then_some(true),
        // Unless it is said otherwise, a tool that changes something may destroy something: so MCP has it, too.
        hints.destructive.then_some(true),
        hints.idempotent.then_some(true),
        None,
    );
    if annotations != ToolAnnotations::default() {
        listed.annotations = Some(annotations);
    }
    Ok(listed)
}

fn object(schema: &str) -> Option<JsonObject> {
    serde_json::from_str(schema).ok()
}

fn is_null(schema: &JsonObject) -> bool {
    schema.get("type").and_then(serde_json::Value::as_str) == Some("null")
}
