//! TOML, by the `toml` crate.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::{Fault, Node, Sited, Table, Value};
use crate::schema::text;

pub(super) fn parse(text: &str) -> Result<Table, Vec<Fault>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table(document.get_ref()));
    }
    let fault = |error: ::toml::de::Error| Fault {
        entry: None,
        at: Some(error.span().map_or(0, |span| span.start)),
        what: format!("not valid TOML: {}", text::visible(error.message(), 200)),
    };
    Err(errors.into_iter().map(fault).collect())
}

fn table(table: &DeTable<'_>) -> Table {
    let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<std::borrow::Cow<'_, str>> = key;
        (Sited { value: key.get_ref().clone().into_owned(), at: Some(key.span().start) }, node(value))
    };
    let mut members: Vec<_> = table.iter().map(member).collect();
    members.sort_by_key(|(key, _)| key.at);
    Table(members)
}

fn node(spanned: &Spanned<DeValue<'_>>) -> Node {
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        // JSON writes numbers without a plus.
        DeValue::Integer(integer) if integer.radix() == 10 => Value::Number(without_plus(integer.as_str())),
        DeValue::Integer(integer) => Value::Radix(integer.as_str().to_owned(), integer.radix()),
        DeValue::Float(float) => Value::Number(without_plus(float.as_str())),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(list) => Value::List(list.iter().map(node).collect()),
        DeValue::Table(inner) => Value::Table(table(inner)),
    };
    Node { at: spanned.span().start, value }
}

fn without_plus(literal: &str) -> String {
    literal.strip_prefix('+').unwrap_or(literal).to_owned()
}
