//! Schemas of which one of several parts holds.

use super::super::json::{Json, same_value};
use super::super::node::{Extra, Marks, Node, NodeId, ObjectRules, Plain, Shape, TYPE_SLOTS, Tag, Types, Union};
use super::{Compiler, MAX_BRANCHES, UnionOf, is_annotation};

impl Compiler<'_> {
    pub(super) fn union(
        &mut self,
        base: &Json,
        first: &UnionOf,
        rest: &[UnionOf],
        marks: Marks,
        pointer: &str,
    ) -> NodeId {
        if let Some(words) = self.closed_set(base, first, rest) {
            return self.push(Shape::Plain(Box::new(words)), marks);
        }
        let mut branches = Vec::new();
        for (index, branch) in first.branches.iter().enumerate() {
            let place = format!("{}/{index}", first.place);
            let bare =
                base.as_object().is_some_and(|members| members.iter().all(|(keyword, _)| is_annotation(keyword)));
            if bare && rest.is_empty() {
                branches.push(self.node(branch, &place));
                continue;
            }
            // Everything that stands beside the union holds in each of its branches.
            let mut parts = vec![base.clone(), branch.clone()];
            for union in rest {
                let keyword = if union.exactly_one { "oneOf" } else { "anyOf" };
                parts.push(Json::Object(vec![(keyword.into(), Json::Array(union.branches.clone()))]));
            }
            let merged = Json::Object(vec![("allOf".into(), Json::Array(parts))]);
            branches.push(self.node(&merged, &place));
        }
        if branches.len() > MAX_BRANCHES {
            self.issue(pointer, format!("more than {MAX_BRANCHES} forms to choose from"));
        }
        let union = self.choose(branches, first.exactly_one);
        self.push(Shape::Union(Box::new(union)), marks)
    }

    /// `oneOf` of words (how documented unit enums are described) is just a closed set.
    fn closed_set(&self, base: &Json, union: &UnionOf, rest: &[UnionOf]) -> Option<Plain> {
        let bare = base
            .as_object()?
            .iter()
            .all(|(keyword, value)| is_annotation(keyword) || (keyword == "type" && value.as_str() == Some("string")));
        if !bare || !rest.is_empty() {
            return None;
        }
        let mut words = Vec::new();
        for branch in &union.branches {
            let known = branch
                .as_object()?
                .iter()
                .all(|(keyword, _)| is_annotation(keyword) || matches!(keyword.as_str(), "const" | "enum" | "type"));
            if !known || branch.get("type").is_some_and(|name| name.as_str() != Some("string")) {
                return None;
            }
            let set = match (branch.get("const"), branch.get("enum")) {
                (Some(word), None) => std::slice::from_ref(word),
                (None, Some(words)) => words.as_array()?,
                _ => return None,
            };
            for word in set {
                let mut text = String::new();
                Json::String(word.as_str()?.to_owned()).write(&mut text);
                if words.contains(&text) {
                    return None;
                }
                words.push(text);
            }
        }
        Some(Plain { types: Types::STRING, one_of: Some(words), ..Plain::any() })
    }

    /// How to find the branch of a value without trying them all.
    fn choose(&self, branches: Vec<NodeId>, exactly_one: bool) -> Union {
        let mut by_type: [Vec<usize>; 6] = Default::default();
        for (slot, types) in TYPE_SLOTS.into_iter().enumerate() {
            for (index, &branch) in branches.iter().enumerate() {
                if self.types_of(branch).has(types) {
                    by_type[slot].push(index);
                }
            }
        }
        let objects: Option<Vec<(usize, &ObjectRules)>> =
            by_type[5].iter().map(|&index| Some((index, self.object_rules(branches[index], 0)?))).collect();
        let tag = objects
            .filter(|objects| objects.len() > 1)
            .and_then(|objects| self.value_tag(&objects).or_else(|| name_tag(&objects)));
        Union { branches, exactly_one, by_type, tag }
    }

    /// Tells the forms of unions apart once all nodes are there: of a type that holds itself nothing was known while it
    /// was being compiled, so that it could be anything.
    pub(super) fn settle_unions(&mut self) {
        // Each time round only less can be possible. It is right to stop at any time.
        for _ in 0..4 {
            let mut is_settled = true;
            for node in 0..self.nodes.len() {
                let Shape::Union(union) = &self.nodes[node].shape else { continue };
                let settled = self.choose(union.branches.clone(), union.exactly_one);
                if settled.by_type != union.by_type || settled.tag.is_some() != union.tag.is_some() {
                    is_settled = false;
                    self.nodes[node].shape = Shape::Union(Box::new(settled));
                }
            }
            if is_settled {
                break;
            }
        }
    }

    fn follow(&self, node: NodeId, steps: usize) -> Option<&Node> {
        match &self.nodes[node].shape {
            Shape::Link(target) if steps < 64 => self.follow(*target, steps + 1),
            Shape::Link(_) => None,
            _ => Some(&self.nodes[node]),
        }
    }

    fn types_of(&self, node: NodeId) -> Types {
        match self.follow(node, 0).map(|node| &node.shape) {
            Some(Shape::Plain(plain)) => match &plain.one_of {
                Some(words) => {
                    words.iter().fold(Types::NONE, |types, word| types.with(Types::of_text(word))).both(plain.types)
                }
                None => plain.types,
            },
            // Asked of its branches already: they may lead to one another along very many ways.
            Some(Shape::Union(union)) => {
                let taken = TYPE_SLOTS.into_iter().zip(&union.by_type).filter(|(_, branches)| !branches.is_empty());
                taken.fold(Types::NONE, |types, (slot, _)| types.with(slot))
            }
            _ => Types::ALL,
        }
    }

    fn object_rules(&self, node: NodeId, steps: usize) -> Option<&ObjectRules> {
        match &self.follow(node, steps)?.shape {
            Shape::Plain(plain) if plain.one_of.is_none() => plain.object.as_deref(),
            _ => None,
        }
    }

    /// The words that a property's value is limited to.
    fn words(&self, node: NodeId) -> Option<&[String]> {
        match &self.follow(node, 0)?.shape {
            Shape::Plain(plain) => plain.one_of.as_deref(),
            _ => None,
        }
    }

    /// A property that every branch requires, with different words in each.
    fn value_tag(&self, objects: &[(usize, &ObjectRules)]) -> Option<Tag> {
        let (_, first) = objects[0];
        'properties: for candidate in first.properties.iter().filter(|property| property.required) {
            let mut branches: Vec<(String, usize)> = Vec::new();
            for &(index, rules) in objects {
                let words = rules
                    .properties
                    .iter()
                    .find(|property| property.required && property.name == candidate.name)
                    .and_then(|property| self.words(property.node));
                let Some(words) = words else { continue 'properties };
                for word in words {
                    if branches.iter().any(|(known, _)| same_value(known, word)) {
                        continue 'properties;
                    }
                    branches.push((word.clone(), index));
                }
            }
            return Some(Tag::Value { property: candidate.name.clone(), branches });
        }
        None
    }
}

fn name_tag(objects: &[(usize, &ObjectRules)]) -> Option<Tag> {
    let mut branches: Vec<(Box<str>, usize)> = Vec::new();
    for &(index, rules) in objects {
        let [property] = rules.properties.as_slice() else {
            return None;
        };
        if !property.required
            || rules.extra != Extra::Refused
            || branches.iter().any(|(name, _)| *name == property.name)
        {
            return None;
        }
        branches.push((property.name.clone(), index));
    }
    Some(Tag::Name { branches })
}
