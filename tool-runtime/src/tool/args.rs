//! How the arguments of a tool are described, and read.

use std::any::Any;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::card::{Card, Final, StoredResult};
use crate::call::Content;
use crate::schema::json::de::{self, DecodeError, Missing, Reader};
use crate::schema::json::{Json, JsonPath, Key, ser};
use crate::schema::quick;
use crate::schema::{Graph, Problem, Problems, Walked};

/// A type that a model can fill in.
///
/// Everything that implements [`serde::Deserialize`] (for all lifetimes) and
/// [`schemars::JsonSchema`] does; for a type of your own write
/// [`#[tool_type]`](crate::tool_type) above it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an argument that a model fills in",
    label = "a model can't send this",
    note = "if the host supplies it, mark the parameter `#[host]`",
    note = "if the model does, write `#[tool_type]` above the type and above those in it, or take one that implements `Deserialize` and `JsonSchema`"
)]
pub trait ModelArg: Sized + Send + 'static {
    #[doc(hidden)]
    fn describe(generator: &mut SchemaGenerator, inline: bool) -> Schema;
    #[doc(hidden)]
    fn read(text: &str, start: usize) -> Result<Self, Box<dyn std::error::Error + Send + Sync>>;
    #[doc(hidden)]
    fn follow(value: Follow<'_, '_>) -> Option<Self>;
    #[doc(hidden)]
    fn missing() -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ModelArg for T {
    fn describe(generator: &mut SchemaGenerator, inline: bool) -> Schema {
        if inline { T::json_schema(generator) } else { generator.subschema_for::<T>() }
    }

    fn read(text: &str, start: usize) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        de::read(text, start).map_err(Into::into)
    }

    fn follow(value: Follow<'_, '_>) -> Option<Self> {
        match value.found {
            Some(found) => value.reader.value(found),
            None => T::deserialize(value.reader).ok(),
        }
    }

    fn missing() -> Option<Self> {
        T::deserialize(Missing).ok()
    }
}

/// A value that is read and checked in one go.
#[derive(Debug)]
pub struct Follow<'r, 'v> {
    reader: &'r mut Reader<'v, 'v>,
    /// Of one argument: what the schema says of it. Otherwise of the whole object.
    found: Option<quick::Found<'v>>,
}

/// A type whose values can be shown to a model: as the default of an argument, or an example.
#[diagnostic::on_unimplemented(
    message = "a default or an example is shown to the model, and `{Self}` can't be",
    label = "needs `Serialize`",
    note = "write `#[tool_type]` above the type, or derive `Serialize` for it"
)]
pub trait ShownValue {
    #[doc(hidden)]
    fn shown(&self) -> Option<String>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ShownValue for T {
    fn shown(&self) -> Option<String> {
        ser::write(self).ok()
    }
}

/// What an argument's own type says of it.
#[derive(Debug)]
pub(crate) struct ArgType {
    pub(super) schema: Schema,
    /// The type takes absence, as `Option` does.
    pub(super) optional: bool,
    pub(super) has_default: bool,
    /// The default, as far as it can be shown.
    pub(super) default: Option<Json>,
    pub(super) examples: Vec<Json>,
}

/// Passed through a tool's arguments one by one, either to describe them or to read them.
#[derive(Debug)]
pub struct Visit<'v>(Mode<'v>);

#[derive(Debug)]
enum Mode<'v> {
    Describe { generator: &'v mut SchemaGenerator, types: &'v mut Vec<Option<ArgType>> },
    Read(ReadArgs<'v>),
    Quick(QuickArgs<'v>),
}

/// Arguments that are read and checked in one go, as long as they come in canonical form and are
/// what the schema asks for.
#[derive(Debug)]
pub(crate) struct QuickArgs<'v> {
    reader: Reader<'v, 'v>,
    /// `None` where one type reads the whole object.
    members: Option<quick::Members<'v>>,
    /// The key that was read last: whose value comes next.
    key: Option<Key<'v>>,
    sure: bool,
}

impl<'v> QuickArgs<'v> {
    fn arg<T: ModelArg>(&mut self) -> Option<T> {
        let members = self.members.as_mut().filter(|_| self.sure)?;
        let comes = self.key.zip(members.next_name()).is_some_and(|(key, name)| key.is(name));
        if !comes {
            self.sure = members.pass();
            return if self.sure { T::missing() } else { None };
        }
        let value =
            members.find(|_| true).and_then(|found| T::follow(Follow { reader: &mut self.reader, found: Some(found) }));
        match self.reader.next_key().filter(|_| value.is_some()) {
            Some(key) => self.key = key,
            None => self.sure = false,
        }
        value
    }

