//! What a model reads, by the names that it knows.

use super::Export;
use crate::call::{Block, Content, ToolResult};
use crate::schema::SEARCH_TOOL;
use crate::schema::json::Json;

impl Export {
    /// A result as the provider's model has to read it: under the name by which it called the tool, and with the names
    /// of tools and arguments in an error as they were declared. What the built-in search tool has found is shown as
    /// it is declared. Nothing else changes: what a tool says is its own.
    ///
    /// In errors only names between backquotes are looked at, alone or as a step of a path.
    pub fn in_wire_words(&self, result: &ToolResult) -> ToolResult {
        let mut result = result.clone();
        let tool = self.tool(&result.name).and_then(|tool| Some((tool, tool.made.as_ref().ok()?)));
        let is_search = &*result.name == SEARCH_TOOL;
        if let Some((tool, _)) = tool
            && tool.name != tool.wire_name
        {
            result.name = tool.wire_name.as_str().into();
        }
        if !result.is_error && !is_search {
            return result;
        }
        // An error may suggest other tools, also where the one that was called is none.
        let mut renamed = tool.map(|(_, made)| made.inverse.renamed()).unwrap_or_default();
        renamed.extend_from_slice(&self.tools.renamed);
        let change = |text: &str| match result.is_error {
            true if renamed.is_empty() => None,
            true => Some(in_wire_words(text, &renamed)),
            false => self.as_declared(text),
        };
        let changed = |block: &Block| match block {
            Block::Text(text) => change(text).map(|text| Block::Text(text.into())),
            _ => None,
        };
        let blocks: Vec<Option<Block>> = result.content.iter().map(changed).collect();
        if blocks.iter().any(Option::is_some) {
            let blocks = blocks.into_iter().zip(result.content.iter());
            let blocks: Vec<Block> = blocks.map(|(changed, block)| changed.unwrap_or_else(|| block.clone())).collect();
            result.content = Content::blocks(blocks);
        }
        result
    }

    /// What the search tool found, in the provider's form. `None` for a text that isn't whole.
    fn as_declared(&self, found: &str) -> Option<String> {
        let mut found = Json::parse(found).ok()?;
        let mut tools = found.get("tools")?.as_array()?.to_vec();
        for tool in &mut tools {
            let known = tool.get("name").and_then(Json::as_str).and_then(|name| self.tool(name));
            if let Some((known, made)) = known.and_then(|known| Some((known, known.made.as_ref().ok()?))) {
                tool.set("name", Json::string(&known.wire_name));
                tool.set("parameters", Json::parse(&made.parameters).ok()?);
            }
        }
        found.set("tools", Json::Array(tools));
        Some(found.to_string())
    }
}

/// Replaces names between backquotes.
fn in_wire_words(text: &str, renamed: &[(String, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    // What stands between backquotes are the odd parts.
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            out.push('`');
        }
        if index % 2 == 0 || part.contains('\n') {
            out.push_str(part);
        } else {
            out.push_str(&renamed_in_path(part, renamed));
        }
    }
    out
}

fn renamed_in_path(path: &str, renamed: &[(String, String)]) -> String {
    let wire = |name: &str| renamed.iter().find(|(known, _)| known == name).map(|(_, wire)| wire.as_str());
    if let Some(wire) = wire(path) {
        return wire.to_owned();
    }
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some((key, after)) = rest.strip_prefix("[\"").and_then(|inner| inner.split_once("\"]")) {
            match wire(key) {
                Some(wire) if out.is_empty() => out.push_str(wire),
                Some(wire) => out.extend([".", wire]),
                None => out.extend(["[\"", key, "\"]"]),
            }
            rest = after;
            continue;
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '[')).map_or(rest.len(), |(end, _)| end);
        let (step, after) = rest.split_at(end);
        let (dot, name) = step.strip_prefix('.').map_or(("", step), |name| (".", name));
        out.push_str(dot);
        out.push_str(wire(name).unwrap_or(name));
        rest = after;
    }
    out
}
