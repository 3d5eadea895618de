//! A ledger in a file of JSON lines, which nobody can change unseen.

mod chain;
mod writer;

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use chain::{Chain, Contents};
pub use chain::{FileHead, FileTail};
use writer::{Job, Writer};

use super::desk::Desk;
use super::key::random;
use super::record::to_micros;
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
/// Nothing is ever taken out of it, since the chain would not hold: to keep less, begin a new file, and keep the old
/// one's head, or nothing of it.
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

/// What a file was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Where the lines that hold come to. `None`: there is not even a first one.
    pub head: Option<FileHead>,
    /// What stands behind them.
    pub tail: FileTail,
}

impl Verified {
    /// There is nothing but lines that hold.
    pub fn is_whole(&self) -> bool {
        self.tail == FileTail::Whole
    }
}

/// Locks the file for one writer. Where a process of this host is just starting another one, that has all its files for a
/// moment, those that were closed meanwhile, too: it is waited for, a second at the most.
fn locked(file: &File) -> Result<(), TryLockError> {
    for _ in 0..50 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            locked => return locked,
        }
    }
    file.try_lock()
}

impl FileLedger {
    /// Opens a file to write to, and makes it if there is none. The host's name is the file's: who else
    /// opens it, at another time, is a later start of the same.
    ///
    /// # Errors
    /// If another process writes to it, it isn't what was written, or it can't be read or written.
    pub fn open(path: impl Into<PathBuf>, key: LedgerKey) -> Result<Self, FileLedgerError> {
        let path = path.into();
        let io = |error: io::Error| FileLedgerError::Io(path.clone(), error);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        match locked(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FileLedgerError::InUse(path)),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let contents = read(&path, &bytes, &key)?;
        if matches!(&contents.tail, FileTail::Torn(_)) || contents.good < bytes.len() {
            set_aside(&path, &bytes[contents.good..]).map_err(io)?;
        }
        let mut length = contents.good as u64;
        file.set_len(length).map_err(io)?;
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        let mut missing = String::new();
        let chain = match contents.chain {
            Some(chain) => {
                if let FileTail::NoNewline(_) = contents.tail {
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
        sync_folder(&path).map_err(io)?;
        let mut desk = Desk::default();
        contents.entries.iter().for_each(|entry| desk.see(entry));
        let sealed = sealed_folder(&path);
        erase_forgotten(&sealed, &desk).map_err(io)?;
        let owner = Owner::new(format!("file-{}", chain.ledger), hex(&random::<8>()?));
        let desk = Arc::new(Mutex::new(desk));
        let writer = Writer::start(file, length, chain, owner.clone(), Arc::clone(&desk), sealed).map_err(io)?;
        Ok(FileLedger { path, key, owner, desk, writer })
    }

    /// Checks every line of a file, and changes nothing. With `expect`, also that the lines up to there
    /// are the ones that they were.
    ///
    /// # Errors
    /// At the first line that isn't what was written; if the file is shorter than expected, or another;
    /// and if it can't be read.
    pub fn verify(
        path: impl AsRef<Path>,
        key: &LedgerKey,
        expect: Option<FileHead>,
    ) -> Result<Verified, FileLedgerError> {
        let path = path.as_ref();
        let contents = contents(path, key)?;
        if let Some(expected) = expect {
            let place = usize::try_from(expected.lines().wrapping_sub(1)).ok();
            let found = place.and_then(|place| contents.macs.get(place));
            if found.map(|mac| FileHead::new(expected.lines(), *mac)) != Some(expected) {
                return Err(FileLedgerError::Unexpected(path.to_owned(), expected));
            }
        }
        Ok(Verified { head: contents.chain.map(|chain| chain.head), tail: contents.tail })
    }

    /// Reads a file's entries, checking every line, and changes nothing. Somebody else may be writing to
    /// it: a line that isn't whole yet is left out.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn read(path: impl AsRef<Path>, key: &LedgerKey) -> Result<History, FileLedgerError> {
        Ok(History::of(contents(path.as_ref(), key)?.entries))
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

fn contents(path: &Path, key: &LedgerKey) -> Result<Contents, FileLedgerError> {
    let bytes = fs::read(path).map_err(|error| FileLedgerError::Io(path.to_owned(), error))?;
    read(path, &bytes, key)
}

fn read(path: &Path, bytes: &[u8], key: &LedgerKey) -> Result<Contents, FileLedgerError> {
    chain::read(bytes, key).map_err(|(line, why)| FileLedgerError::Changed { path: path.to_owned(), line, why })
}

/// Keeps what a write that was cut off has left.
fn set_aside(path: &Path, rest: &[u8]) -> io::Result<()> {
    let mut torn = OpenOptions::new().append(true).create(true).open(beside(path, ".torn"))?;
    torn.write_all(rest)?;
    torn.write_all(b"\n")?;
    torn.sync_all()
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
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
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
