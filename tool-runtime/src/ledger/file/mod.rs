//! A ledger in a file of JSON lines, which nobody can change unseen.

mod chain;
mod opening;
mod rotation;
mod set;
mod writer;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

pub use chain::{FileHead, FileTail};
use writer::{Job, Writer};

use super::desk::Desk;
use super::key::random;
use super::waiting::sealed_names;
use super::{
    Amount, ClaimError, Claimed, Clearing, Entry, History, Ledger, LedgerError, LedgerKey, LedgerKeyError, Owner,
    Parking, Query, Refusal, Reply, ReplyError, Tally,
};
use crate::BoxFuture;
use crate::call::CaseId;
use crate::gate::QuestionId;

/// Keeps entries in a file, one JSON line each, added at its end and never changed.
///
/// Each line ends with a code (HMAC-SHA-256) over the line and the code of the line before it, so that
/// nobody without the key changes, adds, moves or takes out a line unseen. What no chain can show is
/// that whole lines are missing at the end, or that an old copy was put in the file's place: keep its
/// [`head`](Self::head) elsewhere and [`verify`](Self::verify) against it.
///
/// One process writes a file: the second is refused. Lines that come at the same time are written and
/// synced together.
///
/// A line that was not written to its end, because the host stopped, was never acknowledged. Opening
/// puts it aside into `<file>.torn`; reading reports it and changes nothing.
///
/// Nothing is ever taken out of a file, since the chain would not hold. To keep less, [`rotate`](Self::rotate) now and
/// then, and [`prune`](Self::prune): whole closed files go, and the ledger says so.
///
/// The arguments of a call that waits, if some are secret, are kept sealed in `<file>.sealed/` until the
/// call is over; that takes the feature `sealed`.
pub struct FileLedger {
    path: PathBuf,
    key: LedgerKey,
    owner: Owner,
    desk: Arc<Mutex<Desk>>,
    writer: Writer,
}

/// What a ledger's files were found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Where the lines that hold come to. `None`: there is not even a first one.
    pub head: Option<FileHead>,
    /// What stands behind them.
    pub tail: FileTail,
    /// How many files they are in.
    pub files: usize,
    /// Up to where files were [taken out](FileLedger::prune), if some were.
    pub pruned: Option<FileHead>,
}

impl Verified {
    /// There is nothing but lines that hold.
    pub fn is_whole(&self) -> bool {
        self.tail == FileTail::Whole
    }
}

impl FileLedger {
    /// Opens a file to write to, and makes it if there is none. The host's name is the file's: who else
    /// opens it, at another time, is a later start of the same.
    ///
    /// # Errors
    /// If another process writes to it, it isn't what was written, or it can't be read or written; and if it isn't there,
    /// or is empty, and a [closed file](Self::rotate) beside it says that another one follows.
    pub fn open(path: impl Into<PathBuf>, key: LedgerKey) -> Result<Self, FileLedgerError> {
        let path = path.into();
        let io = |error: io::Error| FileLedgerError::Io(path.clone(), error);
        let opened = opening::open(&path, &key)?;
        let mut desk = Desk::default();
        opened.entries.iter().for_each(|entry| desk.see(entry));
        erase_forgotten(&sealed_folder(&path), &desk).map_err(io)?;
        let owner = Owner::new(format!("file-{}", opened.chain.ledger), hex(&random::<8>()?));
        let desk = Arc::new(Mutex::new(desk));
        let writer = Writer::start(&path, opened, owner.clone(), Arc::clone(&desk)).map_err(io)?;
        Ok(FileLedger { path, key, owner, desk, writer })
    }

    /// Checks every line of a ledger's files, and changes nothing. With `expect`, also that the lines up to there
    /// are the ones that they were.
    ///
    /// # Errors
    /// At the first line that isn't what was written; if a file is missing that was not taken out; if there are fewer
    /// lines than expected, or others, or these were [taken out](Self::prune); and if something can't be read.
    pub fn verify(
        path: impl AsRef<Path>,
        key: &LedgerKey,
        expect: Option<FileHead>,
    ) -> Result<Verified, FileLedgerError> {
        let path = path.as_ref();
        let set = set::all(path, key)?;
        match expect.map(|expected| (expected, set.has(expected))) {
            Some((expected, Some(false))) => return Err(FileLedgerError::Unexpected(path.to_owned(), expected)),
            Some((expected, None)) => return Err(FileLedgerError::TakenOut(path.to_owned(), expected)),
            _ => {}
        }
        Ok(Verified {
            head: set.newest.chain.map(|chain| chain.head),
            tail: set.newest.tail,
            files: set.older.files.len() + 1,
            pruned: set.older.pruned.map(|(_, head)| head),
        })
    }

