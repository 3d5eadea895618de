//! Rules as data: allow, deny or ask by tool, hints and the values of arguments.

mod argument;
mod build;
mod condition;
mod decimal;
mod directory;
mod error;
mod file;
mod pattern;
mod place;
mod rule;
mod test;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::policy::Ruling;
use super::{CallFacts, Decision, Policy};
use crate::document::Sited;
use crate::registry::Registry;
use crate::schema::Digest;
use crate::schema::json::Cursor;
use crate::tool::{Hints, HostTool};
pub(crate) use argument::{parse as parse_argument, written as written_argument};
pub(crate) use build::of_tools;
use build::{Applicable, Located};
use condition::{Condition, Operand, Outcome};
use place::Place;
use rule::Rank;

pub use error::RulesError;
pub use pattern::{Pattern, PatternError};
pub use rule::{Hint, Rule};
pub use test::{Absent, Scalar, Test};

/// A policy of rules that allow, deny or ask by tool name, hints and the values of arguments.
///
/// ```
/// use tool_runtime::{Absent, Harness, Registry, Rule, Rules, Test, ToolCall, tool};
///
/// /// Reads a file.
/// #[tool(host(inline, read_only))]
/// fn files_read(
///     /// Its path.
///     #[arg(path)]
///     path: String,
/// ) -> String {
///     format!("what is in {path}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let registry = Registry::builder().tool(FilesReadTool::host()).build()?;
/// let rules = Rules::builder()
///     .base("/w")
///     .rule(Rule::allow("*").read_only())
///     .rule(Rule::deny("files_*").because("files stay").when("path", Test::under("/w/secrets")))
///     .build(&registry)?;
/// let harness = Harness::new(registry, rules);
///
/// let results = harness.run([ToolCall::new("1", "files_read", r#"{"path":"/w/notes"}"#)]).await;
/// assert_eq!(results[0].text(), "what is in /w/notes");
///
/// let results = harness.run([ToolCall::new("2", "files_read", r#"{"path":"x/../secrets/k"}"#)]).await;
/// assert!(results[0].text().contains("files stay"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is decided
///
/// A rule applies to a call if its tool's name matches one of the rule's [`Pattern`]s, its tool has the hints, and all
/// conditions hold. Of all rules that apply, one that denies beats one that asks, and that beats one that allows,
/// whatever their order and however exactly they name the tool. All rules of the kind that wins give their reasons,
/// in the order of the rules. If none applies, the rules have no opinion, and a person is asked unless another policy
/// has one.
///
/// # What can't be told
///
/// A value that a rule can't read is never taken for one that doesn't match: text where a number is compared, a
/// relative path without a base, a missing argument that the schema requires. If everything else about the rule
/// holds, a rule that denies or asks makes the call one that a person is asked about, with a reason that names the
/// rule and the argument and not the value; a rule that allows doesn't apply. Another rule that denies still does.
///
/// An argument that may be absent has to say what [absence](Absent) means for its condition, or the rules can't be
/// built. A tool that has no such argument at all is one that the rule doesn't apply to.
///
/// Arguments are read from the text that the handler's values come from. Numbers are compared digit by digit, so that
/// 999999.5 is above 999999, and 9007199254740993 above 9007199254740992.
///
/// The rules are checked against the tools of a registry, and are for these. A call of any other tool, or of one with
/// the same name and another definition, is asked about.
///
/// With the feature `rules`, `Rules::from_toml` reads rules from a file.
#[derive(Clone)]
pub struct Rules(Arc<Inner>);

struct Inner {
    tools: HashMap<Box<str>, ForTool>,
    count: usize,
}

impl Rules {
    /// Begins without any.
    pub fn builder() -> RulesBuilder {
        RulesBuilder { rules: Vec::new(), base: None }
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.0.count
    }

    /// There are none: every call is asked about.
    pub fn is_empty(&self) -> bool {
        self.0.count == 0
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rules({})", self.0.count)
    }
}

/// Gathers rules, and checks them together.
#[derive(Debug, Clone)]
#[must_use = "rules have to be built"]
pub struct RulesBuilder {
    rules: Vec<Rule>,
    base: Option<Sited<String>>,
}

impl RulesBuilder {
    /// Adds a rule. The order decides nothing but in which order reasons are given.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds several.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// The absolute path that relative ones are relative to, in rules and in arguments: where the tools run.
    pub fn base(mut self, directory: impl Into<String>) -> Self {
        self.base = Some(Sited::nowhere(directory.into()));
        self
    }

    /// Checks the rules against the tools that they are for.
    ///
    /// # Errors
    /// With everything that is wrong, in all rules: a pattern that matches no tool, hints that none of the tools
    /// has, an argument that none has, arguments that none has together, a test for another type than the argument
    /// has, an argument that may be absent of which nobody says what that means, a denial without a reason, …
    ///
    /// ```
    /// use tool_runtime::{Registry, Rule, Rules};
    ///
    /// let registry = Registry::builder().build()?;
    /// let error = Rules::builder().rule(Rule::deny("rm")).build(&registry).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "rule 1: tool \"rm\": no tool has such a name\n\
    ///      rule 1: needs a `reason`, which the model or a person reads"
    /// );
    /// # Ok::<(), tool_runtime::RegistryError>(())
    /// ```
    pub fn build(self, registry: &Registry) -> Result<Rules, RulesError> {
        match build::build(&self.rules, self.base.as_ref(), registry, None) {
            Ok(tools) => Ok(Rules(Arc::new(Inner { tools, count: self.rules.len() }))),
            Err(faults) => Err(RulesError::new(faults, None)),
        }
    }
}

