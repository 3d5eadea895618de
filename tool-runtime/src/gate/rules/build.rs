//! Rules checked against the tools that they are for, and sorted by these.

use std::collections::HashMap;
use std::sync::Arc;

use super::ForTool;
use super::argument;
use super::condition::{Check, Condition, Outcome, Wanted};
use super::decimal::Number;
use super::directory::{Directory, absolute};
use super::pattern::Pattern;
use super::place::Hop;
use super::rule::{Draft, Rank, Rule};
use super::test::{Asked, Scalar, Test, Value};
use crate::document::{Fault, Sited};
use crate::registry::Registry;
use crate::schema::json::Cursor;
use crate::schema::{Kind, Reached, Step, Unreached, text};
use crate::tool::HostTool;

/// How many names or values a fault lists.
const LISTED: usize = 8;

/// The rules of each tool.
///
/// # Errors
/// With everything that is wrong with them.
pub(super) fn build(
    rules: &[Rule],
    base: Option<&Sited<String>>,
    registry: &Registry,
    mut absent: Option<&mut Vec<Fault>>,
) -> Result<HashMap<Box<str>, ForTool>, Vec<Fault>> {
    let mut faults = Vec::new();
    let base = base.map(|base| match absolute(&base.value) {
        Ok(Some(path)) => path.into_owned(),
        wrong => {
            let why = wrong.err().unwrap_or("it has to be an absolute path");
            let what = format!("`base` \"{}\": {why}", text::shown(&base.value, 80));
            faults.push(Fault { entry: None, at: base.at, what });
            // So that no rule is blamed for it.
            "/".to_owned()
        }
    });
    let mut tools: HashMap<Box<str>, ForTool> =
        registry.iter().map(|tool| (tool.name().into(), ForTool::new(tool))).collect();
    for (position, rule) in rules.iter().enumerate() {
        let mut builder = Builder {
            position,
            rule,
            base: base.as_deref(),
            registry,
            faults: &mut faults,
            absent: absent.as_deref_mut(),
        };
        for (tool, applied) in builder.rule() {
            if let Some(for_tool) = tools.get_mut(tool) {
                for_tool.add(applied);
            }
        }
    }
    if faults.is_empty() { Ok(tools) } else { Err(faults) }
}

/// What is wrong with a pattern of tools' names.
#[derive(Debug)]
pub(crate) struct WrongPattern {
    pub(crate) what: String,
    /// Nothing but that no tool has such a name.
    pub(crate) is_absent: bool,
}

/// A pattern of tools' names, as far as it is one, and what is wrong with it.
pub(crate) fn of_tools(pattern: &str, registry: &Registry) -> (Option<Pattern>, Option<WrongPattern>) {
    let shown = text::shown(pattern, 80);
    let read = match Pattern::new(pattern) {
        Ok(read) => read,
        Err(wrong) => {
            return (None, Some(WrongPattern { what: format!("tool \"{shown}\": {wrong}"), is_absent: false }));
        }
    };
    let illegal = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let wrong = if let Some(illegal) = read.literals().flat_map(str::chars).find(illegal) {
        let code = u32::from(illegal);
        let what = format!("no tool can have such a name: U+{code:04X} is no ASCII letter, digit, `_`, `-` or `.`");
        Some(WrongPattern { what: format!("tool \"{shown}\": {what}"), is_absent: false })
    } else if !registry.iter().any(|tool| read.matches(tool.name())) {
        let nearest = text::nearest(pattern, registry.iter().map(HostTool::name));
        let meant = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Some(WrongPattern { what: format!("tool \"{shown}\": no tool has such a name{meant}"), is_absent: true })
    } else {
        None
    };
    (Some(read), wrong)
}

/// Checks one rule.
struct Builder<'a> {
    position: usize,
    rule: &'a Rule,
    base: Option<&'a str>,
    registry: &'a Registry,
    faults: &'a mut Vec<Fault>,
    /// Takes names that no tool has, and the like, where tools may come and go. Elsewhere they are faults.
    absent: Option<&'a mut Vec<Fault>>,
}

/// A condition whose argument can be read.
struct Read<'a> {
    draft: &'a Draft,
    steps: Vec<Step>,
    argument: Arc<str>,
    /// `None` if the test is wrong in itself.
    check: Option<Arc<Check>>,
}

impl<'a> Builder<'a> {
    fn fault(&mut self, at: Option<usize>, what: impl Into<String>) {
        self.faults.push(Fault { entry: Some(self.position), at: at.or(self.rule.at), what: what.into() });
    }

