//! What absent members are, brought into canonical form.

use super::super::foreign::Parts;
use super::super::node::{Graph, NodeId, Property, Shape};
use super::super::text;
use super::super::walk::canonical_at;
use super::Issue;

/// Brings defaults into canonical form, and learns what `null` means, once all nodes exist.
pub(super) fn settle_defaults(graph: &mut Graph, parts: &Parts, issues: &mut Vec<Issue>) {
    for node in 0..graph.nodes.len() {
        let taken = properties_of(graph, node, |graph, property| {
            let takes_null = || canonical_at(graph, property.node, "null").is_ok() && parts.take(property.node, "null");
            property.required || (property.default.is_some() && takes_null())
        });
        for (property, null_is_a_value) in properties_mut(graph, node).iter_mut().zip(taken) {
            property.null_is_a_value = null_is_a_value;
        }
    }
    // Twice, since a default may itself hold objects that have defaults.
    for last in [false, true] {
        for node in 0..graph.nodes.len() {
            let settled = properties_of(graph, node, |graph, property| {
                let text = property.default.as_deref().filter(|text| *text != "null")?;
                let canonical = canonical_at(graph, property.node, text);
                let wrong = || match &canonical {
                    Ok(canonical) if parts.take(property.node, canonical) => None,
                    Ok(_) => Some(String::new()),
                    Err(problem) => Some(format!(": {problem}")),
                };
                if let Some(problem) = last.then(wrong).flatten() {
                    let shown = text::shown(text, 80);
                    issues.push(Issue {
                        pointer: format!("…/properties/{}/default", property.name),
                        what: format!("`{shown}` doesn't match its own schema{problem}"),
                    });
                }
                if last && graph.holds_secret(property.node, canonical.as_deref().unwrap_or(text)) {
                    issues.push(Issue {
                        pointer: format!("…/properties/{}/default", property.name),
                        what: "holds a secret, which would be shown".to_owned(),
                    });
                }
                Some(canonical.unwrap_or_else(|_| text.to_owned()).into())
            });
            for (property, default) in properties_mut(graph, node).iter_mut().zip(settled) {
                property.default = default;
            }
        }
    }
}

fn properties_of<T>(graph: &Graph, node: NodeId, mut read: impl FnMut(&Graph, &Property) -> T) -> Vec<T> {
    match &graph.nodes[node].shape {
        Shape::Plain(plain) => {
            plain.object.iter().flat_map(|object| &object.properties).map(|property| read(graph, property)).collect()
        }
        _ => Vec::new(),
    }
}

fn properties_mut(graph: &mut Graph, node: NodeId) -> &mut [Property] {
    match &mut graph.nodes[node].shape {
        Shape::Plain(plain) => plain.object.as_mut().map_or(&mut [], |object| &mut object.properties),
        _ => &mut [],
    }
}
