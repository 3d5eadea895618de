//! A tool's full schema → what a provider takes. One engine; [`Dialect`] has all that differs.
//!
//! What is made is never narrower than the schema, apart from objects that a strict form closes:
//! every value that is accepted has a form that fits it. Data (`default`, `enum`, `const`, `examples`) and
//! names of properties are never read as schemas, since only the value of a keyword that holds a
//! schema is walked.

use super::dialect::{Dialect, Enums, Further, Nulls, References};
use super::merge::{Lost, merge, names};
use super::names::Rule;
use super::{Loss, Reason, Refusal, words};
use crate::schema::json::Json;
use crate::schema::percent_decode;

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

impl Normalised {
    /// Adds a property that the schema doesn't have, and that has to be given.
    ///
    /// # Errors
    /// If the schema is too large then.
    pub(crate) fn require(&mut self, name: &str, schema: Json, dialect: &Dialect) -> Result<(), Refusal> {
        let only = |keyword: &str, value: Json| (keyword.to_owned(), value);
        let property = Json::Object(vec![
            only("type", Json::string("object")),
            only("properties", Json::Object(vec![only(name, schema)])),
            only("required", Json::Array(vec![Json::string(name)])),
            only("additionalProperties", Json::Bool(false)),
        ]);
        let made = normalise(&property, dialect)?.schema;
        let Json::Object(root) = &mut self.schema else { return Ok(()) };
        let has = |keyword: &str, root: &[(String, Json)]| root.iter().any(|(known, _)| known == keyword);
        if !has("required", root) {
            // Where it stands in what is made.
            let at = root.iter().position(|(keyword, _)| keyword == "properties").map_or(root.len(), |at| at + 1);
            root.insert(at, only("required", Json::Array(Vec::new())));
        }
        if dialect.ordering
            && !has("propertyOrdering", root)
            && let Some(at) = root.iter().position(|(keyword, _)| keyword == "properties")
        {
            let known = root[at].1.as_object().unwrap_or_default();
            let order: Vec<Json> = known.iter().map(|(name, _)| Json::string(name)).collect();
            if !order.is_empty() {
                root.insert(at, only("propertyOrdering", Json::Array(order)));
            }
        }
        for (keyword, value) in root {
            match (keyword.as_str(), value) {
                ("properties", Json::Object(properties)) => {
                    let inner = made.pointer("/properties").and_then(|all| all.get(name)).cloned();
                    properties.extend(inner.map(|inner| only(name, inner)));
                }
                ("required" | "propertyOrdering", Json::Array(names)) => names.push(Json::string(name)),
                ("minProperties" | "maxProperties", value @ Json::Number(_)) => {
                    let one_more =
                        value.as_number().and_then(|count| count.parse::<i128>().ok()).map(|count| count + 1);
                    *value = one_more.map_or_else(|| value.clone(), Json::integer);
                }
                _ => {}
            }
        }
        let size = Size::of(&self.schema, dialect)?;
        (self.optional, self.unions) = (size.optional, size.unions);
        Ok(())
    }
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

/// What a reference that is kept refers to.
struct Definition {
    target: String,
    name: String,
    schema: Json,
}

/// Which definitions a schema refers to: some are only in words.
fn references(schema: &Json, definitions: &[Definition], used: &mut Vec<usize>) {
    match schema {
        Json::Object(members) => {
            for (keyword, value) in members {
                let name = value.as_str().filter(|_| keyword == "$ref").and_then(|text| text.strip_prefix("#/$defs/"));
                let found = name.and_then(|name| definitions.iter().position(|definition| definition.name == name));
                if let Some(index) = found.filter(|index| !used.contains(index)) {
                    used.push(index);
                    references(&definitions[index].schema, definitions, used);
                }
                references(value, definitions, used);
            }
        }
        Json::Array(elements) => elements.iter().for_each(|element| references(element, definitions, used)),
        _ => {}
    }
}

/// A schema with all that applies to it besides.
enum Gathered {
    /// Without `$ref` and `allOf`, and what was referred to.
    Merged(Json, Vec<String>),
    /// It leads into what is being made already.
    Recursive(String),
}

/// One form of a union.
type Made = Result<Json, Refusal>;

fn empty() -> Json {
    Json::Object(Vec::new())
}

fn step(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Keywords that say nothing about values and are left out.
fn is_silent(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema"
            | "$id"
            | "$anchor"
            | "$comment"
            | "$defs"
            | "definitions"
            | "title"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "propertyOrdering"
            | "nullable"
    ) || keyword.starts_with("x-")
}

/// Keywords that describe and don't constrain: leaving them out loses nothing that is enforced.
fn is_annotation(keyword: &str) -> bool {
    is_silent(keyword)
        || matches!(keyword, "description" | "default" | "examples" | "contentEncoding" | "contentMediaType")
}

/// Which type a keyword is about.
fn about(keyword: &str) -> Option<&'static [&'static str]> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => &["integer", "number"],
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => &["string"],
        "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "minContains" | "maxContains" | "unevaluatedItems" => &["array"],
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "unevaluatedProperties" => &["object"],
        _ => return None,
    })
}