    fn rule(&mut self) -> Vec<(&'a str, Applicable)> {
        let rule = self.rule;
        let tools = self.tools();
        let all_absent = self.absent.is_some() && tools.is_empty();
        let reason = rule.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        if reason.is_none() && rule.rank != Rank::Allow {
            self.fault(None, "needs a `reason`, which the model or a person reads");
        }
        let mut contradicts = false;
        for (index, hint) in rule.hints.iter().enumerate() {
            let (name, wanted) = (hint.value.0.name(), hint.value.1);
            if rule.hints[..index].iter().any(|earlier| earlier.value == (hint.value.0, !wanted)) {
                contradicts = true;
                self.fault(hint.at, format!("no tool both has the hint `{name}` and doesn't have it"));
            }
        }
        if rule.stray_absent {
            self.fault(None, "`absent` has to follow the condition that it is about");
        }
        if all_absent {
            // What its conditions ask for nobody can tell yet.
            return Vec::new();
        }
        let conditions: Vec<Option<Read<'a>>> = rule.conditions.iter().map(|draft| self.condition(draft)).collect();
        let names_any = !tools.is_empty();
        let tools: Vec<&HostTool> = tools
            .into_iter()
            .filter(|tool| rule.hints.iter().all(|hint| hint.value.0.of(tool.hints()) == hint.value.1))
            .collect();
        if tools.is_empty() && names_any && !contradicts {
            self.never("none of the tools that it names has these hints");
        }
        // Per condition, per tool: where the argument is.
        let mut reached: Vec<Vec<Option<Reached>>> = Vec::new();
        for condition in conditions.iter().flatten() {
            let found = tools.iter().map(|tool| tool.built().reach(&condition.steps)).collect();
            reached.push(self.check_condition(condition, &tools, found));
        }
        // What is wrong with the others was noted.
        let Some(conditions) = conditions.into_iter().collect::<Option<Vec<Read<'a>>>>() else { return Vec::new() };
        let reason: Arc<str> = reason.unwrap_or_default().into();
        let mut applied = Vec::new();
        for (index, tool) in tools.iter().enumerate() {
            // It never holds for a tool that doesn't have all of its arguments.
            let places: Option<Vec<&Reached>> = reached.iter().map(|tools| tools[index].as_ref()).collect();
            let Some(places) = places else { continue };
            let located =
                conditions.iter().zip(places).map(|(condition, place)| Located::new(rule.rank, condition, place));
            let Some(conditions) = located.collect::<Option<Vec<Located>>>() else { continue };
            let number = self.position + 1;
            let reason = Arc::clone(&reason);
            applied.push((tool.name(), Applicable { rank: rule.rank, number, reason, conditions }));
        }
        // That no tool has one of them was noted.
        let has_each = reached.iter().all(|tools| tools.iter().any(Option::is_some));
        if applied.is_empty() && !tools.is_empty() && has_each && conditions.iter().all(|read| read.check.is_some()) {
            self.never("none of the tools that it names has all of its arguments");
        }
        applied
    }

    /// Notes that the rule applies to nothing that there is now.
    fn never(&mut self, what: &str) {
        let fault = Fault { entry: Some(self.position), at: self.rule.at, what: what.to_owned() };
        match &mut self.absent {
            Some(absent) => absent.push(fault),
            None => self.faults.push(fault),
        }
    }

