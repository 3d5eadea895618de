//! The provider's lines that stand in a tool's schema, under the keyword `x-tool-checklist`.

use super::file::{Line, Whose};
use super::origin::ListKind;
use crate::document::{Node, Reader, Sited, Table, Value};
use crate::gate::written_argument;
use crate::schema::json::Json;
use crate::schema::{JsonPath, Segment, Step};
use crate::tool::HostTool;

/// The lines of a tool's schema. One that can't be read says why.
///
/// A list at the root holds lines as a file does, without `tool`; a list at an argument holds lines about that argument.
pub(super) fn lines_of(tool: &HostTool) -> Vec<Result<Line, String>> {
    let whose = Whose { list: ListKind::Provider, origin: "schema".to_owned() };
    let mut lines = Vec::new();
    for (pointer, list) in tool.built().checklist() {
        let Json::Array(list) = list else {
            lines.push(Err("`x-tool-checklist` has to be a list".to_owned()));
            continue;
        };
        for (position, line) in list.iter().enumerate() {
            let Node { value: Value::Table(table), .. } = node(line) else {
                lines.push(Err("`x-tool-checklist` has to be a list of objects".to_owned()));
                continue;
            };
            let table = about(table, pointer);
            let mut reader = Reader { entry: Some(position), ..Reader::default() };
            let mut line = reader.line(&table, None, position, &whose);
            // Whoever wrote the schema speaks for nobody else, and for no other tool.
            line.list = ListKind::Provider;
            (line.tools, line.changes) = (Vec::new(), Vec::new());
            lines.push(match reader.faults.into_iter().next() {
                Some(fault) => Err(fault.what),
                None => Ok(line),
            });
        }
    }
    lines
}

/// A line at an argument is about it, unless it is a condition.
fn about(mut table: Table, pointer: &str) -> Table {
    let is_condition = table
        .0
        .iter()
        .any(|(key, _)| matches!(&*key.value, "holds" | "prohibits" | "approve_if" | "check" | "at_most" | "argument"));
    if let (false, false, Some(path)) = (pointer.is_empty(), is_condition, JsonPath::from_pointer(pointer)) {
        let step = |segment: &Segment| match segment {
            Segment::Key(key) => Step::Member(key.clone()),
            Segment::Index(index) => Step::Member(index.to_string()),
        };
        let steps: Vec<Step> = path.segments().iter().map(step).collect();
        let argument = Node { at: 0, value: Value::Text(written_argument(&steps)) };
        table.0.push((Sited::nowhere("argument".to_owned()), argument));
    }
    table
}

fn node(json: &Json) -> Node {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => Value::Number(number.clone()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(list) => Value::List(list.iter().map(node).collect()),
        Json::Object(members) => {
            let member = |(name, value): &(String, Json)| (Sited::nowhere(name.clone()), node(value));
            Value::Table(Table(members.iter().map(member).collect()))
        }
    };
    Node { at: 0, value }
}
