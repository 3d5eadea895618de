//! One way or the other along the graph.

use super::{Inverse, Way};
use crate::schema::json::Json;

pub(super) struct Walk<'a> {
    pub(super) inverse: &'a Inverse,
    pub(super) way: Way,
    pub(super) changed: bool,
}

impl Walk<'_> {
    pub(super) fn value(&mut self, value: Json, here: &[usize]) -> Json {
        if here.is_empty() {
            return value;
        }
        match value {
            Json::Object(members) => self.object(members, here),
            Json::Array(elements) => Json::Array(
                elements
                    .into_iter()
                    .enumerate()
                    .map(|(index, element)| {
                        let inner = self.inverse.closure(&self.inverse.elements(here, index));
                        self.value(element, &inner)
                    })
                    .collect(),
            ),
            value => value,
        }
    }

    fn object(&mut self, members: Vec<(String, Json)>, here: &[usize]) -> Json {
        let inverse = self.inverse;
        let absent = if self.way == Way::Out && inverse.nulls { self.absent(&members, here) } else { Vec::new() };
        let mut out = Vec::new();
        for (key, value) in members {
            let found = inverse.members(here, &key, self.way);
            if self.way == Way::In
                && inverse.nulls
                && value == Json::Null
                && !found.is_empty()
                && found.iter().all(|member| member.null_is_absence)
            {
                self.changed = true;
                continue;
            }
            let name = found.first().map_or(&key, |member| member.known(self.way));
            self.changed |= *name != key;
            let name = name.clone();
            let inner = inverse.closure(&inverse.below(here, &found));
            out.push((name, self.value(value, &inner)));
        }
        for name in absent {
            self.changed = true;
            out.push((name, Json::Null));
        }
        Json::Object(out)
    }

    /// What has to be given though it may be left out.
    fn absent(&self, members: &[(String, Json)], here: &[usize]) -> Vec<String> {
        let inverse = self.inverse;
        // Of those that nothing here leads to, forms are chosen below.
        let led: Vec<usize> = here
            .iter()
            .flat_map(|node| inverse.nodes[*node].parts.iter().chain(&inverse.nodes[*node].forms))
            .copied()
            .collect();
        let tops: Vec<usize> = here.iter().copied().filter(|node| !led.contains(node)).collect();
        let tops = if tops.is_empty() { here.to_vec() } else { tops };
        let mut absent: Vec<String> = Vec::new();
        for node in inverse.fitting(&tops, members) {
            for member in &inverse.nodes[node].members {
                let given = members.iter().any(|(key, _)| *key == member.name);
                if member.optional && !given && !absent.contains(&member.wire) {
                    absent.push(member.wire.clone());
                }
            }
        }
        absent
    }
}