/// A bound that a Rust type has because of its width alone.
fn is_width(keyword: &str, value: &Json) -> bool {
    match (keyword, value.as_number()) {
        ("minimum", Some(number)) => matches!(number, "-9223372036854775808" | "-3.4028235e+38"),
        ("maximum", Some(number)) => {
            matches!(number, "9223372036854775807" | "18446744073709551615" | "3.4028235e+38")
        }
        _ => false,
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => "integer",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The values of `enum` or `const`.
fn values(schema: &Json) -> Option<Vec<Json>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Json::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

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

    /// Puts a keyword into words, and on the list if it asked for something.
    fn say(&mut self, said: &mut Vec<String>, pointer: &str, keyword: &str, value: &Json) {
        let sentence = words::of(keyword, value);
        if !said.contains(&sentence) {
            said.push(sentence);
        }
        if !is_annotation(keyword) {
            self.lose(pointer, keyword);
        }
    }

    fn resolve(&self, reference: &Json) -> Option<(String, Json)> {
        let target = percent_decode(reference.as_str()?.strip_prefix('#')?);
        (target.is_empty() || target.starts_with('/')).then_some(())?;
        self.document.pointer(&target).map(|schema| (target.clone(), schema.clone()))
    }

    // ---- references and parts

    /// All that applies at once, in one schema.
    fn gather(&mut self, schema: &Json, pointer: &str, depth: usize) -> Result<Gathered, Refusal> {
        let mut base = schema.clone();
        let mut parts = Vec::new();
        let mut targets = Vec::new();
        let reference = base.remove("$ref");
        if let Some(reference) = reference {
            match self.resolve(&reference) {
                Some((target, content)) => {
                    let times = self.open.iter().filter(|open| **open == target).count();
                    let limit = if self.dialect.references == References::Inlined { LEVELS } else { 1 };
                    let endless = self.nodes > MAX_NODES || depth > MAX_NESTED;
                    if times > 0 && self.dialect.references == References::Finite {
                        return self.refuse(pointer, Reason::Recursive);
                    }
                    if times >= limit || endless {
                        self.lose_all_but_ref(&base, pointer);
                        return Ok(Gathered::Recursive(target));
                    }
                    parts.push((content, target.clone()));
                    targets.push(target);
                }
                None => self.lose(pointer, "$ref"),
            }
        }
        let all = match base.remove("allOf") {
            Some(Json::Array(all)) => all,
            _ => Vec::new(),
        };
        let several = !all.is_empty();
        parts.extend(all.into_iter().enumerate().map(|(index, part)| (part, format!("{pointer}/allOf/{index}"))));
        let mut lost: Vec<Lost> = Vec::new();
        for (part, place) in parts {
            self.nodes += 1;
            let inner = if targets.contains(&place) { vec![place.clone()] } else { Vec::new() };
            self.open.extend(inner.iter().cloned());
            let gathered = self.gather(&part, &place, depth + 1);
            self.open.truncate(self.open.len() - inner.len());
            match gathered? {
                Gathered::Merged(part, more) => {
                    merge(&mut base, &part, &mut lost);
                    targets.extend(more);
                }
                Gathered::Recursive(target) if several || !base.as_object().unwrap_or_default().is_empty() => {
                    // A part leads back: the rest still holds.
                    let _ = target;
                    self.lose(pointer, if several { "allOf" } else { "$ref" });
                }
                recursive @ Gathered::Recursive(_) => return Ok(recursive),
            }
        }
        let mut said = Vec::new();
        for (keyword, value) in lost {
            self.say(&mut said, pointer, &keyword, &value);
        }
        describe(&mut base, &said);
        Ok(Gathered::Merged(base, targets))
    }

    fn lose_all_but_ref(&mut self, beside: &Json, pointer: &str) {
        for (keyword, _) in beside.as_object().unwrap_or_default() {
            if !is_annotation(keyword) {
                self.lose(pointer, keyword);
            }
        }
    }

    /// A reference that stays one.
    fn kept(&mut self, target: &str) -> Made {
        let known = self.definitions.iter().position(|definition| definition.target == target);
        let position = match known {
            Some(position) => position,
            None => {
                let base = match target.rsplit('/').next().unwrap_or_default() {
                    "" => "Root".to_owned(),
                    last => last.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'), "_"),
                };
                let mut name = base.clone();
                let mut number = 2;
                while self.definitions.iter().any(|definition| definition.name == name) {
                    name = format!("{base}{number}");
                    number += 1;
                }
                let position = self.definitions.len();
                self.definitions.push(Definition { target: target.to_owned(), name, schema: Json::Null });
                let content = self.document.pointer(target).cloned().unwrap_or_else(empty);
                self.open.push(target.to_owned());
                let made = self.node(&content, target);
                self.open.pop();
                self.definitions[position].schema = made?;
                position
            }
        };
        let reference = format!("#/$defs/{}", self.definitions[position].name);
        Ok(Json::Object(vec![("$ref".into(), Json::String(reference))]))
    }

    /// Stands for what is nested too deeply to be shown.
    fn cut(&mut self, target: &str, pointer: &str) -> Made {
        if self.strict() {
            return self.refuse(pointer, Reason::Recursive);
        }
        self.lose(pointer, "$ref");
        let content = self.document.pointer(target).cloned().unwrap_or_else(empty);
        let is_object = content.get("type").and_then(Json::as_str) == Some("object");
        let mut open = empty();
        if is_object {
            open.set("type", Json::string("object"));
        }
        let description = content.get("description").and_then(Json::as_str).map(str::to_owned);
        let words = "Nested further in the same way.".to_owned();
        open.set("description", Json::String(description.into_iter().chain([words]).collect::<Vec<_>>().join("\n")));
        if is_object && self.dialect.further == Further::Spelt {
            open.set("additionalProperties", Json::Bool(true));
        }
        Ok(open)
    }

    // ---- nodes

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

    /// A schema without references and parts, whose unions are still in it.
    fn merged(&mut self, mut base: Json, pointer: &str) -> Made {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = base.remove(keyword) {
                for other in ["anyOf", "oneOf"] {
                    if let Some(also) = base.remove(other) {
                        let mut said = Vec::new();
                        self.say(&mut said, pointer, other, &also);
                        describe(&mut base, &said);
                    }
                }
                return self.union(base, keyword, &branches, pointer);
            }
        }
        self.plain(base, pointer)
    }

    fn union(&mut self, mut base: Json, keyword: &str, branches: &[Json], pointer: &str) -> Made {
        let constrained = base.as_object().unwrap_or_default().iter().any(|(keyword, _)| !is_annotation(keyword));
        // Words with their meanings are one `enum`.
        let mut left: Vec<(usize, Json)> = Vec::new();
        let mut words = Vec::new();
        let mut meanings = Vec::new();
        let mut words_at = None;
        let mut takes_null = false;
        // One list of words keeps its name, and its description.
        let several = branches.iter().filter(|branch| self.words_of(branch).is_some()).count() > 1;
        for (index, branch) in branches.iter().enumerate() {
            if *branch == Json::Bool(false) {
                continue;
            }
            if branch.get("type").and_then(Json::as_str) == Some("null") {
                takes_null = true;
                continue;
            }
            match self.words_of(branch).filter(|_| several) {
                Some(found) => {
                    words_at.get_or_insert(left.len());
                    let description = branch.get("description").and_then(Json::as_str);
                    if let (Some(description), [word]) = (description, found.as_slice()) {
                        meanings.push(format!(
                            "- {}: {description}",
                            word.as_str().map_or_else(|| words::json(word), str::to_owned)
                        ));
                    }
                    takes_null |= found.contains(&Json::Null);
                    words.extend(found.into_iter().filter(|word| *word != Json::Null));
                }
                None => left.push((index, branch.clone())),
            }
        }
        if let Some(at) = words_at
            && !words.is_empty()
        {
            let mut unique: Vec<Json> = Vec::new();
            words.into_iter().for_each(|word| {
                if !unique.contains(&word) {
                    unique.push(word);
                }
            });
            let mut all = Json::Object(vec![("enum".into(), Json::Array(unique))]);
            describe(&mut all, &meanings);
            left.insert(at, (usize::MAX, all));
        }
        let exact = keyword == "anyOf" || self.are_disjoint(&left);
        let mut said = Vec::new();
        if !exact {
            self.say(&mut said, pointer, "oneOf", &Json::Null);
        }
        describe(&mut base, &said);
        let base_takes_null = base.get("type").is_none_or(|types| names(types).iter().any(|name| name == "null"));
        takes_null &= base_takes_null;
        takes_null |= self.dialect.nulls == Nulls::Nullable && base.get("nullable") == Some(&Json::Bool(true));
        let place = |index: usize| {
            if index == usize::MAX { pointer.to_owned() } else { format!("{pointer}/{keyword}/{index}") }
        };
        if let [(index, only)] = left.as_slice() {
            let reference_stays = self.dialect.references != References::Inlined && only.get("$ref").is_some();
            if !(reference_stays && !constrained && takes_null) {
                // The union was of one form and `null`, or of one.
                let mut one = base.clone();
                let inner = describe_inner(&mut one, only);
                let parts = Json::Array(vec![inner]);
                if let Some(types) = one.remove("type") {
                    one.set("type", without_null(&types));
                }
                one.set("allOf", parts);
                let place = if constrained { pointer.to_owned() } else { place(*index) };
                let made = self.node(&one, &place)?;
                return Ok(if takes_null { self.nullable(made) } else { made });
            }
        }
        let mut made: Vec<Json> = Vec::new();
        for (index, branch) in &left {
            let mut one = branch.clone();
            if constrained {
                let mut beside = base.clone();
                for annotation in ["description", "default", "examples"] {
                    beside.remove(annotation);
                }
                if let Some(types) = beside.remove("type") {
                    beside.set("type", without_null(&types));
                }
                beside.set("allOf", Json::Array(vec![branch.clone()]));
                one = beside;
            }
            let one = self.node(&one, &place(*index))?;
            // A union within a union is one.
            match one.get("anyOf").and_then(Json::as_array) {
                Some(inner) if one.as_object().is_some_and(|members| members.len() == 1) => {
                    for one in inner {
                        if one.get("type").and_then(Json::as_str) == Some("null") {
                            takes_null = true;
                        } else {
                            push_new(&mut made, one.clone());
                        }
                    }
                }
                _ if one.get("type").and_then(Json::as_str) == Some("null") => takes_null = true,
                _ => push_new(&mut made, one),
            }
        }
        let mut out = empty();
        let annotations = self.annotations(&base, pointer);
        let nothing = made.is_empty();
        if nothing {
            if takes_null {
                out.set("type", Json::string("null"));
            } else {
                self.lose(pointer, keyword);
                return self.anything(base, &[], pointer);
            }
        } else if let ([only], false) = (made.as_slice(), takes_null) {
            out = only.clone();
            if let Some(description) = &annotations.0 {
                out.set("description", Json::string(description));
            }
        } else {
            out.set("anyOf", Json::Array(made));
        }
        self.annotate(&mut out, annotations, &base);
        Ok(if takes_null && !nothing { self.nullable(out) } else { out })
    }

    /// The values of a branch that is a closed set of plain values and nothing else.
    fn words_of(&self, branch: &Json) -> Option<Vec<Json>> {
        let resolved;
        let mut branch = branch;
        if let (Some(reference), [_]) = (branch.get("$ref"), branch.as_object()?) {
            resolved = self.resolve(reference)?.1;
            branch = &resolved;
            // Told by its own description, which one list of words has no room for.
            if branch.get("description").is_some() && values(branch).is_some_and(|values| values.len() != 1) {
                return None;
            }
        }
        let words = values(branch)?;
        let plain = branch.as_object()?.iter().all(|(keyword, _)| {
            matches!(keyword.as_str(), "const" | "enum" | "type" | "description") || is_silent(keyword)
        });
        let scalars = words.iter().all(|word| !matches!(word, Json::Array(_) | Json::Object(_)));
        let described = branch.get("description").is_some() && words.len() > 1;
        (plain && scalars && !described).then_some(words)
    }

    /// Can no value have two of these forms? Only what is plain to see counts.
    fn are_disjoint(&self, branches: &[(usize, Json)]) -> bool {
        let forms: Vec<Form> = branches.iter().map(|(_, branch)| self.form(branch)).collect();
        forms.iter().enumerate().all(|(index, a)| forms[index + 1..].iter().all(|b| a.is_apart_from(b)))
    }

    fn form(&self, branch: &Json) -> Form {
        let mut form = Form::default();
        let mut parts = vec![branch.clone()];
        let mut steps = 0;
        while let Some(part) = parts.pop() {
            steps += 1;
            if steps > 32 {
                break;
            }
            if let Some((_, target)) = part.get("$ref").and_then(|reference| self.resolve(reference)) {
                parts.push(target);
            }
            parts.extend(part.get("allOf").and_then(Json::as_array).unwrap_or_default().iter().cloned());
            if let Some(types) = part.get("type") {
                form.types = names(types);
            } else if let Some(values) = values(&part) {
                form.types = values.iter().map(|value| type_of(value).to_owned()).collect();
            }
            if let Some(values) = values(&part) {
                form.values = Some(values);
            }
            let properties = part.get("properties").and_then(Json::as_object).unwrap_or_default();
            for (name, schema) in properties {
                form.known.push(name.clone());
                if let Some(values) = values(schema) {
                    form.tags.push((name.clone(), values));
                }
            }
            let required = part.get("required").and_then(Json::as_array).unwrap_or_default();
            form.required.extend(required.iter().filter_map(Json::as_str).map(str::to_owned));
            form.closed |=
                part.get("additionalProperties") == Some(&Json::Bool(false)) && part.get("patternProperties").is_none();
        }
        form
    }

    /// Any value at all, or one of which nothing can be said here.
    fn anything(&mut self, base: Json, said: &[String], pointer: &str) -> Made {
        if self.strict() {
            return self.refuse(pointer, Reason::FreeForm);
        }
        if self.dialect.nulls == Nulls::Nullable {
            self.lose(pointer, "type");
        }
        let mut out = empty();
        let annotations = self.annotations(&base, pointer);
        self.annotate(&mut out, annotations, &base);
        describe(&mut out, said);
        Ok(out)
    }

    /// Description, and what is said of examples and the default.
    fn annotations(&mut self, base: &Json, pointer: &str) -> (Option<String>, Vec<String>) {
        let description = base.get("description").and_then(Json::as_str).map(str::to_owned);
        let mut said = Vec::new();
        for keyword in ["default", "examples"] {
            if let Some(value) = base.get(keyword)
                && !self.dialect.keep.contains(&keyword)
            {
                self.say(&mut said, pointer, keyword, value);
            }
        }
        (description, said)
    }

    fn annotate(&self, out: &mut Json, (description, said): (Option<String>, Vec<String>), base: &Json) {
        if let Some(description) = description {
            out.set("description", Json::String(description));
        }
        describe(out, &said);
        for keyword in ["default", "examples"] {
            if let Some(value) = base.get(keyword)
                && self.dialect.keep.contains(&keyword)
            {
                out.set(keyword, value.clone());
            }
        }
    }

    /// A schema without references, parts and unions.
    fn plain(&mut self, mut base: Json, pointer: &str) -> Made {
        let mut types = base.get("type").map(names).unwrap_or_default();
        let mut listed = values(&base);
        if types.is_empty()
            && let Some(values) = &listed
        {
            for value in values {
                let name = type_of(value).to_owned();
                if !types.contains(&name) {
                    types.push(name);
                }
            }
        }
        if types.iter().any(|name| name == "number") {
            types.retain(|name| name != "integer");
        }
        let nullable = self.dialect.nulls == Nulls::Nullable && base.get("nullable") == Some(&Json::Bool(true));
        let takes_null = nullable
            || (types.iter().any(|name| name == "null")
                && listed.as_ref().is_none_or(|values| values.contains(&Json::Null)));
        let typed = !types.is_empty();
        types.retain(|name| name != "null");
        if typed && types.is_empty() {
            return self.null_alone(&base, pointer);
        }
        if !typed && self.strict() && base.get("properties").is_some() {
            // Nobody means the values that are no objects.
            types.push("object".to_owned());
            self.closed.push(pointer.to_owned());
        }
        if let Some(values) = &mut listed {
            values.retain(|value| *value != Json::Null);
            if types.len() > 1 && values.iter().all(|value| type_of(value) == type_of(&values[0])) {
                let only = values.first().map(type_of);
                types.retain(|name| only.is_none_or(|only| name == only || (only == "integer" && name == "number")));
            }
        }
        if types.len() > 1 && self.dialect.one_type {
            return self.split(&base, &types, takes_null, listed.as_deref(), pointer);
        }
        if let Some(values) = &listed {
            base.remove("const");
            base.set("enum", Json::Array(values.clone()));
        }
        let made = self.one_plain(&base, &types, pointer)?;
        Ok(if takes_null { self.nullable(made) } else { made })
    }

    /// `null` and nothing else.
    fn null_alone(&mut self, base: &Json, pointer: &str) -> Made {
        let annotations = self.annotations(base, pointer);
        let mut out = empty();
        if self.dialect.nulls == Nulls::Nullable {
            // No type of its own: a text that may be `null`.
            out.set("type", Json::string("string"));
            out.set("nullable", Json::Bool(true));
            self.lose(pointer, "type");
        } else {
            out.set("type", Json::string("null"));
        }
        self.annotate(&mut out, annotations, base);
        Ok(out)
    }

    /// One form for each type.
    fn split(
        &mut self,
        base: &Json,
        types: &[String],
        takes_null: bool,
        listed: Option<&[Json]>,
        pointer: &str,
    ) -> Made {
        let mut made = Vec::new();
        for name in types {
            let mut one = empty();
            one.set("type", Json::string(name));
            for (keyword, value) in base.as_object().unwrap_or_default() {
                let known = about(keyword).is_none_or(|types| types.contains(&name.as_str()));
                if known
                    && !matches!(keyword.as_str(), "type" | "const" | "enum" | "nullable")
                    && !is_annotation(keyword)
                {
                    one.set(keyword, value.clone());
                }
            }
            if let Some(values) = listed {
                let fits = |value: &&Json| type_of(value) == name || (name == "number" && type_of(value) == "integer");
                let values: Vec<Json> = values.iter().filter(fits).cloned().collect();
                if values.is_empty() {
                    continue;
                }
                one.set("enum", Json::Array(values));
            }
            push_new(&mut made, self.node(&one, pointer)?);
        }
        let annotations = self.annotations(base, pointer);
        let mut out = match made.as_slice() {
            [only] => only.clone(),
            _ => Json::Object(vec![("anyOf".into(), Json::Array(made))]),
        };
        self.annotate(&mut out, annotations, base);
        Ok(if takes_null { self.nullable(out) } else { out })
    }

    /// A schema of one type, or of several where that can be said; `null` is added by the caller.
    fn one_plain(&mut self, base: &Json, types: &[String], pointer: &str) -> Made {
        let is = |name: &str| types.iter().any(|other| other == name);
        let mut out = empty();
        match types {
            [] => {
                let says_nothing =
                    base.as_object().unwrap_or_default().iter().all(|(keyword, _)| is_annotation(keyword));
                if says_nothing {
                    return self.anything(base.clone(), &[], pointer);
                }
                if self.strict() {
                    return self.refuse(pointer, Reason::FreeForm);
                }
                if self.dialect.nulls == Nulls::Nullable {
                    self.lose(pointer, "type");
                }
            }
            [only] => out.set("type", Json::string(only)),
            several => out.set("type", Json::Array(several.iter().map(Json::string).collect())),
        }
        let (description, mut said) = self.annotations(base, pointer);
        if let Some(description) = description {
            out.set("description", Json::String(description));
        }
        let applies =
            |keyword: &str| types.is_empty() || about(keyword).is_none_or(|about| about.iter().any(|name| is(name)));
        let mut object_done = false;
        let mut array_done = false;
        for (keyword, value) in base.as_object().unwrap_or_default() {
            let keyword = keyword.as_str();
            match keyword {
                "type" | "description" => {}
                _ if is_silent(keyword) => {}
                _ if !applies(keyword) => {}
                "default" | "examples" => {
                    if self.dialect.keep.contains(&keyword) {
                        out.set(keyword, value.clone());
                    }
                }
                "enum" => self.closed_set(&mut out, &mut said, value, pointer),
                "const" => self.closed_set(&mut out, &mut said, &Json::Array(vec![value.clone()]), pointer),
                "properties"
                | "required"
                | "additionalProperties"
                | "patternProperties"
                | "unevaluatedProperties"
                | "dependentRequired" => {
                    if !std::mem::replace(&mut object_done, true) {
                        self.object(&mut out, &mut said, base, pointer)?;
                    }
                }
                "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "unevaluatedItems" => {
                    if !std::mem::replace(&mut array_done, true) {
                        self.array(&mut out, &mut said, base, pointer)?;
                    }
                }
                "format" => {
                    let taken =
                        self.dialect.formats.is_none_or(|known| known.iter().any(|one| value.as_str() == Some(one)));
                    if self.dialect.keep.contains(&"format") && taken {
                        out.set(keyword, value.clone());
                    } else {
                        self.say(&mut said, pointer, keyword, value);
                    }
                }
                "uniqueItems" if *value == Json::Bool(false) => {}
                "minContains" | "maxContains" if base.get("contains").is_none() => {}
                "then" | "else" if base.get("if").is_none() => {}
                _ if is_width(keyword, value) => {}
                "exclusiveMinimum" | "exclusiveMaximum"
                    if self.as_inclusive(&mut out, base, types, (keyword, value)) => {}
                _ if self.dialect.keep.contains(&keyword) => out.set(keyword, value.clone()),
                "contentEncoding" | "contentMediaType" => {}
                _ => self.say(&mut said, pointer, keyword, value),
            }
        }
        if is("object") && !object_done {
            self.object(&mut out, &mut said, base, pointer)?;
        }
        if is("array") && !array_done {
            self.array(&mut out, &mut said, base, pointer)?;
        }
        describe(&mut out, &said);
        Ok(out)
    }

    /// Of integers, "more than 0" is "at least 1", which more forms can say.
    fn as_inclusive(&self, out: &mut Json, base: &Json, types: &[String], (keyword, value): (&str, &Json)) -> bool {
        let (inclusive, by) = if keyword == "exclusiveMinimum" { ("minimum", 1) } else { ("maximum", -1) };
        let whole = value.as_number().and_then(|text| text.parse::<i64>().ok()).and_then(|bound| bound.checked_add(by));
        let known = self.dialect.keep.contains(&inclusive) && !self.dialect.keep.contains(&keyword);
        match whole {
            Some(bound) if known && types == ["integer"] && base.get(inclusive).is_none() => {
                out.set(inclusive, Json::integer(bound));
                true
            }
            _ => false,
        }
    }

    fn closed_set(&mut self, out: &mut Json, said: &mut Vec<String>, value: &Json, pointer: &str) {
        let values = value.as_array().unwrap_or_default();
        let taken = |value: &Json| match self.dialect.enums {
            Enums::Any => true,
            Enums::Scalars => !matches!(value, Json::Array(_) | Json::Object(_)),
            Enums::StringsAndNumbers => matches!(value, Json::String(_) | Json::Number(_)),
            Enums::Strings => matches!(value, Json::String(_)),
        };
        // Objects come back by their schema, and so under other names than they are listed with here.
        let renamed = self.dialect.keys.is_some_and(|rule| values.iter().any(|value| has_illegal_key(value, rule)));
        if !values.is_empty() && values.iter().all(taken) && !renamed {
            out.set("enum", value.clone());
        } else {
            self.say(said, pointer, "enum", value);
        }
    }

    // ---- objects and arrays

    fn object(&mut self, out: &mut Json, said: &mut Vec<String>, base: &Json, pointer: &str) -> Result<(), Refusal> {
        let declared = base.get("properties").and_then(Json::as_object).unwrap_or_default();
        let required = base.get("required").and_then(Json::as_array).unwrap_or_default();
        let required: Vec<&str> = required.iter().filter_map(Json::as_str).collect();
        let mut properties = Vec::new();
        let mut needed = Vec::new();
        for (name, schema) in declared {
            let wire = self.dialect.keys.map_or_else(|| name.into(), |rule| rule.spell(name)).into_owned();
            let mut made = self.node(schema, &step(&format!("{pointer}/properties"), name))?;
            let is_required = required.contains(&name.as_str());
            if self.dialect.all_required && !is_required {
                made = self.nullable(made);
            }
            if is_required || self.dialect.all_required {
                needed.push(Json::string(&wire));
            }
            properties.push((wire, made));
        }
        let further = self.further(said, base, declared.is_empty(), pointer)?;
        for name in required {
            if declared.iter().any(|(known, _)| known == name) {
                continue;
            }
            // Required, but described by nothing of its own.
            if self.strict() || self.dialect.further == Further::Unsaid {
                self.lose(pointer, "required");
                said.push(format!("Needs `{name}`."));
            } else {
                needed.push(Json::string(self.dialect.keys.map_or_else(|| name.into(), |rule| rule.spell(name))));
            }
        }
        if self.dialect.ordering && properties.len() > 1 {
            let order = properties.iter().map(|(name, _)| Json::string(name)).collect();
            out.set("propertyOrdering", Json::Array(order));
        }
        if !properties.is_empty() || base.get("properties").is_some() || self.strict() {
            out.set("properties", Json::Object(properties));
        }
        if !needed.is_empty() || self.dialect.all_required {
            out.set("required", Json::Array(needed));
        }
        if let Some(further) = further {
            out.set("additionalProperties", further);
        }
        if let Some(value) = base.get("dependentRequired") {
            if self.dialect.keep.contains(&"dependentRequired") {
                out.set("dependentRequired", self.spelt_dependents(value));
            } else {
                self.say(said, pointer, "dependentRequired", value);
            }
        }
        Ok(())
    }

    fn spelt_dependents(&self, value: &Json) -> Json {
        let spell =
            |name: &str| self.dialect.keys.map_or_else(|| name.to_owned(), |rule| rule.spell(name).into_owned());
        let each = value.as_object().unwrap_or_default().iter().map(|(name, needed)| {
            let needed = needed.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
            (spell(name), Json::Array(needed.map(|name| Json::String(spell(name))).collect()))
        });
        Json::Object(each.collect())
    }

    /// What is said of members that aren't declared.
    fn further(
        &mut self,
        said: &mut Vec<String>,
        base: &Json,
        bare: bool,
        pointer: &str,
    ) -> Result<Option<Json>, Refusal> {
        let conditional = ["if", "dependentSchemas", "dependencies"].iter().any(|keyword| base.get(keyword).is_some());
        let mut keyword = "additionalProperties";
        let mut value = base.get("additionalProperties").cloned();
        if let Some(unevaluated) = base.get("unevaluatedProperties")
            && value.is_none()
        {
            if conditional && *unevaluated != Json::Bool(true) {
                self.say(said, pointer, "unevaluatedProperties", unevaluated);
            } else {
                keyword = "unevaluatedProperties";
                value = Some(unevaluated.clone());
            }
        }
        let patterns = base.get("patternProperties").and_then(Json::as_object).unwrap_or_default();
        if self.strict() {
            return match value {
                Some(Json::Bool(false)) if patterns.is_empty() => Ok(Some(Json::Bool(false))),
                None if patterns.is_empty() && !bare => {
                    self.closed.push(pointer.to_owned());
                    Ok(Some(Json::Bool(false)))
                }
                None if patterns.is_empty() && base.get("properties").is_some() => {
                    self.closed.push(pointer.to_owned());
                    Ok(Some(Json::Bool(false)))
                }
                Some(_) => self.refuse(&step(pointer, keyword), Reason::OpenObject),
                None => self.refuse(pointer, Reason::OpenObject),
            };
        }
        if !patterns.is_empty() {
            // Names that match have values of their own; all that is said here is a form of values.
            let value_of_all = base.get("patternProperties").cloned().unwrap_or(Json::Null);
            self.say(said, pointer, "patternProperties", &value_of_all);
            let closed = value == Some(Json::Bool(false));
            let mut forms = Vec::new();
            for (pattern, schema) in patterns {
                push_new(&mut forms, self.node(schema, &step(&format!("{pointer}/patternProperties"), pattern))?);
            }
            let any = forms.iter().any(|form| *form == empty());
            value = match (closed && !any, forms.as_slice()) {
                (true, [only]) => return Ok(self.said_further(said, only.clone(), pointer)),
                (true, _) => {
                    let all = patterns.iter().map(|(_, schema)| schema.clone()).collect();
                    let union = self.one_of_these(all, pointer)?;
                    return Ok(self.said_further(said, union, pointer));
                }
                (false, _) => Some(Json::Bool(true)),
            };
        }
        Ok(match (value, self.dialect.further) {
            (None, Further::Spelt) => Some(Json::Bool(true)),
            (None | Some(Json::Bool(_)), Further::Unsaid) => {
                // A form that has no word for it means what is declared; but then something has to be.
                if bare && !matches!(base.get("additionalProperties"), Some(Json::Bool(false))) && !pointer.is_empty() {
                    self.lose(pointer, "additionalProperties");
                }
                None
            }
            (None, _) => None,
            (Some(Json::Bool(flag)), _) => Some(Json::Bool(flag)),
            (Some(schema), _) => {
                let made = self.node(&schema, &step(pointer, keyword))?;
                self.said_further(said, made, pointer)
            }
        })
    }

    fn said_further(&mut self, said: &mut Vec<String>, made: Json, pointer: &str) -> Option<Json> {
        if self.dialect.further == Further::Unsaid {
            self.say(said, pointer, "additionalProperties", &made);
            return None;
        }
        // Some readers know no empty schema here.
        Some(if made == empty() { Json::Bool(true) } else { made })
    }

    fn array(&mut self, out: &mut Json, said: &mut Vec<String>, base: &Json, pointer: &str) -> Result<(), Refusal> {
        let (mut prefix, mut rest) = (base.get("prefixItems"), base.get("items"));
        if let Some(Json::Array(_)) = rest {
            // As older drafts spell it.
            (prefix, rest) = (rest, base.get("additionalItems"));
        }
        let prefix = prefix.and_then(Json::as_array).unwrap_or_default();
        let number =
            |keyword: &str| base.get(keyword).and_then(Json::as_number).and_then(|text| text.parse::<u64>().ok());
        let mut most = number("maxItems");
        let items = if prefix.is_empty() {
            match rest {
                Some(Json::Bool(false)) => {
                    most = Some(0);
                    empty()
                }
                None | Some(Json::Bool(true)) => self.anything(empty(), &[], &format!("{pointer}/items"))?,
                Some(schema) => self.node(schema, &format!("{pointer}/items"))?,
            }
        } else {
            let length = prefix.len() as u64;
            let ends = rest == Some(&Json::Bool(false)) || base.get("unevaluatedItems") == Some(&Json::Bool(false));
            if ends {
                most = Some(most.map_or(length, |most| most.min(length)));
            }
            let fixed = most.is_some_and(|most| most <= length);
            let mut forms = Vec::new();
            let mut order = Vec::new();
            for (index, schema) in prefix.iter().enumerate() {
                let made = self.node(schema, &format!("{pointer}/prefixItems/{index}"))?;
                order.push(made.clone());
                push_new(&mut forms, made);
            }
            if !fixed {
                let rest = rest.cloned().unwrap_or(Json::Bool(true));
                push_new(&mut forms, self.node(&rest, &format!("{pointer}/items"))?);
            }
            let same = forms.len() == 1;
            let any = forms.iter().any(|form| *form == empty());
            if !same {
                said.push(format!("Its elements are, in this order: {}.", words::json(&Json::Array(order))));
                self.lose(pointer, "prefixItems");
            }
            match (any, forms.as_slice()) {
                (true, _) => empty(),
                (false, [only]) => only.clone(),
                (false, _) => {
                    let rest = rest.filter(|_| !fixed).cloned();
                    self.one_of_these(prefix.iter().cloned().chain(rest).collect(), pointer)?
                }
            }
        };
        if let Some(value) = base.get("unevaluatedItems")
            && !matches!(value, Json::Bool(_))
            && rest.is_none()
        {
            self.say(said, pointer, "unevaluatedItems", value);
        }
        out.set("items", items);
        if let Some(least) = number("minItems").filter(|least| *least > 0) {
            let value = Json::integer(least);
            if self.dialect.min_items.is_some_and(|taken| least <= taken) {
                out.set("minItems", value);
            } else {
                self.say(said, pointer, "minItems", &value);
            }
        }
        if let Some(most) = most {
            let value = Json::integer(most);
            if self.dialect.keep.contains(&"maxItems") {
                out.set("maxItems", value);
            } else {
                self.say(said, pointer, "maxItems", &value);
            }
        }
        Ok(())
    }

    /// A union of schemas that were made one by one before, so that what they lose is known.
    fn one_of_these(&mut self, all: Vec<Json>, pointer: &str) -> Made {
        let known = (self.losses.len(), self.closed.len());
        let made = self.node(&Json::Object(vec![("anyOf".into(), Json::Array(all))]), pointer)?;
        self.losses.truncate(known.0);
        self.closed.truncate(known.1);
        Ok(made)
    }

    /// The same, or `null`.
    fn nullable(&self, mut schema: Json) -> Json {
        if self.dialect.nulls == Nulls::Nullable {
            if schema != empty() {
                schema.set("nullable", Json::Bool(true));
            }
            return schema;
        }
        if schema.get("$ref").is_some() {
            let null = Json::Object(vec![("type".into(), Json::string("null"))]);
            return Json::Object(vec![("anyOf".into(), Json::Array(vec![schema, null]))]);
        }
        if let Some(Json::Array(branches)) = schema.get("anyOf") {
            let takes_null =
                |branch: &Json| branch.get("type").is_some_and(|types| names(types).iter().any(|name| name == "null"));
            if !branches.iter().any(takes_null) {
                let mut branches = branches.clone();
                branches.push(Json::Object(vec![("type".into(), Json::string("null"))]));
                schema.set("anyOf", Json::Array(branches));
            }
            return schema;
        }
        let Some(types) = schema.get("type").map(names) else { return schema };
        if !types.iter().any(|name| name == "null") {
            schema
                .set("type", Json::Array(types.iter().map(String::as_str).chain(["null"]).map(Json::string).collect()));
            if let Some(Json::Array(values)) = schema.get("enum")
                && !values.contains(&Json::Null)
                && self.dialect.enums != Enums::StringsAndNumbers
            {
                let mut values = values.clone();
                values.push(Json::Null);
                schema.set("enum", Json::Array(values));
            } else if schema.get("enum").is_some() && self.dialect.enums == Enums::StringsAndNumbers {
                // `null` can't be listed there.
                let kept = Json::Object(match schema {
                    Json::Object(members) => members
                        .into_iter()
                        .map(
                            |(keyword, value)| {
                                if keyword == "type" { (keyword, without_null(&value)) } else { (keyword, value) }
                            },
                        )
                        .collect(),
                    _ => Vec::new(),
                });
                let mut kept = kept;
                let description = kept.remove("description");
                let null = Json::Object(vec![("type".into(), Json::string("null"))]);
                let mut union = Json::Object(vec![("anyOf".into(), Json::Array(vec![kept, null]))]);
                if let Some(description) = description {
                    union.set("description", description);
                }
                return union;
            }
        }
        schema
    }

    // ---- the root

    /// The root is one plain object, whatever it is made of.
    fn root(&mut self, schema: &Json) -> Made {
        let is_object =
            |schema: &Json| schema.get("type").is_none_or(|types| names(types).iter().any(|name| name == "object"));
        let mut base = match schema {
            Json::Object(_) => match self.gather(schema, "", 0)? {
                Gathered::Merged(merged, _) => merged,
                Gathered::Recursive(_) => empty(),
            },
            Json::Bool(true) => empty(),
            _ => return self.refuse("", Reason::NotAnObject),
        };
        let lists_others =
            values(&base).is_some_and(|values| !values.iter().any(|value| matches!(value, Json::Object(_))));
        if !is_object(&base) || lists_others {
            return self.refuse("", Reason::NotAnObject);
        }
        for keyword in ["oneOf", "anyOf"] {
            let Some(Json::Array(branches)) = base.remove(keyword) else { continue };
            let mut said = Vec::new();
            self.say(&mut said, "", keyword, &Json::Array(branches.clone()));
            said.clear();
            let mut forms = Vec::new();
            for (index, branch) in branches.iter().enumerate() {
                match self.gather(branch, &format!("/{keyword}/{index}"), 0)? {
                    Gathered::Merged(form, _) if is_object(&form) && *branch != Json::Bool(false) => forms.push(form),
                    _ => {}
                }
            }
            if forms.is_empty() && !branches.is_empty() {
                return self.refuse("", Reason::NotAnObject);
            }
            said.push(alternatives(&forms));
            base = united(base, &forms);
            describe(&mut base, &said);
        }
        let mut said = Vec::new();
        for keyword in ["enum", "const", "not", "if", "then", "else"] {
            if let Some(value) = base.remove(keyword) {
                self.say(&mut said, "", keyword, &value);
            }
        }
        describe(&mut base, &said);
        base.set("type", Json::string("object"));
        if base.get("properties").is_none() {
            base.set("properties", empty());
        }
        let mut made = self.one_plain(&base, &["object".to_owned()], "")?;
        place_description(&mut made);
        Ok(made)
    }
}

