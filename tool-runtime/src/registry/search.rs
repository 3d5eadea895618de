//! The built-in tool by which a model finds deferred tools.

mod words;

use std::collections::HashSet;

use bm25::{Embedder, EmbedderBuilder, Embedding, Scorer, TokenEmbedder, TokenEmbedding, Tokenizer};

use self::words::Words;
use super::{Loaded, Registry};
use crate::schema::for_each_subschema;
use crate::schema::json::{Json, write_string};
use crate::tool::{CallContext, DynamicTool, DynamicToolError, Hints, HostState, HostTool};

/// How many words of a query count. A query has no limit: a model that writes too much is helped
/// more by an answer than by a refusal.
const MAX_WORDS: usize = 64;

/// What scores less than this part of the best one shares only words that nearly all have.
const WORTH_LOADING: f32 = 0.1;

const PARAMETERS: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words, such as \"send invoice\"."},"limit":{"type":"integer","description":"How many tools to find at the most.","minimum":1,"maximum":20,"default":5}},"required":["query"],"additionalProperties":false}"#;

const OUTPUT: &str = r#"{"type":"object","properties":{"note":{"type":"string"},"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"parameters":{"type":"object"}},"required":["name","description","parameters"],"additionalProperties":false}}},"required":["note","tools"],"additionalProperties":false}"#;

/// Where a search was called: given to the search tool's calls and to no others.
struct Within {
    registry: Registry,
    loaded: Loaded,
}

/// The state of a call of the search tool.
pub(super) fn within(registry: &Registry, loaded: &Loaded, mut state: HostState) -> HostState {
    // By the call, and not by the tool: a registry that had itself would never be dropped, and a
    // view has to be searched where it is called and not where it is from.
    state.insert(Within { registry: registry.clone(), loaded: loaded.clone() });
    state
}

/// The tool itself.
///
/// # Errors
/// None, as its definition is sound.
pub(super) fn tool() -> Result<HostTool, DynamicToolError> {
    let hints = Hints { read_only: true, idempotent: true, deterministic: true, ..Hints::default() };
    DynamicTool::builder(
        Registry::SEARCH_TOOL,
        "Finds tools that you weren't given yet. Those that fit best are loaded: you can call them by their names from then on.",
    )
    .parameters(PARAMETERS)
    .concurrency_safe()
    .output(OUTPUT)
    .hints(hints)
    .run(|arguments, cx| async move { answer(&arguments, &cx) })
}

