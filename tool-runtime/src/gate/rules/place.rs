//! Where the arguments stand that rules look at: all of them are found in one reading of a text.

use crate::schema::MAX_DEPTH;
use crate::schema::json::{Cursor, Fault, Key, Token};

/// A step in the canonical texts of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hop {
    /// A member by its declared name. Several, where forms of a value disagree about it.
    Member(Box<[Box<str>]>),
    Index(usize),
    Each,
}

impl Hop {
    fn is_member(&self, key: &Key<'_>) -> bool {
        matches!(self, Hop::Member(names) if names.iter().any(|name| key.is(name) || (key.escaped && key.name() == **name)))
    }

    fn is_element(&self, index: usize) -> bool {
        *self == Hop::Each || *self == Hop::Index(index)
    }
}

/// What stands where an argument can be. Of an array or an object only its beginning is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found<V> {
    Value(V),
    /// Nothing.
    Absent,
    /// On the way to it a value of another kind, which has no such part.
    Elsewhere,
}

impl<V> Found<V> {
    pub(super) fn map<W>(self, of: impl FnOnce(V) -> W) -> Found<W> {
        match self {
            Found::Value(value) => Found::Value(of(value)),
            Found::Absent => Found::Absent,
            Found::Elsewhere => Found::Elsewhere,
        }
    }
}

/// A place in the canonical texts of one tool, and those within it.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The conditions that are about what stands here.
    conditions: Vec<usize>,
    ways: Vec<(Hop, Place)>,
}

impl Place {
    /// A condition is about what these steps lead to.
    pub(super) fn add(&mut self, hops: Vec<Hop>, condition: usize) {
        let mut place = self;
        for hop in hops {
            let at = place.ways.iter().position(|(way, _)| *way == hop).unwrap_or_else(|| {
                place.ways.push((hop, Place::default()));
                place.ways.len() - 1
            });
            place = &mut place.ways[at].1;
        }
        place.conditions.push(condition);
    }

    /// Reads over the value at the cursor, and tells of each place in it what stands there and which conditions are
    /// about that; of a place that is there several times, each time.
    pub(super) fn read<'a>(
        &self,
        cursor: &mut Cursor<'a>,
        tell: &mut impl FnMut(&[usize], Found<Token<'a>>),
    ) -> Result<(), Fault> {
        let begin = cursor.clone();
        let token = cursor.token()?;
        if !self.conditions.is_empty() {
            tell(&self.conditions, Found::Value(token));
        }
        let is_array = match token {
            Token::ArrayStart => true,
            Token::ObjectStart => false,
            _ => {
                self.tell_within(if token == Token::Null { Found::Absent } else { Found::Elsewhere }, tell);
                return Ok(());
            }
        };
        if self.ways.is_empty() {
            *cursor = begin;
            return cursor.skip_value(MAX_DEPTH);
        }
        let inside = cursor.offset();
        // As many at a time as there are marks for, which is nearly always all.
        for ways in self.ways.chunks(u64::BITS as usize) {
            cursor.go_back(inside);
            let gone = if is_array { of_elements(ways, cursor, tell)? } else { of_members(ways, cursor, tell)? };
            for (_, (hop, place)) in ways.iter().enumerate().filter(|(at, _)| gone >> at & 1 == 0) {
                let fits = matches!(hop, Hop::Member(_)) != is_array;
                place.tell(if fits { Found::Absent } else { Found::Elsewhere }, tell);
            }
        }
        Ok(())
    }

    /// Of this place and of all within it.
    fn tell<'a>(&self, found: Found<Token<'a>>, tell: &mut impl FnMut(&[usize], Found<Token<'a>>)) {
        if !self.conditions.is_empty() {
            tell(&self.conditions, found);
        }
        self.tell_within(found, tell);
    }

    fn tell_within<'a>(&self, found: Found<Token<'a>>, tell: &mut impl FnMut(&[usize], Found<Token<'a>>)) {
        for (_, place) in &self.ways {
            place.tell(found, tell);
        }
    }
}

/// Reads the rest of an object. Gives a mark for each way that there was.
fn of_members<'a>(
    ways: &[(Hop, Place)],
    cursor: &mut Cursor<'a>,
    tell: &mut impl FnMut(&[usize], Found<Token<'a>>),
) -> Result<u64, Fault> {
    let mut gone = 0;
    let mut next = cursor.first_key()?;
    while let Some(key) = next {
        gone |= along(ways, |hop| hop.is_member(&key), cursor, tell)?;
        next = cursor.next_key()?;
    }
    Ok(gone)
}

/// Reads the rest of an array. Gives a mark for each way that there was.
fn of_elements<'a>(
    ways: &[(Hop, Place)],
    cursor: &mut Cursor<'a>,
    tell: &mut impl FnMut(&[usize], Found<Token<'a>>),
) -> Result<u64, Fault> {
    let mut gone = 0;
    let mut more = cursor.first_element()?;
    let mut index = 0;
    while more {
        gone |= along(ways, |hop| hop.is_element(index), cursor, tell)?;
        index += 1;
        more = cursor.next_element()?;
    }
    Ok(gone)
}

