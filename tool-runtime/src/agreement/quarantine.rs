use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::declaration::{Moment, Verified};
use crate::gate::Signer;
use crate::ledger::{DeclarationRecord, Entry, Ledger, LedgerError, Query, Standing};
use crate::schema::Digest;
use crate::tool::HostTool;

/// Tools whose declaration that they are deterministic isn't believed, because results of theirs differed where the
/// arguments agreed. Never a plan.
///
/// A clone shares what is held. [`open`](Self::open) reads what a ledger has, so that a quarantine survives restarts; it is
/// lifted by a new probe or by a person, and by nothing else: not by a new definition of the tool, and not by time.
#[derive(Clone)]
pub struct Quarantine(Arc<Inner>);

struct Inner {
    held: Mutex<BTreeMap<String, Held>>,
    ledger: Option<Arc<dyn Ledger>>,
}

#[derive(Debug, Clone)]
struct Held {
    definition: Option<Digest>,
    why: String,
    since: Moment,
    /// The ledger has it.
    recorded: bool,
}

/// A tool whose declaration is in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The tool.
    pub name: String,
    /// Which definition it had, if that is known.
    pub definition: Option<Digest>,
    /// Why, for persons.
    pub why: String,
}

impl fmt::Display for QuarantinedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

impl Quarantine {
    /// An empty one that ends with the process.
    pub fn new() -> Self {
        Quarantine(Arc::new(Inner { held: Mutex::default(), ledger: None }))
    }

    /// What a ledger has, and will have from now on.
    ///
    /// # Errors
    /// If it can't be read, or the ledger only writes.
    pub async fn open(ledger: impl Ledger + 'static) -> Result<Self, LedgerError> {
        let quarantine = Quarantine(Arc::new(Inner { held: Mutex::default(), ledger: Some(Arc::new(ledger)) }));
        quarantine.refresh().await?;
        Ok(quarantine)
    }

    /// Takes up what other processes have put in since. What they let out stays in here until a new start, a probe or a
    /// person of this one lets it out.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn refresh(&self) -> Result<(), LedgerError> {
        let Some(ledger) = &self.0.ledger else { return Ok(()) };
        let history = ledger.history(Query::declarations()).await?;
        let mut last = BTreeMap::new();
        for entry in history.declarations() {
            last.insert(entry.tool(), entry);
        }
        let mut held = self.lock();
        // What nobody can read holds: nothing is believed too early.
        for (name, entry) in last.into_iter().filter(|(_, entry)| entry.standing() != Some(Standing::Lifted)) {
            held.entry(name.to_owned()).or_insert_with(|| Held {
                definition: entry.definition(),
                why: entry.why().unwrap_or_default().to_owned(),
                since: Moment::now(),
                recorded: true,
            });
        }
        Ok(())
    }

    /// Puts a tool's declaration in. It holds from now on also if it can't be recorded. What is in there stays as it is, but
    /// what was verified meanwhile counts no more.
    ///
    /// # Errors
    /// If the ledger could not keep it: then it won't survive a restart.
    pub async fn hold(&self, tool: &HostTool, why: impl Into<String>) -> Result<(), LedgerError> {
        let (why, definition) = (why.into(), Some(*tool.digest()));
        let (name, since) = (tool.name(), Moment::now());
        let is_recorded = {
            let mut held = self.lock();
            let held = held.entry(name.to_owned()).or_insert_with(|| Held {
                definition,
                why: why.clone(),
                since,
                recorded: false,
            });
            held.since = since;
            held.recorded
        };
        if is_recorded {
            return Ok(());
        }
        self.record(DeclarationRecord::new(name, definition, Standing::Quarantined, why)).await?;
        if let Some(held) = self.lock().get_mut(name) {
            held.recorded = true;
        }
        Ok(())
    }

    /// Lets a tool's declaration out, on a probe that was begun after it came in. `false`: it wasn't in, or the proof is of
    /// before.
    ///
    /// # Errors
    /// If the ledger could not keep it: then it stays in.
    pub async fn lift_by_probe(&self, name: &str, proof: &Verified) -> Result<bool, LedgerError> {
        if self.since(name).is_none_or(|since| proof.made() <= since) {
            return Ok(false);
        }
        let why = "identical calls gave the same again".to_owned();
        self.lift(DeclarationRecord::new(name, Some(*proof.tool()), Standing::Lifted, why)).await
    }

    /// Lets a tool's declaration out because a person says so. It still has to be probed in each epoch. `false`: it
    /// wasn't in.
    ///
    /// # Errors
    /// If the ledger could not keep it: then it stays in.
    pub async fn lift_by_person(
        &self,
        name: &str,
        signer: Signer,
        why: impl Into<String>,
    ) -> Result<bool, LedgerError> {
        let Some(held) = self.lock().get(name).cloned() else { return Ok(false) };
        self.lift(DeclarationRecord::new(name, held.definition, Standing::Lifted, why.into()).signed(signer)).await
    }

    async fn lift(&self, record: DeclarationRecord) -> Result<bool, LedgerError> {
        let name = record.tool().to_owned();
        let since = self.since(&name);
        self.record(record).await?;
        let again = {
            let mut held = self.lock();
            match held.get(&name).cloned() {
                None => return Ok(false),
                Some(now) if Some(now.since) == since => {
                    held.remove(&name);
                    return Ok(true);
                }
                Some(now) => now,
            }
        };
        // It came in again meanwhile, and the ledger may have that before what lets it out.
        self.record(DeclarationRecord::new(&name, again.definition, Standing::Quarantined, again.why)).await?;
        Ok(false)
    }

    async fn record(&self, record: DeclarationRecord) -> Result<(), LedgerError> {
        match &self.0.ledger {
            Some(ledger) => ledger.append(Entry::Declaration(Arc::new(record))).await,
            None => Ok(()),
        }
    }

    /// All that is in, by name.
    pub fn tools(&self) -> Vec<QuarantinedTool> {
        let tool = |(name, held): (&String, &Held)| QuarantinedTool {
            name: name.clone(),
            definition: held.definition,
            why: held.why.clone(),
        };
        self.lock().iter().map(tool).collect()
    }

    /// Is a tool's declaration in?
    pub fn holds(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    pub(super) fn since(&self, name: &str) -> Option<Moment> {
        self.lock().get(name).map(|held| held.since)
    }

    /// Nothing of ours panics under this lock.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Held>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Quarantine {
    fn default() -> Self {
        Quarantine::new()
    }
}

impl fmt::Debug for Quarantine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quarantine").field("tools", &self.tools()).finish_non_exhaustive()
    }
}
