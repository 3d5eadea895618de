use super::test::{Absent, Test};
use crate::document::{At, Sited};
use crate::tool::Hints;

/// What a rule says of the calls that it applies to. The last one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Allow,
    Ask,
    Deny,
}

impl Rank {
    pub(super) const ALL: [(&'static str, Rank); 3] =
        [("allow", Rank::Allow), ("deny", Rank::Deny), ("ask", Rank::Ask)];
}

/// Something that a tool's author says of its effects; see [`Hints`].
///
/// A hint that isn't given says nothing: a tool without [`Destructive`](Self::Destructive) may destroy all the same,
/// if its author didn't say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// It changes nothing. `read_only` in a file.
    ReadOnly,
    /// What it changes can't be brought back. `destructive` in a file.
    Destructive,
    /// Doing it twice is as doing it once. `idempotent` in a file.
    Idempotent,
    /// Equal arguments in an equal state give equal results. `deterministic` in a file.
    Deterministic,
}

impl Hint {
    pub(super) const ALL: [(&'static str, Hint); 4] = [
        ("read_only", Hint::ReadOnly),
        ("destructive", Hint::Destructive),
        ("idempotent", Hint::Idempotent),
        ("deterministic", Hint::Deterministic),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, hint)| *hint == self).map_or("", |(name, _)| name)
    }

    pub(super) fn of(self, hints: Hints) -> bool {
        match self {
            Hint::ReadOnly => hints.read_only,
            Hint::Destructive => hints.destructive,
            Hint::Idempotent => hints.idempotent,
            Hint::Deterministic => hints.deterministic,
        }
    }
}

impl FromIterator<Hint> for Hints {
    fn from_iter<I: IntoIterator<Item = Hint>>(hints: I) -> Self {
        let mut all = Hints::default();
        for hint in hints {
            let said = match hint {
                Hint::ReadOnly => &mut all.read_only,
                Hint::Destructive => &mut all.destructive,
                Hint::Idempotent => &mut all.idempotent,
                Hint::Deterministic => &mut all.deterministic,
            };
            *said = true;
        }
        all
    }
}

impl<const N: usize> From<[Hint; N]> for Hints {
    fn from(hints: [Hint; N]) -> Self {
        hints.into_iter().collect()
    }
}

/// Allows, denies or asks about some calls: those of the named tools, with the hints, for which all conditions hold.
///
/// ```
/// use tool_runtime::{Absent, Rule, Test};
///
/// let stay = Rule::deny("files_*").because("files stay").when("path", Test::under("/w/secrets"));
/// let look = Rule::allow("*").read_only();
/// let large = Rule::ask("transfer")
///     .or_tool("pay_*")
///     .because("a large amount")
///     .when("payment.cents", Test::above(100_000))
///     .absent(Absent::NoMatch);
/// ```
#[derive(Debug, Clone)]
#[must_use = "a rule says nothing before it is one of `Rules`"]
pub struct Rule {
    pub(super) rank: Rank,
    pub(super) tools: Vec<Sited<String>>,
    pub(super) hints: Vec<Sited<(Hint, bool)>>,
    pub(super) reason: Option<String>,
    pub(super) conditions: Vec<Draft>,
    pub(super) stray_absent: bool,
    pub(super) at: At,
}

/// A condition as it was written.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) argument: Sited<String>,
    /// `None` if it was noted already that there is none.
    pub(super) test: Option<Sited<Test>>,
    pub(super) absent: Option<Absent>,
}

impl Rule {
    pub(super) fn new(rank: Rank, at: At) -> Self {
        let (tools, hints, conditions) = (Vec::new(), Vec::new(), Vec::new());
        Rule { rank, tools, hints, reason: None, conditions, stray_absent: false, at }
    }

    /// Lets calls run of the tools whose names match a [`Pattern`](super::Pattern).
    pub fn allow(tools: impl Into<String>) -> Self {
        Rule::new(Rank::Allow, None).or_tool(tools)
    }

    /// Forbids them. Needs a reason.
    pub fn deny(tools: impl Into<String>) -> Self {
        Rule::new(Rank::Deny, None).or_tool(tools)
    }

    /// Has a person asked about them. Needs a reason.
    pub fn ask(tools: impl Into<String>) -> Self {
        Rule::new(Rank::Ask, None).or_tool(tools)
    }

    /// Applies also to the tools whose names match this [`Pattern`](super::Pattern).
    pub fn or_tool(mut self, tools: impl Into<String>) -> Self {
        self.tools.push(Sited::nowhere(tools.into()));
        self
    }

    /// Applies only to tools of which their author says this.
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hints.push(Sited::nowhere((hint, true)));
        self
    }

    /// Applies only to tools of which their author doesn't say this.
    pub fn no_hint(mut self, hint: Hint) -> Self {
        self.hints.push(Sited::nowhere((hint, false)));
        self
    }

    /// Applies only to tools that change nothing: [`Hint::ReadOnly`].
    pub fn read_only(self) -> Self {
        self.hint(Hint::ReadOnly)
    }

    /// Why. After a denial the model reads it, before an answer a person does.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Applies only if this holds, and all other conditions with it.
    ///
    /// The argument is written as in error texts: `filter.tags[2]`, and `headers["a/b"]` for a name with other
    /// characters than `A-Z`, `a-z`, `0-9`, `_`, `-`, `$` and `@`. An alias stands for the argument that it
    /// is an alias of. `[*]` is every element of an array: a rule that denies or asks applies if the condition
    /// holds for any of them, and one that allows only if it holds for all.
    pub fn when(mut self, argument: impl Into<String>, test: Test) -> Self {
        let draft = Draft { argument: Sited::nowhere(argument.into()), test: Some(Sited::nowhere(test)), absent: None };
        self.conditions.push(draft);
        self
    }

    /// What it means for the last condition that its argument isn't there, or is `null`, or that an array has no
    /// elements. Has to be said wherever the tool's schema lets that be.
    pub fn absent(mut self, absent: Absent) -> Self {
        match self.conditions.last_mut() {
            Some(last) => last.absent = Some(absent),
            None => self.stray_absent = true,
        }
        self
    }
}
