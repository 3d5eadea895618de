use crate::schema::json::{Json, canonical_number};
use crate::schema::{JsonPath, Segment, ToolSchema, percent_decode};

/// What a slot's value looks like, which says how a text is read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Yes or no.
    Boolean,
    /// One of these values, each as canonical JSON text.
    Choice(Vec<String>),
    /// A string that is a day, such as `2024-05-20`.
    Date,
    /// Anything else. Found only as it is.
    Any,
    /// Whatever somebody said in a whole turn, as it stands. No argument has this shape: it is what the user wants that
    /// is said in so many words.
    Words,
}

/// How many references and branches are followed to learn a shape. More than any schema needs that isn't built to
/// have no end.
const MOST_STEPS: usize = 512;

impl Shape {
    /// The shape of the argument at a JSON Pointer (RFC 6901), such as `/flights/0/date`, by the parameters of a tool.
    /// [`Shape::Any`] where the schema says nothing, or says several things.
    pub fn of_argument(schema: &ToolSchema, pointer: &str) -> Self {
        JsonPath::from_pointer(pointer).map_or(Shape::Any, |path| Self::at(schema.parameters_json(), &path))
    }

    /// The same by the text of a JSON Schema. `None` if it is no JSON.
    ///
    /// ```
    /// use tool_runtime::Shape;
    ///
    /// let schema = r#"{"properties":{"days":{"items":{"type":"string","format":"date"}}}}"#;
    /// assert_eq!(Shape::of_schema(schema, "/days/3"), Some(Shape::Date));
    /// ```
    pub fn of_schema(schema: &str, pointer: &str) -> Option<Self> {
        Some(Self::at(&Json::parse(schema).ok()?, &JsonPath::from_pointer(pointer)?))
    }

    /// A value of this shape that somebody wrote without the signs of JSON, as canonical JSON text. `None` if it has none
    /// such.
    pub(crate) fn value_of(&self, written: &str) -> Option<String> {
        let text = Json::string(written).to_string();
        let number = || {
            let read = Json::parse(written).ok()?;
            Some(canonical_number(read.as_number()?)?.into_owned())
        };
        match self {
            Shape::Text | Shape::Date => Some(text),
            Shape::Integer => number().filter(|number| !number.contains(['.', 'e'])),
            Shape::Number => number(),
            Shape::Boolean => matches!(written, "true" | "false").then(|| written.to_owned()),
            Shape::Choice(members) => members.iter().find(|member| **member == text || **member == written).cloned(),
            // What may be of several types is meant as it is written, if that is JSON.
            Shape::Any => Some(Json::parse(written).map_or(text, |value| value.to_string())),
            Shape::Words => None,
        }
    }

    pub(crate) fn at(root: &Json, path: &JsonPath) -> Self {
        let mut budget = MOST_STEPS;
        let mut shapes = Vec::new();
        gather(root, root, path.segments(), &mut budget, &mut shapes);
        if budget == 0 {
            return Shape::Any;
        }
        let mut shapes = shapes.into_iter();
        let Some(first) = shapes.next() else { return Shape::Any };
        shapes.fold(first, |all, one| match (all, one) {
            (Shape::Choice(mut all), Shape::Choice(more)) => {
                all.extend(more.into_iter().filter(|member| !all.contains(member)).collect::<Vec<_>>());
                Shape::Choice(all)
            }
            (Shape::Integer | Shape::Number, Shape::Integer | Shape::Number) => Shape::Number,
            (all, one) if all == one => all,
            _ => Shape::Any,
        })
    }
}