/// What a form of a union says that tells it from others.
#[derive(Debug, Default)]
struct Form {
    types: Vec<String>,
    values: Option<Vec<Json>>,
    known: Vec<String>,
    required: Vec<String>,
    tags: Vec<(String, Vec<Json>)>,
    closed: bool,
}

impl Form {
    fn is_apart_from(&self, other: &Form) -> bool {
        let number = |name: &str| name == "integer" || name == "number";
        let meets = |a: &String, b: &String| a == b || (number(a) && number(b));
        let typed = !self.types.is_empty() && !other.types.is_empty();
        if typed && !self.types.iter().any(|a| other.types.iter().any(|b| meets(a, b))) {
            return true;
        }
        if let (Some(a), Some(b)) = (&self.values, &other.values)
            && !a.iter().any(|value| b.contains(value))
        {
            return true;
        }
        let objects = [self, other].iter().all(|form| form.types == ["object"]);
        let tagged = self.tags.iter().any(|(name, values)| {
            let both = self.required.contains(name) && other.required.contains(name);
            let others = other.tags.iter().find(|(other, _)| other == name);
            both && others.is_some_and(|(_, others)| !others.iter().any(|value| values.contains(value)))
        });
        let shut_out = |a: &Form, b: &Form| b.closed && a.required.iter().any(|name| !b.known.contains(name));
        objects && (tagged || shut_out(self, other) || shut_out(other, self))
    }
}

