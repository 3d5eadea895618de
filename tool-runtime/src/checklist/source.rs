use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::ask::Ask;
use super::location::Location;
use crate::BoxFuture;
use crate::schema::REDACTED;

/// A kind of place where a value may be looked up. The order is the one in which they are searched; it says nothing
/// about trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// What the user answered when asked for just this slot.
    Answer,
    /// What the user wrote, in all turns of the conversation.
    Instruction,
    /// Values that were fixed beforehand, and defaults that a tool declares.
    Preset,
    /// Results of earlier calls.
    Observed,
    /// Values that were kept from earlier, with the user's consent.
    Prior,
}

impl SourceKind {
    /// All of them, in the order in which they are searched.
    pub const ALL: [SourceKind; 5] =
        [SourceKind::Answer, SourceKind::Instruction, SourceKind::Preset, SourceKind::Observed, SourceKind::Prior];

    /// The stable word, such as `instruction`.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Answer => "answer",
            SourceKind::Instruction => "instruction",
            SourceKind::Preset => "preset",
            SourceKind::Observed => "observed",
            SourceKind::Prior => "prior",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SourceKind {
    type Err = SourceKindError;

    fn from_str(word: &str) -> Result<Self, SourceKindError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or(SourceKindError)
    }
}

impl Serialize for SourceKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SourceKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

/// A text is no [`SourceKind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceKindError;

