use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::QuestionId;
use crate::schema::Digest;
use crate::schema::json::Json;
use crate::tool::HostTool;

/// Which further calls of a tool a yes for the session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GrantScope {
    /// Calls whose accepted arguments are equal, whatever their spelling and their id.
    SameArguments,
    /// All calls of the tool.
    ///
    /// Dangerous: whoever says so has seen the arguments of one call, and the model chooses those of
    /// every other. A yes to deleting a scratch file is then a yes to deleting any. Offer it for
    /// tools whose arguments can't matter, or bound them by a policy: what that denies stays denied.
    AnyArguments,
}

/// What people agreed to for a session. Cheap to clone; all clones are the same session.
///
/// A grant spares a question and does nothing else. Deny beats it, a condition that does not hold
/// beats it, and a value that nobody knows beats it, whichever was there first. It is for one tool by
/// its name *and* its definition: another tool of that name, and the same tool with another
/// description, have to be asked about. A host gives each session its own.
///
/// ```
/// use tool_runtime::{AllowAll, Grants, Harness, Registry};
///
/// let grants = Grants::new();
/// let registry = Registry::builder().build()?;
/// let harness = Harness::new(registry, AllowAll).grants(grants.clone());
/// for grant in grants.list() {
///     println!("{} {:?}", grant.tool(), grant.arguments());
/// }
/// grants.revoke_all();
/// assert!(grants.is_empty());
/// # Ok::<(), tool_runtime::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct Grants(Arc<Mutex<BTreeMap<Key, Arc<Grant>>>>);

/// Of what a grant is: nothing that a call may leave out, so that a call with less has less.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    tool: String,
    definition: Digest,
    /// `None` for any.
    arguments: Option<Digest>,
}

/// A yes for the session.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    key: Key,
    question: QuestionId,
    /// Redacted.
    arguments: Option<String>,
    /// What the user was told along with that question.
    told: Vec<String>,
}

impl Grant {
    /// The tool.
    pub fn tool(&self) -> &str {
        &self.key.tool
    }

    /// The definition that was agreed to.
    pub fn definition(&self) -> &Digest {
        &self.key.definition
    }

    /// Which calls it is for.
    pub fn scope(&self) -> GrantScope {
        if self.key.arguments.is_some() { GrantScope::SameArguments } else { GrantScope::AnyArguments }
    }

    /// The arguments that it is for, as canonical text, secrets redacted. `None`: for any.
    pub fn arguments(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    /// The question that was answered so.
    pub fn question(&self) -> &QuestionId {
        &self.question
    }

    /// The user was told all this when it was given.
    pub(crate) fn has_told(&self, notices: &[String]) -> bool {
        notices.iter().all(|notice| self.told.contains(notice))
    }

    /// Why a call needs no question, for the record.
    pub(crate) fn reason(&self) -> String {
        let scope = match self.scope() {
            GrantScope::SameArguments => "these arguments",
            GrantScope::AnyArguments => "any arguments",
        };
        format!("allowed for this session with {scope}, by the answer to question {}", self.question)
    }
}

impl Grants {
    /// None yet.
    pub fn new() -> Self {
        Grants::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// All there are, by the names of their tools.
    pub fn list(&self) -> Vec<Arc<Grant>> {
        self.lock().values().cloned().collect()
    }

    /// Takes one back: later calls are asked about again. `false` if it was gone already.
    ///
    /// A call that has been judged is not judged again for it.
    pub fn revoke(&self, grant: &Grant) -> bool {
        self.lock().remove(&grant.key).is_some()
    }

    /// Takes all back.
    pub fn revoke_all(&self) {
        // Dropped after the lock is.
        let revoked = std::mem::take(&mut *self.lock());
        drop(revoked);
    }

    /// The grant that spares the question about a call, given the canonical text of its accepted
    /// arguments. One for these very arguments says more than one for any.
    pub(crate) fn covering(&self, tool: &HostTool, canonical: &str) -> Option<Arc<Grant>> {
        if self.is_empty() {
            return None;
        }
        let digest = what_runs(tool, canonical);
        let grants = self.lock();
        let key = |arguments| Key { tool: tool.name().to_owned(), definition: *tool.digest(), arguments };
        [Some(digest), None].into_iter().find_map(|arguments| grants.get(&key(arguments)).cloned())
    }

    pub(crate) fn add(
        &self,
        tool: &HostTool,
        canonical: &str,
        scope: GrantScope,
        question: QuestionId,
        told: Vec<String>,
    ) {
        let (digest, arguments) = match scope {
            GrantScope::SameArguments => (Some(what_runs(tool, canonical)), Some(tool.built().redact(canonical, &[]))),
            GrantScope::AnyArguments => (None, None),
        };
        let key = Key { tool: tool.name().to_owned(), definition: *tool.digest(), arguments: digest };
        let grant = Arc::new(Grant { key: key.clone(), question, arguments, told });
        self.lock().insert(key, grant);
    }

    /// Nothing of ours panics while it holds this lock, and the map is whole after every step.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Grant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grants({})", self.len())
    }
}

/// Identifies what a call would run: the tool, its definition, and the accepted arguments by their
/// values.
pub(crate) fn what_runs(tool: &HostTool, canonical: &str) -> Digest {
    // An accepted text is JSON. If it weren't, its bytes would stand for themselves.
    let arguments = Json::parse(canonical).unwrap_or_else(|_| Json::string(canonical));
    Digest::of(&Json::Object(vec![
        ("tool".to_owned(), Json::string(tool.name())),
        ("definition".to_owned(), Json::string(tool.digest().to_string())),
        ("arguments".to_owned(), arguments),
    ]))
}
