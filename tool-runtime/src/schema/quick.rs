//! The common case, checked while a value is read or written.
//!
//! Nearly every call comes in canonical form and is what its schema asks for; nearly every output
//! is, too. Such a value needs no walk of its own: whoever reads or writes it anyway follows the
//! schema along. Anything out of the ordinary, right or wrong, is *unsure* here, and is walked.

use super::json::Number;
use super::node::{ArrayRules, Extra, Graph, NodeId, ObjectRules, Plain, Property, Purpose, Shape, TYPE_SLOTS, Types};
use super::walk::in_bounds;

/// What the schema says of the value that comes next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'g> {
    graph: &'g Graph,
    node: NodeId,
}

impl Graph {
    /// What it says of the whole value.
    pub(crate) fn expected(&self) -> Expected<'_> {
        Expected { graph: self, node: self.root }
    }
}

impl<'g> Expected<'g> {
    pub(crate) fn at(self, node: NodeId) -> Self {
        Expected { node, ..self }
    }

    /// What holds for a value of one of the JSON types, where that is beyond doubt.
    #[inline]
    fn plain(self, types: Types) -> Option<&'g Plain> {
        let mut node = &self.graph.nodes[self.node];
        // Bounded, since a graph could lead in circles.
        for _ in 0..8 {
            if node.marks.path {
                return None;
            }
            node = match &node.shape {
                Shape::Plain(plain) => return plain.types.has(types).then_some(plain),
                Shape::Link(target) => &self.graph.nodes[*target],
                Shape::Union(union) => {
                    let slot = TYPE_SLOTS.iter().position(|slot| slot.has(types))?;
                    match union.by_type[slot].as_slice() {
                        [only] => &self.graph.nodes[union.branches[*only]],
                        _ => return None,
                    }
                }
            };
        }
        None
    }

    /// A word of the closed set, if there is one.
    fn is_listed(plain: &Plain, canonical: impl Fn(&str) -> bool) -> bool {
        plain.one_of.as_ref().is_none_or(|words| words.iter().any(|word| canonical(word)))
    }

    pub(crate) fn takes_null(self) -> bool {
        self.plain(Types::NULL).is_some_and(|plain| Self::is_listed(plain, |word| word == "null"))
    }

    pub(crate) fn takes_bool(self, value: bool) -> bool {
        let text = if value { "true" } else { "false" };
        self.plain(Types::BOOLEAN).is_some_and(|plain| Self::is_listed(plain, |word| word == text))
    }

    /// A string without anything that has to be escaped.
    #[inline]
    pub(crate) fn takes_string(self, raw: &str) -> bool {
        let quoted = |word: &str| word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) == Some(raw);
        self.plain(Types::STRING).is_some_and(|plain| plain.string.is_none() && Self::is_listed(plain, quoted))
    }

    /// Any text at all.
    pub(crate) fn takes_text(self) -> bool {
        self.plain(Types::STRING).is_some_and(|plain| plain.string.is_none() && plain.one_of.is_none())
    }

    #[inline]
    pub(crate) fn takes_integer(self, value: i128) -> bool {
        self.plain(Types::INTEGER).is_some_and(|plain| {
            plain.one_of.is_none()
                && plain.number.as_deref().is_none_or(|rules| in_bounds(Number::Integer(value), rules))
        })
    }

    pub(crate) fn takes_double(self, value: f64) -> bool {
        self.plain(Types::FRACTION).is_some_and(|plain| {
            let number = if value.fract() == 0.0 && value.abs() < 1e15 {
                Number::Integer(value as i128)
            } else {
                Number::Float(value)
            };
            plain.one_of.is_none() && plain.number.as_deref().is_none_or(|rules| in_bounds(number, rules))
        })
    }

    /// The elements of an array.
    pub(crate) fn array(self) -> Option<Elements<'g>> {
        let plain = self.plain(Types::ARRAY).filter(|plain| plain.one_of.is_none())?;
        let rules = plain.array.as_deref().filter(|rules| rules.prefix.is_empty() && !rules.unique)?;
        Some(Elements { rules, expected: self.at(rules.items?) })
    }

    /// The members of an object, of which all have declared names.
    #[inline]
    pub(crate) fn object(self) -> Option<Members<'g>> {
        let plain = self.plain(Types::OBJECT).filter(|plain| plain.one_of.is_none())?;
        let rules = plain.object.as_deref()?;
        let ordinary = rules.extra == Extra::Refused && rules.min.is_none() && rules.max.is_none();
        ordinary.then_some(Members { rules, expected: self, next: 0 })
    }
}

/// An array that is being followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elements<'g> {
    rules: &'g ArrayRules,
    expected: Expected<'g>,
}

impl<'g> Elements<'g> {
    /// What each element has to be.
    pub(crate) fn each(&self) -> Expected<'g> {
        self.expected
    }

    pub(crate) fn takes_count(&self, count: usize) -> bool {
        let count = count as u64;
        self.rules.min.is_none_or(|min| count >= min) && self.rules.max.is_none_or(|max| count <= max)
    }
}

/// An object that is being followed, its members in declared order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members<'g> {
    rules: &'g ObjectRules,
    expected: Expected<'g>,
    next: usize,
}

/// A member that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'g> {
    pub(crate) expected: Expected<'g>,
    /// `null` means that it is absent.
    pub(crate) null_is_absence: bool,
}

impl<'g> Members<'g> {
    /// The member of this name, if it comes where it should.
    #[inline]
    pub(crate) fn find(&mut self, is: impl Fn(&str) -> bool) -> Option<Found<'g>> {
        loop {
            let property = self.rules.properties.get(self.next)?;
            self.next += 1;
            if is(&property.name) {
                let arguments = self.expected.graph.purpose == Purpose::Arguments;
                return Some(Found {
                    expected: self.expected.at(property.node),
                    null_is_absence: arguments && !property.null_is_a_value,
                });
            }
            if !self.may_be_absent(property) {
                return None;
            }
        }
    }

    /// May all the members that have not come be absent?
    pub(crate) fn finish(&self) -> bool {
        self.rules.properties[self.next..].iter().all(|property| self.may_be_absent(property))
    }

    /// Without anything to fill in.
    fn may_be_absent(&self, property: &Property) -> bool {
        let fills = self.expected.graph.purpose == Purpose::Arguments && property.default.is_some();
        !property.required && !fills
    }

    /// The name of the member that comes next, if any is left.
    pub(crate) fn next_name(&self) -> Option<&'g str> {
        self.rules.properties.get(self.next).map(|property| &*property.name)
    }

    /// Passes over a member that isn't there, if it may be.
    pub(crate) fn pass(&mut self) -> bool {
        let passes = self.rules.properties.get(self.next).is_some_and(|property| self.may_be_absent(property));
        self.next += 1;
        passes
    }
}
