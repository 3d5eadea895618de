//! A line held against one tool.

use std::sync::Arc;

use super::condition::{Condition, Registered};
#[cfg(feature = "cel")]
use super::derive::Derivation;
#[cfg(feature = "cel")]
use super::expression::{Expression, Scope};
use super::file::{How, Labelled, Line, Tested};
use super::limit::Limit;
use super::origin::Origin;
use super::shape::Shape;
use super::source::SourceKind;
use crate::document::{At, Sited};
use crate::gate::{Addressee, parse_argument, written_argument};
use crate::schema::json::Json;
use crate::schema::{JsonPath, Kind as JsonKind, Segment, Step, text};
use crate::tool::HostTool;

/// A line that is about one tool.
#[derive(Clone)]
pub(crate) struct Applied {
    /// What records call it by.
    pub(crate) name: Arc<str>,
    pub(crate) origin: Origin,
    /// What it says, for people and models.
    pub(crate) words: Option<Arc<str>>,
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// About an argument.
    Value(Box<ValueLine>),
    /// The user has to agree to the call.
    Agree(Labelled),
    /// The user has to have been told.
    Tell,
    Condition {
        how: How,
        test: Test,
        approver: Addressee,
    },
    /// It may be done so often, or so much, in so long.
    Limit(Arc<Limit>),
    /// It can't be held against this tool, so nobody knows what it asks for.
    Broken(String),
}

/// What is asked of an argument.
#[derive(Clone)]
pub(crate) struct ValueLine {
    pub(crate) place: Place,
    pub(crate) label: Option<Labelled>,
    /// Where it may be found. `None`: anywhere.
    pub(crate) from: Option<Vec<SourceKind>>,
    pub(crate) says: Vec<String>,
    /// Values, as canonical JSON text, and phrases that mean them.
    pub(crate) aliases: Vec<(String, String)>,
    pub(crate) ask: Option<Arc<str>>,
    pub(crate) authored: bool,
    #[cfg(feature = "cel")]
    pub(crate) derive: Option<Arc<Derivation>>,
}

/// What a condition is checked by.
#[derive(Clone)]
pub(crate) enum Test {
    /// By its name.
    Registered(Arc<str>, Arc<dyn Condition>),
    #[cfg(feature = "cel")]
    Expression(Arc<Expression>),
}

/// How many names of one value are gone through.
const MOST_NAMES: usize = 64;

/// An argument, or one of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    steps: Vec<Step>,
    /// For each step, the names that the member has in canonical texts.
    names: Vec<Vec<Box<str>>>,
}

impl Place {
    /// # Errors
    /// If the tool has no such argument, with the names that it has there and the step that leads nowhere.
    pub(super) fn new(steps: &[Step], tool: &HostTool) -> Result<Self, (usize, Vec<String>)> {
        match tool.built().reach(steps) {
            Ok(reached) => Ok(Place { steps: steps.to_vec(), names: reached.names }),
            Err(unreached) => Err((unreached.step, unreached.known)),
        }
    }

    /// Is it about the value at this path?
    pub(crate) fn is_of(&self, path: &JsonPath) -> bool {
        path.segments().len() == self.steps.len() && self.holds(path)
    }

    /// Is it about the value at this path, or about one that this is in?
    pub(crate) fn holds(&self, path: &JsonPath) -> bool {
        let segments = path.segments();
        segments.len() >= self.steps.len()
            && segments.iter().zip(self.steps.iter().zip(&self.names)).all(|(segment, (step, names))| {
                match (segment, step) {
                    (Segment::Index(at), Step::Index(wanted)) => at == wanted,
                    (Segment::Index(_), Step::Each) => true,
                    (Segment::Key(key), Step::Member(name)) => {
                        names.iter().any(|known| **known == **key) || (names.is_empty() && name == key)
                    }
                    // A member with digits for a name looks like an index in a pointer.
                    (Segment::Index(at), Step::Member(name)) => *name == at.to_string(),
                    _ => false,
                }
            })
    }

    /// Is it about values that stand at or below this path, or that this path stands below?
    pub(crate) fn is_below(&self, path: &JsonPath) -> bool {
        let shared = path.segments().len().min(self.steps.len());
        let place = Place { steps: self.steps[..shared].to_vec(), names: self.names[..shared].to_vec() };
        place.is_of(&JsonPath::from_segments(path.segments()[..shared].to_vec()))
    }

