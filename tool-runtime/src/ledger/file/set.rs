//! The files of one ledger: those that were closed, and the one that is written to.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::chain::{self, Chain, Contents, FileHead, FileTail};
use super::{FileLedgerError, beside, folder_of};
use crate::ledger::key::{LedgerKey, Mac};
use crate::ledger::stored::Stored;

/// What was closed and is still there, and what is kept of what was taken out.
pub(super) struct Older {
    /// Up to where files were taken out, and the number of the last.
    pub(super) pruned: Option<(u64, FileHead)>,
    /// What is kept of these.
    pub(super) carried: Vec<Stored>,
    /// The oldest first.
    pub(super) files: Vec<Closed>,
}

/// A file that takes no more lines.
pub(super) struct Closed {
    pub(super) file: u64,
    pub(super) head: FileHead,
    pub(super) entries: Vec<Stored>,
    macs: Vec<Mac>,
}

/// All files of a ledger.
pub(super) struct Set {
    pub(super) older: Older,
    pub(super) newest: Contents,
}

impl Set {
    /// All entries, in the order in which they were written.
    pub(super) fn into_entries(self) -> impl Iterator<Item = Stored> {
        let closed = self.older.files.into_iter().flat_map(|closed| closed.entries);
        self.older.carried.into_iter().chain(closed).chain(self.newest.entries)
    }

    /// Is this where the chain once was? `None`: the files of that time were taken out.
    pub(super) fn has(&self, head: FileHead) -> Option<bool> {
        let before = self.older.pruned.map_or(FileHead::START, |(_, head)| head);
        let place = head.lines().checked_sub(before.lines())?;
        let Some(place) = place.checked_sub(1) else { return Some(head == before && head != FileHead::START) };
        let mut macs = self.older.files.iter().flat_map(|closed| &closed.macs).chain(&self.newest.macs);
        let found = usize::try_from(place).ok().and_then(|place| macs.nth(place));
        Some(found.is_some_and(|mac| FileHead::new(head.lines(), *mac) == head))
    }
}

/// Where a file of this number goes when it is closed.
pub(super) fn numbered(path: &Path, file: u64) -> PathBuf {
    beside(path, &format!(".{file}"))
}

/// Does no closed file say that this one, which is not there or empty, follows it?
///
/// # Errors
/// If one does.
pub(super) fn begins(path: &Path, key: &LedgerKey) -> Result<(), FileLedgerError> {
    let io = |error: io::Error| FileLedgerError::Io(path.to_owned(), error);
    let name = beside(path, ".");
    let stem = name.file_name().map_or(&[][..], OsStr::as_encoded_bytes);
    for file in fs::read_dir(folder_of(path)).map_err(io)? {
        let place = file.map_err(io)?.path();
        let number = place.file_name().and_then(|name| name.as_encoded_bytes().strip_prefix(stem));
        let is_number = number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
        if !is_number || !place.is_file() {
            continue;
        }
        let is_closed = match contents(&place, key) {
            Ok(found) => found.is_closed,
            // Not even its first line is of a ledger under this key.
            Err(FileLedgerError::Changed { line: 1, .. }) => false,
            Err(other) => return Err(other),
        };
        if is_closed {
            return Err(FileLedgerError::MissingFile(path.to_owned()));
        }
    }
    Ok(())
}

/// Reads one file.
pub(super) fn contents(path: &Path, key: &LedgerKey) -> Result<Contents, FileLedgerError> {
    let bytes = fs::read(path).map_err(|error| FileLedgerError::Io(path.to_owned(), error))?;
    read(path, &bytes, key)
}

pub(super) fn read(path: &Path, bytes: &[u8], key: &LedgerKey) -> Result<Contents, FileLedgerError> {
    chain::read(bytes, key).map_err(|(line, why)| FileLedgerError::Changed { path: path.to_owned(), line, why })
}

/// How often files are read anew while somebody else takes old ones out.
const ATTEMPTS: usize = 8;

/// Reads all files.
pub(super) fn all(path: &Path, key: &LedgerKey) -> Result<Set, FileLedgerError> {
    let mut attempt = 1;
    loop {
        let newest = match contents(path, key) {
            Err(FileLedgerError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                begins(path, key)?;
                return Err(FileLedgerError::Io(path.to_owned(), error));
            }
            newest => newest?,
        };
        match older(path, key, &newest) {
            // What says that it was taken out was written before.
            Err(FileLedgerError::MissingFile(_)) if attempt < ATTEMPTS => attempt += 1,
            older => return Ok(Set { older: older?, newest }),
        }
    }
}

/// Reads the files before one, each of which has to be the one that the next goes on with.
pub(super) fn older(path: &Path, key: &LedgerKey, newest: &Contents) -> Result<Older, FileLedgerError> {
    let mut older = Older { pruned: None, carried: Vec::new(), files: Vec::new() };
    let Some(chain) = &newest.chain else {
        begins(path, key)?;
        return Ok(older);
    };
    // Of several, the newest counts.
    let mut pruned = newest.pruned.clone();
    let mut after = newest.after;
    for file in (1..chain.file).rev() {
        let place = numbered(path, file);
        let changed = |why: &str| FileLedgerError::Changed { path: place.clone(), line: 1, why: why.to_owned() };
        if let Some((last, carried)) = pruned.take_if(|(last, _)| last.file >= file) {
            if last.file != file || last.head != after {
                return Err(changed("it was taken out, and not where the record of that says"));
            }
            older.pruned = Some((last.file, last.head));
            older.carried = carried;
            break;
        }
        let read = match contents(&place, key) {
            Err(FileLedgerError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FileLedgerError::MissingFile(place));
            }
            read => read?,
        };
        let is_before = |found: &Chain| found.file == file && found.ledger == chain.ledger && found.head == after;
        if !read.chain.as_ref().is_some_and(is_before) || !read.is_closed || read.tail != FileTail::Whole {
            return Err(changed("it isn't the file that the next one goes on with"));
        }
        after = read.after;
        pruned = pruned.or(read.pruned);
        older.files.push(Closed {
            file,
            head: read.chain.map_or(after, |chain| chain.head),
            entries: read.entries,
            macs: read.macs,
        });
    }
    older.files.reverse();
    Ok(older)
}
