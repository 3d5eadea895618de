//! A list as somebody wrote it: lines from TOML and JSON files, and from schemas.

use super::limit::{Beyond, LimitParts, WrittenLimit};
use super::origin::ListKind;
use super::source::SourceKind;
use crate::document::{At, Entry, Reader, Sited, Table, Value};
use crate::gate::Addressee;
use crate::schema::text;

/// A list that was read, and not yet held against any tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    pub(crate) fixed: Fixed,
    pub(crate) scope: Scope,
    pub(crate) lines: Vec<Line>,
    pub(crate) principles: Vec<Principle>,
}

/// The lines that every call has, as far as they are switched on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fixed {
    /// What the user calls the action, and which change is wanted.
    pub(crate) intent: bool,
    /// When.
    pub(crate) timing: bool,
}

/// Which calls have their values looked up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) calls: Option<Calls>,
    /// Tools that are left out, whatever they do.
    pub(crate) off: Vec<Sited<String>>,
    /// Nothing is blocked; what would have been is recorded.
    pub(crate) shadow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Calls of tools that their host calls destructive.
    Irreversible,
    /// Calls of all tools that their host doesn't call read-only.
    Writes,
    All,
    /// Only what lines name.
    None,
}

/// A sentence for the model, given to it with every turn that involves a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principle {
    pub(crate) text: String,
    pub(crate) checked_by: Option<String>,
}

impl Principle {
    /// What the model reads.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the code that catches a violation. `None`: nothing does, and it is a residual risk.
    pub fn checked_by(&self) -> Option<&str> {
        self.checked_by.as_deref()
    }
}

/// One line of a list.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Its position in its file, from 0.
    pub(crate) position: usize,
    pub(crate) at: At,
    pub(crate) list: ListKind,
    pub(crate) origin: String,
    /// Patterns of names; none: every tool.
    pub(crate) tools: Vec<Sited<String>>,
    /// Patterns of state changes; none: whatever it changes.
    pub(crate) changes: Vec<Sited<String>>,
    pub(crate) name: Option<Sited<String>>,
    pub(crate) argument: Option<Sited<String>>,
    pub(crate) label: Option<Labelled>,
    pub(crate) from: Option<Vec<SourceKind>>,
    pub(crate) says: Vec<String>,
    /// Values, and phrases that mean them.
    pub(crate) aliases: Vec<(Sited<String>, Vec<String>)>,
    pub(crate) words: Option<String>,
    pub(crate) ask: Option<String>,
    pub(crate) authored: bool,
    pub(crate) test: Option<Tested>,
    pub(crate) derive: Option<Sited<String>>,
    /// Whose approval an extra approval is.
    pub(crate) approver: Option<Addressee>,
    pub(crate) limit: Option<WrittenLimit>,
}

/// What a label asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labelled {
    Required,
    Confirm,
    Notice,
}

/// What a condition is checked against.
#[derive(Debug, Clone)]
pub(crate) struct Tested {
    pub(crate) how: How,
    pub(crate) by: Sited<String>,
    /// `by` names a registered check instead of holding an expression.
    pub(crate) registered: bool,
}

/// What follows from a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It has to be true.
    Holds,
    /// It has to be false.
    Prohibits,
    /// If it is true somebody has to agree.
    Approve,
}

const OF_A_FILE: [&str; 5] = ["origin", "list", "fixed", "scope", "principle"];
const OF_A_LINE: [&str; 24] = [
    "tool",
    "changes",
    "name",
    "argument",
    "label",
    "from",
    "says",
    "aliases",
    "text",
    "ask",
    "authored",
    "holds",
    "prohibits",
    "approve_if",
    "check",
    "derive",
    "approver",
    "origin",
    "list",
    "then",
    "at_most",
    "per",
    "sum",
    "over",
];

/// Whose lines a document has, unless they say so themselves.
#[derive(Debug, Clone)]
pub(crate) struct Whose {
    pub(crate) list: ListKind,
    pub(crate) origin: String,
}

impl Reader {
    /// A whole file.
    pub(super) fn list(&mut self, table: &Table, mut whose: Whose) -> Written {
        let mut written = Written::default();
        let known: Vec<&str> = OF_A_FILE.into_iter().chain(["line"]).collect();
        let entries = self.entries(table, &known);
        // Its own words about itself come first, wherever they stand.
        for entry in &entries {
            match entry.key {
                "origin" => {
                    whose.origin = self.words(entry).unwrap_or(whose.origin);
                }
                "list" => {
                    whose.list = self.word(entry, &ListKind::ALL).unwrap_or(whose.list);
                }
                _ => {}
            }
        }
        for entry in entries {
            match entry.key {
                "fixed" => self.fixed(&entry, &mut written.fixed),
                "scope" => self.scope(&entry, &mut written.scope),
                "principle" => {
                    for (table, at) in self.tables(&entry, "[[principle]]") {
                        written.principles.extend(self.principle(table, at));
                    }
                }
                "line" => {
                    for (index, (table, at)) in self.tables(&entry, "[[line]]").into_iter().enumerate() {
                        self.entry = Some(index);
                        written.lines.push(self.line(table, at, index, &whose));
                    }
                    self.entry = None;
                }
                _ => {}
            }
        }
        written
    }