    /// The one value that it is about, unless it may be about several: by each of the names that it may have, which is
    /// one but for forms of a union that differ in that.
    pub(crate) fn only(&self) -> Vec<JsonPath> {
        let mut paths = vec![Vec::new()];
        for (step, names) in self.steps.iter().zip(&self.names) {
            let segments: Vec<Segment> = match step {
                Step::Member(name) if names.is_empty() => vec![Segment::Key(name.clone())],
                Step::Member(_) => names.iter().map(|name| Segment::Key(name.to_string())).collect(),
                Step::Index(index) => vec![Segment::Index(*index)],
                Step::Each => return Vec::new(),
            };
            paths = paths
                .iter()
                .flat_map(|path| segments.iter().map(|segment| path.iter().cloned().chain([segment.clone()]).collect()))
                .take(MOST_NAMES)
                .collect();
        }
        paths.into_iter().map(JsonPath::from_segments).collect()
    }

    /// Where the one value that it is about is missing in a call's arguments, if it is.
    pub(super) fn missing(&self, arguments: &Json, tool: &HostTool) -> Option<JsonPath> {
        let paths = self.only();
        let is_there =
            |path: &JsonPath| arguments.pointer(&path.to_pointer()).is_some_and(|value| *value != Json::Null);
        if paths.iter().any(is_there) {
            return None;
        }
        let by_form =
            if paths.len() > 1 { paths.iter().find(|path| tool.built().may_stand(arguments, path)) } else { None };
        by_form.or(paths.first()).cloned()
    }

    pub(crate) fn written(&self) -> String {
        written_argument(&self.steps)
    }
}

/// What is wrong with a line, and where.
pub(super) type Wrong = (At, String);

impl Line {
    /// The arguments that the line is about.
    ///
    /// # Errors
    /// If they can't be read.
    pub(super) fn steps(&self) -> Result<Option<Vec<Step>>, Wrong> {
        let Some(argument) = &self.argument else { return Ok(None) };
        parse_argument(&argument.value)
            .map(Some)
            .map_err(|wrong| (argument.at, format!("argument \"{}\" {wrong}", text::shown(&argument.value, 80))))
    }

    /// The line as it is about one tool.
    ///
    /// # Errors
    /// With why it can't be held against this tool.
    pub(super) fn for_tool(&self, tool: &HostTool, registered: &Registered) -> Result<Applied, Wrong> {
        let origin = Origin::new(self.list, self.origin.as_str());
        let words: Option<Arc<str>> = self.words.as_deref().map(Into::into);
        let kind = match (&self.test, self.steps()?, self.label) {
            (Some(test), ..) => Kind::Condition {
                how: test.how,
                test: self.test(test, tool, registered)?,
                approver: self.approver.clone().unwrap_or(Addressee::User),
            },
            (None, None, None) if self.limit.is_some() => Kind::Limit(Arc::new(self.limit(tool, &origin)?)),
            (None, Some(steps), label) => Kind::Value(Box::new(self.value(&steps, label, tool, registered)?)),
            (None, None, Some(Labelled::Notice)) => Kind::Tell,
            (None, None, Some(label)) => Kind::Agree(label),
            // It was noted when the line was read.
            (None, None, None) => Kind::Broken("the line says nothing".to_owned()),
        };
        let name = match (&self.name, &kind) {
            (Some(name), _) => name.value.as_str().into(),
            (None, Kind::Value(line)) => line.place.written().into(),
            (None, _) => format!("line {} of {}", self.position + 1, self.origin).into(),
        };
        Ok(Applied { name, origin, words, kind })
    }

    fn value(
        &self,
        steps: &[Step],
        label: Option<Labelled>,
        tool: &HostTool,
        registered: &Registered,
    ) -> Result<ValueLine, Wrong> {
        let at = self.argument.as_ref().and_then(|argument| argument.at);
        let place = place(steps, at, tool)?;
        #[cfg(not(feature = "cel"))]
        let _ = registered;
        #[cfg(not(feature = "cel"))]
        if let Some(derive) = &self.derive {
            return Err((derive.at, WITHOUT_CEL.to_owned()));
        }
        Ok(ValueLine {
            place,
            label,
            from: self.from.clone(),
            says: self.says.clone(),
            aliases: self.aliases(steps, tool)?,
            ask: self.ask.as_deref().map(Into::into),
            authored: self.authored,
            #[cfg(feature = "cel")]
            derive: match &self.derive {
                Some(derive) => {
                    let formula = expression(derive, false, tool, registered)?;
                    Some(Arc::new(Derivation::new(formula, tool).map_err(|why| (derive.at, why))?))
                }
                None => None,
            },
        })
    }

