//! The attribute macros of `tool-runtime`. Depend on that crate: it re-exports them, and what they
//! expand to lives there.
//!
//! Each macro goes through the same phases, one module each: `parse` (syntax → attributes, nothing is
//! judged), `model` (what the tool is), `check` (one function per rule, all errors of an item
//! together), `expand` (the model → tokens, nothing is decided). If there are errors, `fallback`
//! stands in, so that they are the only ones.

mod attr;
mod check;
mod conditions;
mod crate_path;
mod ctxt;
mod doc;
mod duration;
mod expand;
mod fallback;
mod keys;
mod labels;
mod limits;
mod model;
mod names;
mod parse;
#[cfg(test)]
mod tests;
mod tool;
mod tool_type;
mod toolset;
mod types;

use proc_macro::TokenStream;

/// Makes a tool of a function, which itself stays as it is written.
///
/// ```text
/// /// Look up the weather for a city.
/// #[tool(defer, host(timeout = "5s", concurrency_safe, read_only))]
/// async fn get_weather(
///     /// City name, e.g. "Paris".
///     city: String,
///     /// Unit of the answer.
///     #[arg(default = Unit::Celsius)] unit: Unit,
///     #[host] client: Arc<WeatherClient>,
///     #[host] cx: &CallContext,
/// ) -> Result<Weather, WeatherError> { … }
/// ```
///
/// gives, with the function's visibility, `GetWeatherTool` (with `schema()` for the model and `host()` for a
/// registry) and `GetWeatherArgs`, a struct of the arguments that the model fills in, for the functions that `host(…)` names. It
/// implements no traits: what a model sent is read by whatever runs the call.
///
/// # On the function
///
/// What the model sees stands outside of `host(…)`:
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the tool's name; default: the function's |
/// | `description = "…"` | what the model reads; default: the doc comment |
/// | `defer` | declared only once it has been searched for |
/// | `type = Name` | the generated type; default: the function's name in camel case with `Tool` at the end |
/// | `args = Name` | the generated struct of arguments; default: the same with `Args` |
/// | `crate = path` | where the SDK is, if the dependency has another name or comes through another crate; default: `::tool_runtime` |
///
/// What stays in the host stands inside of `host(…)`:
///
/// | key | meaning |
/// |---|---|
/// | `timeout = "5s"` | budget of one call: `250ms`, `5s`, `1.5s`, `1m30s`, `1h` |
/// | `concurrency_safe` | calls may overlap others |
/// | `concurrency_safe = path` | asked for each call: `fn(&Args) -> bool` |
/// | `reads(arg…)`, `writes(arg…)` | resources that arguments name: calls with equal ones don't overlap |
/// | `project = path` | the content for the model: `fn(&Output) -> Content` |
/// | `finalize = path` | the last word on the content: `fn(Option<&Args>, &Final<'_>) -> Option<Content>` |
/// | `present_call = path` | what a person sees of a call: `fn(&Args) -> Card` |
/// | `present_result = path` | what a person sees of a result: `fn(&Args, &StoredResult) -> Card` |
/// | `read_only`, `destructive`, `idempotent`, `deterministic` | hints |
/// | `changes("…")` | the state changes that the tool can make |
/// | `condition(name = "…", text = "…", holds = "…")` | a condition of the checklist, by CEL over `args` and `state`; or `prohibits`, `approve_if`, or `check` (a registered check) with `then`; `approver` says who agrees |
/// | `causes` | the model may read the causes of this tool's errors |
/// | `inline` | run a sync function on the caller's task, for functions that only compute |
///
/// # On a parameter
///
/// | attribute | meaning |
/// |---|---|
/// | doc comment | the description that the model reads; required, unless `#[host]` |
/// | `#[host]` | injected by type: `T: Clone` or `&T` |
/// | `#[args]` | the whole argument object is the author's own type |
/// | `#[arg(default)]`, `#[arg(default = expr)]` | may be absent |
/// | `#[arg(rename = "…", alias = "…")]` | the name in the schema; another one that is accepted |
/// | `#[arg(example = expr)]` | shown in the schema |
/// | `#[arg(range = 1..=100)]` | the bounds of a number |
/// | `#[arg(length = 1..=80)]` | of a text in characters, of a list in items |
/// | `#[arg(pattern = "…", format = "…")]` | of a text |
/// | `#[arg(path)]` | a file path |
/// | `#[arg(secret)]` | redacted wherever it is recorded or shown |
/// | `#[arg(authored)]` | text that the model is meant to write |
///
/// An argument has one concrete type that owns its data. It can be lent: `&str` is read as a `String`, `&[T]`
/// as a `Vec<T>`, `&T` as a `T`. A default or example that is a string literal makes whatever can be made from
/// one. Leading underscores are not part of an argument's name: `_dry_run` is `dry_run` to the model.
///
/// # The body
///
/// The future of an async function has to be `Send`: what isn't, such as an `Rc`, can't be held over an `.await`.
/// Drop it before, or do that part in a sync function. With closures that borrow inside of streams the compiler may
/// not see that a future is `Send` ("not general enough"); owned items (`into_iter()`) or a boxed stream help.
///
/// An async function must not block its thread, as by `std::thread::sleep` or a database that isn't async: its budget and
/// its cancellation are noticed only where it awaits, and neither do other calls go on before that.
///
/// A sync function may block, and runs on the runtime's blocking pool, unless it is `inline`. It can't be stopped:
/// after its budget the call ends, and its result says that the body may still be running.
///
/// # Labels
///
/// Doc lines that start with `[required]`, `[confirm]` or `[notice]` are the provider's checklist. They stay in
/// the text. Another word in brackets at the start of a line is an error, unless it is a link or escaped: `\[word]`.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attr.into(), item.into()).into()
}