/// Reads over the value at the cursor, once for each way that leads there.
fn along<'a>(
    ways: &[(Hop, Place)],
    leads: impl Fn(&Hop) -> bool,
    cursor: &mut Cursor<'a>,
    tell: &mut impl FnMut(&[usize], Found<Token<'a>>),
) -> Result<u64, Fault> {
    let begin = cursor.offset();
    let mut gone = 0;
    for (at, (_, place)) in ways.iter().enumerate().filter(|(_, (hop, _))| leads(hop)) {
        cursor.go_back(begin);
        place.read(cursor, tell)?;
        gone |= 1 << at;
    }
    if gone == 0 {
        cursor.skip_value(MAX_DEPTH)?;
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::super::argument::parse;
    use super::*;
    use crate::schema::Step;

    #[test]
    fn every_place_is_found() {
        let hops = |path: &str| -> Vec<Hop> {
            let hop = |step: Step| match step {
                Step::Member(name) => Hop::Member([name.into()].into()),
                Step::Index(index) => Hop::Index(index),
                Step::Each => Hop::Each,
            };
            parse(path).unwrap().into_iter().map(hop).collect()
        };
        let text = r#"{"a":[{"b":1},{"b":null},{},null,"x",[2]],"c":{"\n":true},"e":[],"n":null}"#;
        let found = |path: &str| {
            let mut place = Place::default();
            place.add(hops(path), 7);
            let mut found = Vec::new();
            let mut cursor = Cursor::new(text);
            place
                .read(&mut cursor, &mut |conditions, place| {
                    assert_eq!(conditions, [7]);
                    found.push(place);
                })
                .unwrap();
            cursor.finish().unwrap();
            found
        };
        let (one, null) = (Found::Value(Token::Number("1")), Found::Value(Token::Null));
        let b = [one, null, Found::Absent, Found::Absent, Found::Elsewhere, Found::Elsewhere];
        assert_eq!(found("a[*].b"), b);
        assert_eq!(found("a[0].b"), [one]);
        assert_eq!(found("a[9]"), [Found::Absent]);
        assert_eq!(found("a[5][0]"), [Found::Value(Token::Number("2"))]);
        assert_eq!(found(r#"c["\n"]"#), [Found::Value(Token::Bool(true))]);
        assert_eq!(found("c"), [Found::Value(Token::ObjectStart)]);
        assert_eq!(found("e[*]"), [Found::Absent]);
        assert_eq!(found("n.x"), [Found::Absent]);
        assert_eq!(found("n"), [null]);
        assert_eq!(found("x"), [Found::Absent]);
    }

    /// Each way alone and all of them together, more than there are marks for, tell the same.
    #[test]
    fn one_reading_tells_what_one_for_each_place_does() {
        let keys = |n: usize| format!("k{}", n % 100);
        let member = |name: String| Hop::Member([name.into()].into());
        let either = |n: usize| Hop::Member([keys(n).into(), keys(n * 7).into()].into());
        let mut ways: Vec<Vec<Hop>> = vec![Vec::new()];
        for n in 0..150 {
            ways.push(vec![member(keys(n))]);
            ways.push(vec![either(n), Hop::Each]);
            ways.push(vec![either(n), Hop::Index(n % 3), member(keys(n + 1))]);
            ways.push(vec![member(keys(n)), member(keys(n * 3))]);
        }
        let inner = r#"{"k1":1,"k3":[true,"x",{"k4":null}],"k\u0039":{"k27":2}}"#;
        let members: Vec<String> = (0..90)
            .map(|n| {
                let value = ["null", "[]", inner, r#"[{"k5":1,"k8":[]},{"k2":2},3]"#, "\"text\""][n % 5];
                format!("\"{}\":{value}", keys(n))
            })
            .collect();
        let text = format!("{{{}}}", members.join(","));
        let read = |place: &Place| {
            let mut found = Vec::new();
            let mut cursor = Cursor::new(&text);
            let told = place.read(&mut cursor, &mut |conditions, place| {
                found.extend(conditions.iter().map(|condition| (*condition, place)));
            });
            told.unwrap();
            cursor.finish().unwrap();
            found
        };
        let mut together = Place::default();
        for (condition, way) in ways.iter().enumerate() {
            together.add(way.clone(), condition);
        }
        let together = read(&together);
        for (condition, way) in ways.iter().enumerate() {
            let mut alone = Place::default();
            alone.add(way.clone(), condition);
            let of_it: Vec<_> = together.iter().filter(|(other, _)| *other == condition).copied().collect();
            assert_eq!(of_it, read(&alone), "{way:?}");
        }
    }
}