    /// # Errors
    /// If the argument takes no such value.
    fn aliases(&self, steps: &[Step], tool: &HostTool) -> Result<Vec<(String, String)>, Wrong> {
        let segment = |step: &Step| match step {
            Step::Member(name) => Segment::Key(name.clone()),
            Step::Index(index) => Segment::Index(*index),
            Step::Each => Segment::Index(0),
        };
        let path = JsonPath::from_segments(steps.iter().map(segment).collect());
        let shape = Shape::at(tool.schema().parameters_json(), &path);
        let mut aliases = Vec::new();
        for (written, phrases) in &self.aliases {
            let value = shape.value_of(&written.value).ok_or_else(|| {
                let shown = text::shown(&written.value, 64);
                (written.at, format!("`{}`: `{}` is never `{shown}`", tool.name(), written_argument(steps)))
            })?;
            aliases.extend(phrases.iter().map(|phrase| (value.clone(), phrase.clone())));
        }
        Ok(aliases)
    }

    fn limit(&self, tool: &HostTool, origin: &Origin) -> Result<Limit, Wrong> {
        let Some(written) = &self.limit else { return Err((self.at, "there is no limit".to_owned())) };
        let sums = match &written.sum {
            Some(sum) => Some(summed(sum, tool)?),
            None => None,
        };
        let name = self.name.as_ref().map_or("", |name| &name.value);
        Ok(Limit::new(written, origin, name, sums, self.approver.clone().unwrap_or(Addressee::User)))
    }

    fn test(&self, test: &Tested, tool: &HostTool, registered: &Registered) -> Result<Test, Wrong> {
        let Tested { by: Sited { value, at }, registered: is_registered, .. } = test;
        if *is_registered {
            return match registered.conditions.get(value) {
                Some(condition) => Ok(Test::Registered(value.as_str().into(), Arc::clone(condition))),
                None => {
                    let nearest = text::nearest(value, registered.conditions.keys().map(String::as_str));
                    let meant = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                    Err((*at, format!("no check named `{}` is registered{meant}", text::shown(value, 64))))
                }
            };
        }
        #[cfg(feature = "cel")]
        return Ok(Test::Expression(Arc::new(expression(&test.by, true, tool, registered)?)));
        #[cfg(not(feature = "cel"))]
        {
            let _ = tool;
            Err((*at, WITHOUT_CEL.to_owned()))
        }
    }
}

/// # Errors
/// If the tool has no such argument.
fn place(steps: &[Step], at: At, tool: &HostTool) -> Result<Place, Wrong> {
    Place::new(steps, tool).map_err(|(step, known)| {
        let written = written_argument(&steps[..=step.min(steps.len().saturating_sub(1))]);
        let meant = match steps.get(step) {
            Some(Step::Member(name)) => text::nearest(name, known.iter().map(String::as_str)),
            _ => None,
        };
        let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        (at, format!("`{}` has no argument `{written}`{meant}", tool.name()))
    })
}

/// The arguments that are summed: numbers that are always there.
fn summed(sum: &Sited<String>, tool: &HostTool) -> Result<Place, Wrong> {
    let Sited { value, at } = sum;
    let shown = text::shown(value, 80);
    let steps = parse_argument(value).map_err(|wrong| (*at, format!("sum \"{shown}\" {wrong}")))?;
    let place = place(&steps, *at, tool)?;
    let wrong = |why: &str| (*at, format!("`{}`: `{shown}` {why}, so that it can't be summed", tool.name()));
    let reached = tool.built().reach(&steps).map_err(|_| wrong("isn't there"))?;
    let mut may_be_absent = reached.may_be_absent;
    if let Some(each) = steps.iter().position(|step| *step == Step::Each) {
        // A list may be empty, but it is there, and what is summed is there in each of its elements.
        let list = tool.built().reach(&steps[..each]).map_err(|_| wrong("isn't there"))?;
        let inside = tool.built().reach_from(&steps, each + 1).map_err(|_| wrong("isn't there"))?;
        may_be_absent = list.may_be_absent || inside.may_be_absent;
    }
    let others = [JsonKind::Null, JsonKind::Boolean, JsonKind::String];
    if !reached.takes(JsonKind::Integer) || others.into_iter().any(|kind| reached.takes(kind)) {
        return Err(wrong("isn't always a number"));
    }
    if may_be_absent {
        return Err(wrong("may be absent"));
    }
    if place.only().iter().any(|path| tool.built().said_of(path).secret) {
        return Err(wrong("is a secret"));
    }
    Ok(place)
}