    /// The tools that the rule names.
    fn tools(&mut self) -> Vec<&'a HostTool> {
        let rule = self.rule;
        let mut patterns = Vec::new();
        for pattern in &rule.tools {
            let (read, wrong) = of_tools(&pattern.value, self.registry);
            patterns.extend(read);
            match (wrong, &mut self.absent) {
                (Some(wrong), Some(absent)) if wrong.is_absent => {
                    absent.push(Fault { entry: Some(self.position), at: pattern.at, what: wrong.what });
                }
                (Some(wrong), _) => self.fault(pattern.at, wrong.what),
                (None, _) => {}
            }
        }
        self.registry.iter().filter(|tool| patterns.iter().any(|pattern| pattern.matches(tool.name()))).collect()
    }

    /// A condition in itself, whatever the tools.
    fn condition(&mut self, draft: &'a Draft) -> Option<Read<'a>> {
        let steps = match argument::parse(&draft.argument.value) {
            Ok(steps) => Some(steps),
            Err(wrong) => {
                let shown = text::shown(&draft.argument.value, 80);
                self.fault(draft.argument.at, format!("argument \"{shown}\" {wrong}"));
                None
            }
        };
        let check = draft.test.as_ref().and_then(|test| self.check(test)).map(Arc::new);
        let steps = steps?;
        Some(Read { draft, argument: argument::written(&steps).into(), steps, check })
    }

    fn check(&mut self, test: &Sited<Test>) -> Option<Check> {
        let name = test.value.name();
        let read = match &test.value.0 {
            Asked::OneOf(values, _) if values.is_empty() => Err("needs at least one value".to_owned()),
            Asked::OneOf(values, _) => values.iter().map(wanted).collect::<Result<_, _>>().map(Check::OneOf),
            Asked::Matches(pattern) => Pattern::new(pattern).map(Check::Matches).map_err(|wrong| wrong.to_string()),
            Asked::Under(path) => Directory::new(path, self.base).map(Check::Under).map_err(str::to_owned),
            Asked::Compare(comparison, number) => match wanted(number) {
                Ok(Wanted::Number(number)) => Ok(Check::Compare(*comparison, number)),
                Ok(_) => Err(format!("needs a number, and {} is none", shown(number))),
                Err(wrong) => Err(wrong),
            },
        };
        match read {
            Ok(check) => Some(check),
            Err(wrong) => {
                self.fault(test.at, format!("`{name}`: {wrong}"));
                None
            }
        }
    }

    /// A condition against the schemas of the tools.
    fn check_condition(
        &mut self,
        condition: &Read<'_>,
        tools: &[&HostTool],
        found: Vec<Result<Reached, Unreached>>,
    ) -> Vec<Option<Reached>> {
        let Read { draft, argument, check, .. } = condition;
        if !found.is_empty() && found.iter().all(Result::is_err) {
            let unreached = found.into_iter().filter_map(Result::err).max_by_key(|unreached| unreached.step);
            self.fault(draft.argument.at, unknown(condition, unreached, tools));
            return tools.iter().map(|_| None).collect();
        }
        let found: Vec<Option<Reached>> = found.into_iter().map(Result::ok).collect();
        let having: Vec<(&str, &Reached)> =
            tools.iter().zip(&found).filter_map(|(tool, reached)| Some((tool.name(), reached.as_ref()?))).collect();
        let listed = |of: Vec<(&str, &Reached)>| text::listed(of.iter().map(|(name, _)| *name), LISTED);
        if let (Some(check), Some(test)) = (check, &draft.test) {
            let name = test.value.name();
            let (fit, unfit): (Vec<_>, Vec<_>) =
                having.iter().copied().partition(|(_, reached)| can_be_read(check, reached));
            if let Some((_, reached)) = unfit.first() {
                let needs = match &**check {
                    Check::OneOf(wanted) => {
                        let wanted: Vec<String> = wanted.iter().map(shown_wanted).collect();
                        format!("can't be {}", wanted.join(" or "))
                    }
                    Check::Matches(_) | Check::Under(_) => format!("`{name}` needs string"),
                    Check::Compare(..) => format!("`{name}` needs number"),
                };
                let types = reached.types();
                self.fault(test.at, format!("`{argument}` of {} is {types}, and {needs}", listed(unfit)));
            } else if let Some(what) =
                never_passes(argument, name, check, &fit.iter().map(|(_, reached)| *reached).collect::<Vec<_>>())
            {
                self.fault(test.at, what);
            }
        }
        if draft.absent.is_none() {
            let takes_null = check.as_ref().is_some_and(|check| check.takes_null());
            let may_be_absent =
                |(_, reached): &(&str, &Reached)| reached.may_be_absent || (reached.takes(Kind::Null) && !takes_null);
            let optional: Vec<_> = having.iter().copied().filter(may_be_absent).collect();
            if !optional.is_empty() {
                let what = format!(
                    "`{argument}` may be absent from a call of {}: `absent` has to say whether the condition holds then (match) or not (no_match)",
                    listed(optional)
                );
                self.fault(draft.argument.at, what);
            }
        }
        found
    }
}

fn wanted(scalar: &Scalar) -> Result<Wanted, String> {
    Ok(match &scalar.0 {
        Value::Null => Wanted::Null,
        Value::Boolean(boolean) => Wanted::Boolean(*boolean),
        Value::Text(text) => Wanted::Text(text.as_str().into()),
        Value::Number(literal) => match Number::new(literal) {
            Some(number) => Wanted::Number(number),
            None => return Err(format!("{} is no number that can be compared", text::visible(literal, 80))),
        },
    })
}

