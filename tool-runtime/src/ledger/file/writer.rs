//! The one thread that writes to a ledger file.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use tokio::sync::oneshot;

use super::super::desk::Desk;
use super::super::micros::to_micros;
use super::super::waiting::{ReplyEntry, sealed_names};
use super::super::{Clearing, Entry, LedgerError, Owner, Reply, ReplyError, Stored};
use super::chain::{Chain, FileHead};
use super::opening::Opened;
use crate::call::CaseId;

/// What is to be written, and who waits for it.
pub(super) enum Job {
    Append {
        lines: Vec<(Entry, String)>,
        /// The sealed arguments of a call that is going to wait, and their file's name.
        parked: Option<(String, Vec<u8>)>,
        done: oneshot::Sender<Result<(), String>>,
    },
    Reply {
        reply: Reply,
        done: oneshot::Sender<Result<(), ReplyError>>,
    },
    Clear {
        clearing: Clearing,
        text: String,
        done: oneshot::Sender<Result<bool, LedgerError>>,
    },
    Rotate {
        done: oneshot::Sender<Result<FileHead, LedgerError>>,
    },
    Prune {
        age: Duration,
        done: oneshot::Sender<Result<u64, LedgerError>>,
    },
}

/// Sends to the thread, and ends it when dropped: the file is closed then.
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    head: Arc<Mutex<FileHead>>,
    thread: Option<JoinHandle<()>>,
}

/// How many jobs are written and synced together.
const TOGETHER: usize = 256;

impl Writer {
    pub(super) fn start(path: &Path, opened: Opened, owner: Owner, desk: Arc<Mutex<Desk>>) -> io::Result<Self> {
        let (jobs, incoming) = channel();
        let Opened { file, length, chain, .. } = opened;
        let head = Arc::new(Mutex::new(chain.head));
        let (shared, sealed) = (Arc::clone(&head), super::sealed_folder(path));
        let path = path.to_owned();
        let mut pen = Pen { path, file, length, chain, owner, desk, head: shared, sealed, broken: false };
        let thread = std::thread::Builder::new().name("tool-ledger".to_owned()).spawn(move || pen.run(&incoming))?;
        Ok(Writer { jobs: Some(jobs), head, thread: Some(thread) })
    }

