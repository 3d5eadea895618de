use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;

use super::args::{ArgType, Visit};
use super::definition::{Definition, Param};
use crate::call::Content;
use crate::schema::REDACTED;
use crate::schema::foreign::Foreign;
use crate::schema::json::{Cursor, Json, Token, canonical_number};
use crate::schema::quick::Expected;
use crate::schema::{
    Compiled, Digest, Graph, Issue, JsonPath, MAX_DEPTH, Origin, Problems, Purpose, Reached, Said, Segment, Step,
    ToolSchema, Unreached, Walked, compile, for_each_subschema, hints, normalise, shown,
};

/// A definition's schemas, built once: what is shown, and what is enforced.
#[derive(Debug)]
pub(crate) struct Built {
    schema: ToolSchema,
    output_schema: String,
    digest: Digest,
    unshown: Option<Digest>,
    origin: Origin,
    input: Enforced,
    output: Enforced,
    /// The body returns nothing at all.
    output_is_null: bool,
    checklist: Vec<(String, Json)>,
    /// It asks for something itself before it runs.
    has_lines: OnceLock<bool>,
    issues: Vec<Issue>,
}

/// A schema with all that enforces it.
#[derive(Debug)]
struct Enforced {
    graph: Graph,
    foreign: Option<Foreign>,
}

impl Enforced {
    fn new(
        schema: &Json,
        shown: &Json,
        (origin, purpose, root): (Origin, Purpose, Root),
        place: &str,
        issues: &mut Vec<Issue>,
    ) -> Self {
        let mut compiled = compile(schema, origin, purpose);
        let apart = |issue: &Issue| issue.what.starts_with("forms that can't be told apart");
        if root == Root::Composed
            && !compiled.issues.is_empty()
            && compiled.issues.iter().all(apart)
            && let Some(wider) = in_other_hands(schema, origin, purpose)
        {
            compiled = wider;
        }
        let Compiled { graph, foreign, issues: found } = compiled;
        let mut note = |issue: Issue| {
            issues.push(Issue { pointer: format!("{place}{}", issue.pointer), what: issue.what });
        };
        found.into_iter().for_each(&mut note);
        let foreign = if foreign.is_empty() {
            None
        } else {
            match Foreign::new(shown, foreign) {
                Ok(foreign) => Some(foreign),
                Err(found) => {
                    found.into_iter().for_each(&mut note);
                    None
                }
            }
        };
        Enforced { graph, foreign }
    }

    fn accept(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        let walked = self.check_foreign(text, self.graph.accept(text, open)?)?;
        if self.foreign.is_some() && walked.text.is_some() {
            // As it was given, too: what a keyword says of absent members it says before anything is filled in.
            self.check_foreign(text, self.graph.as_given(text, open)?)?;
        }
        Ok(walked)
    }

    fn check_foreign(&self, text: &str, walked: Walked) -> Result<Walked, Problems> {
        if let Some(foreign) = &self.foreign {
            foreign.check(walked.text.as_deref().unwrap_or(text), self.graph.has_secrets())?;
        }
        Ok(walked)
    }
}

/// The keywords by which a schema is put together from others.
const COMPOSITION: [&str; 7] = ["oneOf", "anyOf", "allOf", "not", "if", "then", "else"];

/// What somebody wrote, and the walker can't tell apart alone: it is walked as far as it isn't put together from others,
/// and the `jsonschema` crate judges the whole. Nothing that is the host's own can be in it: secrets have to be found.
fn in_other_hands(schema: &Json, origin: Origin, purpose: Purpose) -> Option<Compiled> {
    fn separate(schema: &mut Json, is_ours: &mut bool) {
        *is_ours |= schema.as_object().into_iter().flatten().any(|(key, _)| key.starts_with("x-tool-"));
        for_each_subschema(schema, &mut |schema| separate(schema, is_ours));
        for keyword in COMPOSITION {
            schema.remove(keyword);
        }
    }
    if !cfg!(feature = "jsonschema") || origin != Origin::Written {
        return None;
    }
    let mut apart = schema.clone();
    let mut is_ours = false;
    separate(&mut apart, &mut is_ours);
    if is_ours || apart == *schema {
        return None;
    }
    let mut compiled = compile(&apart, origin, purpose);
    compiled.foreign.push(String::new());
    compiled.issues.is_empty().then_some(compiled)
}