/// All properties of all forms; required is what each of them requires.
fn united(mut base: Json, forms: &[Json]) -> Json {
    let mut properties = base.get("properties").cloned().unwrap_or_else(empty);
    let own: Vec<String> = properties.as_object().unwrap_or_default().iter().map(|(name, _)| name.clone()).collect();
    let mut open = false;
    for form in forms {
        open |= form.get("additionalProperties").or(form.get("unevaluatedProperties")) != Some(&Json::Bool(false));
        for (name, schema) in form.get("properties").and_then(Json::as_object).unwrap_or_default() {
            match properties.get(name).cloned() {
                None => properties.set(name, schema.clone()),
                // What the base says holds in every form; a form may only say more.
                Some(_) if own.contains(name) => {}
                Some(known) if known == *schema => {}
                Some(Json::Object(known)) if known.len() == 1 && known[0].0 == "anyOf" => {
                    let mut branches = known[0].1.as_array().unwrap_or_default().to_vec();
                    push_new(&mut branches, schema.clone());
                    properties.set(name, Json::Object(vec![("anyOf".into(), Json::Array(branches))]));
                }
                Some(known) => {
                    let branches = Json::Array(vec![known, schema.clone()]);
                    properties.set(name, Json::Object(vec![("anyOf".into(), branches)]));
                }
            }
        }
    }
    let names = |schema: &Json| schema.get("required").and_then(Json::as_array).unwrap_or_default().to_vec();
    let mut required = names(&base);
    if let Some((first, rest)) = forms.split_first() {
        for name in names(first) {
            if rest.iter().all(|form| names(form).contains(&name)) && !required.contains(&name) {
                required.push(name);
            }
        }
    }
    base.set("properties", properties);
    if !required.is_empty() {
        base.set("required", Json::Array(required));
    }
    let closed = base.remove("unevaluatedProperties") == Some(Json::Bool(false));
    if (closed || !open) && base.get("additionalProperties").is_none() {
        base.set("additionalProperties", Json::Bool(false));
    }
    base
}