#[cfg(not(feature = "cel"))]
const WITHOUT_CEL: &str = "this build can't judge expressions: it lacks the feature `cel`";

#[cfg(feature = "cel")]
fn expression(
    text: &Sited<String>,
    is_condition: bool,
    tool: &HostTool,
    registered: &Registered,
) -> Result<Expression, Wrong> {
    let scope = registered.states.keys().fold(Scope::new().tool(tool), |scope, name| scope.state(name.as_str()));
    let compiled = if is_condition { Expression::condition } else { Expression::compile };
    compiled(&text.value, &scope).map_err(|error| (text.at, format!("for `{}`: {error}", tool.name())))
}

/// The lines that the provider of a tool has written: labels in descriptions, and lists in the schema.
pub(super) fn of_provider(tool: &HostTool, registered: &Registered) -> Vec<Applied> {
    let mut applied = Vec::new();
    for super::labels::Label { kind, steps, text } in super::labels::of(tool.schema()) {
        let origin = Origin::new(super::origin::ListKind::Provider, "description");
        let words: Option<Arc<str>> = (!text.is_empty()).then(|| text.as_str().into());
        let place = (!steps.is_empty()).then(|| Place::new(&steps, tool));
        let (name, kind) = match (place, kind) {
            (Some(Ok(place)), _) => {
                let name: Arc<str> = place.written().into();
                (name, Kind::Value(Box::new(ValueLine::labelled(place, kind))))
            }
            (Some(Err(_)), _) => {
                let name: Arc<str> = written_argument(&steps).into();
                (name, Kind::Broken("it stands at an argument that no call can have".to_owned()))
            }
            (None, Labelled::Notice) => ("notice".into(), Kind::Tell),
            (None, Labelled::Confirm) => ("confirm".into(), Kind::Agree(kind)),
            (None, Labelled::Required) => ("required".into(), Kind::Agree(kind)),
        };
        applied.push(Applied { name, origin, words, kind });
    }
    applied.extend(super::extension::lines_of(tool).into_iter().map(|line| match line {
        Ok(line) => match line.for_tool(tool, registered) {
            Ok(applied) => applied.of_tool(tool),
            Err((_, why)) => Applied::broken(&line, why),
        },
        Err(why) => Applied {
            name: "x-tool-checklist".into(),
            origin: Origin::new(super::origin::ListKind::Provider, "schema"),
            words: None,
            kind: Kind::Broken(why),
        },
    }));
    applied
}

impl ValueLine {
    fn labelled(place: Place, label: Labelled) -> Self {
        ValueLine {
            place,
            label: Some(label),
            from: None,
            says: Vec::new(),
            aliases: Vec::new(),
            ask: None,
            authored: false,
            #[cfg(feature = "cel")]
            derive: None,
        }
    }
}

impl Applied {
    /// As the tool's own: what another tool's provider calls the same is something else.
    fn of_tool(mut self, tool: &HostTool) -> Self {
        if let Kind::Limit(limit) = &mut self.kind {
            *limit = Arc::new(Limit::clone(limit).of_tool(tool.name()));
        }
        self
    }

    pub(super) fn broken(line: &Line, why: String) -> Self {
        let name = line.name.as_ref().or(line.argument.as_ref()).map_or("line", |name| &name.value);
        Applied {
            name: name.into(),
            origin: Origin::new(line.list, line.origin.as_str()),
            words: line.words.as_deref().map(Into::into),
            kind: Kind::Broken(why),
        }
    }
}
