//! The order of a plan's calls in which it is the same plan however it is listed.

use std::collections::BTreeMap;

use super::sample::PlannedCall;
use crate::schema::Digest;

/// How often calls that look alike are told apart by choosing one. Where that isn't enough, equal plans may count as two;
/// two different ones never count as one.
const CHOICES: usize = 64;

/// By text; of equal texts, by what they use and by what uses them, at any distance.
pub(super) fn order(texts: &[String], calls: &[PlannedCall]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    if calls.iter().all(|call| call.uses.is_empty()) {
        order.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
        return order;
    }
    let links = Links::of(calls);
    let mut looks: Vec<Digest> = texts.iter().map(|text| Digest::of_bytes(text.as_bytes())).collect();
    for _ in 0..CHOICES {
        let mut kinds = 0;
        loop {
            looks = links.seen_from(&looks);
            let now = alike(&looks).len();
            if now <= kinds {
                break;
            }
            kinds = now;
        }
        // Of calls that look alike and aren't put together alike one is chosen: any, since they look alike.
        let tied = alike(&looks).into_values().find(|calls| calls.len() > 1 && !links.are_twins(calls));
        let Some(chosen) = tied.and_then(|calls| calls.first().copied()) else { break };
        looks[chosen] = Digest::of_bytes(&[looks[chosen].as_bytes(), &b"chosen"[..]].concat());
    }
    order.sort_by(|&a, &b| texts[a].cmp(&texts[b]).then_with(|| looks[a].cmp(&looks[b])));
    order
}

fn alike(looks: &[Digest]) -> BTreeMap<Digest, Vec<usize>> {
    let mut found: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
    for (call, look) in looks.iter().enumerate() {
        found.entry(*look).or_default().push(call);
    }
    found
}

/// From each call to others: which, and as what.
type Ends = Vec<Vec<(usize, String)>>;

struct Links {
    uses: Ends,
    used_by: Ends,
}

impl Links {
    fn of(calls: &[PlannedCall]) -> Self {
        let mut links = Links { uses: vec![Vec::new(); calls.len()], used_by: vec![Vec::new(); calls.len()] };
        for (step, call) in calls.iter().enumerate() {
            for (used, at) in &call.uses {
                let at = at.as_ref().map(|at| at.to_pointer()).unwrap_or_default();
                links.uses[step].push((*used, at.clone()));
                links.used_by[*used].push((step, at));
            }
        }
        for ends in links.uses.iter_mut().chain(&mut links.used_by) {
            ends.sort();
        }
        links
    }

    /// Each call with all that it leads to and comes from, once along the plan and once back.
    fn seen_from(&self, looks: &[Digest]) -> Vec<Digest> {
        let mut looks = looks.to_vec();
        let look = |looks: &[Digest], call: usize, ends: &Ends| {
            let mut seen: Vec<(&str, &Digest)> =
                ends[call].iter().map(|(end, at)| (at.as_str(), &looks[*end])).collect();
            seen.sort();
            let mut bytes = looks[call].as_bytes().to_vec();
            for (at, look) in seen {
                bytes.extend_from_slice(at.as_bytes());
                bytes.push(0);
                bytes.extend_from_slice(look.as_bytes());
            }
            Digest::of_bytes(&bytes)
        };
        for call in 0..looks.len() {
            looks[call] = look(&looks, call, &self.uses);
        }
        for call in (0..looks.len()).rev() {
            looks[call] = look(&looks, call, &self.used_by);
        }
        looks
    }

    /// They use the same calls, and the same calls use them: it doesn't matter which is which.
    fn are_twins(&self, calls: &[usize]) -> bool {
        calls
            .windows(2)
            .all(|pair| self.uses[pair[0]] == self.uses[pair[1]] && self.used_by[pair[0]] == self.used_by[pair[1]])
    }
}
