//! Which values of an accepted text its model did not write.

use std::collections::HashSet;

use super::json::{Json, JsonPath, Segment};
use super::node::{Graph, NodeId, Shape};

impl Graph {
    /// The places of a canonical text whose values come from defaults: `given`, the text that it was
    /// made from, has none there, or a `null` that means none.
    pub(crate) fn filled_in(&self, given: &str, canonical: &str) -> Vec<JsonPath> {
        let mut found = Vec::new();
        if given == canonical {
            return found;
        }
        if let (Ok(given), Ok(canonical)) = (Json::parse(given), Json::parse(canonical)) {
            self.compare(HashSet::from([self.root]), &given, &canonical, &mut Vec::new(), &mut found);
        }
        found
    }

    fn compare(
        &self,
        mut nodes: HashSet<NodeId>,
        given: &Json,
        canonical: &Json,
        path: &mut Vec<Segment>,
        found: &mut Vec<JsonPath>,
    ) {
        self.with_links(&mut nodes);
        let inside = |segment: &Segment| nodes.iter().flat_map(|&node| self.step(node, segment)).collect();
        match canonical {
            Json::Object(members) => {
                for (name, value) in members {
                    path.push(Segment::Key(name.clone()));
                    match self.given_as(&nodes, name, given) {
                        None => found.push(JsonPath::from_segments(path.clone())),
                        Some(Json::Null) if *value != Json::Null => {
                            found.push(JsonPath::from_segments(path.clone()));
                        }
                        Some(given) => {
                            self.compare(inside(&Segment::Key(name.clone())), given, value, path, found);
                        }
                    }
                    path.pop();
                }
            }
            Json::Array(elements) => {
                for (index, (value, given)) in elements.iter().zip(given.as_array().unwrap_or_default()).enumerate() {
                    path.push(Segment::Index(index));
                    self.compare(inside(&Segment::Index(index)), given, value, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    /// A member by its name or by one of its aliases.
    fn given_as<'a>(&self, nodes: &HashSet<NodeId>, name: &str, given: &'a Json) -> Option<&'a Json> {
        let by_alias = || {
            nodes.iter().find_map(|&node| {
                let Shape::Plain(plain) = &self.nodes[node].shape else { return None };
                let property = plain.object.as_ref()?.properties.iter().find(|property| *property.name == *name)?;
                property.aliases.iter().find_map(|alias| given.get(alias))
            })
        };
        given.get(name).or_else(by_alias)
    }
}