#[diagnostic::do_not_recommend]
impl Policy for Rules {
    fn decide(&self, call: &CallFacts<'_>) -> Decision {
        match self.0.tools.get(call.tool()) {
            Some(tool) if tool.is_of(call) => tool.ruling(call.arguments().as_str()).into_decision(),
            _ => Decision::ask("no rule was made for this tool"),
        }
    }
}

/// The rules that can apply to calls of one tool.
struct ForTool {
    digest: Digest,
    hints: Hints,
    /// Of all rules.
    conditions: Vec<Condition>,
    /// Where what they are about stands in the arguments.
    arguments: Place,
    /// In the order of the rules.
    rules: Vec<Applied>,
}

/// A rule, for one tool.
struct Applied {
    rank: Rank,
    /// From 1.
    number: usize,
    reason: Arc<str>,
    conditions: Range<usize>,
}

/// How many conditions are judged without the allocator.
const FEW: usize = 64;

impl ForTool {
    fn new(tool: &HostTool) -> Self {
        ForTool {
            digest: *tool.digest(),
            hints: tool.hints(),
            conditions: Vec::new(),
            arguments: Place::default(),
            rules: Vec::new(),
        }
    }

    fn add(&mut self, rule: Applicable) {
        let first = self.conditions.len();
        for Located { hops, condition } in rule.conditions {
            self.arguments.add(hops, self.conditions.len());
            self.conditions.push(condition);
        }
        let conditions = first..self.conditions.len();
        self.rules.push(Applied { rank: rule.rank, number: rule.number, reason: rule.reason, conditions });
    }

    /// Is it a call of the tool that the rules were checked against?
    fn is_of(&self, call: &CallFacts<'_>) -> bool {
        self.digest == *call.digest() && self.hints == call.hints()
    }

    fn ruling(&self, arguments: &str) -> Ruling {
        let mut few = [Outcome::Unreadable; FEW];
        let mut many = Vec::new();
        let outcomes = match few.get_mut(..self.conditions.len()) {
            Some(few) => few,
            None => {
                many.resize(self.conditions.len(), Outcome::Unreadable);
                &mut many
            }
        };
        self.judge(arguments, outcomes);
        let mut ruling = Ruling::default();
        for rule in &self.rules {
            let reason = || rule.reason.to_string().into();
            match (rule.rank, rule.judged(&self.conditions, outcomes)) {
                (Rank::Deny, Judged::Applies) => ruling.denied.push(reason()),
                (Rank::Ask, Judged::Applies) => ruling.asked.push(reason()),
                (Rank::Allow, Judged::Applies) => ruling.allowed = true,
                (Rank::Deny | Rank::Ask, Judged::Unreadable(condition)) => ruling.asked.push(rule.cant_read(condition)),
                (Rank::Allow, Judged::Unreadable(_)) | (_, Judged::DoesNot) => {}
            }
        }
        ruling
    }

    /// What becomes of each condition.
    fn judge(&self, arguments: &str, outcomes: &mut [Outcome]) {
        if self.conditions.is_empty() {
            return;
        }
        for (outcome, condition) in outcomes.iter_mut().zip(&self.conditions) {
            *outcome = condition.begin();
        }
        let read = self.arguments.read(&mut Cursor::new(arguments), &mut |conditions, found| {
            let found = found.map(Operand::from);
            for &at in conditions {
                if let (Some(condition), Some(outcome)) = (self.conditions.get(at), outcomes.get_mut(at)) {
                    condition.add(outcome, &found);
                }
            }
        });
        if read.is_err() {
            outcomes.fill(Outcome::Unreadable);
        }
    }
}

/// Does a rule apply to a call?
enum Judged<'r> {
    Applies,
    DoesNot,
    /// It does if this condition holds, which can't be told.
    Unreadable(&'r Condition),
}

impl Applied {
    fn judged<'r>(&self, conditions: &'r [Condition], outcomes: &[Outcome]) -> Judged<'r> {
        let mut unreadable = None;
        let mine = self.conditions.clone();
        let conditions = conditions.get(mine.clone()).unwrap_or_default();
        for (condition, outcome) in conditions.iter().zip(outcomes.get(mine).unwrap_or_default()) {
            match outcome {
                Outcome::Holds => {}
                Outcome::Fails => return Judged::DoesNot,
                Outcome::Unreadable => unreadable = unreadable.or(Some(condition)),
            }
        }
        unreadable.map_or(Judged::Applies, Judged::Unreadable)
    }

    #[cold]
    fn cant_read(&self, condition: &Condition) -> Cow<'static, str> {
        let does = if self.rank == Rank::Deny { "forbids" } else { "asks about" };
        format!(
            "rule {} {does} such calls ({}), and can't tell whether this is one by `{}`",
            self.number, self.reason, condition.argument
        )
        .into()
    }
}
