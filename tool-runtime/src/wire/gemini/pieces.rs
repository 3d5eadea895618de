use std::collections::{BTreeMap, HashMap, HashSet};

use crate::schema::json::write_string;
use crate::wire::common::{Fail, Gathered, Kept, Value};

/// Arguments that come in pieces: each a path (RFC 9535) to one value, and that value or a part of its text.
///
/// Values refer to each other by position, so that no depth needs the stack; elements of arrays are kept by their index,
/// so that one far behind all others takes no more room than one beside them.
#[derive(Clone)]
pub(super) struct Pieces {
    /// The first is the arguments themselves.
    values: Vec<Known>,
    /// Members by the object that they are in.
    members: HashMap<(usize, String), usize>,
    /// Of what more was announced.
    open: HashSet<usize>,
}

/// What is known of a value.
#[derive(Clone)]
enum Known {
    Nothing,
    Object(Vec<(String, usize)>),
    Array(BTreeMap<usize, usize>),
    /// What stands between its quotes, as it came: halves of a character find each other.
    Text(String),
    /// Any JSON, as it came.
    Whole(String),
}

/// A step of a path.
enum Step {
    Key(String),
    Index(usize),
}

impl Pieces {
    /// Without any.
    pub(super) fn new() -> Self {
        Pieces { values: vec![Known::Nothing], members: HashMap::new(), open: HashSet::new() }
    }

    /// Members that came whole, before all pieces.
    ///
    /// # Errors
    /// If something is known already.
    pub(super) fn begin_with(&mut self, args: Value<'_>, kept: &mut Kept) -> Result<(), Fail> {
        if args.is_object() && args.entries().next().is_none() {
            return Ok(());
        }
        if !matches!(self.values[..], [Known::Nothing]) || !args.is_object() {
            return Err(Fail::form("has arguments both whole and in pieces"));
        }
        for (key, value) in args.entries() {
            let at = self.member(0, Gathered::of_escaped(key.raw()).whole().ok_or_else(no_path)?, kept)?;
            self.set(at, Known::Whole(value.raw().to_owned()))?;
        }
        Ok(())
    }

    /// # Errors
    /// If its path isn't one to a single value, or leads into a value that has no parts, or if it gives a value a
    /// second time.
    pub(super) fn put(&mut self, piece: Value<'_>, kept: &mut Kept) -> Result<(), Fail> {
        let [path, text, number, flag, more] =
            piece.members(["jsonPath", "stringValue", "numberValue", "boolValue", "willContinue"])?;
        // Where it is the value, `null` may be written as itself.
        let null =
            piece.entries().any(|(key, value)| key.is("nullValue") && (value.is("NULL_VALUE") || value.is_null()));
        let path = path.and_then(Value::escaped).map(Gathered::of_escaped).and_then(Gathered::whole);
        let steps = path.as_deref().and_then(steps).ok_or_else(no_path)?;
        let mut at = 0;
        for step in steps {
            at = match step {
                Step::Key(key) => self.member(at, key, kept)?,
                Step::Index(index) => self.element(at, index, kept)?,
            };
        }
        let plain = number.filter(|number| number.is_number()).or(flag.filter(|flag| flag.is_bool()));
        let text = text.map(|text| text.escaped().ok_or_else(|| Fail::form("has a text that is none"))).transpose()?;
        match (text, plain, null) {
            (Some(text), None, false) => match &mut self.values[at] {
                Known::Text(known) => known.push_str(text),
                _ => self.set(at, Known::Text(text.to_owned()))?,
            },
            (None, Some(plain), false) => self.set(at, Known::Whole(plain.raw().to_owned()))?,
            (None, None, true) => self.set(at, Known::Whole("null".to_owned()))?,
            // It may say no more than that there is more to come, or that there is not.
            (None, None, false) if number.or(flag).is_none() => {}
            _ => return Err(Fail::form("has a piece that isn't one value")),
        }
        if more.is_some_and(Value::is_true) {
            self.open.insert(at);
        } else {
            self.open.remove(&at);
        }
        Ok(())
    }

    fn set(&mut self, at: usize, value: Known) -> Result<(), Fail> {
        match &mut self.values[at] {
            known @ Known::Nothing => *known = value,
            _ => return Err(Fail::form("has a value that comes twice")),
        }
        Ok(())
    }

    fn member(&mut self, of: usize, key: String, kept: &mut Kept) -> Result<usize, Fail> {
        let key = (of, key);
        if let Some(&at) = self.members.get(&key) {
            return Ok(at);
        }
        kept.add(128 + 2 * key.1.len())?;
        let next = self.values.len();
        match &mut self.values[of] {
            Known::Object(members) => members.push((key.1.clone(), next)),
            known @ Known::Nothing => *known = Known::Object(vec![(key.1.clone(), next)]),
            _ => return Err(no_parts()),
        }
        self.members.insert(key, next);
        self.values.push(Known::Nothing);
        Ok(next)
    }

    fn element(&mut self, of: usize, index: usize, kept: &mut Kept) -> Result<usize, Fail> {
        if let Known::Array(elements) = &self.values[of]
            && let Some(&at) = elements.get(&index)
        {
            return Ok(at);
        }
        kept.add(128)?;
        let next = self.values.len();
        match &mut self.values[of] {
            Known::Array(elements) => {
                elements.insert(index, next);
            }
            known @ Known::Nothing => *known = Known::Array(BTreeMap::from([(index, next)])),
            _ => return Err(no_parts()),
        }
        self.values.push(Known::Nothing);
        Ok(next)
    }

