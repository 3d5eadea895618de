//! What a call touches, and which calls may therefore overlap.

use crate::schema::json::{Json, JsonPath, Segment};
use crate::schema::normalised;

/// What a call touches, as far as its tool says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anything at all: it runs alone.
    Exclusive,
    /// These and nothing else. None: it overlaps whatever isn't exclusive.
    Shared(Vec<Resource>),
}

/// Something that an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    name: String,
    is_path: bool,
    writes: bool,
}

impl Access {
    /// Must two such calls not overlap?
    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        match (self, other) {
            (Access::Shared(ours), Access::Shared(theirs)) => {
                ours.iter().any(|our| theirs.iter().any(|their| our.conflicts(their)))
            }
            _ => true,
        }
    }
}

impl Resource {
    /// The resources that the argument `name` of accepted arguments names. `None`: nobody can say.
    pub(super) fn of(canonical: &str, name: &str, is_path: bool, writes: bool) -> Option<Vec<Resource>> {
        let argument = JsonPath::from_segments(vec![Segment::Key(name.to_owned())]).find(canonical)?;
        let resource = |name: String| {
            // Some file systems hold `A.txt` and `a.txt` for one file; to wait is never wrong.
            let name = if is_path { normalised(&name).unwrap_or(name.as_str().into()).to_lowercase() } else { name };
            Resource { name, is_path, writes }
        };
        match Json::parse(argument).ok()? {
            Json::Null => None,
            Json::Array(elements) => Some(elements.iter().map(|element| resource(spelt(element))).collect()),
            one => Some(vec![resource(spelt(&one))]),
        }
    }

    fn conflicts(&self, other: &Resource) -> bool {
        (self.writes || other.writes)
            && match self.is_path && other.is_path {
                true => may_be_one(&self.name, &other.name),
                false => self.name == other.name,
            }
    }
}

/// Text without its quotes, so that a path and a name that are spelt alike are one. Members have no order.
fn spelt(value: &Json) -> String {
    let mut out = String::new();
    match value.as_str() {
        Some(text) => out.push_str(text),
        None => value.write_sorted(&mut out),
    }
    out
}

/// May two normalised paths lead to one file, or one to what holds the other?
fn may_be_one(one: &str, other: &str) -> bool {
    let is_absolute = |path: &str| path.starts_with('/');
    let leads_out = |path: &str| path == ".." || path.starts_with("../");
    // Which directory relative ones begin in nobody says here.
    is_absolute(one) != is_absolute(other)
        || leads_out(one)
        || leads_out(other)
        || holds(one, other)
        || holds(other, one)
}

fn holds(outer: &str, inner: &str) -> bool {
    outer == inner
        || outer == "."
        || inner.strip_prefix(outer).is_some_and(|rest| outer.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str, writes: bool) -> Access {
        let text = format!("{{\"p\":{}}}", Json::string(name));
        Access::Shared(Resource::of(&text, "p", true, writes).unwrap())
    }

    #[test]
    fn b60_paths_conflict_where_they_may_be_one_file() {
        let conflicts = |one, other| path(one, true).conflicts(&path(other, false));
        for (one, other) in [
            ("a.txt", "a.txt"),
            ("a.txt", "A.TXT"),
            ("a", "a/b"),
            ("a/b", "a"),
            (".", "a"),
            ("/", "/etc"),
            ("/w/a.txt", "a.txt"),
            ("../a", "b"),
            ("x/../a.txt", "./a.txt"),
        ] {
            assert!(conflicts(one, other), "{one} {other}");
        }
        for (one, other) in [("a.txt", "b.txt"), ("a", "ab"), ("/w/a", "/w/b"), ("a.txt", "a.txt.bak")] {
            assert!(!conflicts(one, other), "{one} {other}");
        }
        assert!(!path("a", false).conflicts(&path("a", false)), "readers share");
    }

    #[test]
    fn what_nobody_can_say_is_no_list_of_resources() {
        assert_eq!(Resource::of("{}", "p", false, true), None);
        assert_eq!(Resource::of(r#"{"p":null}"#, "p", false, true), None);
        let several = Resource::of(r#"{"p":["a","b"]}"#, "p", false, true).unwrap();
        assert_eq!(several.len(), 2);
        let number = |text| Access::Shared(Resource::of(text, "p", false, true).unwrap());
        assert!(number(r#"{"p":7}"#).conflicts(&number(r#"{"p":7}"#)));
        assert!(!number(r#"{"p":7}"#).conflicts(&number(r#"{"p":8}"#)));
        // Members have no order.
        assert!(
            number(r#"{"p":{"a":1,"b":[{"c":2,"d":3}]}}"#).conflicts(&number(r#"{"p":{"b":[{"d":3,"c":2}],"a":1}}"#))
        );
    }

    #[test]
    fn exclusive_means_alone() {
        assert!(Access::Exclusive.conflicts(&Access::Shared(Vec::new())));
        assert!(!Access::Shared(Vec::new()).conflicts(&Access::Shared(Vec::new())));
    }
}
