use std::fmt;
use std::sync::Arc;

use super::location::Pointer;
use super::shape::Shape;
use crate::call::CallId;
use crate::schema::json::Json;
use crate::schema::{Day, JsonPath, REDACTED, Segment};

/// One slot that is looked up, with all that a source may want to know about it. Owned, and cheap to clone.
///
/// ```
/// use tool_runtime::{Ask, Shape};
///
/// let ask = Ask::new("book", "/total_bags", Shape::Integer).with_value("2").saying(["luggage", "Gepäck"]);
/// assert_eq!(ask.name().collect::<Vec<_>>(), ["total", "bags"]);
/// assert_eq!(ask.says().collect::<Vec<_>>(), ["luggage", "Gepäck"]);
/// ```
#[derive(Clone)]
pub struct Ask(Arc<Asked>);

#[derive(Clone)]
struct Asked {
    about: Arc<About>,
    value: Option<Given>,
    hint: Option<Pointer>,
    call: Option<CallId>,
    now: Option<Day>,
    secret: bool,
    derives: bool,
}

/// What is the same for all values of a slot.
#[derive(Clone)]
pub(super) struct About {
    tool: String,
    slot: Arc<str>,
    shape: Shape,
    default: Option<Given>,
    name: Vec<String>,
    says: Vec<String>,
    aliases: Vec<(String, String)>,
}

impl About {
    pub(super) fn slot(&self) -> &Arc<str> {
        &self.slot
    }
}

/// A value as its text, and read. `None` if the text is no JSON.
#[derive(Clone)]
struct Given(String, Option<Json>);

impl Given {
    fn new(text: String) -> Self {
        let value = Json::parse(&text).ok();
        Given(text, value)
    }
}

impl Ask {
    /// A slot of a tool: the JSON Pointer (RFC 6901) of an argument, such as `/flights/0/date`. The
    /// words of the argument's name, all in one sentence, say that the sentence is about it.
    pub fn new(tool: impl Into<String>, slot: impl Into<String>, shape: Shape) -> Self {
        let slot: Arc<str> = slot.into().into();
        let name = words_of(&slot);
        let (says, aliases) = (Vec::new(), Vec::new());
        Ask::of(&Arc::new(About { tool: tool.into(), slot, shape, default: None, name, says, aliases }))
    }

    pub(super) fn of(about: &Arc<About>) -> Self {
        let about = Arc::clone(about);
        Ask(Arc::new(Asked { about, value: None, hint: None, call: None, now: None, secret: false, derives: false }))
    }

    fn with(mut self, change: impl FnOnce(&mut Asked)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    fn with_about(self, change: impl FnOnce(&mut About)) -> Self {
        self.with(|asked| change(Arc::make_mut(&mut asked.about)))
    }

    /// What would be the same with any value.
    pub(super) fn about(&self) -> Arc<About> {
        Arc::clone(&self.0.about)
    }

    /// With a value that was read already.
    pub(super) fn with_json(self, value: &Json) -> Self {
        self.with(|asked| asked.value = Some(Given(value.to_string(), Some(value.clone()))))
    }

    /// The value that is proposed for the slot, as canonical JSON text. Without one, only a place that is pointed at
    /// can be read.
    #[must_use]
    pub fn with_value(self, canonical: impl Into<String>) -> Self {
        self.with(|asked| asked.value = Some(Given::new(canonical.into())))
    }

    /// Where the value is said to stand. It is looked at first; that somebody points there proves nothing.
    #[must_use]
    pub fn with_hint(self, hint: Pointer) -> Self {
        self.with(|asked| asked.hint = Some(hint))
    }

    /// The call that the slot belongs to.
    #[must_use]
    pub fn of_call(self, call: impl Into<CallId>) -> Self {
        self.with(|asked| asked.call = Some(call.into()))
    }

    /// The value that the tool declares for when nothing is given, as canonical JSON text.
    #[must_use]
    pub fn with_default(self, canonical: impl Into<String>) -> Self {
        self.with_about(|about| about.default = Some(Given::new(canonical.into())))
    }

    /// Further words by which people speak of the slot, in any language; several words are a phrase.
    #[must_use]
    pub fn saying<W: Into<String>>(self, words: impl IntoIterator<Item = W>) -> Self {
        self.with_about(|about| about.says.extend(words.into_iter().map(Into::into)))
    }

    /// Other words for values: each a value, as canonical JSON text, and a phrase that means it. So "New York" can mean
    /// the airport `"JFK"` where a list says so, and not because a model knows it.
    #[must_use]
    pub fn with_aliases<V: Into<String>, W: Into<String>>(self, aliases: impl IntoIterator<Item = (V, W)>) -> Self {
        let aliases = aliases.into_iter().map(|(value, phrase)| (value.into(), phrase.into()));
        self.with_about(|about| about.aliases.extend(aliases))
    }

    /// The host's date, for dates that leave something out.
    #[must_use]
    pub fn on(self, now: Day) -> Self {
        self.with(|asked| asked.now = Some(now))
    }

    /// The value is a secret: what is found has no excerpt and no digest.
    #[must_use]
    pub fn secret(self) -> Self {
        self.with(|asked| asked.secret = true)
    }

    /// The value may be one that was computed from others with sources. Such a hit is never silent: its normalisation
    /// is [`Normalisation::Derived`](super::Normalisation::Derived), and whoever confirms the call is shown it.
    #[must_use]
    pub fn deriving(self) -> Self {
        self.with(|asked| asked.derives = true)
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.0.about.tool
    }

    /// The JSON Pointer of the argument.
    pub fn slot(&self) -> &str {
        &self.0.about.slot
    }

    /// What its values look like.
    pub fn shape(&self) -> &Shape {
        &self.0.about.shape
    }

    /// The value that is proposed, as canonical JSON text.
    pub fn value(&self) -> Option<&str> {
        self.0.value.as_ref().map(|given| given.0.as_str())
    }

    /// Where the value is said to stand.
    pub fn hint(&self) -> Option<&Pointer> {
        self.0.hint.as_ref()
    }

    /// The call that the slot belongs to.
    pub fn call(&self) -> Option<&CallId> {
        self.0.call.as_ref()
    }

    /// The declared default, as canonical JSON text.
    pub fn default_value(&self) -> Option<&str> {
        self.0.about.default.as_ref().map(|given| given.0.as_str())
    }

    /// The words of the argument's name, in small letters.
    pub fn name(&self) -> impl Iterator<Item = &str> {
        self.0.about.name.iter().map(String::as_str)
    }

    /// Further words by which people speak of the slot.
    pub fn says(&self) -> impl Iterator<Item = &str> {
        self.0.about.says.iter().map(String::as_str)
    }

    /// The other words for values: each a value, as canonical JSON text, and a phrase that means it.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.about.aliases.iter().map(|(value, phrase)| (value.as_str(), phrase.as_str()))
    }