    fn whole<T: ModelArg>(&mut self) -> Option<T> {
        T::follow(Follow { reader: &mut self.reader, found: None })
    }

    fn finish(&self) -> bool {
        self.sure
            && self.key.is_none()
            && self.members.is_none_or(|members| members.finish())
            && self.reader.is_at_end()
    }
}

/// Accepted arguments that are being read, and what their types refuse of them.
#[derive(Debug)]
pub(crate) struct ReadArgs<'v> {
    walked: &'v Walked,
    text: &'v str,
    graph: &'v Graph,
    pub(crate) problems: Problems,
}

impl<'v> Visit<'v> {
    pub(super) fn describe(generator: &'v mut SchemaGenerator, types: &'v mut Vec<Option<ArgType>>) -> Self {
        Visit(Mode::Describe { generator, types })
    }

    pub(crate) fn read(walked: &'v Walked, text: &'v str, graph: &'v Graph) -> Self {
        Visit(Mode::Read(ReadArgs { walked, text, graph, problems: Problems::default() }))
    }

    /// Reads a text that comes from outside, as far as it is beyond doubt. `None`: it isn't.
    pub(crate) fn quick(text: &'v str, graph: &'v Graph, whole: bool) -> Option<Self> {
        let mut reader = Reader::following(text, graph.expected());
        let (members, key) = match whole {
            true => (None, None),
            false => reader.open_object().map(|(members, key)| (Some(members), key))?,
        };
        Some(Visit(Mode::Quick(QuickArgs { reader, members, key, sure: true })))
    }

    /// All was read, and nothing was doubtful.
    pub(crate) fn is_finished(&self) -> bool {
        match &self.0 {
            Mode::Quick(quick) => quick.finish(),
            Mode::Read(_) | Mode::Describe { .. } => false,
        }
    }

    pub(crate) fn problems(self) -> Problems {
        match self.0 {
            Mode::Read(read) => read.problems,
            Mode::Describe { .. } | Mode::Quick(_) => Problems::default(),
        }
    }
}

impl ReadArgs<'_> {
    /// Notes what a type refuses although its schema takes it.
    #[cold]
    fn refused(&mut self, error: &(dyn std::error::Error + 'static)) {
        let error = error.downcast_ref::<DecodeError>();
        let path = error
            .and_then(|error| error.offset)
            .map(|offset| JsonPath::at_offset(self.text, offset))
            .unwrap_or_default();
        let secret = self.graph.is_near_secret(&path);
        // What a type's own code says may quote the value, so it is shown cut, and never near a secret.
        let expected = error
            .filter(|_| !secret)
            .map_or_else(|| "a value that its type takes".to_owned(), |error| in_schema_words(&error.message));
        let got = path.find(self.text).map_or_else(|| "nothing".to_owned(), |raw| crate::schema::got(raw, secret));
        self.problems.add(|| Problem::unexpected(path, expected, got));
    }
}

/// A message of a `Deserialize` impl, without the names of Rust's types.
fn in_schema_words(message: &str) -> String {
    let expected = message.strip_prefix("expected ").unwrap_or(message);
    let words = match expected {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            "an integer in its range"
        }
        "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "an integer other than 0"
        }
        _ => {
            return if expected == message {
                format!("another value ({})", crate::schema::text::shown(message, 120))
            } else {
                crate::schema::text::shown(expected, 120)
            };
        }
    };
    words.to_owned()
}

/// A default and examples of an argument.
#[derive(Debug, Clone, Copy)]
pub struct Extras<T: 'static> {
    /// What the argument is where the model leaves it out.
    pub default: Option<fn() -> T>,
    /// Values that show the model what is meant.
    pub examples: &'static [fn() -> T],
}

/// Describes or reads the argument at `index`.
pub fn arg<T: ModelArg>(visit: &mut Visit<'_>, index: usize) -> Option<T> {
    match &mut visit.0 {
        Mode::Quick(quick) => quick.arg(),
        Mode::Read(read) => read_arg(read, index, None),
        Mode::Describe { generator, types } => {
            let schema = T::describe(generator, false);
            let optional = T::missing().is_some();
            note(types, index, ArgType { schema, optional, has_default: false, default: None, examples: Vec::new() });
            None
        }
    }
}

