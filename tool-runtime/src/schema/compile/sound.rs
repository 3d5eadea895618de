//! What a graph must not be, or no value could be checked by it.

use std::collections::HashSet;

use super::super::foreign::Parts;
use super::super::node::{Marks, Node, NodeId, Plain, Shape, TYPE_SLOTS};
use super::Compiler;

impl Compiler<'_> {
    /// A value can't be checked by a schema that asks first whether it is right by itself.
    pub(super) fn refuse_endless_references(&mut self) {
        for start in 0..self.nodes.len() {
            let mut pending = self.stays(start);
            let mut seen = HashSet::new();
            while let Some(node) = pending.pop() {
                if node == start {
                    self.issue("", "references lead to each other without end");
                    self.nodes[start] = Node { shape: Shape::Plain(Box::new(Plain::any())), marks: Marks::default() };
                    break;
                }
                if seen.insert(node) {
                    pending.extend(self.stays(node));
                }
            }
        }
    }

    /// The nodes that judge the very value that this one judges.
    fn stays(&self, node: NodeId) -> Vec<NodeId> {
        match &self.nodes[node].shape {
            Shape::Link(target) => vec![*target],
            Shape::Union(union) => union.branches.clone(),
            Shape::Plain(_) => Vec::new(),
        }
    }

    /// Which form a value has is found by trying; a form that only the `jsonschema` crate can judge
    /// can't be tried.
    pub(super) fn refuse_foreign_trials(&mut self) {
        if self.foreign_nodes.is_empty() {
            return;
        }
        let mut found = false;
        for node in &self.nodes {
            let Shape::Union(union) = &node.shape else { continue };
            for (slot, candidates) in union.by_type.iter().enumerate() {
                let tried = candidates.len() > 1 && !(slot == TYPE_SLOTS.len() - 1 && union.tag.is_some());
                found |= tried && candidates.iter().any(|&branch| self.reaches_foreign(union.branches[branch]));
            }
        }
        if found {
            self.issue("", "forms that can't be told apart hold a keyword that only the `jsonschema` crate enforces");
        }
    }

    /// What judges the defaults that the walker can't judge alone.
    pub(super) fn foreign_parts(&mut self) -> Parts {
        let mut defaulted = std::mem::take(&mut self.defaulted);
        defaulted.retain(|&node, _| !self.foreign_nodes.is_empty() && self.reaches_foreign(node));
        Parts::new(self.document, &defaulted)
    }

    fn reaches_foreign(&self, start: NodeId) -> bool {
        let mut pending = vec![start];
        let mut seen = HashSet::new();
        while let Some(node) = pending.pop() {
            if self.foreign_nodes.contains(&node) {
                return true;
            }
            if seen.insert(node) {
                pending.extend(self.stays(node));
                if let Shape::Plain(plain) = &self.nodes[node].shape {
                    pending.extend(plain.inner());
                }
            }
        }
        false
    }
}
