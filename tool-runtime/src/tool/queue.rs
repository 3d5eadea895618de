//! Which of several calls may run, by what they touch: one rule for the calls of a turn and for those of a tool.
//!
//! A call waits for every earlier one that it conflicts with, for all that run, and for room. What waits is looked at
//! again once the one call has ended that it was seen to wait for, the last of them first: so of many that write one
//! thing each is looked at once or twice, however many there are.

use std::collections::{BTreeMap, BTreeSet};

use super::access::Access;

/// Calls that wait or run, by their numbers: the smaller is the earlier.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    open: BTreeMap<usize, Call>,
    running: BTreeSet<usize>,
    /// Those of the open ones that touch anything, or what nobody knows yet.
    barriers: BTreeSet<usize>,
    /// Nobody is known to be in their way.
    to_look_at: BTreeSet<usize>,
}

#[derive(Debug)]
struct Call {
    /// `None`: nobody knows yet.
    touches: Option<Access>,
    /// For which one it waits, among others.
    waits_for: Option<usize>,
    /// Those that wait for it.
    holds_up: Vec<usize>,
}

impl Call {
    fn conflicts(&self, access: &Access) -> bool {
        self.touches.as_ref().is_none_or(|touches| touches.conflicts(access))
    }
}

impl Queue {
    /// A call wants to run, or will once it is known what it touches.
    pub(crate) fn add(&mut self, number: usize, touches: Option<Access>) {
        self.open.insert(number, Call { touches: None, waits_for: None, holds_up: Vec::new() });
        match touches {
            Some(access) => self.touches(number, access),
            None => _ = self.barriers.insert(number),
        }
    }

    /// It is known what a call touches that hasn't begun.
    pub(crate) fn touches(&mut self, number: usize, access: Access) {
        let Some(call) = self.open.get_mut(&number) else { return };
        match access {
            Access::Exclusive => self.barriers.insert(number),
            Access::Shared(_) => self.barriers.remove(&number),
        };
        call.touches = Some(access);
        call.waits_for = None;
        self.to_look_at.insert(number);
        let waiting = std::mem::take(&mut call.holds_up);
        self.look_again(waiting);
    }

    /// A call has ended, or nobody wants it any more.
    pub(crate) fn remove(&mut self, number: usize) {
        let Some(call) = self.open.remove(&number) else { return };
        self.running.remove(&number);
        self.barriers.remove(&number);
        self.to_look_at.remove(&number);
        self.look_again(call.holds_up);
    }

    fn look_again(&mut self, waiting: Vec<usize>) {
        self.to_look_at.extend(waiting.into_iter().filter(|number| self.open.contains_key(number)));
    }

    /// Takes the next call that may run, of which at most `room` do. What has waited is asked `again` what it touches: by
    /// now it may be something else.
    pub(crate) fn next(&mut self, room: usize, again: impl Fn(usize) -> Option<Access>) -> Option<usize> {
        while self.has_room(room) {
            let number = self.to_look_at.pop_first()?;
            let Some(Call { touches: Some(_), waits_for, .. }) = self.open.get(&number) else { continue };
            if self.running.contains(&number) {
                continue;
            }
            let has_waited = waits_for.is_some();
            let mut in_the_way = self.in_the_way(number);
            if in_the_way.is_none()
                && has_waited
                && let Some(access) = again(number)
            {
                self.touches(number, access);
                self.to_look_at.remove(&number);
                in_the_way = self.in_the_way(number);
            }
            match in_the_way {
                Some(other) => self.holds_up(other, number),
                None => {
                    self.running.insert(number);
                    if let Some(call) = self.open.get_mut(&number) {
                        call.waits_for = None;
                    }
                    return Some(number);
                }
            }
        }
        None
    }

    fn holds_up(&mut self, other: usize, number: usize) {
        if let Some(other) = self.open.get_mut(&other) {
            other.holds_up.push(number);
        }
        if let Some(call) = self.open.get_mut(&number) {
            call.waits_for = Some(other);
        }
    }

    /// May yet another one run?
    pub(crate) fn has_room(&self, room: usize) -> bool {
        self.running.len() < room
    }

