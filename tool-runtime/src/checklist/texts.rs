//! The texts that lines are written in, and what is wrong with them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::condition::Registered;
use super::file::{Whose, Written};
use super::snapshot::Snapshot;
use crate::document::{Fault, Faults, FileFault, Reader, Syntax, parse};
use crate::registry::Registry;

/// When each file was changed last, and its length. `None` for what is no file.
pub(super) type Seen = Vec<Option<(SystemTime, u64)>>;

/// Lines as they were given.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) syntax: Syntax,
    pub(super) whose: Whose,
    pub(super) given: Given,
}

#[derive(Debug, Clone)]
pub(super) enum Given {
    Here(String),
    File(PathBuf),
}

impl Text {
    /// May it change while the process runs?
    pub(super) fn is_file(&self) -> bool {
        matches!(self.given, Given::File(_))
    }

    /// What tells whether it has changed.
    pub(super) fn state(&self) -> Option<(SystemTime, u64)> {
        let Given::File(path) = &self.given else { return None };
        let state = std::fs::metadata(path).ok()?;
        Some((state.modified().ok()?, state.len()))
    }

    pub(super) fn name(&self) -> String {
        match &self.given {
            Given::Here(_) => self.whose.origin.clone(),
            Given::File(path) => path.display().to_string(),
        }
    }
}

/// All texts as one list.
pub(super) fn read(
    texts: &[Text],
    registered: &Arc<Registered>,
    registry: &Registry,
) -> Result<(Snapshot, Seen), ChecklistError> {
    let mut seen = Vec::new();
    let mut faults: Vec<Vec<Fault>> = Vec::new();
    let mut sources = Vec::new();
    let mut written = Vec::new();
    for text in texts {
        // Before it is read: whoever writes meanwhile is seen the next time.
        seen.push(text.state());
        let source = match &text.given {
            Given::Here(text) => Ok(text.clone()),
            Given::File(path) => std::fs::read_to_string(path),
        };
        let mut wrong = Vec::new();
        let (source, list) = match source {
            Err(error) => {
                wrong.push(Fault { entry: None, at: None, what: format!("can't be read: {error}") });
                (String::new(), Written::default())
            }
            Ok(source) => {
                let mut reader = Reader::default();
                let list = match parse(&source, text.syntax) {
                    Ok(table) => reader.list(&table, text.whose.clone()),
                    Err(faults) => {
                        wrong.extend(faults);
                        Written::default()
                    }
                };
                wrong.extend(reader.faults);
                (source, list)
            }
        };
        faults.push(wrong);
        sources.push(source);
        written.push(list);
    }
    let built =
        Snapshot::build(written.into_iter().zip(sources.iter().map(String::as_str)).collect(), registered, registry);
    match built {
        Ok(snapshot) if faults.iter().all(Vec::is_empty) => return Ok((snapshot, seen)),
        Ok(_) => {}
        Err(more) => more.into_iter().for_each(|(file, fault)| faults[file].push(fault)),
    }
    let of_file = |((text, source), faults): ((&Text, &String), Vec<Fault>)| {
        (!faults.is_empty()).then(|| (text.name(), Faults::new(faults, Some(source), "line")))
    };
    Err(ChecklistError(texts.iter().zip(&sources).zip(faults).filter_map(of_file).collect()))
}

/// What keeps a [`Checklist`](super::Checklist) from being built: all of it, file by file. Shows a line for each fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecklistError(Vec<(String, Faults)>);

impl ChecklistError {
    /// What is wrong, each with the name of its file or the origin of its lines. There is at least one.
    pub fn faults(&self) -> impl Iterator<Item = (&str, &FileFault)> {
        self.0.iter().flat_map(|(file, faults)| faults.iter().map(move |fault| (file.as_str(), fault)))
    }
}

impl fmt::Display for ChecklistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (file, fault)) in self.faults().enumerate() {
            write!(f, "{}{file}: {fault}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for ChecklistError {}
