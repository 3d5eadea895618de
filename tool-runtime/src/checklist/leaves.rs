//! The values of an argument object.

use crate::schema::json::Json;
use crate::schema::{JsonPath, Segment};

/// Every value in a value, itself left out, from the outside in. `null` is as good as nothing.
pub(super) fn within(value: &Json) -> Vec<(JsonPath, &Json)> {
    fn gather<'j>(value: &'j Json, path: &mut Vec<Segment>, found: &mut Vec<(JsonPath, &'j Json)>) {
        let mut inner = |segment: Segment, value: &'j Json| {
            path.push(segment);
            if *value != Json::Null {
                found.push((JsonPath::from_segments(path.clone()), value));
            }
            gather(value, path, found);
            path.pop();
        };
        match value {
            Json::Array(elements) => {
                elements.iter().enumerate().for_each(|(index, element)| inner(Segment::Index(index), element));
            }
            Json::Object(members) => {
                members.iter().for_each(|(name, member)| inner(Segment::Key(name.clone()), member));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    gather(value, &mut Vec::new(), &mut found);
    found
}

/// One that holds no others.
pub(super) fn is_leaf(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

/// Puts a value at a path. Members on the way that are missing are made; `false` if something else is in the way.
pub(crate) fn put(value: &mut Json, path: &JsonPath, new: Json) -> bool {
    let Some((last, way)) = path.segments().split_last() else { return false };
    let mut here = value;
    for segment in way {
        let next = match (segment, here) {
            (Segment::Key(name), here @ Json::Object(_)) => {
                if here.get(name).is_none_or(|member| *member == Json::Null) {
                    here.set(name, Json::Object(Vec::new()));
                }
                here.get_mut(name)
            }
            (Segment::Index(index), Json::Array(elements)) => elements.get_mut(*index),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => return false,
        }
    }
    match (last, here) {
        (Segment::Key(name), here @ Json::Object(_)) => {
            here.set(name, new);
            true
        }
        // A member with digits for a name looks like an index in a pointer.
        (Segment::Index(index), here @ Json::Object(_)) => {
            here.set(&index.to_string(), new);
            true
        }
        (Segment::Index(index), Json::Array(elements)) => match elements.get_mut(*index) {
            Some(element) => {
                *element = new;
                true
            }
            None => false,
        },
        _ => false,
    }
}
