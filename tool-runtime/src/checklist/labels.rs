//! The provider's lines that stand in descriptions: `[required]`, `[confirm]`, `[notice]`.

use super::file::Labelled;
use crate::schema::json::Json;
use crate::schema::{Step, ToolSchema};

/// How deep arguments are searched for labels.
const DEEPEST: usize = 16;

/// A labelled line of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) kind: Labelled,
    /// The argument whose description it stands in; empty for the tool's own.
    pub(super) steps: Vec<Step>,
    /// What follows on the line.
    pub(super) text: String,
}

/// All labels of a tool, those of the tool itself first.
///
/// A line of the tool's own description that begins with the name of an argument is about that argument.
pub(super) fn of(schema: &ToolSchema) -> Vec<Label> {
    let parameters = schema.parameters_json();
    let properties = parameters.get("properties").and_then(Json::as_object).unwrap_or_default();
    let mut labels: Vec<Label> = in_text(schema.description())
        .map(|(kind, text)| Label {
            kind,
            steps: argument_named_by(&text, properties).map(Step::Member).into_iter().collect(),
            text,
        })
        .collect();
    for (name, property) in properties {
        in_schema(property, &mut vec![Step::Member(name.clone())], &mut labels);
    }
    labels
}

fn in_schema(schema: &Json, steps: &mut Vec<Step>, labels: &mut Vec<Label>) {
    let description = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    labels.extend(in_text(description).map(|(kind, text)| Label { kind, steps: steps.clone(), text }));
    if steps.len() >= DEEPEST {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Json::as_object).unwrap_or_default() {
        steps.push(Step::Member(name.clone()));
        in_schema(property, steps, labels);
        steps.pop();
    }
    if let Some(items @ Json::Object(_)) = schema.get("items") {
        steps.push(Step::Each);
        in_schema(items, steps, labels);
        steps.pop();
    }
}

/// `iban: the account` and `` `iban` the account `` are about `iban`.
fn argument_named_by(text: &str, properties: &[(String, Json)]) -> Option<String> {
    let first = text.split([' ', ':', ',']).next()?.trim_matches('`');
    properties.iter().map(|(name, _)| name).find(|name| *name == first).cloned()
}

/// The labelled lines. The words and their form are those that `#[tool]` takes in doc comments.
fn in_text(text: &str) -> impl Iterator<Item = (Labelled, String)> + '_ {
    outside_code(text).filter_map(labelled)
}

/// The lines that say something and have no label.
pub(crate) fn unlabelled(text: &str) -> impl Iterator<Item = &str> {
    outside_code(text).filter(|line| !line.is_empty() && labelled(line).is_none())
}

/// The lines outside of code blocks, without what marks one of a list.
fn outside_code(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
            return None;
        }
        // A list of them is one, too: a line that is lost would let a call run unasked.
        (!in_code).then(|| line.trim_start_matches(['-', '*']).trim_start())
    })
}

fn labelled(line: &str) -> Option<(Labelled, String)> {
    let (word, text) = line.strip_prefix('[')?.split_once(']')?;
    if !(text.is_empty() || text.starts_with(' ')) {
        // A link, or a definition of one.
        return None;
    }
    // A line isn't lost over a capital.
    let kind = match word.to_ascii_lowercase().as_str() {
        "required" => Labelled::Required,
        "confirm" => Labelled::Confirm,
        "notice" => Labelled::Notice,
        _ => return None,
    };
    Some((kind, text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(description: &str, parameters: &str) -> Vec<Label> {
        let parameters = Json::parse(parameters).unwrap();
        of(&ToolSchema::new("t".to_owned(), description.to_owned(), parameters, false))
    }

    #[test]
    fn labels_are_read_where_they_stand() {
        let found = labels(
            "Pays.\n- [confirm] Money leaves the account.\n[Required] `iban`: from the invoice\n[link](x)\n```\n[notice] no\n```",
            r#"{"type":"object","properties":{"iban":{"type":"string"},"to":{"type":"array","items":{"type":"object",
                "properties":{"name":{"description":"Who.\n[required] as written"}}}}}}"#,
        );
        let member = |name: &str| Step::Member(name.to_owned());
        let expected = [
            (Labelled::Confirm, vec![], "Money leaves the account."),
            (Labelled::Required, vec![member("iban")], "`iban`: from the invoice"),
            (Labelled::Required, vec![member("to"), Step::Each, member("name")], "as written"),
        ];
        let expected = expected.map(|(kind, steps, text)| Label { kind, steps, text: text.to_owned() });
        assert_eq!(found, expected);
    }

    #[test]
    fn what_only_looks_like_a_label_is_text() {
        assert_eq!(labels("[confirm](https://e.org)\n[confirm]: x\n[other] x\ntext [confirm] x", "{}"), []);
    }
}
