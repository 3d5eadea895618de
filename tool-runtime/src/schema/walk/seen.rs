/// Which declared members have come: a set that needs no memory for the first 64.
#[derive(Default)]
pub(super) struct Seen {
    first: u64,
    /// Those that came as a `null` that means absence.
    absent: u64,
    more: Vec<u64>,
    more_absent: Vec<u64>,
}

impl Seen {
    #[inline]
    pub(super) fn insert(&mut self, position: usize) -> bool {
        if position >= 64 {
            return set_bit(&mut self.more, position);
        }
        let bit = 1 << position;
        let new = self.first & bit == 0;
        self.first |= bit;
        new
    }

    pub(super) fn absent(&mut self, position: usize) {
        if position < 64 {
            self.absent |= 1 << position;
        } else {
            set_bit(&mut self.more_absent, position);
        }
    }

    /// All of the first `count` have come.
    #[inline]
    pub(super) fn is_all(&self, count: usize) -> bool {
        count <= 64 && (self.first & !self.absent).count_ones() as usize == count
    }

    pub(super) fn has(&self, position: usize) -> bool {
        if position < 64 {
            (self.first & !self.absent) & (1 << position) != 0
        } else {
            has_bit(&self.more, position) && !has_bit(&self.more_absent, position)
        }
    }
}

fn set_bit(words: &mut Vec<u64>, position: usize) -> bool {
    let (word, bit) = (position / 64, 1 << (position % 64));
    if words.len() <= word {
        words.resize(word + 1, 0);
    }
    let new = words[word] & bit == 0;
    words[word] |= bit;
    new
}

fn has_bit(words: &[u64], position: usize) -> bool {
    words.get(position / 64).is_some_and(|word| word & (1 << (position % 64)) != 0)
}