/// The forms of a root that can't have any, by the names of what they have.
fn alternatives(forms: &[Json]) -> String {
    let each: Vec<String> = forms
        .iter()
        .map(|form| {
            let properties = form.get("properties").and_then(Json::as_object).unwrap_or_default();
            let required: Vec<&str> = form
                .get("required")
                .and_then(Json::as_array)
                .unwrap_or_default()
                .iter()
                .filter_map(Json::as_str)
                .collect();
            let mut names: Vec<String> = properties
                .iter()
                .map(|(name, schema)| match values(schema) {
                    Some(values) if values.len() == 1 => format!("`{name}` = {}", words::json(&values[0])),
                    _ if required.contains(&name.as_str()) => format!("`{name}`"),
                    _ => format!("optionally `{name}`"),
                })
                .collect();
            names.extend(
                required
                    .iter()
                    .filter(|name| !properties.iter().any(|(known, _)| known == *name))
                    .map(|name| format!("`{name}`")),
            );
            if names.is_empty() { "nothing more".to_owned() } else { names.join(", ") }
        })
        .collect();
    format!("Give one of these: {}.", each.join("; or "))
}

fn has_illegal_key(value: &Json, rule: Rule) -> bool {
    match value {
        Json::Object(members) => members.iter().any(|(key, inner)| !rule.is_legal(key) || has_illegal_key(inner, rule)),
        Json::Array(elements) => elements.iter().any(|element| has_illegal_key(element, rule)),
        _ => false,
    }
}

