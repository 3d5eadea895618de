use std::collections::BTreeMap;

/// What a stream tells in pieces, by the index that these bear.
#[derive(Clone)]
pub(in crate::wire) struct Places<T> {
    all: Vec<(u64, T)>,
    /// The position of what an index means now.
    now: BTreeMap<u64, usize>,
}

impl<T> Places<T> {
    /// The position of what an index means; without one, of what was begun last.
    pub(in crate::wire) fn find(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(index) => self.now.get(&index).copied(),
            None => self.all.len().checked_sub(1),
        }
    }

    pub(in crate::wire) fn get(&self, position: usize) -> Option<&T> {
        self.all.get(position).map(|(_, value)| value)
    }

    pub(in crate::wire) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        self.all.get_mut(position).map(|(_, value)| value)
    }

    /// Begins another, and gives its position. What had the same index stays: there are servers that count everything
    /// as the first. Without an index, it comes behind all others.
    pub(in crate::wire) fn begin(&mut self, index: Option<u64>, value: T) -> usize {
        let next = || self.now.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let index = index.unwrap_or_else(next);
        let position = self.all.len();
        self.now.insert(index, position);
        self.all.push((index, value));
        position
    }

    pub(in crate::wire) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// By index, and in the order in which they began.
    pub(in crate::wire) fn in_order(&self) -> Vec<&T> {
        let mut all: Vec<&(u64, T)> = self.all.iter().collect();
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, value)| value).collect()
    }
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Places { all: Vec::new(), now: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_takes_the_place_of_another() {
        let mut places = Places::default();
        places.begin(Some(1), "b");
        places.begin(Some(0), "a");
        places.begin(Some(1), "c");
        places.begin(None, "d");
        assert_eq!(places.in_order(), [&"a", &"b", &"c", &"d"]);
        assert_eq!(places.find(Some(1)).and_then(|at| places.get(at)), Some(&"c"));
        assert_eq!(places.find(None).and_then(|at| places.get(at)), Some(&"d"));
        assert_eq!(places.find(Some(7)), None);
    }
}