    /// Reads the entries of all files, checking every line, and changes nothing. Somebody else may be writing to
    /// them: a line that isn't whole yet is left out.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn read(path: impl AsRef<Path>, key: &LedgerKey) -> Result<History, FileLedgerError> {
        Ok(History::of(set::all(path.as_ref(), key)?.into_entries()))
    }

    /// Closes the file and begins a new one in its place. The closed one goes to `<file>.1`, the next to `<file>.2`, and
    /// so on; together they are the ledger, and their lines one chain. Gives where the closed one came to.
    ///
    /// # Errors
    /// If the file system fails, or knows no hard links; then the file is the one that it was.
    pub async fn rotate(&self) -> Result<FileHead, LedgerError> {
        self.writer.send(|done| Job::Rotate { done }).await
    }

    /// Takes out closed files, the oldest first, as long as all calls in them have been over for longer than `age` or are
    /// still open. Gives the number of calls that are over and gone.
    ///
    /// What open calls have there is carried over into the file that is written to, and so are calls that are over and
    /// that a limit still counts, and what was said of tools' declarations. A line with it says up to where files are
    /// gone, so that what is left still [verifies](Self::verify). The secrets of calls that have waited in vain for as
    /// long are erased. While files are looked through, nothing else is written.
    ///
    /// # Errors
    /// If a file can't be read or isn't what was written, or the file system fails. What the ledger then says is gone and
    /// is still there goes when it is opened the next time.
    pub async fn prune(&self, age: Duration) -> Result<u64, LedgerError> {
        self.writer.send(|done| Job::Prune { age, done }).await
    }

    /// Where the chain has come to: what a later [`verify`](Self::verify) may expect.
    pub fn head(&self) -> FileHead {
        self.writer.head()
    }

    /// Nothing of ours panics while it holds this lock.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, entries: Vec<Entry>, parked: Option<(String, Vec<u8>)>) -> Result<(), LedgerError> {
        let mut lines = Vec::with_capacity(entries.len());
        for entry in entries {
            let text = entry.to_text()?;
            lines.push((entry, text));
        }
        self.writer.send(|done| Job::Append { lines, parked, done }).await.map_err(LedgerError::new)
    }

    #[cfg(feature = "sealed")]
    fn unsealed(&self, name: &str) -> Result<Option<String>, ClaimError> {
        match fs::read(sealed_folder(&self.path).join(name)) {
            Ok(sealed) => match self.key.unseal(name, &sealed) {
                Ok(whole) => Ok(Some(whole)),
                Err(error) => Err(ClaimError::Forged(error.to_string())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LedgerError::new(error).into()),
        }
    }

    #[cfg(not(feature = "sealed"))]
    fn unsealed(&self, _: &str) -> Result<Option<String>, ClaimError> {
        Ok(None)
    }
}

/// What no record may say, so that nobody without the key reads it. `name` is that of the file that it is for.
#[cfg(feature = "sealed")]
fn seal(key: &LedgerKey, name: &str, text: &str) -> Result<Vec<u8>, LedgerError> {
    key.seal(name, text).map_err(LedgerError::new)
}

#[cfg(not(feature = "sealed"))]
fn seal(_: &LedgerKey, _: &str, _: &str) -> Result<Vec<u8>, LedgerError> {
    Err(LedgerError::unsupported("keep the secret arguments of a call that waits: the feature `sealed` is off"))
}

