use std::collections::BTreeSet;

use super::Value;
use crate::call::{CallId, RawArguments, ToolCall};

/// Marks an identifier that we made up. Letters, digits and underscores, which every provider takes.
const MADE_UP: &str = "call_without_id_";

/// A call of a turn, of which all are known only at its end.
#[derive(Clone)]
pub(in crate::wire) struct Listed {
    pub(in crate::wire) id: Option<String>,
    pub(in crate::wire) name: String,
    pub(in crate::wire) arguments: RawArguments,
    pub(in crate::wire) truncated: bool,
}

impl Listed {
    /// A call that is whole.
    pub(in crate::wire) fn new(id: Option<Value<'_>>, name: String, arguments: Option<Value<'_>>) -> Self {
        let arguments = arguments.map_or_else(RawArguments::absent, Value::arguments);
        Listed { id: id.and_then(id_of), name, arguments, truncated: false }
    }
}

/// An identifier as it came. Empty text is none; a number, as some servers count, is its digits.
pub(in crate::wire) fn id_of(value: Value<'_>) -> Option<String> {
    let id = match value.escaped() {
        Some(_) => value.text()?,
        None if value.raw().starts_with(|first: char| first.is_ascii_digit()) => value.raw().to_owned(),
        None => return None,
    };
    (!id.is_empty()).then_some(id)
}

/// The identifiers of a turn's calls: the given ones, and for each that is missing the marked position. One that another
/// call before it has is as missing: providers refuse two calls of one identifier, and two answers to it.
pub(in crate::wire) fn ids<'a>(given: &[Option<&'a str>]) -> Vec<String> {
    // One that looks like ours would not be told apart.
    let taken: BTreeSet<&str> = given.iter().flatten().copied().filter(|id| id.starts_with(MADE_UP)).collect();
    let mut seen = BTreeSet::new();
    let of = |(index, id): (usize, Option<&'a str>)| match id.filter(|id| seen.insert(*id)) {
        Some(id) => id.to_owned(),
        None => {
            // By steps of the number of calls, so that no two positions meet.
            let mut number = index;
            loop {
                let id = format!("{MADE_UP}{number}");
                if !taken.contains(id.as_str()) {
                    return id;
                }
                number += given.len();
            }
        }
    };
    given.iter().copied().enumerate().map(of).collect()
}

/// The identifiers of these calls.
pub(in crate::wire) fn ids_of(listed: &[Listed]) -> Vec<String> {
    let given: Vec<Option<&str>> = listed.iter().map(|call| call.id.as_deref()).collect();
    ids(&given)
}

/// The calls of a turn. If it was cut off, its last one may be.
pub(in crate::wire) fn identified(listed: Vec<Listed>, cut_off: bool) -> Vec<ToolCall> {
    let ids = ids_of(&listed);
    let last = listed.len();
    let call = |(index, (call, id)): (usize, (Listed, String))| {
        let truncated = call.truncated || cut_off && index + 1 == last;
        let call = ToolCall::new(id, call.name, call.arguments);
        if truncated { call.truncated() } else { call }
    };
    listed.into_iter().zip(ids).enumerate().map(call).collect()
}

/// The identifier, if the provider gave it.
pub(in crate::wire) fn given(id: &CallId) -> Option<&str> {
    let id = id.as_str();
    let ours = id.strip_prefix(MADE_UP).is_some_and(|number| number.parse::<usize>().is_ok());
    (!ours).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_identifiers_are_unlike_each_other_and_all_others() {
        let ids_of = ids(&[None, Some("a"), None, Some("a")]);
        assert_eq!(ids_of, ["call_without_id_0", "a", "call_without_id_2", "call_without_id_3"]);
        let ids = ids(&[None, Some("call_without_id_0"), None]);
        assert_eq!(ids, ["call_without_id_3", "call_without_id_0", "call_without_id_2"]);
    }

    #[test]
    fn what_was_made_up_is_known() {
        for id in ["call_without_id_0", "call_without_id_17"] {
            assert_eq!(given(&id.into()), None);
        }
        for id in ["call_0", "call_without_id_x", "my_call_without_id_0"] {
            assert_eq!(given(&id.into()), Some(id));
        }
    }

    #[test]
    fn identifiers_stay_as_they_came() {
        for (json, id) in [("\"\"", None), ("{}", None), ("\"a\\u0041 \"", Some("aA ")), ("7", Some("7"))] {
            assert_eq!(id_of(Value::parse(json).unwrap()).as_deref(), id);
        }
    }
}