    /// The host's date.
    pub fn now(&self) -> Option<Day> {
        self.0.now
    }

    /// Is the value a secret?
    pub fn is_secret(&self) -> bool {
        self.0.secret
    }

    /// May the value be a computed one?
    pub fn may_be_derived(&self) -> bool {
        self.0.derives
    }

    /// The value that is proposed; `Err` if its text is no JSON.
    pub(crate) fn proposed(&self) -> Result<Option<&Json>, &'static str> {
        match &self.0.value {
            None => Ok(None),
            Some(Given(_, Some(value))) => Ok(Some(value)),
            Some(Given(_, None)) => Err("the value that was asked about is no JSON text"),
        }
    }

    pub(crate) fn declared_default(&self) -> Option<&Json> {
        self.0.about.default.as_ref()?.1.as_ref()
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |value| if self.is_secret() { Some(REDACTED) } else { value };
        f.debug_struct("Ask")
            .field("tool", &self.tool())
            .field("slot", &self.slot())
            .field("shape", self.shape())
            .field("value", &self.value().and_then(|value| hidden(Some(value))))
            .field("default", &self.default_value().and_then(|value| hidden(Some(value))))
            .field("name", &self.0.about.name)
            .field("says", &self.0.about.says)
            .field("hint", &self.0.hint)
            .field("call", &self.0.call)
            .field("now", &self.0.now)
            .field("secret", &self.0.secret)
            .field("derives", &self.0.derives)
            .finish()
    }
}

/// The words of the last member that a pointer names: `/flights/0/flightNumber` is about "flight" and "number".
fn words_of(slot: &str) -> Vec<String> {
    let path = JsonPath::from_pointer(slot).unwrap_or_default();
    let named = path.segments().iter().rev().find_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    words_of_name(named.unwrap_or_default())
}

/// The words of an identifier, in small letters.
pub(crate) fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut before = None;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        let begins = c.is_uppercase() && before.is_some_and(|before: char| before.is_lowercase());
        match words.last_mut().filter(|_| open && !begins) {
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
        open = true;
        before = Some(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_s_name_is_split_into_words() {
        let anchors = |slot: &str| Ask::new("t", slot, Shape::Text).name().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(anchors("/flights/0/flightNumber"), ["flight", "number"]);
        assert_eq!(anchors("/total_bags"), ["total", "bags"]);
        assert_eq!(anchors("/tags/3"), ["tags"]);
        assert_eq!(anchors("/IBAN"), ["iban"]);
        assert_eq!(anchors("/a~1b"), ["a", "b"]);
        assert_eq!(anchors("/größe-ÄB"), ["größe", "äb"]);
        assert!(anchors("").is_empty());
        assert!(anchors("no pointer").is_empty());
    }

    #[test]
    fn a_secret_is_not_shown() {
        let ask = Ask::new("t", "/pin", Shape::Text).with_value("\"4711\"").with_default("\"4711\"").secret();
        assert!(!format!("{ask:?}").contains("4711"));
    }
}