impl Built {
    pub(super) fn from_definition(definition: &'static Definition) -> Self {
        let mut generator = SchemaSettings::draft2020_12()
            .for_deserialize()
            .with(|settings| settings.meta_schema = None)
            .into_generator();
        let mut types = Vec::new();
        (definition.args)(&mut Visit::describe(&mut generator, &mut types));
        let mut issues = Vec::new();
        let mut parameters = if definition.whole {
            types.pop().flatten().map_or(Json::Null, |whole| Json::from_value(whole.schema.as_value()))
        } else {
            object_of(definition.params, types, &mut issues)
        };
        add_definitions(&mut parameters, &mut generator);
        normalise(&mut parameters);
        settle_constraints(&mut parameters);
        check_root(&mut parameters, Root::Plain, &mut issues);
        add_conditions(&mut parameters, definition.conditions);

        let mut generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .with(|settings| settings.meta_schema = None)
            .into_generator();
        let mut output = match definition.output {
            Some(describe) => Json::from_value((describe().describe)(&mut generator).as_value()),
            None => Json::Bool(true),
        };
        add_definitions(&mut output, &mut generator);
        normalise(&mut output);
        settle_constraints(&mut output);

        let description = definition.description.trim_end().to_owned();
        Self::assemble(
            definition.name.to_owned(),
            description,
            &parameters,
            &output,
            definition.deferred,
            (Origin::RustType, Root::Plain),
            issues,
        )
    }

    /// Of schemas that somebody wrote: taken as they are, nothing closed or reordered.
    pub(super) fn from_schemas(
        name: String,
        description: String,
        parameters: &Json,
        output: &Json,
        deferred: bool,
        root: Root,
    ) -> Self {
        let mut issues = Vec::new();
        let mut parameters = parameters.clone();
        check_root(&mut parameters, root, &mut issues);
        Self::assemble(name, description, &parameters, output, deferred, (Origin::Written, root), issues)
    }

    fn assemble(
        name: String,
        description: String,
        parameters: &Json,
        output: &Json,
        deferred: bool,
        (origin, root): (Origin, Root),
        mut issues: Vec<Issue>,
    ) -> Self {
        let shown_parameters = shown(parameters);
        let shown_output = shown(output);
        let input =
            Enforced::new(parameters, &shown_parameters, (origin, Purpose::Arguments, root), "parameters", &mut issues);
        let purpose = Purpose::Output { sort_sets: origin == Origin::RustType };
        let enforced_output = Enforced::new(output, &shown_output, (origin, purpose, root), "output", &mut issues);
        let checklist = lists_within(parameters);
        let mut defined = vec![
            ("name".into(), Json::string(&name)),
            ("description".into(), Json::string(&description)),
            ("parameters".into(), shown_parameters.clone()),
            ("defer".into(), Json::Bool(deferred)),
            ("output".into(), shown_output.clone()),
        ];
        if !checklist.is_empty() {
            // What has to be known before it runs is a part of what the tool is.
            defined.push(("checklist".into(), Json::Object(checklist.clone())));
        }
        let digest = Digest::of(&Json::Object(defined));
        let unshown = (shown_parameters != *parameters).then(|| Digest::of(parameters));
        Built {
            unshown,
            output_is_null: shown_output.get("type").and_then(Json::as_str) == Some("null"),
            output_schema: shown_output.to_string(),
            schema: ToolSchema::new(name, description, shown_parameters, deferred),
            digest,
            origin,
            input,
            output: enforced_output,
            issues,
            checklist,
            has_lines: OnceLock::new(),
        }
    }

    pub(crate) fn schema(&self) -> &ToolSchema {
        &self.schema
    }

    pub(crate) fn output_schema(&self) -> &str {
        &self.output_schema
    }

    /// Its results are nothing at all.
    pub(crate) fn returns_nothing(&self) -> bool {
        self.output_is_null
    }

    pub(crate) fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Identifies the parameters with what only the host reads in them, such as which are secret, if there is any. The
    /// definition's digest has what a model sees.
    pub(crate) fn unshown(&self) -> Option<&Digest> {
        self.unshown.as_ref()
    }

    /// What can stand at a place of accepted arguments?
    ///
    /// # Errors
    /// If nothing can.
    pub(crate) fn reach(&self, steps: &[Step]) -> Result<Reached, Unreached> {
        self.input.graph.reach(steps)
    }

