//! Objects: their members by name, in order, with what is left out filled in.

use std::ops::Range;

use super::super::describe;
use super::super::json::{Key, MAX_DEPTH, Token, cmp_utf16, write_string};
use super::super::node::{Extra, Marks, NodeId, ObjectRules, Purpose};
use super::super::problem::What;
use super::super::text;
use super::seen::Seen;
use super::{Member, Mode, Place, Walk, Walker};

impl<'g, 't> Walker<'g, 't> {
    pub(super) fn object(&mut self, rules: Option<&'g ObjectRules>, marks: Marks, place: &Place<'_>) -> Walk {
        self.nested_too_deeply(place)?;
        let Some(rules) = rules else {
            return self.free_object(marks, place);
        };
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        let object_start = self.out.len();
        let first_member = self.members.len();
        let mut in_order = true;
        let mut hint = 0;
        // Which declared members have come, even as a `null` that means absence.
        let mut seen = Seen::default();
        let mut next = self.cursor.first_key()?;
        while let Some(key) = next {
            // Members mostly come in declared order.
            let next_one = rules.properties.get(hint).is_some_and(|property| key.is(&property.name));
            let found = if next_one { Some((hint, false)) } else { rules.find(&key.name()) };
            match found {
                Some((position, by_alias)) => {
                    let property = &rules.properties[position];
                    let inner = place.key(&property.name, position);
                    if !seen.insert(position) {
                        let also = by_alias.then(|| text::shown(&key.name(), 64));
                        self.problem(&inner, || What::Twice { also })?;
                        self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?;
                    } else if self.null_means_absent(rules, position) {
                        self.cursor.token()?;
                        seen.absent(position);
                        self.reinterprets(true);
                    } else {
                        in_order &= position >= hint;
                        hint = position + 1;
                        let start = self.begin_member(first_member, &key, by_alias.then_some(&*property.name));
                        let value = self.out.len();
                        self.value(property.node, marks, &inner)?;
                        self.members.push(Member::new(position, start, value, self.out.len()));
                    }
                }
                None => {
                    in_order = false;
                    let name = key.name();
                    let inner = place.key(&name, usize::MAX);
                    let node = match rules.extra {
                        Extra::Any(node) => Some(node),
                        Extra::Integers { node, signed } => is_whole_number(&name, signed).then_some(node),
                        Extra::Refused => None,
                    };
                    match node {
                        Some(node) => self.extra_member(first_member, &key, Some(node), marks, &inner)?,
                        None => {
                            let what = || match rules.extra {
                                Extra::Integers { .. } => {
                                    What::unexpected("a whole number as the name", "another name")
                                }
                                _ => describe::unknown(rules, &name),
                            };
                            self.problem(&inner, what)?;
                            self.cursor.skip_value(MAX_DEPTH.saturating_sub(inner.depth))?;
                        }
                    }
                }
            }
            next = self.cursor.next_key()?;
        }
        let mut given = self.members.len() - first_member;
        let mut filled = String::new();
        let missing = if seen.is_all(rules.properties.len()) { 0 } else { rules.properties.len() };
        for (position, property) in rules.properties.iter().enumerate().take(missing) {
            if seen.has(position) {
                continue;
            }
            if let Some(default) = &property.default {
                given += usize::from(property.required);
                let fills = match self.mode {
                    Mode::Canonical => true,
                    Mode::Given => property.required,
                    Mode::Redacted => false,
                };
                if fills && !self.probing && self.graph.purpose == Purpose::Arguments {
                    let start = filled.len();
                    write_string(&mut filled, &property.name);
                    filled.push(':');
                    let value = filled.len();
                    filled.push_str(default);
                    self.members.push(Member { filled: true, ..Member::new(position, start, value, filled.len()) });
                }
            } else if property.required {
                let inner = place.key(&property.name, position);
                if let Some(open) = self.open.iter().find(|open| inner.is(open)) {
                    if !self.probing {
                        self.excused.push(open.clone());
                    }
                } else {
                    let expected = describe::node(self.graph, property.node);
                    self.problem(&inner, || What::Missing { expected })?;
                }
            }
        }
        self.unsettled |= self.trials > 0 && !filled.is_empty();
        if !filled.is_empty() || (!in_order && self.members.len() > first_member) {
            self.reorder(first_member, object_start, &filled, place)?;
        }
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        // As it was given, and with its defaults.
        let full = self.members.len() - first_member;
        let counts = [given, full.max(given)].map(|count| count as u64);
        let off = |count: &u64| rules.min.is_some_and(|min| *count < min) || rules.max.is_some_and(|max| *count > max);
        if let Some(count) = counts.into_iter().find(off) {
            let expected = describe::object_size(rules);
            let got = format!("object of {count}");
            self.problem(place, || What::unexpected(expected, got))?;
        }
        if place.depth > 0 {
            self.members.truncate(first_member);
        }
        Ok(())
    }

