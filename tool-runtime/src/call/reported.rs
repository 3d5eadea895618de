use std::fmt;

/// What a model says about where it found what it wrote: pairs of a slot and a location.
///
/// A claim, which nothing has checked: a slot may be none, and a location may not exist. A slot is `@action`,
/// `@change`, `@when`, or the JSON Pointer of an argument by the schema's names; a location is the label of a message
/// such as `u3`, one of the changes for `@change`, or `no result`. What the model didn't say is not there.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Reported {
    pairs: Vec<(String, String)>,
}

impl Reported {
    /// What a model said, in its order.
    ///
    /// ```
    /// use tool_runtime::Reported;
    ///
    /// let reported = Reported::new([("@action", "u1"), ("/iban", "u3"), ("/memo", Reported::NO_RESULT)]);
    /// assert_eq!(reported.get("/iban"), Some("u3"));
    /// assert_eq!(reported.get("/sum"), None);
    /// ```
    pub fn new<S: Into<String>, L: Into<String>>(pairs: impl IntoIterator<Item = (S, L)>) -> Self {
        Reported { pairs: pairs.into_iter().map(|(slot, location)| (slot.into(), location.into())).collect() }
    }

    /// The location of what the model looked for and didn't find.
    pub const NO_RESULT: &'static str = "no result";

    /// All pairs, in the order of the model. A slot may be there twice.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// The location of a slot, if the model gave one; the first, if it gave several.
    pub fn get(&self, slot: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == slot).map(|(_, location)| location.as_str())
    }

    /// The model said nothing.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl fmt::Debug for Reported {
    /// Without what was said: a model may have written a secret there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reported({} pairs)", self.pairs.len())
    }
}
