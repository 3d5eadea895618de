//! What was said and what tools answered, kept with an index so that values are found in it.

mod answer;
mod candidates;
mod instruction;
mod observed;
mod wanted;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

pub(crate) use self::answer::{Asked, Takes};
pub use self::answer::{TurnAnswer, TurnValue};
use self::observed::Observed;
use super::ask::Ask;
use super::location::Location;
use super::search::{Lexicon, Read, Reading, Sentence, Words, readings};
use super::source::{Lookup, Source, SourceKind};
use crate::BoxFuture;
use crate::call::CallId;

/// A conversation as it grows, turn by turn: two sources in one. [`instruction`](Conversation::instruction) finds
/// what the user wrote, in all turns; [`observed`](Conversation::observed) finds what tools answered. Cheap to clone;
/// all clones are the same conversation.
///
/// The assistant's turns are no source. They say which question a turn of the user answers, and a value in one of
/// their questions counts only if the user's next turn accepts it.
///
/// Each turn is read once, when it comes. The newest speaks first. At most [`Conversation::MOST_TEXT`] bytes are
/// searched; what is older isn't found any more, and so is asked for.
///
/// ```
/// use tool_runtime::{Ask, Conversation, Lookup, Observation, Shape};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let conversation = Conversation::new();
/// conversation.user("Send 250 EUR to alice, please.");
/// conversation.result(Observation::new("call_1", "find_contact", r#"{"alice":{"iban":"DE89 3704"}}"#));
///
/// let iban = Ask::new("pay", "/iban", Shape::Text).with_value("\"DE893704\"");
/// let Lookup::Hit(hit) = conversation.observed().look(iban).await else { panic!() };
/// assert_eq!(hit.location.to_string(), "r:call_1#/alice/iban");
/// assert_eq!(conversation.observed().read(&hit.location).as_deref(), Some("DE89 3704"));
/// # });
/// ```
#[derive(Clone)]
pub struct Conversation(Arc<Inner>);

struct Inner {
    lexicon: Lexicon,
    said: RwLock<Said>,
}

/// Everything so far.
#[derive(Default)]
struct Said {
    turns: Vec<UserTurn>,
    results: Vec<Arc<Observed>>,
    /// What the assistant wrote since the user's last turn.
    assistant: Option<(usize, Arc<Piece>)>,
    assistant_turns: usize,
    /// Bytes that are kept, and how many turns and results hold none any more.
    kept: usize,
    dropped_turns: usize,
    dropped_results: usize,
}

/// A turn of the user.
struct UserTurn {
    piece: Arc<Piece>,
    /// The assistant's turn that it follows, with its number.
    question: Option<(usize, Arc<Piece>)>,
    /// It begins by agreeing.
    accepts: bool,
    /// How many results there were before it.
    results_before: usize,
}

/// A text with all that was read in it.
#[derive(Debug, Default)]
struct Piece {
    words: Words,
    readings: Vec<Reading>,
    /// Positions of readings in `readings`, by value.
    by_value: Vec<usize>,
}

impl Piece {
    fn new(text: &str, lexicon: &Lexicon) -> Self {
        let words = Words::new(text);
        let readings = readings(&words, lexicon);
        let mut by_value: Vec<usize> = (0..readings.len()).collect();
        by_value.sort_by(|&a, &b| readings[a].value.cmp(&readings[b].value).then(a.cmp(&b)));
        Piece { words, readings, by_value }
    }

    /// Does it begin by agreeing to what was asked, and neither asks back, nor holds something back, nor takes the yes back?
    fn accepts(&self, lexicon: &Lexicon) -> bool {
        let words = &self.words;
        let [first, rest @ ..] = &words.sentences[..] else { return false };
        // What somebody quotes isn't said.
        let begins = words.words.first().map_or("", |word| &words.text[..word.start]);
        let is_quoted = begins.contains(['"', '>', '`', '\u{201c}', '\u{201e}', '\u{ab}']);
        let objects = |within: Range<usize>| lexicon.denies(words, within.clone()) || lexicon.reserves(words, within);
        let takes_back = |sentence: &Sentence| objects(sentence.from..(sentence.from + 2).min(sentence.to));
        lexicon.is_yes(words, 0)
            && !is_quoted
            && !first.asks
            && !objects(first.from..first.to)
            && !rest.iter().any(takes_back)
    }

    /// Does it hold anything back?
    fn reserves(&self, lexicon: &Lexicon) -> bool {
        lexicon.reserves(&self.words, 0..self.words.words.len())
    }

    /// The last place where a number or day is written.
    fn last_reading(&self, value: &Read) -> Option<&Reading> {
        let end = self.by_value.partition_point(|&at| self.readings[at].value <= *value);
        let last = end.checked_sub(1).and_then(|at| self.by_value.get(at)).and_then(|&at| self.readings.get(at))?;
        (last.value == *value).then_some(last)
    }
}

/// What a call came back with, as a [`Conversation`] is told.
#[derive(Debug, Clone)]
pub struct Observation {
    call: CallId,
    tool: String,
    content: String,
    error: bool,
    pure: bool,
    derived: bool,
    unsourced: Vec<String>,
}

impl Observation {
    /// The result of a call, as its text.
    pub fn new(call: impl Into<CallId>, tool: impl Into<String>, content: impl Into<String>) -> Self {
        Observation {
            call: call.into(),
            tool: tool.into(),
            content: content.into(),
            error: false,
            pure: false,
            derived: false,
            unsourced: Vec::new(),
        }
    }

    /// It is an error: its text vouches for nothing.
    #[must_use]
    pub fn error(mut self, is_error: bool) -> Self {
        self.error = is_error;
        self
    }