    fn fixed(&mut self, entry: &Entry<'_>, fixed: &mut Fixed) {
        let Some(table) = self.table(entry) else { return };
        for entry in self.entries(table, &["intent", "timing"]) {
            let flag = self.flag(&entry).unwrap_or_default();
            match entry.key {
                "intent" => fixed.intent = flag,
                _ => fixed.timing = flag,
            }
        }
    }

    fn scope(&mut self, entry: &Entry<'_>, scope: &mut Scope) {
        const CALLS: [(&str, Calls); 4] = [
            ("irreversible", Calls::Irreversible),
            ("writes", Calls::Writes),
            ("all", Calls::All),
            ("none", Calls::None),
        ];
        let Some(table) = self.table(entry) else { return };
        for entry in self.entries(table, &["calls", "off", "shadow"]) {
            match entry.key {
                "calls" => scope.calls = self.word(&entry, &CALLS),
                "off" => scope.off = self.texts(&entry),
                _ => scope.shadow = self.flag(&entry).unwrap_or_default(),
            }
        }
    }

    fn principle(&mut self, table: &Table, at: At) -> Option<Principle> {
        let (mut said, mut checked_by) = (None, None);
        for entry in self.entries(table, &["text", "checked_by"]) {
            match entry.key {
                "text" => said = self.words(&entry),
                _ => checked_by = self.words(&entry),
            }
        }
        if said.is_none() {
            self.fault(at, "a principle needs a `text`");
        }
        Some(Principle { text: said?, checked_by: checked_by.filter(|by| by != "residual") })
    }

    /// One line. What contradicts itself is noted here; what contradicts a tool, later.
    pub(super) fn line(&mut self, table: &Table, at: At, position: usize, whose: &Whose) -> Line {
        let mut line = Line {
            position,
            at,
            list: whose.list,
            origin: whose.origin.clone(),
            tools: Vec::new(),
            changes: Vec::new(),
            name: None,
            argument: None,
            label: None,
            from: None,
            says: Vec::new(),
            aliases: Vec::new(),
            words: None,
            ask: None,
            authored: false,
            test: None,
            derive: None,
            approver: None,
            limit: None,
        };
        let mut limit = LimitParts::default();
        const LABELS: [(&str, Labelled); 3] =
            [("required", Labelled::Required), ("confirm", Labelled::Confirm), ("notice", Labelled::Notice)];
        const HOWS: [(&str, How); 3] =
            [("holds", How::Holds), ("prohibits", How::Prohibits), ("approve_if", How::Approve)];
        let mut then = None;
        for entry in self.entries(table, &OF_A_LINE) {
            match entry.key {
                "tool" => line.tools = self.some_texts(&entry),
                "changes" => line.changes = self.some_texts(&entry),
                "name" => line.name = self.text(&entry),
                "argument" => line.argument = self.text(&entry),
                "label" => line.label = self.word(&entry, &LABELS),
                "from" => line.from = Some(self.sources(&entry)),
                "says" => line.says = self.texts(&entry).into_iter().map(|says| says.value).collect(),
                "aliases" => line.aliases = self.aliases(&entry),
                "text" => line.words = self.words(&entry),
                "ask" => line.ask = self.words(&entry),
                "authored" => line.authored = self.flag(&entry).unwrap_or_default(),
                "derive" => line.derive = self.text(&entry),
                "approver" => line.approver = self.addressee(&entry),
                "origin" => line.origin = self.words(&entry).unwrap_or_default(),
                "list" => line.list = self.word(&entry, &ListKind::ALL).unwrap_or(whose.list),
                "at_most" | "per" | "sum" | "over" => self.of_limit(&entry, &mut limit),
                "then" => then = self.word(&entry, &HOWS).map(|how| (how, entry.key_at)),
                key => {
                    let how = HOWS.iter().find(|(word, _)| *word == key).map_or(How::Holds, |(_, how)| *how);
                    let Some(by) = self.text(&entry) else { continue };
                    if line.test.is_some() {
                        self.fault(entry.key_at, format!("`{key}`: a line has one condition; write another line"));
                    }
                    line.test = Some(Tested { how, by, registered: key == "check" });
                }
            }
        }
        match (&mut line.test, then) {
            (Some(test), Some((how, _))) if test.registered => test.how = how,
            (_, Some((_, at))) => self.fault(at, "`then` says what follows from a `check`, and there is none"),
            _ => {}
        }
        line.limit = self.limit(limit);
        self.sound(&line);
        line
    }