/// The shapes that each branch of a schema gives to the value at a path.
fn gather(root: &Json, schema: &Json, path: &[Segment], budget: &mut usize, shapes: &mut Vec<Shape>) {
    let Some(left) = budget.checked_sub(1) else { return };
    *budget = left;
    let branches = ["anyOf", "oneOf", "allOf"].iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
    for branch in branches.chain(target(root, schema)) {
        gather(root, branch, path, budget, shapes);
    }
    let Some((step, rest)) = path.split_first() else {
        shapes.extend(plain(schema));
        return;
    };
    let key = match step {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    };
    let prefix = || match step {
        Segment::Index(index) => schema.get("prefixItems")?.as_array()?.get(*index),
        Segment::Key(_) => None,
    };
    let items = || schema.get("items").filter(|_| matches!(step, Segment::Index(_)));
    let member = || schema.get("properties")?.get(&key);
    if let Some(inner) = member().or_else(prefix).or_else(items).or_else(|| schema.get("additionalProperties")) {
        gather(root, inner, rest, budget, shapes);
    }
}

fn target<'a>(root: &'a Json, schema: &Json) -> Option<&'a Json> {
    let reference = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(&percent_decode(reference))
}

fn plain(schema: &Json) -> Option<Shape> {
    if let Some(constant) = schema.get("const") {
        return Some(Shape::Choice(vec![constant.canonical()]));
    }
    if let Some(members) = schema.get("enum").and_then(Json::as_array) {
        // `null` stands for absence, and what is absent is no slot.
        let members = members.iter().filter(|member| **member != Json::Null);
        return Some(Shape::Choice(members.map(Json::canonical).collect()));
    }
    let types: Vec<&str> = match schema.get("type")? {
        Json::String(name) => vec![name],
        Json::Array(names) => names.iter().filter_map(Json::as_str).filter(|name| *name != "null").collect(),
        _ => return None,
    };
    match types[..] {
        ["string"] if schema.get("format").and_then(Json::as_str) == Some("date") => Some(Shape::Date),
        ["string"] => Some(Shape::Text),
        ["integer"] => Some(Shape::Integer),
        ["number"] | ["integer", "number"] | ["number", "integer"] => Some(Shape::Number),
        ["boolean"] => Some(Shape::Boolean),
        ["null"] | [] => None,
        _ => Some(Shape::Any),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(schema: &str, pointer: &str) -> Shape {
        Shape::of_schema(schema, pointer).unwrap()
    }

    #[test]
    fn a_shape_is_read_from_the_schema_at_any_depth() {
        let schema = r##"{"type":"object","properties":{
            "to":{"type":"string"},"n":{"type":["integer","null"]},"when":{"type":"string","format":"date"},
            "cabin":{"anyOf":[{"const":"economy","description":"x"},{"enum":["business",null]},{"type":"null"}]},
            "map":{"type":"object","additionalProperties":{"type":"number"}},
            "pair":{"prefixItems":[{"type":"boolean"}],"items":{"$ref":"#/$defs/A%2fB"}},
            "mixed":{"anyOf":[{"type":"string"},{"type":"integer"}]},
            "list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}},
            "$defs":{"A/B":{"type":"string"}}}"##
            .replace("A%2fB", "A~1B");
        assert_eq!(shape(&schema, "/to"), Shape::Text);
        assert_eq!(shape(&schema, "/n"), Shape::Integer);
        assert_eq!(shape(&schema, "/when"), Shape::Date);
        assert_eq!(shape(&schema, "/cabin"), Shape::Choice(vec!["\"economy\"".into(), "\"business\"".into()]));
        assert_eq!(shape(&schema, "/map/anything"), Shape::Number);
        assert_eq!(shape(&schema, "/map/1"), Shape::Number);
        assert_eq!(shape(&schema, "/pair/0"), Shape::Boolean);
        assert_eq!(shape(&schema, "/pair/1"), Shape::Text);
        assert_eq!(shape(&schema, "/mixed"), Shape::Any);
        assert_eq!(shape(&schema, "/list/12/x"), Shape::Integer);
        assert_eq!(shape(&schema, "/nowhere/x"), Shape::Any);
        assert_eq!(Shape::of_schema("{", ""), None);
    }

    #[test]
    fn a_schema_without_an_end_has_one() {
        let schema = r##"{"$ref":"#","anyOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"a":{"$ref":"#"}}}"##;
        assert_eq!(shape(schema, "/a/a/a"), Shape::Any);
    }
}