/// As [`arg`], for an argument with a default or with examples.
pub fn arg_with<T: ModelArg + ShownValue>(visit: &mut Visit<'_>, index: usize, extras: Extras<T>) -> Option<T> {
    match &mut visit.0 {
        Mode::Quick(quick) => quick.arg(),
        Mode::Read(read) => read_arg(read, index, extras.default),
        Mode::Describe { generator, types } => {
            let schema = T::describe(generator, false);
            let shown = |make: fn() -> T| make().shown().and_then(|text| Json::parse(&text).ok());
            let described = ArgType {
                schema,
                optional: T::missing().is_some(),
                has_default: extras.default.is_some(),
                default: extras.default.and_then(shown),
                examples: extras.examples.iter().copied().filter_map(shown).collect(),
            };
            note(types, index, described);
            None
        }
    }
}

fn note(types: &mut Vec<Option<ArgType>>, index: usize, described: ArgType) {
    while types.len() <= index {
        types.push(None);
    }
    types[index] = Some(described);
}

fn read_arg<T: ModelArg>(read: &mut ReadArgs<'_>, index: usize, default: Option<fn() -> T>) -> Option<T> {
    match read.walked.value_of(index) {
        Some(start) => match T::read(read.text, start) {
            Ok(value) => Some(value),
            Err(error) => {
                read.refused(&*error);
                None
            }
        },
        // A default that could be shown stands in the text; this one couldn't.
        None => default.map(|make| make()).or_else(T::missing),
    }
}

/// Describes or reads the whole argument object as one type.
pub fn whole<T: ModelArg>(visit: &mut Visit<'_>) -> Option<T> {
    match &mut visit.0 {
        Mode::Quick(quick) => quick.whole(),
        Mode::Read(read) => match T::read(read.text, 0) {
            Ok(value) => Some(value),
            Err(error) => {
                read.refused(&*error);
                None
            }
        },
        Mode::Describe { generator, types } => {
            let schema = T::describe(generator, true);
            note(
                types,
                0,
                ArgType { schema, optional: false, has_default: false, default: None, examples: Vec::new() },
            );
            None
        }
    }
}

/// The arguments of some tool, read. Which type they have is the tool's business.
pub struct ErasedArgs(Option<Box<dyn Any + Send>>);

impl ErasedArgs {
    pub(crate) fn new<A: Send + 'static>(args: A) -> Self {
        // In an option, so that they can be taken out by reference: a downcast of the box itself is
        // compiled anew for every tool.
        ErasedArgs(Some(Box::new(Some(args))))
    }

    pub(super) fn open<A: 'static>(mut self) -> A {
        match self.any_mut().downcast_mut::<Option<A>>().and_then(Option::take) {
            Some(args) => args,
            None => misused(),
        }
    }

    fn get<A: 'static>(&self) -> &A {
        match self.any().downcast_ref::<Option<A>>() {
            Some(Some(args)) => args,
            _ => misused(),
        }
    }

    fn any(&self) -> &dyn Any {
        match &self.0 {
            Some(args) => &**args,
            None => misused(),
        }
    }

    fn any_mut(&mut self) -> &mut dyn Any {
        match &mut self.0 {
            Some(args) => &mut **args,
            None => misused(),
        }
    }
}

#[cold]
fn misused() -> ! {
    unreachable!("a tool's arguments are made, read and opened by its own definition")
}

impl Drop for ErasedArgs {
    /// Arguments of a call that didn't run are dropped here. A panic of their own ends nothing else.
    fn drop(&mut self) {
        if let Some(args) = self.0.take() {
            let _ = super::panic::caught(move || drop(args));
        }
    }
}

impl std::fmt::Debug for ErasedArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ErasedArgs")
    }
}

/// Boxes arguments once they are complete.
pub fn boxed<A: Send + 'static>(args: Option<A>) -> Option<ErasedArgs> {
    args.map(ErasedArgs::new)
}

/// Calls a function of the arguments.
pub fn with_args<A: 'static, R>(args: &ErasedArgs, call: fn(&A) -> R) -> R {
    call(args.get())
}

/// Calls a function of the arguments and a stored result.
pub fn with_args2<A: 'static>(args: &ErasedArgs, result: &StoredResult, call: fn(&A, &StoredResult) -> Card) -> Card {
    call(args.get(), result)
}

/// Calls a function of the arguments, if there are any, and a final content.
pub fn with_final<A: 'static>(
    args: Option<&ErasedArgs>,
    last: &Final<'_>,
    call: fn(Option<&A>, &Final<'_>) -> Option<Content>,
) -> Option<Content> {
    call(args.map(ErasedArgs::get), last)
}
