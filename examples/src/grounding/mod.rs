//! Looks for the arguments of recorded calls in what was said before them, and counts what is found.

pub(crate) mod conversations;
mod derived;
mod other_values;
mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;

use serde_json::Value;
use tool_runtime::{Lookup, Shape};

use self::conversations::Airline;
use self::replay::{Follows, Leaf, Replayed, Why, replay};

/// What to put in the place of the recorded values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Values {
    /// Nothing: they are searched as they are.
    Recorded,
    /// Others of the same shape, drawn by this seed.
    Siblings(u64),
    /// Others that stand nowhere, drawn by this seed.
    Invented(u64),
}

/// Of so many, so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// How many had what was looked for.
    pub of: usize,
    /// How many there were.
    pub all: usize,
}

impl Share {
    pub(crate) fn count(&mut self, is: bool) {
        self.all += 1;
        self.of += usize::from(is);
    }

    /// In percent; 0 of none.
    pub fn percent(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.of as f64 * 100.0 / self.all as f64 }
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:5.1} % ({} of {})", self.percent(), self.of, self.all)
    }
}

/// What was measured.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Figures {
    /// Recorded values that are found.
    pub found: Share,
    /// Values of the same shape that are found.
    pub siblings: Share,
    /// The same, in the class that has most.
    pub siblings_in_worst_class: Share,
    /// Invented values that are found.
    pub invented: Share,
    /// Calls that were expected and would be stopped.
    pub right_stopped: Share,
    /// Other calls that would be stopped.
    pub wrong_stopped: Share,
    /// Calls that the airline refused and that would be stopped.
    pub refused_stopped: Share,
    /// The same three, where values count that follow from others.
    pub with_derivations: [Share; 3],
}

impl Figures {
    /// What is worse than it has to be, in words.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut bar = |name: &str, share: Share, holds: bool, bound: &str| {
            if !holds {
                missed.push(format!("{name}: {share}, and has to be {bound}"));
            }
        };
        bar("found", self.found, self.found.percent() >= 92.0, "at least 92 %");
        bar("siblings", self.siblings, self.siblings.percent() <= 2.0, "at most 2 %");
        let worst = self.siblings_in_worst_class;
        bar("siblings in one class", worst, worst.percent() <= 12.0, "at most 12 %");
        bar("invented", self.invented, self.invented.percent() <= 0.5, "at most 0.5 %");
        bar("right calls stopped", self.right_stopped, self.right_stopped.percent() <= 15.0, "at most 15 %");
        bar("wrong calls stopped", self.wrong_stopped, self.wrong_stopped.percent() >= 50.0, "at least 50 %");
        bar("refused calls stopped", self.refused_stopped, self.refused_stopped.percent() >= 80.0, "at least 80 %");
        missed
    }
}

/// The classes of values.
const CLASSES: [&str; 5] = ["id", "word", "date", "number", "closed set"];

fn class(leaf: &Leaf) -> (&'static str, String) {
    let name = leaf.name();
    match (&leaf.shape, &leaf.value) {
        (Shape::Choice(_) | Shape::Boolean, _) => ("closed set", name.to_owned()),
        (Shape::Date, _) => ("date", String::new()),
        (_, Value::Number(number)) => {
            let small = number.as_i64().is_some_and(|number| number < 13);
            ("number", if small { "below 13" } else { "from 13 on" }.to_owned())
        }
        _ if name.ends_with("_id") || name.ends_with("_number") => ("id", String::new()),
        _ => ("word", String::new()),
    }
}