impl Ledger for FileLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(self.write(vec![entry], None))
    }

    fn append_all(&self, entries: Vec<Entry>) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(self.write(entries, None))
    }

    fn key(&self) -> Option<&LedgerKey> {
        Some(&self.key)
    }

    fn owner(&self) -> Option<&Owner> {
        Some(&self.owner)
    }

    fn history(&self, query: Query) -> BoxFuture<'_, Result<History, LedgerError>> {
        Box::pin(async move { Ok(query.of(FileLedger::read(&self.path, &self.key).map_err(LedgerError::new)?)) })
    }

    fn park(&self, parking: Parking) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            let parked = match &parking.whole {
                Some(whole) => {
                    let [name, _] = sealed_names(parking.verdict.case());
                    let sealed = seal(&self.key, &name, whole)?;
                    Some((name, sealed))
                }
                None => None,
            };
            self.write(vec![parking.entry()], parked).await
        })
    }

    fn reply(&self, reply: Reply) -> BoxFuture<'_, Result<(), ReplyError>> {
        Box::pin(self.writer.reply(reply))
    }

    fn claim(&self, case: CaseId) -> BoxFuture<'_, Result<Claimed, ClaimError>> {
        Box::pin(async move {
            let [whole, hidden] = sealed_names(case);
            let (whole, hidden) = (self.unsealed(&whole)?, self.unsealed(&hidden)?);
            let claimed = self.desk().claim(case, SystemTime::now())?;
            Ok(Claimed { whole, hidden, ..claimed })
        })
    }

    fn refused(&self, refusal: Refusal) -> BoxFuture<'_, Result<Option<QuestionId>, LedgerError>> {
        Box::pin(async move { Ok(self.desk().refused(&refusal)) })
    }

    fn used(&self, tallies: Vec<Tally>) -> BoxFuture<'_, Result<Vec<Amount>, LedgerError>> {
        Box::pin(async move { self.desk().used(&tallies, SystemTime::now()) })
    }

    fn clear(&self, clearing: Clearing) -> BoxFuture<'_, Result<bool, LedgerError>> {
        Box::pin(async move {
            let text = clearing.entry().to_text()?;
            self.writer.clear(clearing, text).await
        })
    }
}

impl fmt::Debug for FileLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileLedger").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Secrets whose calls are over: the host stopped before it could erase them.
fn erase_forgotten(folder: &Path, desk: &Desk) -> io::Result<()> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for file in files {
        let file = file?;
        let name = file.file_name();
        let case = name.to_str().and_then(|name| name.split('.').next()?.parse::<CaseId>().ok());
        if case.is_some_and(|case| !desk.waiting().any(|waiting| waiting == case)) {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn sealed_folder(path: &Path) -> PathBuf {
    beside(path, ".sealed")
}

/// A file that was just made is there after a crash only if its folder was written too.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder_of(path))?.sync_all() } else { Ok(()) }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string doesn't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A ledger file can't be opened or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileLedgerError {
    /// Another process writes to it.
    InUse(PathBuf),
    /// It is not what was written: somebody changed it, or it was written under another key.
    #[non_exhaustive]
    Changed {
        /// The file.
        path: PathBuf,
        /// The first line that is wrong, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// It doesn't begin with the lines that were expected: lines are missing at its end, or it is
    /// another file.
    Unexpected(PathBuf, FileHead),
    /// A file is not there, or empty, and nothing says that it was taken out.
    MissingFile(PathBuf),
    /// The files with the lines that were expected were taken out.
    TakenOut(PathBuf, FileHead),
    /// It can't be read or written.
    Io(PathBuf, io::Error),
    /// There are no random numbers to begin it with.
    Key(LedgerKeyError),
}

impl fmt::Display for FileLedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileLedgerError::InUse(path) => write!(f, "`{}` is written to by another process", path.display()),
            FileLedgerError::Changed { path, line, why } => {
                write!(f, "`{}` was changed: line {line}: {why}", path.display())
            }
            FileLedgerError::Unexpected(path, head) => {
                write!(f, "`{}` does not begin with the {} lines that were expected", path.display(), head.lines())
            }
            FileLedgerError::MissingFile(path) => {
                write!(f, "`{}` is missing, and nothing says that it was taken out", path.display())
            }
            FileLedgerError::TakenOut(path, head) => {
                write!(f, "line {} of `{}` was in a file that was taken out", head.lines(), path.display())
            }
            FileLedgerError::Io(path, error) => write!(f, "`{}`: {error}", path.display()),
            FileLedgerError::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileLedgerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FileLedgerError::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

impl From<LedgerKeyError> for FileLedgerError {
    fn from(error: LedgerKeyError) -> Self {
        FileLedgerError::Key(error)
    }
}
