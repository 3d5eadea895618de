use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{compared, text_of, whole};
use crate::BoxFuture;
use crate::checklist::ask::{Ask, words_of_name};
use crate::checklist::location::{Location, Pointer};
use crate::checklist::source::{Lookup, Source, SourceKind};
use crate::schema::json::Json;

/// Values that were fixed beforehand, and the defaults that tools declare. Cheap to clone.
///
/// A key is the name of an argument, of whatever tool (`currency`), or one argument of one tool (`pay#/currency`). A
/// value that equals the declared default of its slot is found at `p:default of pay#/currency`.
///
/// ```
/// use tool_runtime::{Ask, Lookup, Presets, Shape, Source};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let presets = Presets::new([("currency", "\"EUR\"")])?;
/// let currency = Ask::new("pay", "/currency", Shape::Text).with_value("\"EUR\"");
/// let Lookup::Hit(hit) = presets.look(currency).await else { panic!() };
/// assert_eq!(hit.location.to_string(), "p:currency");
///
/// let urgent = Ask::new("pay", "/urgent", Shape::Boolean).with_value("false").with_default("false");
/// let Lookup::Hit(hit) = presets.look(urgent).await else { panic!() };
/// assert_eq!(hit.location.to_string(), "p:default of pay#/urgent");
/// # Ok::<(), tool_runtime::PresetError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Presets {
    values: Arc<BTreeMap<String, Json>>,
    /// Defaults that were found, so that their locations can be followed.
    defaults: Arc<Mutex<BTreeMap<String, String>>>,
}

/// How many defaults can be followed. There is one for each argument of a tool, and one for each element of a list.
const MOST_DEFAULTS: usize = 4096;

impl Presets {
    /// Values by their keys, each as JSON text.
    ///
    /// # Errors
    /// If one isn't JSON.
    pub fn new<K: Into<String>, V: AsRef<str>>(values: impl IntoIterator<Item = (K, V)>) -> Result<Self, PresetError> {
        let read = |(key, value): (K, V)| {
            let key = key.into();
            match Json::parse(value.as_ref()) {
                Ok(value) => Ok((key, value)),
                Err(error) => Err(PresetError { key, what: error.what }),
            }
        };
        let values = values.into_iter().map(read).collect::<Result<BTreeMap<_, _>, _>>()?;
        Ok(Presets { values: Arc::new(values), defaults: Arc::default() })
    }

    fn find(&self, ask: &Ask, proposed: Option<&Json>) -> Lookup {
        let of_slot = format!("{}#{}", ask.tool(), ask.slot());
        let named =
            || self.values.iter().find(|(key, _)| !key.contains('#') && words_of_name(key).iter().eq(ask.name()));
        let pointed = match ask.hint() {
            Some(Pointer::Preset(key)) => self.values.get_key_value(key.as_str()),
            _ => None,
        };
        let preset = self.values.get_key_value(&of_slot).or_else(named);
        if let Some((key, value)) = pointed.filter(|(_, value)| proposed.is_none_or(|proposed| proposed == *value)) {
            return Lookup::Hit(whole(ask, Pointer::Preset(key.clone()), value));
        }
        if let Some((key, value)) = preset {
            return compared(ask, proposed, Pointer::Preset(key.clone()), value);
        }
        match (proposed, ask.declared_default()) {
            (Some(proposed), Some(default)) if proposed == default => {
                let key = format!("default of {of_slot}");
                self.remember(&key, default);
                Lookup::Hit(whole(ask, Pointer::Preset(key), default))
            }
            _ => Lookup::NoResult,
        }
    }

    fn remember(&self, key: &str, default: &Json) {
        let mut defaults = self.defaults.lock().unwrap_or_else(PoisonError::into_inner);
        if defaults.len() < MOST_DEFAULTS || defaults.contains_key(key) {
            defaults.insert(key.to_owned(), text_of(default));
        }
    }
}

#[diagnostic::do_not_recommend]
impl Source for Presets {
    fn kind(&self) -> SourceKind {
        SourceKind::Preset
    }

    fn look(&self, ask: Ask) -> BoxFuture<'static, Lookup> {
        let lookup = match ask.proposed() {
            Ok(proposed) => self.find(&ask, proposed),
            Err(reason) => Lookup::Failed(reason.to_owned()),
        };
        Box::pin(std::future::ready(lookup))
    }

    fn read(&self, location: &Location) -> Option<String> {
        let Pointer::Preset(key) = location.pointer() else { return None };
        match self.values.get(key) {
            Some(value) => location.read_in(&text_of(value)),
            None => location.read_in(self.defaults.lock().unwrap_or_else(PoisonError::into_inner).get(key)?),
        }
    }
}

impl fmt::Debug for Presets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// A preset that is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresetError {
    key: String,
    what: &'static str,
}

impl fmt::Display for PresetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the preset `{}` is no JSON: {}", self.key, self.what)
    }
}

impl std::error::Error for PresetError {}
