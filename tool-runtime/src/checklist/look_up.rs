use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use serde::{Serialize, Serializer};

use super::ask::Ask;
use super::source::{Lookup, Source, SourceKind, SourceSet};
use crate::BoxFuture;
use crate::schema::json::{Json, same_value};
use crate::tool::{CatchPanic, caught};

/// What came of a search through several sources.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tried {
    /// What ended the search; [`Lookup::NoResult`] if every source was searched and nothing found.
    pub outcome: Lookup,
    /// The sources that were searched, in order, and what each said.
    pub tried: Vec<(SourceKind, Came)>,
}

impl Tried {
    /// The source that ended the search.
    pub fn by(&self) -> Option<SourceKind> {
        self.tried.last().filter(|(_, came)| *came != Came::NoResult).map(|(kind, _)| *kind)
    }
}

/// What one source said, without what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Came {
    /// It has the value.
    Hit,
    /// It has nothing.
    NoResult,
    /// It says something else.
    Conflict,
    /// It couldn't be searched.
    Failed,
}

impl Came {
    pub(super) const ALL: [Came; 4] = [Came::Hit, Came::NoResult, Came::Conflict, Came::Failed];

    /// The stable word, such as `no_result`.
    pub fn as_str(self) -> &'static str {
        match self {
            Came::Hit => "hit",
            Came::NoResult => "no_result",
            Came::Conflict => "conflict",
            Came::Failed => "failed",
        }
    }
}

impl Serialize for Came {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<&Lookup> for Came {
    fn from(lookup: &Lookup) -> Self {
        match lookup {
            Lookup::Hit(_) => Came::Hit,
            Lookup::NoResult => Came::NoResult,
            Lookup::Conflict(_) => Came::Conflict,
            Lookup::Failed(_) => Came::Failed,
        }
    }
}

/// Searches those of `sources` that are in `from`, in the fixed order of their kinds (and in the given order among
/// those of one kind), until one has a hit or a conflict.
///
/// A source that fails ends the search too: it might have said something else than those after it, so what they say
/// isn't taken in its place. A source that panics has failed, and so has one whose value is no JSON text. A hit with
/// another value than the one that was asked about is a conflict. What is found of a secret is kept without digest and
/// excerpt, whatever the source does.
pub async fn look_up(sources: &[Arc<dyn Source>], from: SourceSet, ask: Ask) -> Tried {
    let mut tried = Vec::new();
    let mut kinds = Vec::with_capacity(sources.len());
    for source in sources {
        match caught(|| source.kind()) {
            Ok(kind) if from.contains(kind) => kinds.push((kind, source)),
            Ok(_) => {}
            // Which one it is can't be known, so nothing is known of any.
            Err(words) => return Tried { outcome: panicked(&words), tried },
        }
    }
    kinds.sort_by_key(|(kind, _)| *kind);
    for (kind, source) in kinds {
        let looked = CatchPanic::of(|| source.look(ask.clone())).await;
        let outcome = looked.map_or_else(|words| panicked(&words), |said| held_against(&ask, said));
        tried.push((kind, Came::from(&outcome)));
        if outcome != Lookup::NoResult {
            return Tried { outcome, tried };
        }
    }
    Tried { outcome: Lookup::NoResult, tried }
}

/// What a source said, as far as it is about what was asked. Sources are the host's code: one that doesn't look at the
/// value that it is asked about would vouch for any.
fn held_against(ask: &Ask, said: Lookup) -> Lookup {
    match said {
        Lookup::Hit(hit) => {
            let Ok(found) = Json::parse(&hit.value).map(|value| value.canonical()) else {
                return Lookup::Failed("it gave a value that is no JSON text".to_owned());
            };
            let is_asked = |value| Json::parse(value).is_ok_and(|value| same_value(&value.canonical(), &found));
            let hit = hit.answering(ask);
            if ask.value().is_none_or(is_asked) { Lookup::Hit(hit) } else { Lookup::Conflict(vec![hit]) }
        }
        Lookup::Conflict(hits) => Lookup::Conflict(hits.into_iter().map(|hit| hit.answering(ask)).collect()),
        other => other,
    }
}

fn panicked(words: &str) -> Lookup {
    Lookup::Failed(format!("it panicked: {words}"))
}

/// [`look_up`] for several slots at once: no search waits for another. The results are in the order of `asks`.
pub async fn look_up_all(sources: &[Arc<dyn Source>], asks: impl IntoIterator<Item = (SourceSet, Ask)>) -> Vec<Tried> {
    let mut running: Vec<BoxFuture<'_, Tried>> = Vec::new();
    for (from, ask) in asks {
        running.push(Box::pin(look_up(sources, from, ask)));
    }
    all(running).await
}

/// All of them at once; none waits for another.
pub(super) async fn all<T>(mut running: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = running.iter().map(|_| None).collect();
    poll_fn(|task| {
        let mut left = false;
        for (future, done) in running.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            match future.as_mut().poll(task) {
                Poll::Ready(value) => *done = Some(value),
                Poll::Pending => left = true,
            }
        }
        if left { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    done.into_iter().flatten().collect()
}
