//! JSON, by the crate's own reader: what a file says depends on nobody's features.

use super::{Fault, Node, Sited, Table, Value};
use crate::schema::MAX_DEPTH;
use crate::schema::json::{Cursor, Fault as NotJson, SyntaxError, Token};

pub(super) fn parse(text: &str) -> Result<Table, Vec<Fault>> {
    let fault = |at, what: String| vec![Fault { entry: None, at: Some(at), what }];
    let mut cursor = Cursor::new(text);
    let read = node(&mut cursor, MAX_DEPTH).and_then(|node| cursor.finish().map(|()| node));
    match read {
        Ok(Node { value: Value::Table(table), .. }) => Ok(table),
        Ok(Node { at, value }) => Err(fault(at, format!("the file has to hold an object, and holds {}", value.a()))),
        Err(NotJson) => {
            let SyntaxError { what, offset } = cursor.error();
            Err(fault(offset, format!("not valid JSON: {what}")))
        }
    }
}

fn node(cursor: &mut Cursor<'_>, depth: usize) -> Result<Node, NotJson> {
    cursor.skip_space();
    let at = cursor.offset();
    let token = cursor.token()?;
    if depth == 0 && matches!(token, Token::ArrayStart | Token::ObjectStart) {
        return cursor.fail("nested too deeply");
    }
    let value = match token {
        Token::Null => Value::Null,
        Token::Bool(value) => Value::Boolean(value),
        Token::Number(text) => Value::Number(text.to_owned()),
        Token::String { raw, escaped } => Value::Text(Token::unescape(raw, escaped).into_owned()),
        Token::ArrayStart => {
            let mut elements = Vec::new();
            let mut more = cursor.first_element()?;
            while more {
                elements.push(node(cursor, depth - 1)?);
                more = cursor.next_element()?;
            }
            Value::List(elements)
        }
        Token::ObjectStart => {
            let mut members: Vec<(Sited<String>, Node)> = Vec::new();
            let mut next = cursor.first_key()?;
            while let Some(key) = next {
                let name = Sited { value: key.name().into_owned(), at: Some(key.start) };
                if members.iter().any(|(earlier, _)| earlier.value == name.value) {
                    return cursor.fail("a member that is given twice");
                }
                members.push((name, node(cursor, depth - 1)?));
                next = cursor.next_key()?;
            }
            Value::Table(Table(members))
        }
    };
    Ok(Node { at, value })
}