    pub(super) fn head(&self) -> FileHead {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is sent is written, whether or not anybody waits for it.
    pub(super) fn send<T, E: OfGone, J: FnOnce(oneshot::Sender<Result<T, E>>) -> Job>(
        &self,
        job: J,
    ) -> impl Future<Output = Result<T, E>> + use<T, E, J> {
        let (done, written) = oneshot::channel();
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job(done)).is_ok());
        async move {
            if !sent {
                return Err(E::gone());
            }
            written.await.unwrap_or_else(|_| Err(E::gone()))
        }
    }

    pub(super) fn reply(&self, reply: Reply) -> impl Future<Output = Result<(), ReplyError>> + use<> {
        self.send(|done| Job::Reply { reply, done })
    }

    pub(super) fn clear(
        &self,
        clearing: Clearing,
        text: String,
    ) -> impl Future<Output = Result<bool, LedgerError>> + use<> {
        self.send(|done| Job::Clear { clearing, text, done })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        // Whoever opens the file next finds it closed. A thread that panicked is over as well.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Says that the thread has ended. No `From`: whoever misses one is shown all that there are.
pub(super) trait OfGone {
    fn gone() -> Self;
}

impl OfGone for String {
    fn gone() -> Self {
        "the thread that writes the ledger has ended".to_owned()
    }
}

impl OfGone for LedgerError {
    fn gone() -> Self {
        LedgerError::new(String::gone())
    }
}

impl OfGone for ReplyError {
    fn gone() -> Self {
        LedgerError::gone().into()
    }
}

pub(super) struct Pen {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Up to where the file is whole.
    pub(super) length: u64,
    pub(super) chain: Chain,
    pub(super) owner: Owner,
    desk: Arc<Mutex<Desk>>,
    head: Arc<Mutex<FileHead>>,
    pub(super) sealed: PathBuf,
    /// A write failed and could not be taken back.
    pub(super) broken: bool,
}

impl Pen {
    fn run(&mut self, incoming: &Receiver<Job>) {
        let mut next = incoming.recv().ok();
        while let Some(job) = next.take() {
            match job {
                Job::Reply { reply, done } => {
                    let _ = done.send(self.reply(&reply));
                }
                Job::Clear { clearing, text, done } => {
                    let _ = done.send(self.clear(&clearing, &text));
                }
                Job::Rotate { done } => {
                    let _ = done.send(self.rotate().map_err(LedgerError::new));
                }
                Job::Prune { age, done } => {
                    let _ = done.send(self.prune(age).map_err(LedgerError::new));
                }
                Job::Append { lines, parked, done } => {
                    let mut together = vec![(lines, parked, done)];
                    while together.len() < TOGETHER {
                        match incoming.try_recv() {
                            Ok(Job::Append { lines, parked, done }) => together.push((lines, parked, done)),
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.append(together);
                }
            }
            if next.is_none() {
                next = incoming.recv().ok();
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "the parts of jobs, in one place")]
    fn append(
        &mut self,
        jobs: Vec<(Vec<(Entry, String)>, Option<(String, Vec<u8>)>, oneshot::Sender<Result<(), String>>)>,
    ) {
        let at = SystemTime::now();
        let mut lines: Vec<&(Entry, String)> = Vec::new();
        let mut waiting = Vec::new();
        let mut parked_of = Vec::new();
        let mut dones = Vec::new();
        let mut jobs_lines = Vec::new();
        for (entries, parked, done) in jobs {
            jobs_lines.push(entries);
            parked_of.push(parked);
            dones.push(done);
        }
        for (entries, (parked, done)) in jobs_lines.iter().zip(parked_of.iter().zip(dones)) {
            // Before its line: a call that is said to wait can be gone on with.
            let kept = parked.as_ref().map_or(Ok(()), |(name, sealed)| self.keep(name, sealed));
            match kept {
                Ok(()) => {
                    lines.extend(entries);
                    waiting.push(done);
                }
                Err(error) => {
                    let _ = done.send(Err(error.to_string()));
                }
            }
        }
        let texts: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
        let written = self.write(&texts, at).map_err(|error| error.to_string());
        if written.is_ok() {
            for (entry, text) in &lines {
                self.note(entry, text, at);
            }
        }
        for done in waiting {
            let _ = done.send(written.clone());
        }
    }

    fn reply(&mut self, reply: &Reply) -> Result<(), ReplyError> {
        let at = SystemTime::now();
        let replied = self.desk().reply(reply, at)?;
        let ReplyEntry { entry, hidden } = replied;
        let text = entry.to_text()?;
        if let Some(hidden) = hidden {
            // Before its line, as with what is parked.
            let [_, name] = sealed_names(entry.case());
            let sealed = super::seal(&self.chain.key, &name, &hidden)?;
            self.keep(&name, &sealed).map_err(LedgerError::new)?;
        }
        self.write(&[&text], at).map_err(LedgerError::new)?;
        self.note(&entry, &text, at);
        Ok(())
    }

    /// Nothing of ours panics while it holds this lock.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A verdict that takes something of limits: nobody else writes between the count and the line.
    fn clear(&mut self, clearing: &Clearing, text: &str) -> Result<bool, LedgerError> {
        let at = SystemTime::now();
        if !self.desk().clear(clearing, at)? {
            return Ok(false);
        }
        if let Err(error) = self.write(&[text], at) {
            self.desk().release(clearing.case());
            return Err(LedgerError::new(error));
        }
        self.note(&clearing.entry(), text, at);
        Ok(true)
    }

    fn write(&mut self, texts: &[&str], at: SystemTime) -> io::Result<()> {
        let (at, owner) = (to_micros(at), self.owner.to_string());
        self.lines(|chain, bytes| texts.iter().for_each(|text| chain.line(text, at, &owner, bytes)))
    }

    /// All lines in one write, synced once.
    pub(super) fn lines(&mut self, say: impl FnOnce(&mut Chain, &mut String)) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write failed and could not be taken back"));
        }
        let (before, length) = (self.chain.clone(), self.length);
        let mut bytes = String::new();
        say(&mut self.chain, &mut bytes);
        let written = self.file.write_all(bytes.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += bytes.len() as u64;
                self.tell();
            }
            // What was refused must not be there later.
            Err(_) => self.take_back(before, length),
        }
        written
    }

    /// What was written since is no more.
    pub(super) fn take_back(&mut self, before: Chain, length: u64) {
        (self.chain, self.length) = (before, length);
        let back = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        self.broken = back.and_then(|_| self.file.sync_data()).is_err();
        self.tell();
    }

    /// Where the chain has come to, for all who ask.
    pub(super) fn tell(&self) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = self.chain.head;
    }

    /// What a line means for calls that wait.
    fn note(&self, entry: &Entry, text: &str, at: SystemTime) {
        let mut desk = self.desk();
        let case = entry.case();
        let waited = desk.is_waiting(case);
        let noted = desk.note(entry, None, || {
            Ok(Stored::read(text)?.written(Some(at), Some(self.owner.clone()), Some(self.chain.key.id())))
        });
        if let Err::<(), super::super::StoredError>(error) = noted {
            tracing::error!(target: "tool_runtime", %error, "an entry that was written can't be read");
        }
        let is_over = waited && !desk.is_waiting(case);
        drop(desk);
        if is_over && let Err(error) = erase(&self.sealed, case) {
            tracing::error!(target: "tool_runtime", %error, %case, "the secrets of a call that is over were not erased");
        }
    }

    /// Keeps something sealed until its call is over.
    fn keep(&self, name: &str, sealed: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.sealed)?;
        let mut file = File::create(self.sealed.join(name))?;
        file.write_all(sealed)?;
        file.sync_all()?;
        super::sync_folder(&self.sealed.join("."))
    }
}

pub(super) fn erase(folder: &Path, case: CaseId) -> io::Result<()> {
    for name in sealed_names(case) {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
