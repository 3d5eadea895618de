//! A file is opened to write to: by one process, and behind its last whole line.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::chain::{Chain, FileTail};
use super::{FileLedgerError, beside, hex, rotation, set, sync_folder};
use crate::ledger::key::{LedgerKey, random};
use crate::ledger::micros::to_micros;
use crate::ledger::stored::Stored;

/// A file, nobody else's to write to.
pub(super) struct Opened {
    pub(super) file: File,
    /// Its length.
    pub(super) length: u64,
    pub(super) chain: Chain,
    /// The entries of all files.
    pub(super) entries: Vec<Stored>,
}

/// Locks the file for one writer. Where a process of this host is just starting another one, that has all its files for a
/// moment, those that were closed meanwhile, too: it is waited for, a second at the most.
pub(super) fn locked(file: &File) -> Result<(), TryLockError> {
    for _ in 0..50 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            locked => return locked,
        }
    }
    file.try_lock()
}

/// How often it is opened anew because a file was closed meanwhile.
const ATTEMPTS: usize = 8;

pub(super) fn open(path: &Path, key: &LedgerKey) -> Result<Opened, FileLedgerError> {
    for _ in 0..ATTEMPTS {
        if let Some(opened) = attempt(path, key)? {
            return Ok(opened);
        }
    }
    Err(FileLedgerError::InUse(path.to_owned()))
}

/// `None`: the file that was opened was closed by its writer, and another is in its place.
fn attempt(path: &Path, key: &LedgerKey) -> Result<Option<Opened>, FileLedgerError> {
    let io = |error: io::Error| FileLedgerError::Io(path.to_owned(), error);
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        // Before it is made: nothing is changed where one is missing.
        set::begins(path, key)?;
    }
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
    match locked(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(FileLedgerError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(io)?;
    let mut newest = set::read(path, &bytes, key)?;
    // Nobody but us closes it now. Is it still the one at its place?
    let number = newest.chain.as_ref().map(|chain| chain.file);
    if newest.is_closed && set::contents(path, key)?.chain.map(|chain| chain.file) != number {
        return Ok(None);
    }
    let older = set::older(path, key, &newest)?;
    if matches!(&newest.tail, FileTail::Torn(_)) || newest.good < bytes.len() {
        set_aside(path, &bytes[newest.good..]).map_err(io)?;
    }
    let mut length = newest.good as u64;
    file.set_len(length).map_err(io)?;
    file.seek(SeekFrom::Start(length)).map_err(io)?;
    let mut missing = String::new();
    let mut chain = match newest.chain.take() {
        Some(chain) => {
            if let FileTail::NoNewline(_) = newest.tail {
                missing.push('\n');
            }
            chain
        }
        None => {
            let ledger = hex(&random::<16>()?);
            Chain::begin(key.clone(), ledger, to_micros(SystemTime::now()), &mut missing)
        }
    };
    if !missing.is_empty() {
        file.write_all(missing.as_bytes()).map_err(io)?;
        length += missing.len() as u64;
    }
    file.sync_all().map_err(io)?;
    if newest.is_closed {
        // Its writer stopped before the next one was in its place.
        (file, length, chain) = rotation::succeed(path, &chain).map_err(io)?;
    }
    sync_folder(path).map_err(io)?;
    if let Some((up_to, _)) = older.pruned {
        rotation::take_out(path, up_to).map_err(io)?;
    }
    let entries = set::Set { older, newest }.into_entries().collect();
    Ok(Some(Opened { file, length, chain, entries }))
}

/// Keeps what a write that was cut off has left.
fn set_aside(path: &Path, rest: &[u8]) -> io::Result<()> {
    let mut torn = OpenOptions::new().append(true).create(true).open(beside(path, ".torn"))?;
    torn.write_all(rest)?;
    torn.write_all(b"\n")?;
    torn.sync_all()
}
