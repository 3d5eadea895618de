use super::{At, Fault, Node, Sited, Table, Value};
use crate::schema::text;

/// Reads a document; what can't be read is left out, and noted.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The position of the entry that is being read.
    pub(crate) entry: Option<usize>,
    pub(crate) faults: Vec<Fault>,
}

/// A value with its key.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'t> {
    pub(crate) key: &'t str,
    pub(crate) key_at: At,
    pub(crate) value: &'t Value,
    pub(crate) at: At,
}

impl Reader {
    pub(crate) fn fault(&mut self, at: At, what: impl Into<String>) {
        self.faults.push(Fault { entry: self.entry, at, what: what.into() });
    }

    /// Notes that a value has another type than it should.
    pub(crate) fn expected(&mut self, entry: &Entry<'_>, what: &str) {
        let what = format!("`{}` has to be {what}, and is {}", entry.key, entry.value.a());
        self.fault(entry.at, what);
    }

    /// The entries of a table. Keys that nobody knows are noted.
    pub(crate) fn entries<'t>(&mut self, table: &'t Table, known: &[&str]) -> Vec<Entry<'t>> {
        let mut entries = Vec::new();
        for (key, Node { at, value }) in &table.0 {
            if known.contains(&key.value.as_str()) {
                entries.push(Entry { key: &key.value, key_at: key.at, value, at: Some(*at) });
                continue;
            }
            let meant = match text::nearest(&key.value, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known: {}", text::listed(known.iter().copied(), known.len())),
            };
            self.fault(key.at, format!("unknown key `{}`; {meant}", text::shown(&key.value, 64)));
        }
        entries
    }

    /// One of some words.
    pub(crate) fn word<T: Copy>(&mut self, entry: &Entry<'_>, words: &[(&'static str, T)]) -> Option<T> {
        let Sited { value, at } = self.text(entry)?;
        let found = words.iter().find(|(word, _)| *word == value);
        if found.is_none() {
            let what = format!("`{}` can't be \"{}\"; {}", entry.key, text::shown(&value, 64), meant(&value, words));
            self.fault(at, what);
        }
        found.map(|(_, word)| *word)
    }

    pub(crate) fn text(&mut self, entry: &Entry<'_>) -> Option<Sited<String>> {
        match entry.value {
            Value::Text(text) => Some(Sited { value: text.clone(), at: entry.at }),
            _ => {
                self.expected(entry, "text");
                None
            }
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, entry: &Entry<'_>) -> Option<bool> {
        match entry.value {
            Value::Boolean(flag) => Some(*flag),
            _ => {
                self.expected(entry, "true or false");
                None
            }
        }
    }

    /// Text, or a list of texts.
    pub(crate) fn texts(&mut self, entry: &Entry<'_>) -> Vec<Sited<String>> {
        let list = match entry.value {
            Value::List(list) => list,
            Value::Text(text) => return vec![Sited { value: text.clone(), at: entry.at }],
            _ => {
                self.expected(entry, "text, or a list of texts");
                return Vec::new();
            }
        };
        let inner = list.iter().map(|node| Entry { value: &node.value, at: Some(node.at), ..*entry });
        inner.filter_map(|entry| self.text(&entry)).collect()
    }

    /// As [`texts`](Self::texts); without one it could never apply.
    pub(crate) fn some_texts(&mut self, entry: &Entry<'_>) -> Vec<Sited<String>> {
        if matches!(entry.value, Value::List(list) if list.is_empty()) {
            self.fault(entry.at, format!("`{}` is an empty list", entry.key));
        }
        self.texts(entry)
    }

    /// A table.
    pub(crate) fn table<'t>(&mut self, entry: &Entry<'t>) -> Option<&'t Table> {
        match entry.value {
            Value::Table(table) => Some(table),
            _ => {
                self.expected(entry, "a table");
                None
            }
        }
    }

    /// A list of tables.
    pub(crate) fn tables<'t>(&mut self, entry: &Entry<'t>, header: &str) -> Vec<(&'t Table, At)> {
        let Value::List(list) = entry.value else {
            self.expected(entry, &format!("a list: write {header} above each"));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for Node { at, value } in list {
            match value {
                Value::Table(table) => tables.push((table, Some(*at))),
                other => {
                    self.expected(&Entry { value: other, at: Some(*at), ..*entry }, &format!("a list of {header}"));
                }
            }
        }
        tables
    }
}

/// What somebody meant who wrote a word that nobody knows.
pub(crate) fn meant<T>(wrong: &str, words: &[(&'static str, T)]) -> String {
    let names = || words.iter().map(|(word, _)| *word);
    match text::nearest(wrong, names()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("known: {}", text::listed(names(), words.len())),
    }
}