    /// The tool computes its result from its arguments alone: it vouches for nothing that they didn't.
    #[must_use]
    pub fn pure(mut self, is_pure: bool) -> Self {
        self.pure = is_pure;
        self
    }

    /// It was computed from values that all have sources: then it vouches for slots whose values may be derived
    /// ([`Ask::deriving`]), and for no others.
    #[must_use]
    pub fn derived(mut self, is_derived: bool) -> Self {
        self.derived = is_derived;
        self
    }

    /// The values, as JSON texts, that the call brought in and no source held: the result doesn't vouch for them if it
    /// repeats them.
    #[must_use]
    pub fn unsourced<V: Into<String>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.unsourced.extend(values.into_iter().map(Into::into));
        self
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Conversation {
    /// How many bytes of text are searched.
    pub const MOST_TEXT: usize = 8 << 20;

    /// How many bytes of one turn or result are searched; the rest of a longer one isn't.
    pub const MOST_OF_ONE: usize = 1 << 20;

    /// An empty conversation, whose numbers and dates are read in English.
    pub fn new() -> Self {
        Self::with_lexicon(Lexicon::english())
    }

    /// An empty conversation whose values are written by these words.
    pub fn with_lexicon(lexicon: Lexicon) -> Self {
        Conversation(Arc::new(Inner { lexicon, said: RwLock::default() }))
    }

    /// Adds what the user wrote, and gives the number of the turn, from 1.
    pub fn user(&self, text: &str) -> usize {
        let piece = Arc::new(self.piece(text));
        let accepts = piece.accepts(&self.0.lexicon);
        self.change(|said| {
            said.kept += piece.words.text.len();
            let question = said.assistant.take();
            said.turns.push(UserTurn { piece, question, accepts, results_before: said.results.len() });
            said.turns.len()
        })
    }

    /// Adds what the assistant wrote to the user: no source, but the question that the next turn answers. Gives the
    /// number of the turn, from 1.
    pub fn assistant(&self, text: &str) -> usize {
        let piece = Arc::new(self.piece(text));
        self.change(|said| {
            said.assistant_turns += 1;
            // Without words there is nothing that could be answered.
            if !piece.words.words.is_empty() {
                said.kept += piece.words.text.len();
                said.assistant = Some((said.assistant_turns, piece));
            }
            said.assistant_turns
        })
    }

    /// Adds what a call came back with.
    pub fn result(&self, result: Observation) {
        let observed = Arc::new(Observed::new(result, &self.0.lexicon));
        self.change(|said| {
            said.kept += observed.len();
            said.results.push(observed);
        });
    }

    /// What the user wrote, as a source.
    pub fn instruction(&self) -> Arc<dyn Source> {
        Arc::new(View(self.clone(), SourceKind::Instruction))
    }

    /// What tools answered, as a source.
    pub fn observed(&self) -> Arc<dyn Source> {
        Arc::new(View(self.clone(), SourceKind::Observed))
    }

    /// How many turns the user has had.
    pub fn turns(&self) -> usize {
        self.said().turns.len()
    }

    /// What the user wrote in a turn, from 1. `None` for one that isn't kept, or not yet there.
    pub fn turn(&self, number: usize) -> Option<String> {
        let said = self.said();
        let turn = said.turns.get(number.checked_sub(1)?).filter(|_| number > said.dropped_turns)?;
        Some(turn.piece.words.text.clone())
    }

    fn piece(&self, text: &str) -> Piece {
        Piece::new(crate::schema::text::head(text, Self::MOST_OF_ONE), &self.0.lexicon)
    }

    fn said(&self) -> RwLockReadGuard<'_, Said> {
        self.0.said.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Said) -> T) -> T {
        let mut said = self.0.said.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut said);
        said.forget(Self::MOST_TEXT);
        changed
    }
}

impl Said {
    /// Lets the oldest go until no more than so many bytes are kept.
    fn forget(&mut self, most: usize) {
        while self.kept > most {
            let turn = self.turns.get(self.dropped_turns);
            let oldest_is_result = self.dropped_results < turn.map_or(self.results.len(), |turn| turn.results_before);
            if oldest_is_result {
                let result = std::mem::take(&mut self.results[self.dropped_results]);
                self.kept -= result.len();
                self.dropped_results += 1;
            } else if let Some(turn) = self.turns.get_mut(self.dropped_turns) {
                self.kept -= std::mem::take(&mut turn.piece).words.text.len();
                self.kept -= turn.question.take().map_or(0, |(_, piece)| piece.words.text.len());
                self.dropped_turns += 1;
            } else {
                // The assistant's text before any turn of the user.
                self.assistant = None;
                self.kept = 0;
            }
        }
    }
}

impl Default for Conversation {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said();
        f.debug_struct("Conversation")
            .field("turns", &said.turns.len())
            .field("results", &said.results.len())
            .finish_non_exhaustive()
    }
}

/// One of the two sources that a conversation is.
struct View(Conversation, SourceKind);

impl Source for View {
    fn kind(&self) -> SourceKind {
        self.1
    }

    fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup> {
        let (conversation, kind) = (self.0.clone(), self.1);
        Box::pin(async move {
            let value = match ask.proposed() {
                Ok(value) => value,
                Err(reason) => return Lookup::Failed(reason.to_owned()),
            };
            let (said, lexicon) = (conversation.said(), &conversation.0.lexicon);
            match kind {
                SourceKind::Instruction => instruction::look(&said, lexicon, &ask, value),
                _ => observed::look(&said, lexicon, &ask, value),
            }
        })
    }

    fn read(&self, location: &Location) -> Option<String> {
        let said = self.0.said();
        match self.1 {
            SourceKind::Instruction => instruction::read(&said, location),
            _ => observed::read(&said, location),
        }
    }
}
