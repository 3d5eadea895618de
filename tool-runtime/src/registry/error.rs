use std::fmt;

use crate::schema::{Issue, text};

/// How many of the names that there are an error lists: they are there to be recognised.
const MAX_KNOWN: usize = 100;

/// What keeps a registry from being built: all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError {
    pub(super) faults: Vec<Fault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    Tool { tool: String, what: ToolFault },
    StateTwice(&'static str),
    Order(OrderFault),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolFault {
    Name,
    Reserved,
    Duplicate([&'static str; 2]),
    NothingToReplace,
    MissingState(&'static str, Given),
    NoSuchResource {
        writes: bool,
        name: String,
        known: Vec<String>,
    },
    Schema(Issue),
    #[cfg(feature = "search")]
    BuiltIn(String),
}

/// What was given in the place of state that a tool asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    InArc,
    WithoutArc,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OrderFault {
    NoOthers,
    OthersTwice,
    Twice(String),
    Unknown(UnknownNames),
}

/// Names that nothing has, and those that something has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownNames {
    pub(super) unknown: Vec<String>,
    pub(super) known: Vec<String>,
}

impl fmt::Display for UnknownNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no tool is named ")?;
        write_names(f, &self.unknown)?;
        f.write_str("; ")?;
        write_known(f, &self.known)
    }
}

/// As many as one looks through.
fn write_known(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    f.write_str("there are: ")?;
    match names {
        [] => f.write_str("none"),
        names => f.write_str(&text::listed(names.iter().map(String::as_str), MAX_KNOWN)),
    }
}

/// All of them: somebody wrote each.
fn write_names(f: &mut fmt::Formatter<'_>, names: &[String]) -> fmt::Result {
    names
        .iter()
        .enumerate()
        .try_for_each(|(index, name)| write!(f, "{}`{}`", if index > 0 { ", " } else { "" }, text::shown(name, 80)))
}

impl RegistryError {
    /// The tools that something is wrong with, each once.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self
            .faults
            .iter()
            .filter_map(|fault| match fault {
                Fault::Tool { tool, .. } => Some(tool.as_str()),
                Fault::StateTwice(_) | Fault::Order(_) => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().enumerate().try_for_each(|(index, fault)| {
            if index > 0 {
                f.write_str("\n")?;
            }
            match fault {
                Fault::Tool { tool, what } => write!(f, "tool `{}`: {what}", text::shown(tool, 80)),
                Fault::StateTwice(type_name) => write!(
                    f,
                    "two values of the type `{type_name}` were given by `.state(…)`, and a `#[host]` parameter gets its by the type; give each a type of its own"
                ),
                Fault::Order(what) => write!(f, "the order of the tools: {what}"),
            }
        })
    }
}

impl fmt::Display for ToolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolFault::Name => f.write_str(crate::tool::LEGAL_NAMES),
            ToolFault::Reserved => {
                f.write_str("this name is kept for the built-in search tool, whether it is in use or not")
            }
            ToolFault::Duplicate([first, second]) => {
                f.write_str("two tools have this name")?;
                match (first.is_empty(), second.is_empty()) {
                    (false, false) => write!(f, ", one in `{first}` and one in `{second}`")?,
                    (false, true) | (true, false) => write!(f, ", one of them in `{first}{second}`")?,
                    (true, true) => {}
                }
                f.write_str("; rename one, add the one that counts by `.replace(…)`, or make it a variant for a scope: `registry.scope().tool(…)`")
            }
            ToolFault::NothingToReplace => f.write_str(
                "there is none of this name here that `.replace(…)` could take the place of; add it by `.tool(…)`",
            ),
            ToolFault::MissingState(type_name, given) => {
                write!(f, "a `#[host]` parameter asks for a `{type_name}`, ")?;
                f.write_str(match given {
                    Given::Nothing => "which nobody gave; add `.state(…)` with one",
                    Given::InArc => {
                        "and one in an `Arc` was given; ask for the `Arc`, or give it to `.state(…)` without"
                    }
                    Given::WithoutArc => {
                        "and one without the `Arc` was given; ask for it by `&`, or give it to `.state(…)` in an `Arc`"
                    }
                })
            }
            ToolFault::NoSuchResource { writes, name, known } => {
                let does = if *writes { "writes" } else { "reads" };
                let shown = text::shown(name, 80);
                write!(f, "it says that it {does} what its argument `{shown}` names, and has no such argument; ")?;
                match text::nearest(name, known.iter().map(String::as_str)) {
                    Some(meant) => write!(f, "did you mean `{}`?", text::shown(meant, 80)),
                    None => write_known(f, known),
                }
            }
            ToolFault::Schema(issue) => write!(f, "{issue}"),
            #[cfg(feature = "search")]
            ToolFault::BuiltIn(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for OrderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderFault::NoOthers => f.write_str("it has no `*`, which says where all those stand that it doesn't name"),
            OrderFault::OthersTwice => {
                f.write_str("it has `*` more than once, and the tools that it doesn't name stand in one place")
            }
            OrderFault::Twice(name) => write!(f, "it names `{}` more than once", text::shown(name, 80)),
            OrderFault::Unknown(names) => write!(f, "{names}"),
        }
    }
}

impl std::error::Error for RegistryError {}

/// Why a filter can't be put on a registry: all of it.
///
/// See [`Registry::only`](super::Registry::only) and [`Registry::without`](super::Registry::without).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    pub(super) faults: Vec<FilterFault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FilterFault {
    Empty,
    Reserved,
    Unknown(UnknownNames),
}

impl FilterError {
    /// The names that no visible tool has, in the order in which they were given.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().flat_map(|fault| match fault {
            FilterFault::Unknown(names) => names.unknown.iter().map(String::as_str),
            FilterFault::Empty | FilterFault::Reserved => [].iter().map(String::as_str),
        })
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the filter was refused")?;
        self.faults.iter().enumerate().try_for_each(|(index, fault)| {
            f.write_str(if index == 0 { ": " } else { "; and " })?;
            match fault {
                FilterFault::Empty => f.write_str("it has to name a tool"),
                FilterFault::Reserved => write!(
                    f,
                    "`{}` is the built-in search tool, which finds only what is visible and can't be filtered",
                    super::Registry::SEARCH_TOOL
                ),
                FilterFault::Unknown(names) => write!(f, "{names}"),
            }
        })
    }
}

impl std::error::Error for FilterError {}