    /// The same, where there is something after the first `there` steps.
    pub(crate) fn reach_from(&self, steps: &[Step], there: usize) -> Result<Reached, Unreached> {
        self.input.graph.reach_from(steps, there)
    }

    /// May something be given at a path, beside all else of these arguments?
    pub(crate) fn may_stand(&self, arguments: &Json, path: &JsonPath) -> bool {
        self.input.graph.may_stand(arguments, path)
    }

    /// What keeps the tool from being registered.
    pub(crate) fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// What the arguments have to be, if that is all in here.
    pub(super) fn quick_graph(&self) -> Option<&Graph> {
        self.input.foreign.is_none().then_some(&self.input.graph)
    }

    /// What an output has to be, if that is all in here.
    pub(super) fn quick_output(&self) -> Option<Expected<'_>> {
        self.output.foreign.is_none().then(|| self.output.graph.expected())
    }

    pub(super) fn input_graph(&self) -> &Graph {
        &self.input.graph
    }

    pub(crate) fn accept(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        self.input.accept(text, open)
    }

    /// As [`accept`](Self::accept), with the elements of sets in order: of types that are sets. Of a schema that
    /// somebody wrote nobody knows whether an order means something.
    pub(crate) fn accept_sets(&self, text: &str, open: &[JsonPath]) -> Result<Walked, Problems> {
        match self.origin {
            Origin::RustType => self.input.check_foreign(text, self.input.graph.accept_sets(text, open)?),
            Origin::Written => self.accept(text, open),
        }
    }

    pub(crate) fn has_secrets(&self) -> bool {
        self.input.graph.has_secrets()
    }

    /// The secrets of accepted arguments.
    pub(crate) fn secrets(&self, canonical: &str, open: &[JsonPath]) -> Vec<String> {
        self.input.graph.secrets(canonical, open)
    }

    /// Takes the secrets among accepted arguments out of texts that may quote them: words of the host's own code, which was
    /// given the arguments.
    pub(crate) fn without_secrets<'t>(
        &self,
        canonical: &str,
        open: &[JsonPath],
        texts: impl IntoIterator<Item = &'t mut String>,
    ) {
        if !self.has_secrets() {
            return;
        }
        let mut secrets = self.secrets(canonical, open);
        // The longest first: what is left of it once a shorter one was taken out would be a part of a secret.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for text in texts {
            for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
                *text = text.replace(secret.as_str(), REDACTED);
            }
        }
    }

    /// Which of accepted arguments come from defaults.
    pub(crate) fn filled_in(&self, given: &str, canonical: &str) -> Vec<JsonPath> {
        self.input.graph.filled_in(given, canonical)
    }

    /// Does the tool itself ask for something before it runs? Found out once.
    pub(crate) fn has_lines(&self, find: impl FnOnce() -> bool) -> bool {
        *self.has_lines.get_or_init(find)
    }

    /// What the author said of the argument at a path.
    pub(crate) fn said_of(&self, path: &JsonPath) -> Said {
        self.input.graph.said_of(path)
    }

    /// The lines of the provider's checklist that stand in the parameters as an extension keyword, each list with the
    /// pointer of the subschema that it stands in.
    pub(crate) fn checklist(&self) -> &[(String, Json)] {
        &self.checklist
    }

    pub(crate) fn redact(&self, canonical: &str, open: &[JsonPath]) -> String {
        self.input.graph.redact(canonical, open)
    }

    /// Checks an output along its schema.
    ///
    /// # Errors
    /// With the first place where it differs, and what is wrong there.
    pub(crate) fn check_output(&self, text: Arc<str>) -> Result<Arc<str>, (JsonPath, String)> {
        match self.output.accept(&text, &[]) {
            Ok(walked) => Ok(walked.recycle().map_or(text, Arc::from)),
            Err(problems) => Err(match problems.iter().next() {
                Some(problem) => (problem.path().clone(), problem.for_output()),
                None => (JsonPath::root(), "it does not match its schema".to_owned()),
            }),
        }
    }

    /// What a model reads of a value: text as it is, everything else as JSON.
    pub(super) fn narrate(&self, value: &Arc<str>) -> Content {
        let text: Arc<str> = match Cursor::new(value).token() {
            Ok(Token::String { raw: "", .. }) => NO_OUTPUT.into(),
            Ok(Token::String { raw, escaped }) => Token::unescape(raw, escaped).into(),
            Ok(Token::Null) if self.output_is_null => NO_OUTPUT.into(),
            _ => Arc::clone(value),
        };
        Content::text(text)
    }
}