    /// Whatever comes later has to wait.
    pub(crate) fn is_barred(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// One that a call has to wait for.
    fn in_the_way(&self, number: usize) -> Option<usize> {
        let access = self.open.get(&number)?.touches.as_ref()?;
        if let Some(barrier) = self.barriers.range(..number).next_back() {
            return Some(*barrier);
        }
        for (earlier, call) in self.open.range(..number).rev() {
            if call.conflicts(access) {
                return Some(*earlier);
            }
            // What is in the way of one that touches the same is in the way of this one, too.
            let also = call.waits_for.filter(|other| self.open.contains_key(other));
            if also.is_some() && call.touches.as_ref() == Some(access) {
                return also;
            }
        }
        let later = self.running.range(number + 1..);
        later.copied().find(|later| self.open.get(later).is_some_and(|call| call.conflicts(access)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::Resource;
    use super::*;

    fn touching(name: &str, writes: bool) -> Access {
        let text = format!("{{\"p\":\"{name}\"}}");
        Access::Shared(Resource::of(&text, "p", true, writes).unwrap())
    }

    /// The rule itself: the first of those that wait which conflicts with nothing before it and with nothing that runs.
    fn expected(open: &BTreeMap<usize, (Option<Access>, bool)>, room: usize) -> Option<usize> {
        if open.values().filter(|(_, runs)| *runs).count() >= room {
            return None;
        }
        let conflict = |one: &Option<Access>, other: &Option<Access>| match (one, other) {
            (Some(one), Some(other)) => one.conflicts(other),
            _ => true,
        };
        let is_free = |number: usize, touches: &Option<Access>| {
            open.iter()
                .filter(|(other, _)| **other != number)
                .all(|(other, (theirs, runs))| !(*runs || *other < number) || !conflict(theirs, touches))
        };
        let waits = |(_, (touches, runs)): &(&usize, &(Option<Access>, bool))| !runs && touches.is_some();
        open.iter().filter(waits).find(|(number, (touches, _))| is_free(**number, touches)).map(|(number, _)| *number)
    }

    #[test]
    fn it_starts_what_the_rule_says_whatever_comes_and_ends() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % limit
        };
        let mut started = 0;
        for _ in 0..300 {
            let room = 1 + below(4) as usize;
            let (mut queue, mut open) = (Queue::default(), BTreeMap::<usize, (Option<Access>, bool)>::new());
            let any = |kind: u64, name: u64, writes: bool| match kind {
                0 => Access::Exclusive,
                1 => Access::Shared(Vec::new()),
                _ => touching(["a", "a/b", "a/c", "d", "/d", "."][name as usize], writes),
            };
            for _ in 0..60 {
                let number = below(40) as usize;
                let access = any(below(8), below(6), below(2) == 0);
                match (open.get_mut(&number), below(3)) {
                    (None, 0) => {
                        queue.add(number, None);
                        open.insert(number, (None, false));
                    }
                    (None, _) => {
                        queue.add(number, Some(access.clone()));
                        open.insert(number, (Some(access), false));
                    }
                    (Some((touches @ None, _)), _) => {
                        queue.touches(number, access.clone());
                        *touches = Some(access);
                    }
                    (Some(_), 0) => {}
                    (Some(_), _) => {
                        queue.remove(number);
                        open.remove(&number);
                    }
                }
                loop {
                    let (next, wanted) = (queue.next(room, |_| None), expected(&open, room));
                    assert_eq!(next, wanted, "of {open:?}, {room} at a time");
                    let Some(number) = next else { break };
                    open.get_mut(&number).unwrap().1 = true;
                    started += 1;
                }
            }
        }
        assert!(started > 500, "{started}");
    }

    #[test]
    fn of_many_that_write_one_thing_each_is_looked_at_once_or_twice() {
        const MANY: usize = 4000;
        let mut queue = Queue::default();
        for number in 0..MANY {
            queue.add(number, Some(touching("a", true)));
        }
        let asked = std::cell::Cell::new(0);
        for number in 0..MANY {
            let again = |_: usize| {
                asked.set(asked.get() + 1);
                None
            };
            assert_eq!((queue.next(10, again), queue.next(10, again)), (Some(number), None));
            // One waits for each, the next.
            assert!(queue.open.values().all(|call| call.holds_up.len() <= 1));
            assert!(queue.to_look_at.is_empty());
            queue.remove(number);
        }
        assert_eq!(asked.get(), MANY - 1);
    }
}
