//! In which order tools are declared.

use super::error::{OrderFault, UnknownNames};

/// A configured order: some names, everything else by name, some more names.
#[derive(Debug)]
pub(super) struct Order {
    before: Vec<String>,
    after: Vec<String>,
}

/// Where a tool stands: before all others, among them, or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Before(usize),
    Other,
    After(usize),
}

impl Order {
    /// Stands for everything else. No tool can have this name.
    pub(super) const OTHERS: &str = "*";

    /// Reads a list, with all that is wrong with it.
    pub(super) fn read(list: Vec<String>, known: &[&str]) -> Result<Self, Vec<OrderFault>> {
        let mut faults = Vec::new();
        match list.iter().filter(|name| *name == Self::OTHERS).count() {
            0 => faults.push(OrderFault::NoOthers),
            1 => {}
            _ => faults.push(OrderFault::OthersTwice),
        }
        let mut unknown = Vec::new();
        let mut seen = std::collections::HashMap::new();
        for name in list.iter().filter(|name| *name != Self::OTHERS) {
            let times = seen.entry(name.as_str()).or_insert(0);
            *times += 1;
            match *times {
                1 if known.binary_search(&name.as_str()).is_err() => unknown.push(name.clone()),
                2 => faults.push(OrderFault::Twice(name.clone())),
                _ => {}
            }
        }
        if !unknown.is_empty() {
            let known = known.iter().map(|&name| name.to_owned()).collect();
            faults.push(OrderFault::Unknown(UnknownNames { unknown, known }));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut before = list;
        let after = match before.iter().position(|name| name == Self::OTHERS) {
            Some(slot) => before.drain(slot..).skip(1).collect(),
            None => Vec::new(),
        };
        Ok(Order { before, after })
    }

    /// Where each name stands that the order has. All others are [`Place::Other`].
    pub(super) fn places(&self) -> impl Iterator<Item = (&str, Place)> {
        let before = self.before.iter().enumerate().map(|(index, name)| (name.as_str(), Place::Before(index)));
        let after = self.after.iter().enumerate().map(|(index, name)| (name.as_str(), Place::After(index)));
        before.chain(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &[&str], known: &[&str]) -> Result<Order, Vec<OrderFault>> {
        Order::read(list.iter().map(|&name| name.to_owned()).collect(), known)
    }

    #[test]
    fn listed_names_have_places_around_the_slot() {
        let Ok(order) = read(&["c", "*", "a", "b"], &["a", "b", "c", "d"]) else { panic!("it is fine") };
        let places: Vec<_> = order.places().collect();
        assert_eq!(places, [("c", Place::Before(0)), ("a", Place::After(0)), ("b", Place::After(1))]);
        assert!(Place::Before(9) < Place::Other && Place::Other < Place::After(0));
        assert!(read(&["*"], &[]).is_ok());
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let known = ["a", "b"];
        let Err(faults) = read(&["x", "a", "a", "y", "a"], &known) else { panic!("it is wrong") };
        let unknown = UnknownNames { unknown: vec!["x".into(), "y".into()], known: vec!["a".into(), "b".into()] };
        assert_eq!(faults, [OrderFault::NoOthers, OrderFault::Twice("a".into()), OrderFault::Unknown(unknown)]);
        let Err(faults) = read(&["*", "a", "*", "*"], &known) else { panic!("it is wrong") };
        assert_eq!(faults, [OrderFault::OthersTwice]);
    }
}