/// Gives what is in its braces.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __items(attr: TokenStream, _: TokenStream) -> TokenStream {
    attr
}

/// Makes tools of those methods of an `impl` that are marked [`#[tool]`](macro@tool).
///
/// ```text
/// #[toolset]
/// impl Files {
///     /// Read a file.
///     #[tool(host(read_only))]
///     async fn get(
///         &self,
///         /// Where it is.
///         #[arg(path)] path: String,
///     ) -> Result<String, io::Error> { … }
/// }
///
/// let registry = Registry::builder().tools(Arc::new(Files::open()).tools()).build()?;
/// ```
///
/// gives `FilesGetTool` and `FilesGetArgs`, and to the type itself `fn tools(self: Arc<Self>) -> Vec<HostTool>`, as
/// visible as the most visible of its tools. A method takes `&self`, `self: Arc<Self>`, or no receiver; the type is
/// concrete. `#[cfg(…)]` on a method and `#[cfg_attr(…, tool)]` do what they say.
///
/// | key | meaning |
/// |---|---|
/// | `prefix = "files_"` | before the name of each tool that has no `name` of its own |
/// | `crate = path` | where the SDK is, if the dependency has another name or comes through another crate; default: `::tool_runtime` |
#[proc_macro_attribute]
pub fn toolset(attr: TokenStream, item: TokenStream) -> TokenStream {
    toolset::expand(attr.into(), item.into()).into()
}

/// Derives what a struct or enum needs as an argument or a result, or as part of one.
///
/// ```text
/// #[tool_type]
/// struct Place {
///     /// City name.
///     #[arg(length = 1..=80)]
///     city: String,
///     #[arg(default = Unit::Celsius)]
///     unit: Unit,
/// }
/// ```
///
/// It derives serde's `Serialize` and `Deserialize` and schemars' `JsonSchema`, without a dependency on either;
/// `#[serde(…)]` and `#[schemars(…)]` work as usual. Fields take [`#[arg(…)]`](macro@tool#on-a-parameter) with the
/// keys of a parameter. Their doc comments are descriptions.
///
/// | key | meaning |
/// |---|---|
/// | `crate = path` | where the SDK is, if the dependency has another name or comes through another crate; default: `::tool_runtime` |
#[proc_macro_attribute]
pub fn tool_type(attr: TokenStream, item: TokenStream) -> TokenStream {
    tool_type::expand(attr.into(), item.into()).into()
}