    /// Writes the comma and the key of a member, under its declared name if it came by an alias.
    #[inline]
    fn begin_member(&mut self, first_member: usize, key: &Key<'t>, declared: Option<&str>) -> usize {
        if self.members.len() > first_member {
            self.out.copy(key.separator, key.separator + 1);
        }
        let start = self.out.len();
        match declared {
            Some(name) => self.out.string(name),
            None if key.escaped => self.out.string(&key.name()),
            None => self.out.copy(key.start, key.end),
        }
        self.out.copy(key.after_colon - 1, key.after_colon);
        start
    }

    /// A member without a declared name.
    fn extra_member(
        &mut self,
        first_member: usize,
        key: &Key<'t>,
        node: Option<NodeId>,
        marks: Marks,
        inner: &Place<'_>,
    ) -> Walk {
        let start = self.begin_member(first_member, key, None);
        let value = self.out.len();
        match node {
            Some(node) => self.value(node, marks, inner)?,
            None => self.free(marks, inner)?,
        }
        self.members.push(Member { position: Member::EXTRA, ..Member::new(0, start, value, self.out.len()) });
        Ok(())
    }

    /// Is the coming value a `null` by which the model leaves a member out?
    fn null_means_absent(&self, rules: &ObjectRules, position: usize) -> bool {
        self.graph.purpose == Purpose::Arguments
            && !self.literal
            && !rules.properties[position].null_is_a_value
            && matches!(self.cursor.clone().token(), Ok(Token::Null))
    }

    /// Brings the members of one object into canonical order, with the defaults among them.
    fn reorder(&mut self, first_member: usize, object_start: usize, filled: &str, place: &Place<'_>) -> Walk {
        let mut members = self.members.split_off(first_member);
        let written = self.out.own().split_off(object_start);
        let part = |range: Range<usize>| &written[range.start - object_start..range.end - object_start];
        let key = |member: &Member| Token::unescape(part(member.key()), true);
        members.sort_by(|a, b| {
            let further = || {
                if a.position == Member::EXTRA { cmp_utf16(&key(a), &key(b)) } else { std::cmp::Ordering::Equal }
            };
            a.position.cmp(&b.position).then_with(further)
        });
        let twice = members.windows(2).find(|pair| {
            pair[0].position == Member::EXTRA
                && pair[1].position == Member::EXTRA
                && part(pair[0].key()) == part(pair[1].key())
        });
        if let Some(pair) = twice {
            let key = key(&pair[0]).into_owned();
            self.problem(&place.key(&key, usize::MAX), || What::Twice { also: None })?;
        }
        for (index, member) in members.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            let start = self.out.len();
            self.out.push_str(if member.filled { &filled[member.text()] } else { part(member.text()) });
            let value = start + (member.value - member.start) as usize;
            let moved = Member::new(0, start, value, self.out.len());
            self.members.push(Member { position: member.position, ..moved });
        }
        Ok(())
    }

    pub(super) fn free_object(&mut self, marks: Marks, place: &Place<'_>) -> Walk {
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        let object_start = self.out.len();
        let first_member = self.members.len();
        let mut next = self.cursor.first_key()?;
        while let Some(key) = next {
            let name = key.name();
            self.extra_member(first_member, &key, None, marks, &place.key(&name, usize::MAX))?;
            next = self.cursor.next_key()?;
        }
        if self.members.len() > first_member + 1 {
            self.reorder(first_member, object_start, "", place)?;
        }
        self.out.copy(self.cursor.offset() - 1, self.cursor.offset());
        if place.depth > 0 {
            self.members.truncate(first_member);
        }
        Ok(())
    }
}

/// A whole number in its one spelling.
fn is_whole_number(key: &str, signed: bool) -> bool {
    let digits = if signed { key.strip_prefix('-').unwrap_or(key) } else { key };
    match digits.as_bytes() {
        [b'0'] => key == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