fn push_new(all: &mut Vec<Json>, one: Json) {
    if !all.contains(&one) {
        all.push(one);
    }
}

fn without_null(types: &Json) -> Json {
    let left: Vec<String> = names(types).into_iter().filter(|name| name != "null").collect();
    match left.as_slice() {
        [only] => Json::string(only),
        _ => Json::Array(left.into_iter().map(Json::String).collect()),
    }
}

/// Adds sentences to the description.
fn describe(schema: &mut Json, said: &[String]) {
    if said.is_empty() {
        return;
    }
    let own = schema.get("description").and_then(Json::as_str).map(str::trim_end).filter(|own| !own.is_empty());
    let sentences: Vec<&str> = said
        .iter()
        .map(String::as_str)
        .filter(|one| own.is_none_or(|own| !own.lines().any(|line| line == *one)))
        .collect();
    let all: Vec<&str> = own.into_iter().chain(sentences).collect();
    schema.set("description", Json::String(all.join("\n")));
}

/// Always in the same place, wherever it was added.
fn place_description(schema: &mut Json) {
    if let Some(description) = schema.remove("description")
        && let Json::Object(members) = schema
    {
        let at = members.iter().position(|(keyword, _)| keyword == "type" || keyword == "anyOf").map_or(0, |at| at + 1);
        members.insert(at, ("description".to_owned(), description));
    }
}

