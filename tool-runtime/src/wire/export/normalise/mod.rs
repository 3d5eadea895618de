//! A tool's full schema → what a provider takes. One engine; [`Dialect`] has all that differs.
//!
//! What is made is never narrower than the schema, apart from objects that a strict form closes:
//! every value that is accepted has a form that fits it. Data (`default`, `enum`, `const`, `examples`) and
//! names of properties are never read as schemas, since only the value of a keyword that holds a
//! schema is walked.

mod arrays;
mod descriptions;
mod disjoint;
mod extra;
mod keywords;
mod nulls;
mod objects;
mod plain;
mod references;
mod root;
mod size;
mod unions;

use self::descriptions::place_description;
use self::keywords::{is_annotation, is_silent};
use self::references::{Definition, Gathered, references};
use self::size::Size;
use super::dialect::{Dialect, References};
use super::{Loss, Reason, Refusal};
use crate::schema::json::Json;

/// How many schemas an export may hold before references and parts are cut, so that a few
/// references that double each other don't fill the memory.
const MAX_NODES: usize = 4_000;

/// How deeply schemas may nest before they are cut.
const MAX_NESTED: usize = 64;

/// How often a schema that was made is made again at most. One more time is nearly always enough.
const ROUNDS: usize = 6;

/// How often a reference is followed into itself before it is cut.
const LEVELS: usize = 2;

/// A schema in a provider's form.
#[derive(Debug)]
pub(crate) struct Normalised {
    pub(crate) schema: Json,
    pub(crate) losses: Vec<Loss>,
    /// Objects that were closed, though nothing said that they are.
    pub(crate) closed: Vec<String>,
    /// Properties that may be left out, and those with several types.
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// # Errors
/// If the dialect has no form for it: of forms that aren't strict, only for a root that is no object.
pub(crate) fn normalise(schema: &Json, dialect: &Dialect) -> Result<Normalised, Refusal> {
    let mut made = once(schema, dialect)?;
    // What was made of parts may have parts that go together, so until nothing changes.
    for _ in 0..ROUNDS {
        let again = once(&made.schema, dialect)?;
        let same = again.schema == made.schema;
        made.schema = again.schema;
        if same {
            break;
        }
    }
    Ok(made)
}

fn once(schema: &Json, dialect: &Dialect) -> Result<Normalised, Refusal> {
    let mut engine = Engine {
        document: schema,
        dialect,
        losses: Vec::new(),
        closed: Vec::new(),
        definitions: Vec::new(),
        open: Vec::new(),
        nodes: 0,
        depth: 0,
    };
    let mut root = engine.root(schema)?;
    let definitions = std::mem::take(&mut engine.definitions);
    let mut used = Vec::new();
    references(&root, &definitions, &mut used);
    let definitions = definitions.into_iter().enumerate().filter(|(index, _)| used.contains(index));
    let definitions: Vec<_> = definitions.map(|(_, definition)| (definition.name, definition.schema)).collect();
    if !definitions.is_empty() {
        root.set("$defs", Json::Object(definitions));
    }
    let size = Size::of(&root, dialect)?;
    let Engine { mut losses, closed, .. } = engine;
    losses.sort();
    losses.dedup();
    Ok(Normalised { schema: root, losses, closed, optional: size.optional, unions: size.unions })
}

struct Engine<'a> {
    document: &'a Json,
    dialect: &'a Dialect,
    losses: Vec<Loss>,
    closed: Vec<String>,
    definitions: Vec<Definition>,
    /// The targets of references whose content is being made.
    open: Vec<String>,
    nodes: usize,
    depth: usize,
}

/// One form of a union.
type Made = Result<Json, Refusal>;

impl Engine<'_> {
    fn strict(&self) -> bool {
        self.dialect.strict
    }

    fn refuse<T>(&self, pointer: &str, reason: Reason) -> Result<T, Refusal> {
        Err(Refusal { pointer: pointer.to_owned(), reason })
    }

    fn lose(&mut self, pointer: &str, keyword: &str) {
        self.losses.push(Loss { pointer: step(pointer, keyword), keyword: keyword.to_owned() });
    }

    /// A schema anywhere below the root.
    fn node(&mut self, schema: &Json, pointer: &str) -> Made {
        self.nodes += 1;
        if self.depth > MAX_NESTED || self.nodes > 16 * MAX_NODES {
            return self.cut(pointer, pointer);
        }
        self.depth += 1;
        let made = self.any_node(schema, pointer);
        self.depth -= 1;
        made.map(|mut made| {
            place_description(&mut made);
            made
        })
    }

    fn any_node(&mut self, schema: &Json, pointer: &str) -> Made {
        let Json::Object(members) = schema else {
            if *schema == Json::Bool(false) {
                self.lose(pointer, "false");
            }
            return self.anything(empty(), &[], pointer);
        };
        let alone =
            schema.get("$ref").is_some() && members.iter().all(|(keyword, _)| keyword == "$ref" || is_silent(keyword));
        if alone
            && self.dialect.references != References::Inlined
            && let Some((target, _)) = schema.get("$ref").and_then(|reference| self.resolve(reference))
        {
            if self.dialect.references == References::Finite && self.open.contains(&target) {
                return self.refuse(pointer, Reason::Recursive);
            }
            return self.kept(&target);
        }
        match self.gather(schema, pointer, 0)? {
            Gathered::Recursive(target) if self.dialect.references == References::Inlined => self.cut(&target, pointer),
            Gathered::Recursive(target) => self.kept(&target),
            Gathered::Merged(merged, targets) => {
                let plain = members.iter().all(|(keyword, _)| keyword == "$ref" || is_annotation(keyword));
                let place = if plain { targets.first().map_or(pointer, String::as_str) } else { pointer }.to_owned();
                let count = targets.len();
                self.open.extend(targets);
                let made = self.merged(merged, &place);
                self.open.truncate(self.open.len() - count);
                made
            }
        }
    }
}

fn empty() -> Json {
    Json::Object(Vec::new())
}

fn step(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

fn push_new(all: &mut Vec<Json>, one: Json) {
    if !all.contains(&one) {
        all.push(one);
    }
}
