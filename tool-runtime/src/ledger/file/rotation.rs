//! A file is closed and the next one begun; files whose calls are long over are taken out.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::chain::{Chain, FileHead, Pruned};
use super::opening::locked;
use super::set::{self, numbered};
use super::writer::{Pen, erase};
use super::{beside, sync_folder};
use crate::call::CaseId;
use crate::ledger::history::{CaseHistory, CaseState, History};
use crate::ledger::limits::Uses;
use crate::ledger::micros::to_micros;
use crate::ledger::stored::{Stored, StoredKind};

/// A file that has its last line goes to its number, and one that follows it takes its place. Whatever of that was done
/// before, by a host that stopped, is done again or left. Gives the file, its length, and its chain.
///
/// Where it fails, all may be taken back: `Err` comes before the last step.
pub(super) fn succeed(path: &Path, closed: &Chain) -> io::Result<(File, u64, Chain)> {
    let next = beside(path, ".next");
    let mut first = String::new();
    let chain = Chain::follow(closed, to_micros(SystemTime::now()), &mut first);
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&next)?;
    // Nobody opens it to write between its coming to its place and this.
    locked(&file).map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })?;
    file.write_all(first.as_bytes())?;
    file.sync_all()?;
    let kept = numbered(path, closed.file);
    match fs::hard_link(path, &kept) {
        // By a host that stopped then. It is this file, or none of ours.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::read(&kept)? == fs::read(path)? => {}
        linked => linked?,
    }
    sync_folder(path)?;
    // There is a file at each moment, and it is one or the other.
    fs::rename(&next, path)?;
    Ok((file, first.len() as u64, chain))
}

/// Takes files out, up to this number. The ledger says that they are gone, so where it fails the rest can be done later.
pub(super) fn take_out(path: &Path, up_to: u64) -> io::Result<()> {
    // The oldest went first, also when a host stopped in the middle of it: what is left of them are the newest.
    let is_there = |file: &u64| fs::symlink_metadata(numbered(path, *file)).is_ok();
    let left = (1..=up_to).rev().take_while(is_there).last();
    for file in left.unwrap_or(up_to + 1)..=up_to {
        fs::remove_file(numbered(path, file))?;
    }
    Ok(())
}

impl Pen {
    /// Closes the file and begins the next one. Gives where the closed one came to.
    pub(super) fn rotate(&mut self) -> io::Result<FileHead> {
        let (before, length, owner) = (self.chain.clone(), self.length, self.owner.to_string());
        self.lines(|chain, bytes| chain.last(to_micros(SystemTime::now()), &owner, bytes))?;
        let closed = self.chain.head;
        match succeed(&self.path, &self.chain) {
            Ok((file, length, chain)) => {
                (self.file, self.length, self.chain) = (file, length, chain);
                self.tell();
                // If the new name may be lost, what is written under it may be, too.
                self.broken = sync_folder(&self.path).inspect_err(not_synced).is_err();
                Ok(closed)
            }
            Err(error) => {
                self.take_back(before, length);
                Err(error)
            }
        }
    }

    /// Takes closed files out whose calls have been over for longer than `age`. Gives the number of these calls.
    pub(super) fn prune(&mut self, age: Duration) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        let set::Set { older, newest } = set::all(&self.path, &self.chain.key)?;
        let everything = older.carried.iter().chain(older.files.iter().flat_map(|closed| &closed.entries));
        let history = History::of(everything.chain(&newest.entries).cloned());
        let now = SystemTime::now();
        let before = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let is = |age: Age| {
            history.cases().iter().filter(move |case| Age::of(case, before, now) == age).map(CaseHistory::id)
        };
        let (over, young): (HashSet<CaseId>, HashSet<CaseId>) = (is(Age::Over).collect(), is(Age::Young).collect());
        self.forget(is(Age::Forgotten));
        let can_go = |closed: &&set::Closed| !closed.entries.iter().any(|entry| young.contains(&entry.case()));
        let gone: Vec<&set::Closed> = older.files.iter().take_while(can_go).collect();
        let Some(last) = gone.last() else { return Ok(0) };
        let of_gone: Vec<&Stored> =
            older.carried.iter().chain(gone.iter().flat_map(|closed| &closed.entries)).collect();
        let is_kept = |entry: &&&Stored| entry.kind() == StoredKind::Declaration || !over.contains(&entry.case());
        let kept: Vec<&Stored> = of_gone.iter().filter(is_kept).copied().collect();
        let calls: HashSet<CaseId> =
            of_gone.iter().map(|entry| entry.case()).filter(|case| over.contains(case)).collect();
        let pruned = Pruned { file: last.file, head: last.head };
        let (owner, at) = (self.owner.to_string(), to_micros(SystemTime::now()));
        self.lines(|chain, bytes| {
            for entry in &kept {
                chain.carried(entry, at, &owner, bytes);
            }
            chain.pruned(&pruned, kept.len(), at, &owner, bytes);
        })?;
        take_out(&self.path, pruned.file)?;
        Ok(calls.len() as u64)
    }

    /// Erases the secrets of calls that have waited in vain.
    fn forget(&self, cases: impl Iterator<Item = CaseId>) {
        for case in cases {
            if let Err(error) = erase(&self.sealed, case) {
                tracing::error!(target: "tool_runtime", %error, %case, "the secrets of a call that waited in vain were not erased");
            }
        }
    }
}

fn not_synced(error: &io::Error) {
    tracing::error!(target: "tool_runtime", %error, "a new ledger file may be lost with the machine's power; nothing is written to it");
}

/// How long a call has been over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// It isn't, or a limit still counts it.
    Open,
    /// It waits, and nobody has answered in time.
    Forgotten,
    /// Not for long.
    Young,
    /// For long.
    Over,
}

impl Age {
    fn of(case: &CaseHistory, before: SystemTime, now: SystemTime) -> Self {
        let last = case.entries().iter().filter_map(Stored::at).max();
        match case.state() {
            CaseState::Ended(_) if last.is_some_and(|at| at >= before) => Age::Young,
            CaseState::Ended(_) if Uses::count(case.entries(), now) => Age::Open,
            CaseState::Ended(_) => Age::Over,
            CaseState::Waiting if case.verdict().and_then(Stored::expires).is_some_and(|at| at < before) => {
                Age::Forgotten
            }
            _ => Age::Open,
        }
    }
}