/// The one form of a union beside what describes the union: both descriptions are kept.
fn describe_inner(outer: &mut Json, inner: &Json) -> Json {
    let mut inner = inner.clone();
    if outer.get("description").is_some()
        && let Some(Json::String(description)) = inner.remove("description")
    {
        describe(outer, &[description]);
    }
    inner
}

/// What limits count.
#[derive(Debug, Default)]
struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
    optional: usize,
    unions: usize,
}

impl Size {
    /// # Errors
    /// If it is more than the dialect takes.
    fn of(schema: &Json, dialect: &Dialect) -> Result<Self, Refusal> {
        let mut size = Size::default();
        size.measure(schema, 0);
        size.check(dialect)?;
        Ok(size)
    }

    fn measure(&mut self, schema: &Json, depth: usize) {
        for (keyword, value) in schema.as_object().unwrap_or_default() {
            match (keyword.as_str(), value) {
                ("properties", Json::Object(properties)) => {
                    self.depth = self.depth.max(depth + 1);
                    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
                    for (name, inner) in properties {
                        self.properties += 1;
                        self.characters += name.chars().count();
                        self.optional += usize::from(!required.iter().any(|other| other.as_str() == Some(name)));
                        let union = inner.get("anyOf").is_some() || matches!(inner.get("type"), Some(Json::Array(_)));
                        self.unions += usize::from(union);
                        self.measure(inner, depth + 1);
                    }
                }
                ("$defs", Json::Object(definitions)) => {
                    for (name, inner) in definitions {
                        self.characters += name.chars().count();
                        self.measure(inner, depth);
                    }
                }
                ("enum", Json::Array(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(|value| value.to_string().chars().count()).sum::<usize>();
                }
                ("anyOf", Json::Array(branches)) => branches.iter().for_each(|branch| self.measure(branch, depth)),
                ("items" | "additionalProperties", inner) => self.measure(inner, depth + 1),
                _ => {}
            }
        }
    }

    fn check(&self, dialect: &Dialect) -> Result<(), Refusal> {
        let limits = &dialect.limits;
        let counts = [
            ("properties", self.properties, limits.properties),
            ("levels", self.depth, limits.depth),
            ("enum values", self.enum_values, limits.enum_values),
            ("characters in names and enums", self.characters, limits.characters),
        ];
        match counts.into_iter().find(|(_, count, limit)| count > limit) {
            Some((what, count, limit)) => {
                Err(Refusal { pointer: String::new(), reason: Reason::TooLarge { what, count, limit } })
            }
            None => Ok(()),
        }
    }
}