impl fmt::Display for SourceKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no source: it is none of ")?;
        for (index, kind) in SourceKind::ALL.into_iter().enumerate() {
            write!(f, "{}`{kind}`", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceKindError {}

/// The sources in which a slot may be looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SourceSet(u8);

impl SourceSet {
    /// All five.
    pub const ALL: SourceSet = SourceSet(0b1_1111);

    /// None: nothing can be found.
    pub fn none() -> Self {
        SourceSet(0)
    }

    /// Is this source among them?
    pub fn contains(self, kind: SourceKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// There is none among them.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// In the order in which they are searched.
    pub fn iter(self) -> impl Iterator<Item = SourceKind> {
        SourceKind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }

    /// What is in both. Further lines about a slot can take sources away, never add some.
    #[must_use]
    pub fn both(self, other: SourceSet) -> Self {
        SourceSet(self.0 & other.0)
    }
}

impl FromIterator<SourceKind> for SourceSet {
    fn from_iter<I: IntoIterator<Item = SourceKind>>(kinds: I) -> Self {
        SourceSet(kinds.into_iter().fold(0, |set, kind| set | 1 << kind as u8))
    }
}

impl<const N: usize> From<[SourceKind; N]> for SourceSet {
    fn from(kinds: [SourceKind; N]) -> Self {
        kinds.into_iter().collect()
    }
}

impl fmt::Debug for SourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A place where values are looked up. Made from a closure by [`source_fn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source",
    label = "values can't be looked up in it",
    note = "implement `Source` for it, or make one of a closure: `source_fn(kind, |ask: Ask| async move {{ Lookup::NoResult }})`"
)]
pub trait Source: Send + Sync {
    /// Which of the five it is.
    fn kind(&self) -> SourceKind;

    /// Looks for a value. With [`Ask::value`] it says whether that value stands here; without one it reads the value
    /// at [`Ask::hint`], if that points into this source, and finds nothing otherwise. It never guesses.
    ///
    /// Nobody else limits how long it takes, and the whole turn waits for it: one that may hang gives up by itself, and
    /// says [`Lookup::Failed`].
    fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup>;

    /// Follows a location that this source gave: the text that stands there. `None` if it stands there no longer, if
    /// the text around it has changed, or if it is a secret.
    fn read(&self, location: &Location) -> Option<String>;
}

/// What a source says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The value stands here.
    Hit(Hit),
    /// Nothing stands here.
    NoResult,
    /// The source speaks of the slot, and says something else, or several things. The search ends; whoever can answer
    /// is asked to choose.
    Conflict(Vec<Hit>),
    /// The source couldn't be searched, for this reason. That isn't [`NoResult`](Lookup::NoResult).
    Failed(String),
}

/// A value that was found. A secret one is shown and serialised without its value.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// Where.
    pub location: Location,
    /// The value, as canonical JSON text.
    pub value: String,
    /// How what stands there was read.
    pub normalisation: Normalisation,
    /// A few words around it, for a person. None of a secret.
    pub excerpt: Option<String>,
    /// The value is a secret.
    pub secret: bool,
}

impl Hit {
    /// A value as it stands at a place. For implementors of [`Source`].
    pub fn new(location: Location, value: impl Into<String>, normalisation: Normalisation) -> Self {
        Hit { location, value: value.into(), normalisation, excerpt: None, secret: false }
    }

    /// The same, as what is found for `ask` is kept: of a secret neither digest nor excerpt.
    #[must_use]
    pub fn answering(mut self, ask: &Ask) -> Self {
        if ask.is_secret() {
            self.secret = true;
            self.excerpt = None;
            self.location = self.location.of_secret();
        }
        self
    }

    /// The value as it may be shown.
    fn shown(&self) -> &str {
        if self.secret { REDACTED } else { &self.value }
    }
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hit")
            .field("location", &self.location)
            .field("value", &self.shown())
            .field("normalisation", &self.normalisation)
            .field("excerpt", &self.excerpt)
            .finish()
    }
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Hit", 3 + usize::from(self.excerpt.is_some()))?;
        fields.serialize_field("location", &self.location)?;
        fields.serialize_field("value", self.shown())?;
        fields.serialize_field("normalisation", &self.normalisation)?;
        match &self.excerpt {
            Some(excerpt) => fields.serialize_field("excerpt", excerpt)?,
            None => fields.skip_field("excerpt")?,
        }
        fields.end()
    }
}

/// How a text was read as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Normalisation {
    /// As it stands, in whole words.
    Exact,
    /// Capitals and small letters aren't told apart.
    Case,
    /// White space differs, or the signs between words.
    Spacing,
    /// An identifier whose parts are separated differently: `DE89 3704` for `DE893704`.
    Separators,
    /// Another spelling of the number: `1,000`, `250.0`, or digits in a string.
    Number,
    /// A number in words: `two`.
    NumberWord,
    /// A number with a unit or a currency: `$250`, `10kg`.
    Unit,
    /// A date in another spelling: `May 20th, 2024`.
    Date,
    /// A date that leaves out what the host's date says: `May 20th`, `tomorrow`.
    DateFromNow,
    /// A member of an enum in other words: `round trip` for `round_trip`.
    EnumSpelling,
    /// A yes or a no, said of the slot: `no insurance`.
    Polarity,
    /// Another word for the value, by a table that the list gives: `New York` for `JFK`.
    Alias,
    /// Computed by a tool from values that have sources. Nobody said it, so it is shown before it is used.
    Derived,
}

impl Normalisation {
    /// All of them.
    pub(super) const ALL: [Normalisation; 13] = [
        Normalisation::Exact,
        Normalisation::Case,
        Normalisation::Spacing,
        Normalisation::Separators,
        Normalisation::Number,
        Normalisation::NumberWord,
        Normalisation::Unit,
        Normalisation::Date,
        Normalisation::DateFromNow,
        Normalisation::EnumSpelling,
        Normalisation::Polarity,
        Normalisation::Alias,
        Normalisation::Derived,
    ];

    /// The stable word, such as `number_word`.
    pub fn as_str(self) -> &'static str {
        match self {
            Normalisation::Exact => "exact",
            Normalisation::Case => "case",
            Normalisation::Spacing => "spacing",
            Normalisation::Separators => "separators",
            Normalisation::Number => "number",
            Normalisation::NumberWord => "number_word",
            Normalisation::Unit => "unit",
            Normalisation::Date => "date",
            Normalisation::DateFromNow => "date_from_now",
            Normalisation::EnumSpelling => "enum_spelling",
            Normalisation::Polarity => "polarity",
            Normalisation::Alias => "alias",
            Normalisation::Derived => "derived",
        }
    }
}

impl fmt::Display for Normalisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Normalisation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A source from a closure. It can't read back: give a type that implements [`Source`] where locations are followed.
///
/// ```
/// use tool_runtime::{Ask, Hit, Location, Lookup, Normalisation, Pointer, Shape, Source, SourceKind, source_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let home = source_fn(SourceKind::Prior, |ask: Ask| async move {
///     if ask.slot() != "/city" || ask.value().is_some_and(|value| value != "\"Bonn\"") {
///         return Lookup::NoResult;
///     }
///     let location = Location::whole(Pointer::Prior("home".into()), "Bonn");
///     Lookup::Hit(Hit::new(location, "\"Bonn\"", Normalisation::Exact))
/// });
/// let ask = Ask::new("get_weather", "/city", Shape::Text).with_value("\"Bonn\"");
/// assert!(matches!(home.look(ask).await, Lookup::Hit(_)));
/// # });
/// ```
pub fn source_fn<F, R>(kind: SourceKind, look: F) -> Arc<dyn Source>
where
    F: Fn(Ask) -> R + Send + Sync + 'static,
    R: Future<Output = Lookup> + Send + 'static,
{
    struct OfFn<F>(SourceKind, F);

    impl<F, R> Source for OfFn<F>
    where
        F: Fn(Ask) -> R + Send + Sync,
        R: Future<Output = Lookup> + Send + 'static,
    {
        fn kind(&self) -> SourceKind {
            self.0
        }

        fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup> {
            Box::pin((self.1)(ask))
        }

        fn read(&self, _: &Location) -> Option<String> {
            None
        }
    }

    Arc::new(OfFn(kind, look))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_one_order_and_stable_words() {
        assert!(SourceKind::ALL.is_sorted());
        let words = SourceKind::ALL.map(SourceKind::as_str);
        assert_eq!(words, ["answer", "instruction", "preset", "observed", "prior"]);
        for kind in SourceKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        assert!("unknown".parse::<SourceKind>().is_err());
        let set = SourceSet::from([SourceKind::Prior, SourceKind::Answer]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [SourceKind::Answer, SourceKind::Prior]);
        assert_eq!(SourceKind::ALL.into_iter().collect::<SourceSet>(), SourceSet::ALL);
        assert!(set.both(SourceSet::from([SourceKind::Preset])).is_empty());
    }
}