fn shown(scalar: &Scalar) -> String {
    match &scalar.0 {
        Value::Null => "null".to_owned(),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Text(text) => format!("\"{}\"", text::shown(text, 80)),
        Value::Number(literal) => text::visible(literal, 80),
    }
}

fn shown_wanted(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Null => "null".to_owned(),
        Wanted::Boolean(boolean) => boolean.to_string(),
        Wanted::Text(text) => format!("\"{}\"", text::shown(text, 80)),
        Wanted::Number(number) => text::visible(number.as_str(), 80),
    }
}

/// Can some value at the place be read by the test?
fn can_be_read(check: &Check, reached: &Reached) -> bool {
    match check {
        Check::OneOf(wanted) => wanted.iter().any(|wanted| reached.takes(wanted.kind())),
        Check::Matches(_) | Check::Under(_) => reached.takes(Kind::String),
        Check::Compare(..) => reached.takes(Kind::Integer),
    }
}

/// What is wrong with a test that no value passes that can be at these places.
fn never_passes(argument: &str, test: &str, check: &Check, places: &[&Reached]) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let passes = |check: &Check, reached: &Reached| {
        let word_passes =
            |word: &String| Cursor::new(word).token().is_ok_and(|token| check.test(&token.into()) != Outcome::Fails);
        reached.words.as_deref().is_none_or(|words| words.iter().any(word_passes))
    };
    let mut known: Vec<String> =
        places.iter().flat_map(|reached| reached.words.iter().flatten()).map(|word| text::visible(word, 80)).collect();
    known.sort_unstable();
    known.dedup();
    let known = || known.iter().map(String::as_str);
    let one_of = || match places {
        [reached, ..] if known().len() == 0 => reached.types(),
        _ => format!("one of {}", text::listed(known(), LISTED)),
    };
    let Check::OneOf(wanted) = check else {
        let never = !places.iter().any(|reached| passes(check, reached));
        return never.then(|| format!("`{test}`: nothing that `{argument}` can be passes: it is {}", one_of()));
    };
    let is_possible = |wanted: &Wanted| {
        let alone = Check::OneOf(vec![wanted.clone()]);
        places.iter().any(|reached| reached.takes(wanted.kind()) && passes(&alone, reached))
    };
    let impossible = shown_wanted(wanted.iter().find(|wanted| !is_possible(wanted))?);
    Some(match text::nearest(&impossible, known()) {
        Some(nearest) => format!("`{argument}` is never {impossible}; did you mean {nearest}?"),
        None => format!("`{argument}` is never {impossible}: it is {}", one_of()),
    })
}

/// What is wrong with an argument that no tool has.
fn unknown(condition: &Read<'_>, unreached: Option<Unreached>, tools: &[&HostTool]) -> String {
    let argument = &condition.argument;
    let who = text::listed(tools.iter().map(|tool| tool.name()), LISTED);
    let unreached = unreached.unwrap_or(Unreached { step: 0, known: Vec::new() });
    let meant = match condition.steps.get(unreached.step) {
        Some(Step::Member(name)) => text::nearest(name, unreached.known.iter().map(String::as_str)),
        _ => None,
    };
    let meant = meant.map(|name| {
        let mut steps = condition.steps[..unreached.step].to_vec();
        steps.push(Step::Member(name.to_owned()));
        format!("; did you mean `{}`?", argument::written(&steps))
    });
    format!(
        "{who} {} no argument `{argument}`{}",
        if tools.len() == 1 { "has" } else { "have" },
        meant.unwrap_or_default()
    )
}

/// A rule that can apply to the calls of a tool.
pub(super) struct Applicable {
    pub(super) rank: Rank,
    /// From 1.
    pub(super) number: usize,
    pub(super) reason: Arc<str>,
    pub(super) conditions: Vec<Located>,
}

/// A condition with the way to its argument in the texts of one tool.
pub(super) struct Located {
    pub(super) hops: Vec<Hop>,
    pub(super) condition: Condition,
}

impl Located {
    fn new(rank: Rank, condition: &Read<'_>, reached: &Reached) -> Option<Self> {
        let hops = condition.steps.iter().zip(&reached.names).map(|(step, names)| match step {
            Step::Member(_) => Hop::Member(names.clone().into()),
            Step::Index(index) => Hop::Index(*index),
            Step::Each => Hop::Each,
        });
        let argument = Arc::clone(&condition.argument);
        let check = Arc::clone(condition.check.as_ref()?);
        let condition = Condition { check, absent: condition.draft.absent, every: rank == Rank::Allow, argument };
        Some(Located { hops: hops.collect(), condition })
    }
}