/// Reads the conversations of a file and writes what is found of them.
///
/// # Errors
/// If the file isn't one of conversations, or the report can't be written.
pub fn run(bytes: &[u8], siblings: u64, invented: u64, out: &mut impl Write) -> Result<Figures, Box<dyn Error>> {
    let airline = Airline::new()?;
    let all: Vec<conversations::Recorded> = conversations::read(bytes)?;
    let recorded = replay(&airline, &all, Values::Recorded)?;
    let mut figures = Figures::default();

    writeln!(out, "(a) Values of write calls that are found, in {} conversations", all.len())?;
    (figures.found, _) = by_class(&recorded, out)?;
    counted(&recorded, "by source", out, |leaf| leaf.tried.by().map(|kind| kind.to_string()))?;
    counted(&recorded, "by normalisation", out, |leaf| match &leaf.tried.outcome {
        Lookup::Hit(hit) => Some(hit.normalisation.to_string()),
        _ => None,
    })?;
    let proposed = recorded.leaves.iter().filter(|leaf| match &leaf.tried.outcome {
        Lookup::Hit(hit) => hit.location.proposed().is_some(),
        _ => false,
    });
    writeln!(out, "  proposed by the assistant and accepted by the user: {}", proposed.count())?;

    writeln!(out, "\n(b) Other values of the same shape that are found (seed {siblings})")?;
    let replayed = replay(&airline, &all, Values::Siblings(siblings))?;
    (figures.siblings, figures.siblings_in_worst_class) = by_class(&replayed, out)?;

    writeln!(out, "\n(c) Values that stand nowhere and are found (seed {invented})")?;
    let replayed = replay(&airline, &all, Values::Invented(invented))?;
    (figures.invented, _) = by_class(&replayed, out)?;

    writeln!(out, "\n(d) Calls that would be stopped, since a value of theirs isn't found")?;
    stopped(&recorded, &mut figures, out)?;
    questions(&recorded, out)?;
    remains(&recorded, &all, out)?;
    Ok(figures)
}

/// Writes which calls would be stopped, without derivations and with them.
fn stopped(recorded: &Replayed, figures: &mut Figures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for call in &recorded.calls {
        let leaves = &recorded.leaves[call.leaves.clone()];
        let without = leaves.iter().any(|leaf| !leaf.is_found());
        let with = leaves.iter().any(|leaf| !leaf.is_found_or_derived());
        let Figures { right_stopped, wrong_stopped, refused_stopped, with_derivations, .. } = figures;
        let [right, wrong, refused] = with_derivations;
        if call.right { &mut *right_stopped } else { &mut *wrong_stopped }.count(without);
        if call.right { right } else { wrong }.count(with);
        if call.refused {
            refused_stopped.count(without);
            refused.count(with);
        }
    }
    let [right, wrong, refused] = figures.with_derivations;
    writeln!(out, "  {:26} {:24} with them", "", "without derivations")?;
    for (what, without, with) in [
        ("equal to an expected call", figures.right_stopped, right),
        ("others", figures.wrong_stopped, wrong),
        ("refused by the airline", figures.refused_stopped, refused),
    ] {
        writeln!(out, "  {what:26} {:24} {with}", without.to_string())?;
    }
    let mut derived = BTreeMap::<_, Share>::new();
    for leaf in &recorded.leaves {
        if let Some(follows) = leaf.derived {
            derived.entry((follows, leaf.name())).or_default().count(leaf.right);
        }
    }
    let mut whole = Share::default();
    for ((follows, name), Share { of, all }) in derived {
        let how = match follows {
            Follows::ByFormula => "by a formula of the list",
            Follows::Computed => "by a pure tool, of values with sources",
        };
        writeln!(out, "  {name} {how}: {all}, of which the call should have had {of}")?;
        (whole.of, whole.all) = (whole.of + of, whole.all + all);
    }
    writeln!(
        out,
        "  That a value follows from others doesn't make it the one that the user wanted: {} of these {} aren't.\n  \
         So none is silent: each is shown, with its formula, to whoever has to agree to the call.",
        whole.all - whole.of,
        whole.all
    )?;
    Ok(())
}

