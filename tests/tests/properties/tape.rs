//! Choices that shrink.

use proptest::collection::vec;
use proptest::prelude::*;

/// A row of numbers from which a generator reads its choices; once it is used up every choice is
/// the first. So what depends on what was generated before (a value on its schema) still shrinks:
/// proptest shortens the row and makes its numbers smaller.
#[derive(Debug)]
pub(crate) struct Tape<'a> {
    choices: &'a [u16],
    at: usize,
    /// Schemas may have keywords that are enforced only with the feature `jsonschema`.
    pub(crate) foreign: bool,
    /// How often values may still differ from what their schemas ask for.
    pub(crate) slips: usize,
}

pub(crate) fn tapes(length: usize) -> impl Strategy<Value = Vec<u16>> {
    vec(any::<u16>(), length / 4..length)
}

impl<'a> Tape<'a> {
    pub(crate) fn new(choices: &'a [u16]) -> Self {
        Tape { choices, at: 0, foreign: false, slips: usize::MAX }
    }

    fn next(&mut self) -> usize {
        let next = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        next.into()
    }

    /// Nothing but first choices are left.
    pub(crate) fn is_over(&self) -> bool {
        self.at >= self.choices.len()
    }

    /// One of `0..count`; 0 where there is nothing to choose from.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        self.next() % count.max(1)
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.pick(all.len())]
    }

    /// Yes once in `times`; no once the tape is over.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.pick(times) == times - 1 && !self.is_over()
    }

    /// Yes once in `times`, as long as there may be mistakes.
    pub(crate) fn slips(&mut self, times: usize) -> bool {
        let slips = self.slips > 0 && self.once_in(times);
        self.slips -= usize::from(slips);
        slips
    }

    pub(crate) fn bits(&mut self) -> u64 {
        (0..4).fold(0, |bits, _| bits << 16 | self.next() as u64)
    }
}