fn answer(arguments: &str, cx: &CallContext) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let Some(Within { registry, loaded }) = cx.state() else {
        return Err("There is nothing to search here.".into());
    };
    let arguments = Json::parse(arguments).map_err(|error| error.to_string())?;
    let query = arguments.get("query").and_then(Json::as_str).unwrap_or_default();
    let limit = arguments.get("limit").and_then(Json::as_number).and_then(|limit| limit.parse().ok()).unwrap_or(5);
    let index = registry.0.index.get_or_init(|| Index::of(registry));
    let found = index.best(registry, query, limit);
    for tool in &found {
        loaded.load(tool.name());
    }
    let note = match (index.is_empty, found.is_empty()) {
        (true, _) => "There are no tools besides those that you were given.",
        (false, true) => "No tool fits these words. Try others, or do with the tools that you were given.",
        (false, false) => "These tools are loaded; call them by their names.",
    };
    let mut text = String::from(r#"{"note":"#);
    write_string(&mut text, note);
    text.push_str(r#","tools":["#);
    for (index, tool) in found.iter().enumerate() {
        let schema = tool.schema();
        text.push_str(if index > 0 { r#",{"name":"# } else { r#"{"name":"# });
        write_string(&mut text, schema.name());
        text.push_str(r#","description":"#);
        write_string(&mut text, schema.description());
        text.push_str(r#","parameters":"#);
        text.push_str(schema.parameters());
        text.push('}');
    }
    text.push_str("]}");
    Ok(text)
}

/// The words of the deferred tools that a registry shows. Of no others: how common a word is in
/// hidden tools must not show either.
pub(super) struct Index {
    scorer: Scorer<usize, u64>,
    is_empty: bool,
}

impl Index {
    fn of(registry: &Registry) -> Self {
        let deferred: Vec<(usize, String)> = registry
            .positions()
            .zip(registry.iter())
            .filter(|(_, tool)| tool.schema().defer())
            .map(|(position, tool)| (position, text_of(tool)))
            .collect();
        let texts: Vec<&str> = deferred.iter().map(|(_, text)| text.as_str()).collect();
        let embedder: Embedder<u64, Words> = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Words, &texts).build();
        let mut scorer = Scorer::new();
        for (position, text) in &deferred {
            let mut embedding = embedder.embed(text);
            // A word's weight stands at each of its places, and is the same at all of them.
            let mut seen = HashSet::new();
            embedding.0.retain(|word| seen.insert(word.index));
            scorer.upsert(position, embedding);
        }
        Index { scorer, is_empty: deferred.is_empty() }
    }

    /// The tools that fit best: by score, and by name where scores are equal.
    fn best<'a>(&self, registry: &'a Registry, query: &str, limit: usize) -> Vec<&'a HostTool> {
        let mut seen = HashSet::new();
        let words = Words.tokenize(query).into_iter().map(|word| u64::embed(&word)).filter(|word| seen.insert(*word));
        let query = Embedding(words.take(MAX_WORDS).map(|index| TokenEmbedding { index, value: 1.0 }).collect());
        let mut scored: Vec<(f32, &HostTool)> = self
            .scorer
            .matches(&query)
            .iter()
            .map(|found| (found.score, &registry.0.base.entries[found.id].tool))
            .collect();
        scored.sort_unstable_by(|(a, first), (b, second)| b.total_cmp(a).then_with(|| first.name().cmp(second.name())));
        let least = scored.first().map_or(0.0, |(best, _)| best * WORTH_LOADING);
        scored.into_iter().take_while(|(score, _)| *score >= least).take(limit).map(|(_, tool)| tool).collect()
    }
}

/// What a tool is found by: its name, which counts twice, its description, and its parameters.
fn text_of(tool: &HostTool) -> String {
    let schema = tool.schema();
    let mut text = format!("{0} {0}\n{1}", schema.name(), schema.description());
    if let Ok(mut parameters) = Json::parse(schema.parameters()) {
        add_parameters(&mut parameters, &mut text);
    }
    text
}

/// Names and descriptions at every depth.
fn add_parameters(schema: &mut Json, text: &mut String) {
    for (name, property) in schema.get("properties").and_then(Json::as_object).unwrap_or_default() {
        let description = property.get("description").and_then(Json::as_str).unwrap_or_default();
        text.extend(["\n", name, " ", description]);
    }
    for_each_subschema(schema, &mut |inner| add_parameters(inner, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deferred(name: &str, description: &str, parameters: &str) -> HostTool {
        let built = DynamicTool::builder(name, description)
            .parameters(parameters)
            .output("true")
            .deferred()
            .run(|_, _| async { Ok("1".to_owned()) });
        built.unwrap_or_else(|error| panic!("{error}"))
    }

    fn found<'a>(registry: &'a Registry, query: &str) -> Vec<&'a str> {
        Index::of(registry).best(registry, query, 20).into_iter().map(HostTool::name).collect()
    }

    #[test]
    fn the_tool_is_sound() {
        let tool = tool().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tool.built().issues(), []);
        assert!(tool.hints().read_only && !tool.schema().defer());
    }

    #[test]
    fn tools_are_found_by_name_description_and_parameters_at_every_depth() {
        const NONE: &str = r#"{"type":"object","properties":{}}"#;
        let nested = r##"{"type":"object","properties":{"to":{"type":"object","properties":
            {"iban":{"type":"string","description":"The recipient's account."}}},
            "list":{"type":"array","items":{"$ref":"#/$defs/item"}}},
            "$defs":{"item":{"type":"object","properties":{"voucher":{"type":"string","default":"weather"}}}}}"##;
        let registry = Registry::builder()
            .tool(deferred("getForecast", "Tells tomorrow's weather.", NONE))
            .tool(deferred("transfer", "Moves money.", nested))
            .tool(deferred("weather_alerts", "Warns.", NONE))
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found(&registry, "weather"), ["weather_alerts", "getForecast"]);
        for (query, name) in [
            ("forecasts", "getForecast"),
            ("GETFORECAST", "getForecast"),
            ("money", "transfer"),
            ("IBAN", "transfer"),
            ("accounts of a recipient", "transfer"),
            ("vouchers", "transfer"),
        ] {
            assert_eq!(found(&registry, query), [name], "{query}");
        }
        assert_eq!(found(&registry, "sql"), [""; 0]);
        assert_eq!(found(&registry, ""), [""; 0]);
    }

    #[test]
    fn equal_scores_stand_by_name_and_weak_ones_are_left_out() {
        let tools =
            (0..30).rev().map(|number| deferred(&format!("t{number:02}"), "Sends the mail.", "{\"type\":\"object\"}"));
        let registry = Registry::builder()
            .tools(tools)
            .tool(deferred("fax", "Sends the fax.", "{\"type\":\"object\"}"))
            .build()
            .unwrap_or_else(|error| panic!("{error}"));
        let by_name: Vec<String> = (0..20).map(|number| format!("t{number:02}")).collect();
        assert_eq!(found(&registry, "mail"), by_name);
        assert_eq!(found(&registry, "send the fax"), ["fax"]);
    }
}