/// Writes the share of each class. Gives the whole, and the class with the largest share.
fn by_class(replayed: &Replayed, out: &mut impl Write) -> Result<(Share, Share), Box<dyn Error>> {
    let (mut whole, mut classes) = (Share::default(), BTreeMap::<_, Share>::new());
    let mut parts = BTreeMap::<_, Share>::new();
    for leaf in &replayed.leaves {
        let (class, part) = class(leaf);
        whole.count(leaf.is_found());
        classes.entry(class).or_default().count(leaf.is_found());
        parts.entry((class, part)).or_default().count(leaf.is_found());
    }
    writeln!(out, "  all                  {whole}")?;
    for class in CLASSES {
        let Some(share) = classes.get(class) else { continue };
        writeln!(out, "  {class:20} {share}")?;
        for ((_, part), share) in parts.iter().filter(|((of, part), _)| *of == class && !part.is_empty()) {
            writeln!(out, "    {part:18} {share}")?;
        }
    }
    let worst = classes.into_values().max_by(|a, b| a.percent().total_cmp(&b.percent()));
    Ok((whole, worst.unwrap_or_default()))
}

fn counted(
    replayed: &Replayed,
    what: &str,
    out: &mut impl Write,
    key: impl Fn(&Leaf) -> Option<String>,
) -> Result<(), Box<dyn Error>> {
    let mut counts = BTreeMap::<String, usize>::new();
    for key in replayed.leaves.iter().filter(|leaf| leaf.is_found()).filter_map(key) {
        *counts.entry(key).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts: Vec<_> = counts.iter().map(|(key, count)| format!("{key} {count}")).collect();
    writeln!(out, "  {what}: {}", counts.join(", "))?;
    Ok(())
}

/// A slot is asked for once in a conversation: what was answered is found from then on.
fn questions(replayed: &Replayed, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut asked = BTreeMap::new();
    for leaf in replayed.leaves.iter().filter(|leaf| !leaf.is_found()) {
        asked.entry((leaf.at, &leaf.tool, &leaf.slot)).or_insert(leaf.right);
    }
    let conversations: BTreeSet<_> = asked.keys().map(|(at, ..)| at).collect();
    let (of, all) = (asked.values().filter(|right| **right).count(), asked.len());
    writeln!(out, "\n(e) Questions, if each argument is asked for once in a conversation")?;
    writeln!(out, "  {all} in {} of the conversations", conversations.len())?;
    writeln!(out, "  for a value that was right: {}", Share { of, all })?;
    Ok(())
}

/// Why a value isn't found, in the order of what can be done about it.
const WHY: [(Why, &str); 7] = [
    (Why::Otherwise, "The user has said something else last"),
    (Why::User, "Stands in the user's turns, but isn't said of this argument"),
    (Why::Results, "Stands in results, but as something else, or because the call itself brought it in"),
    (Why::Computed, "Was computed by a tool, and nobody said it"),
    (Why::Error, "Stands in an error alone"),
    (Why::Assistant, "Was said by the assistant alone"),
    (Why::Nowhere, "Stands nowhere: the model made it up, or knew it, or computed it"),
];

fn remains(replayed: &Replayed, all: &[conversations::Recorded], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut groups = BTreeMap::<_, BTreeMap<&str, Vec<&Leaf>>>::new();
    for leaf in replayed.leaves.iter().filter(|leaf| !leaf.is_found()) {
        let why = match &leaf.tried.outcome {
            Lookup::Conflict(_) => Why::Otherwise,
            _ => leaf.stands,
        };
        groups.entry(why).or_default().entry(leaf.name()).or_default().push(leaf);
    }
    let count: usize = groups.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    writeln!(out, "\nWhat remains, and why: {count} values")?;
    for (why, words) in WHY {
        let Some(arguments) = groups.get(&why) else { continue };
        writeln!(out, "  {words}:")?;
        for (name, leaves) in arguments {
            let right = leaves.iter().filter(|leaf| leaf.right).count();
            let derived = leaves.iter().filter(|leaf| leaf.derived.is_some()).count();
            let mut values = Vec::new();
            for leaf in leaves {
                let value = leaf.value.to_string();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let more = if values.len() > 3 { ", …" } else { "" };
            values.truncate(3);
            let first = &all[leaves[0].at];
            let derived = if derived == 0 { String::new() } else { format!(", {derived} follow from others") };
            writeln!(
                out,
                "    {name:17} {:3}, of which {right} right{derived}: {}{more} (first in task {}, trial {})",
                leaves.len(),
                values.join(", "),
                first.task,
                first.trial
            )?;
        }
    }
    Ok(())
}
