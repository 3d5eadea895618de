//! What of a response goes into the next request, where that would be refused as it came.

use std::borrow::Cow;

use super::names::Rule;
use super::{Value, given, mended};
use crate::call::CallId;
use crate::schema::json::write_string;

/// What stands for a turn in which the model said nothing: providers refuse a message with nothing in it.
pub(in crate::wire) const NOTHING: &str = "(no answer)";

/// A member of an object that is to be another. `None`: it is left out.
pub(in crate::wire) type Change<'k> = (&'k str, Option<String>);

/// Text as JSON.
pub(in crate::wire) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    write_string(&mut json, text);
    json
}

/// An object with these changes, of which `None` is none, and else as it stands. Members that it doesn't have come last.
pub(in crate::wire) fn changed<'a, 'k>(
    object: Value<'a>,
    changes: impl IntoIterator<Item = Option<Change<'k>>>,
) -> Cow<'a, str> {
    let changes: Vec<Change<'k>> = changes.into_iter().flatten().collect();
    if changes.is_empty() {
        return Cow::Borrowed(object.raw());
    }
    let mut json = String::with_capacity(object.raw().len() + 64);
    let mut done = vec![false; changes.len()];
    let mut write = |key: &str, value: &str| {
        json.push_str(if json.is_empty() { "{\"" } else { ",\"" });
        json.push_str(key);
        json.push_str("\":");
        json.push_str(value);
    };
    for (key, value) in object.entries() {
        let name = super::Gathered::of_escaped(key.raw()).into_text();
        match changes.iter().position(|(changed, _)| *changed == name) {
            None => write(key.raw(), value.raw()),
            Some(place) if std::mem::replace(&mut done[place], true) => {}
            Some(place) => {
                if let Some(value) = &changes[place].1 {
                    write(key.raw(), value);
                }
            }
        }
    }
    for ((key, value), done) in changes.iter().zip(done) {
        if let (Some(value), false) = (value, done) {
            write(key, value);
        }
    }
    json.push_str(if json.is_empty() { "{}" } else { "}" });
    Cow::Owned(json)
}

/// An array whose elements are these, if one of them isn't as it came.
pub(in crate::wire) fn array_of(elements: &[Cow<'_, str>]) -> Option<String> {
    let is_changed = elements.iter().any(|element| matches!(element, Cow::Owned(_)));
    is_changed.then(|| format!("[{}]", elements.join(",")))
}

/// A member that is an object, with these changes.
pub(in crate::wire) fn of_changed<'k>(
    key: &'k str,
    object: Value<'_>,
    changes: impl IntoIterator<Item = Option<Change<'k>>>,
) -> Option<Change<'k>> {
    match changed(object, changes) {
        Cow::Owned(json) => Some((key, Some(json))),
        Cow::Borrowed(_) => None,
    }
}

/// The identifier by which a call is answered, in the place of what came for one.
pub(in crate::wire) fn of_id<'k>(key: &'k str, came: Option<Value<'_>>, id: &str) -> Option<Change<'k>> {
    (!came.is_some_and(|came| came.is(id))).then(|| (key, Some(quoted(id))))
}

/// The same, where one that was made up isn't sent.
pub(in crate::wire) fn of_given_id<'k>(key: &'k str, came: Option<Value<'_>>, id: &str) -> Option<Change<'k>> {
    match given(&CallId::from(id)) {
        Some(id) => of_id(key, came, id),
        None => came.map(|_| (key, None)),
    }
}

/// A name that the provider takes back, whatever the model called.
pub(in crate::wire) fn of_name<'k>(key: &'k str, came: Option<Value<'_>>, rule: Rule) -> Option<Change<'k>> {
    let name = came.and_then(Value::text).unwrap_or_default();
    let spelt = rule.spell(&name);
    (!came.is_some_and(|came| came.is(&spelt))).then(|| (key, Some(quoted(&spelt))))
}

/// Arguments as text that is an object, or blank; else an empty one. What the model wrote instead is told in the result.
pub(in crate::wire) fn text_arguments(text: &str) -> Cow<'_, str> {
    match Value::parse(text) {
        Ok(value) if value.is_object() => mended(text),
        _ if text.trim().is_empty() => text.into(),
        _ => "{}".into(),
    }
}

/// [`text_arguments`] of a member. A server that has sent an object takes it back.
pub(in crate::wire) fn of_text_arguments<'k>(key: &'k str, came: Option<Value<'_>>) -> Option<Change<'k>> {
    let sent = match came {
        Some(came) if came.is_object() => return None,
        Some(came) if came.escaped().is_some() => {
            let text = came.text().unwrap_or_default();
            match text_arguments(&text) {
                Cow::Borrowed(same) if same == text => return None,
                other => other.into_owned(),
            }
        }
        _ => "{}".to_owned(),
    };
    Some((key, Some(quoted(&sent))))
}

/// Arguments as an object: that which came, or that which the text that came is; else an empty one.
pub(in crate::wire) fn of_object_arguments<'k>(key: &'k str, came: Option<Value<'_>>) -> Option<Change<'k>> {
    if came.is_some_and(Value::is_object) {
        return None;
    }
    let text = came.and_then(Value::text).unwrap_or_default();
    let object = Value::parse(&text).ok().filter(|value| value.is_object());
    Some((key, Some(object.map_or("{}", Value::raw).to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_changed_where_they_stand() {
        let object = Value::parse(r#"{ "a":1,"\u0062":2, "b":3 }"#).unwrap();
        let put = |key, value: &str| Some((key, Some(value.to_owned())));
        assert_eq!(changed(object, []), r#"{ "a":1,"\u0062":2, "b":3 }"#);
        assert_eq!(changed(object, [put("b", "4"), put("c", "5")]), r#"{"a":1,"\u0062":4,"c":5}"#);
        assert_eq!(changed(object, [Some(("a", None)), Some(("b", None))]), "{}");
        assert_eq!(changed(Value::parse("{}").unwrap(), [put("a", "1")]), r#"{"a":1}"#);
        assert_eq!(of_changed("o", object, [None]), None);
        assert_eq!(of_changed("o", Value::parse("{}").unwrap(), [put("a", "1")]), put("o", r#"{"a":1}"#));
    }

    #[test]
    fn arguments_are_objects_whatever_came() {
        for (came, text, object) in [
            (None, Some("\"{}\""), Some("{}")),
            (Some("{\"a\":1}"), None, None),
            (Some(r#""{\"a\":1}""#), None, Some(r#"{"a":1}"#)),
            (Some("\"\""), None, Some("{}")),
            (Some(r#""{\"a\":""#), Some("\"{}\""), Some("{}")),
            (Some("\"null\""), Some("\"{}\""), Some("{}")),
            (Some("7"), Some("\"{}\""), Some("{}")),
            (Some("[{}]"), Some("\"{}\""), Some("{}")),
            (Some(r#""{\"a\":\"\\ud800\"}""#), Some(r#""{\"a\":\"\\ufffd\"}""#), Some(r#"{"a":"\ud800"}"#)),
        ] {
            let value = came.map(|came| Value::parse(came).unwrap());
            let put = |sent: Option<&str>| sent.map(|sent| ("key", Some(sent.to_owned())));
            assert_eq!(of_text_arguments("key", value), put(text), "{came:?}");
            assert_eq!(of_object_arguments("key", value), put(object), "{came:?}");
        }
    }
}