/// What a model reads where there is nothing to read: some providers refuse an empty result.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// Every list of the provider's lines in a schema, with its pointer.
fn lists_within(parameters: &Json) -> Vec<(String, Json)> {
    fn gather(schema: &Json, pointer: &str, depth: usize, found: &mut Vec<(String, Json)>) {
        if let Some(list) = schema.get(hints::CHECKLIST) {
            found.push((pointer.to_owned(), list.clone()));
        }
        if depth == 0 {
            return;
        }
        for (name, property) in schema.get("properties").and_then(Json::as_object).unwrap_or_default() {
            let mut path = JsonPath::root();
            path.push(Segment::Key(name.clone()));
            gather(property, &[pointer, &path.to_pointer()].concat(), depth - 1, found);
        }
    }
    let mut found = Vec::new();
    gather(parameters, "", MAX_DEPTH, &mut found);
    found
}

/// Puts what stands in the attribute beside what stands in the schema: one list, however it was written.
fn add_conditions(schema: &mut Json, conditions: &[&[(&str, &str)]]) {
    if conditions.is_empty() {
        return;
    }
    let mut lines = match schema.get(hints::CHECKLIST) {
        Some(Json::Array(lines)) => lines.clone(),
        // What is no list is no line either, and says so.
        Some(other) => vec![other.clone()],
        None => Vec::new(),
    };
    let member = |(key, value): &(&str, &str)| ((*key).to_owned(), Json::string(*value));
    lines.extend(conditions.iter().map(|keys| Json::Object(keys.iter().map(member).collect())));
    schema.set(hints::CHECKLIST, Json::Array(lines));
}

fn add_definitions(schema: &mut Json, generator: &mut SchemaGenerator) {
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema.set("$defs", Json::from_value(&serde_json::Value::Object(definitions)));
    }
}

/// What the root of the parameters may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// An object with `properties` and nothing else, as models' APIs take it.
    Plain,
    /// Any object. What a provider is shown of it is wider.
    Composed,
}

fn check_root(schema: &mut Json, root: Root, issues: &mut Vec<Issue>) {
    let mut refuse = |what: &str| {
        issues.push(Issue { pointer: "parameters".into(), what: what.to_owned() });
    };
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        refuse(
            "the root has to be a plain object (`\"type\": \"object\"`), so that every provider takes it: make the value one of its `properties`, or a field of a struct",
        );
        return;
    }
    for keyword in ["oneOf", "anyOf", "allOf", "$ref", "not", "if", "enum", "const"] {
        if root == Root::Plain && schema.get(keyword).is_some() {
            refuse(&format!(
                "the root has `{keyword}`, which no provider takes there: put the part that varies under a property of its own"
            ));
        }
    }
    if schema.get("properties").is_none() {
        schema.set("properties", Json::Object(Vec::new()));
    }
}

/// The schema of the argument object of a function.
fn object_of(params: &[Param], types: Vec<Option<ArgType>>, issues: &mut Vec<Issue>) -> Json {
    let mut properties = Vec::new();
    let mut required = Vec::new();
    for (param, described) in params.iter().zip(types.into_iter().map(Some).chain(std::iter::repeat_with(|| None))) {
        let Some(Some(described)) = described else { continue };
        let mut schema = match Json::from_value(described.schema.as_value()) {
            schema @ Json::Object(_) => schema,
            // `true`: anything goes. Providers want an object.
            _ => Json::Object(Vec::new()),
        };
        describe(&mut schema, param, properties.len());
        match described.default {
            Some(default) => schema.set("default", default),
            None if described.has_default => issues.push(Issue {
                pointer: format!("parameters/properties/{}/default", param.name),
                what: "can't be written as JSON, so nobody who judges a call could see it".to_owned(),
            }),
            None => {}
        }
        if !described.examples.is_empty() {
            schema.set("examples", Json::Array(described.examples));
        }
        if !described.optional && !described.has_default {
            required.push(Json::string(param.name));
        }
        properties.push((param.name.to_owned(), schema));
    }
    let mut object =
        Json::Object(vec![("type".into(), Json::string("object")), ("properties".into(), Json::Object(properties))]);
    if !required.is_empty() {
        object.set("required", Json::Array(required));
    }
    object.set("additionalProperties", Json::Bool(false));
    object
}