    /// Is everything there that was announced?
    pub(super) fn are_whole(&self) -> bool {
        let is_whole = |(at, known): (usize, &Known)| match known {
            Known::Nothing => at == 0,
            Known::Array(elements) => elements.last_key_value().is_none_or(|(last, _)| last + 1 == elements.len()),
            _ => true,
        };
        self.open.is_empty() && self.values.iter().enumerate().all(is_whole)
    }

    /// As far as they are known. Surrogates that stayed alone are in it as they came.
    pub(super) fn to_json(&self) -> String {
        enum Task<'a> {
            Value(usize),
            Key(&'a str),
            Sign(&'static str),
        }
        let mut json = String::new();
        let mut tasks = vec![Task::Value(0)];
        while let Some(task) = tasks.pop() {
            let at = match task {
                Task::Sign(sign) => {
                    json.push_str(sign);
                    continue;
                }
                Task::Key(key) => {
                    write_string(&mut json, key);
                    json.push(':');
                    continue;
                }
                Task::Value(at) => at,
            };
            // What is pushed last is written first.
            match &self.values[at] {
                Known::Nothing => json.push_str(if at == 0 { "{}" } else { "null" }),
                Known::Whole(value) => json.push_str(value),
                Known::Text(text) => json.extend(["\"", text, "\""]),
                Known::Object(members) => {
                    tasks.push(Task::Sign("}"));
                    for (index, (key, value)) in members.iter().enumerate().rev() {
                        tasks.extend([
                            Task::Value(*value),
                            Task::Key(key),
                            Task::Sign(if index > 0 { "," } else { "{" }),
                        ]);
                    }
                }
                Known::Array(elements) => {
                    tasks.push(Task::Sign("]"));
                    for (index, value) in elements.values().enumerate().rev() {
                        tasks.extend([Task::Value(*value), Task::Sign(if index > 0 { "," } else { "[" })]);
                    }
                }
            }
        }
        json
    }
}

fn no_path() -> Fail {
    Fail::form("has a piece without a path to one value")
}

fn no_parts() -> Fail {
    Fail::form("has a piece of a value that has no such parts")
}

/// The steps of a path that leads to one value and no more: names and positions. Names by themselves may hold any
/// character that doesn't end them, since there are servers that quote none.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            if name.is_empty() || name == "*" {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = after;
            continue;
        }
        let inner = rest.strip_prefix('[')?.trim_start_matches(SPACE);
        let after = match inner.chars().next()? {
            quote @ ('\'' | '"') => {
                let (name, after) = quoted(&inner[1..], quote)?;
                steps.push(Step::Key(name));
                after
            }
            _ => {
                let end = inner.find(|c: char| !c.is_ascii_digit())?;
                let (digits, after) = inner.split_at(end);
                // As there is one way to write it, there is one element that it means.
                let plain = digits == "0" || !digits.starts_with('0');
                steps.push(Step::Index(digits.parse().ok().filter(|_| plain)?));
                after
            }
        };
        rest = after.trim_start_matches(SPACE).strip_prefix(']')?;
    }
    Some(steps)
}

/// What may stand around a name or a position.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A name up to its closing quote, and what follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    // As a string of JSON, whose escapes are the same but for the single quote's.
    let mut json = String::from("\"");
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next()?.1 {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            _ if letter == quote => {
                json.push('"');
                let name = Value::parse(&json).ok()?.escaped().map(Gathered::of_escaped)?.whole()?;
                return Some((name, &text[at + 1..]));
            }
            '"' => json.push_str("\\\""),
            letter => json.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> Option<String> {
        let step = |step: &Step| match step {
            Step::Key(key) => format!("{key:?}"),
            Step::Index(index) => index.to_string(),
        };
        steps(path).map(|steps| steps.iter().map(step).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn paths_lead_to_one_value() {
        for (path, steps) in [
            ("$", ""),
            ("$.a", r#""a""#),
            ("$.a.b[0].c", r#""a" "b" 0 "c""#),
            ("$['a']", r#""a""#),
            (r#"$["a.b[0]"][12]"#, r#""a.b[0]" 12"#),
            (r#"$['it\'s "x" \\ \u0041 \n']"#, r#""it's \"x\" \\ A \n""#),
            (r#"$["it's \"x\""]"#, r#""it's \"x\"""#),
            (r#"$['\ud83c\udf78']"#, "\"\u{1f378}\""),
            ("$[ 'a' ][ 3 ]", r#""a" 3"#),
            ("$.größe.a-b", r#""größe" "a-b""#),
            ("$['']", r#""""#),
        ] {
            assert_eq!(shown(path).as_deref(), Some(steps), "{path}");
        }
        for path in [
            "",
            "a",
            ".a",
            "$a",
            "$.",
            "$..a",
            "$.*",
            "$[*]",
            "$[-1]",
            "$[01]",
            "$[]",
            "$[0",
            "$['a'",
            "$['a",
            "$[0:1]",
            "$[?@.a]",
            "$['a','b']",
            "$['a']b",
            "$[99999999999999999999999]",
            r"$['\x41']",
            r"$['\ud800']",
            "$['a\\",
        ] {
            assert_eq!(shown(path), None, "{path}");
        }
    }
}