    /// Does a line say one thing?
    fn sound(&mut self, line: &Line) {
        let has_words = !line.says.is_empty() || !line.aliases.is_empty();
        let is_about_a_value = line.from.is_some() || line.authored || line.derive.is_some() || has_words;
        if is_about_a_value && line.argument.is_none() {
            let what = "`from`, `says`, `aliases`, `derive` and `authored` are about an `argument`, and there is none";
            self.fault(line.at, what);
        }
        if line.test.is_none() && line.label.is_none() && line.argument.is_none() && line.limit.is_none() {
            let what = "says nothing: it needs an `argument`, a `label`, or a condition (`holds`, `prohibits`, \
                        `approve_if`, `check` or `at_most`)";
            self.fault(line.at, what);
        }
        let condition = line.test.as_ref().map(|test| test.by.at);
        let limit = line.limit.as_ref().map(|limit| limit.most.at);
        if let (Some(_), Some(at)) = (condition, limit) {
            self.fault(at, "a limit stands on a line of its own, without another condition");
        }
        if let Some(at) = condition.or(limit) {
            if line.argument.is_some() || line.label.is_some() {
                self.fault(at, "a condition stands on a line of its own, without `argument` and `label`");
            }
            if line.name.is_none() {
                self.fault(line.at, "a condition needs a `name`, which records and reports call it by");
            }
            if line.words.is_none() {
                self.fault(line.at, "a condition needs a `text`: what it says, in words that people and models read");
            }
        }
        let asks = line.test.as_ref().is_some_and(|test| test.how == How::Approve)
            || line.limit.as_ref().is_some_and(|limit| limit.beyond == Beyond::Ask);
        if line.approver.is_some() && !asks {
            let what = "`approver` says who agrees where `approve_if` holds, or beyond a limit with `over = \"ask\"`, and \
                        there is neither";
            self.fault(line.at, what);
        }
        let is_alone = line.argument.is_none() && line.label.is_some();
        if is_alone && line.words.is_none() {
            self.fault(line.at, "a label without an `argument` needs a `text`");
        }
        if line.label == Some(Labelled::Notice) && line.argument.is_some() && line.words.is_none() {
            self.fault(line.at, "a notice needs a `text`");
        }
    }

    fn addressee(&mut self, entry: &Entry<'_>) -> Option<Addressee> {
        let Sited { value, at } = self.text(entry)?;
        let read = Addressee::from_word(&value);
        if read.is_none() {
            let shown = text::shown(&value, 64);
            let known = [("user", ()), ("approver", ())];
            let meant = crate::document::meant(&value, &known);
            self.fault(at, format!("unknown approver \"{shown}\"; {meant}; somebody by name is \"@name\""));
        }
        read
    }

    fn sources(&mut self, entry: &Entry<'_>) -> Vec<SourceKind> {
        let words: Vec<(&'static str, SourceKind)> =
            SourceKind::ALL.iter().map(|kind| (kind.as_str(), *kind)).collect();
        if matches!(entry.value, Value::List(list) if list.is_empty()) {
            self.fault(entry.at, "`from` is empty, so the value could be found nowhere");
        }
        let mut kinds = Vec::new();
        for Sited { value, at } in self.texts(entry) {
            match words.iter().find(|(word, _)| *word == value) {
                Some((_, kind)) => kinds.push(*kind),
                None => {
                    let shown = text::shown(&value, 64);
                    self.fault(at, format!("unknown source \"{shown}\"; {}", crate::document::meant(&value, &words)));
                }
            }
        }
        kinds
    }

    /// Values of the argument, each with the phrases that mean it.
    fn aliases(&mut self, entry: &Entry<'_>) -> Vec<(Sited<String>, Vec<String>)> {
        let Some(table) = self.table(entry) else { return Vec::new() };
        let mut aliases = Vec::new();
        for (value, phrases) in &table.0 {
            let of_value = Entry { key: &value.value, key_at: value.at, value: &phrases.value, at: Some(phrases.at) };
            let phrases = self.some_texts(&of_value);
            for phrase in phrases.iter().filter(|phrase| phrase.value.trim().is_empty()) {
                self.fault(phrase.at, format!("a phrase that means `{}` is empty", text::shown(&value.value, 64)));
            }
            aliases.push((value.clone(), phrases.into_iter().map(|phrase| phrase.value).collect()));
        }
        aliases
    }

    /// Text that isn't empty.
    fn words(&mut self, entry: &Entry<'_>) -> Option<String> {
        let Sited { value, at } = self.text(entry)?;
        let words = value.trim();
        if words.is_empty() {
            self.fault(at, format!("`{}` is empty", entry.key));
            return None;
        }
        Some(words.to_owned())
    }
}