/// What the author wrote of one parameter.
fn describe(schema: &mut Json, param: &Param, position: usize) {
    schema.set("description", Json::string(param.description.trim_end()));
    for (hint, is_set) in [(hints::PATH, param.path), (hints::SECRET, param.secret), (hints::AUTHORED, param.authored)]
    {
        if is_set {
            schema.set(hint, Json::Bool(true));
        }
    }
    schema.set(hints::ORDER, Json::integer(position as u64));
    let aliases: Vec<Json> = param.aliases.iter().flatten().map(|alias| Json::string(*alias)).collect();
    if !aliases.is_empty() {
        schema.set(hints::ALIAS, Json::Array(aliases));
    }
    let number = |text: &str| Json::Number(canonical_number(text).map_or_else(|| text.to_owned(), Cow::into_owned));
    let constraints = [
        ("minimum", param.minimum.map(number)),
        ("maximum", param.maximum.map(number)),
        ("exclusiveMaximum", param.exclusive_maximum.map(number)),
        ("minLength", param.min_length.map(Json::integer)),
        ("maxLength", param.max_length.map(Json::integer)),
        ("pattern", param.pattern.map(Json::string)),
        ("format", param.format.map(Json::string)),
    ];
    for (keyword, value) in constraints {
        if let Some(value) = value {
            // What the type itself asks for still holds: its own bound is kept beside.
            schema.set(&format!("{CONSTRAINT}{keyword}"), value);
        }
    }
}

/// Marks an author's constraint until the type's own have been settled.
const CONSTRAINT: &str = "x-tool-constraint-";

/// Puts authors' constraints beside the types' own: the tighter bound holds, and a length is that
/// of a string, an array or an object, as the type has it.
fn settle_constraints(schema: &mut Json) {
    let definitions = schema.get("$defs").cloned().unwrap_or(Json::Null);
    settle_within(schema, &definitions);
}

fn settle_within(schema: &mut Json, definitions: &Json) {
    let marked: Vec<(String, Json)> = schema
        .as_object()
        .unwrap_or_default()
        .iter()
        .filter_map(|(keyword, value)| Some((keyword.strip_prefix(CONSTRAINT)?.to_owned(), value.clone())))
        .collect();
    if !marked.is_empty() {
        let kind = kind_of(schema, definitions, 0);
        for (keyword, value) in marked {
            schema.remove(&format!("{CONSTRAINT}{keyword}"));
            let keyword = match (keyword.as_str(), kind) {
                ("minLength", Some("array")) => "minItems",
                ("maxLength", Some("array")) => "maxItems",
                ("minLength", Some("object")) => "minProperties",
                ("maxLength", Some("object")) => "maxProperties",
                (keyword, _) => keyword,
            };
            let looser = schema.get(keyword).is_some_and(|own| is_looser(keyword, own, &value));
            if schema.get(keyword).is_none() || looser {
                schema.set(keyword, value);
            }
        }
    }
    for_each_subschema(schema, &mut |inner| settle_within(inner, definitions));
}

/// Is the type's own bound the looser one?
fn is_looser(keyword: &str, own: &Json, authors: &Json) -> bool {
    use crate::schema::json::Number;
    let parse = |value: &Json| value.as_number().and_then(Number::parse);
    match (parse(own), parse(authors)) {
        (Some(own), Some(authors)) if keyword.starts_with("min") => own.compare(authors).is_lt(),
        (Some(own), Some(authors)) => own.compare(authors).is_gt(),
        _ => true,
    }
}

/// Whether a value with a length is a string, an array or an object.
fn kind_of(schema: &Json, definitions: &Json, depth: usize) -> Option<&'static str> {
    let kinds = ["string", "array", "object"];
    let named = |value: &Json| value.as_str().and_then(|name| kinds.into_iter().find(|kind| *kind == name));
    match schema.get("type") {
        Some(Json::Array(names)) => names.iter().find_map(named),
        Some(name) => named(name),
        None if depth < 16 => {
            let target =
                schema.get("$ref").and_then(Json::as_str).and_then(|reference| reference.strip_prefix("#/$defs/"));
            let branches = schema.get("anyOf").and_then(Json::as_array).unwrap_or_default();
            target
                .and_then(|name| definitions.get(name))
                .into_iter()
                .chain(branches)
                .find_map(|inner| kind_of(inner, definitions, depth + 1))
        }
        None => None,
    }
}
