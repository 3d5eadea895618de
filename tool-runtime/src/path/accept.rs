//! Are the arguments what the schema asks for? Gives the canonical text and the values read from it.

use super::ending::{End, Ending};
use super::resolve::Proposed;
use super::state::State;
use crate::call::{Code, ToolArgsError, ToolCall};
use crate::gate::Arguments;
use crate::schema::json::{JsonPath, object_of, plain_object, unwrapped};
use crate::schema::{MAX_TEXT, Problem, Problems, Walked, What, text};
use crate::tool::{ErasedArgs, HostTool};

/// A call whose arguments are what the schema asks for, complete, and read.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Accepted(pub(super) Box<State>);

/// A call for some of whose required arguments the model has found no value. It can be checked and
/// asked about; no draft becomes a permit.
#[derive(Debug)]
#[must_use = "a call that isn't settled leaves the model without a result"]
pub struct Draft(pub(super) Box<State>, pub(super) Vec<JsonPath>);

/// What accepting comes to.
#[derive(Debug)]
pub enum Acceptance {
    /// All is there.
    Accepted(Accepted),
    /// Something is reported as not found.
    Draft(Draft),
}

#[cfg(feature = "mcp")]
impl Acceptance {
    /// Identifies what would run.
    pub(crate) fn what_would_run(&self) -> crate::schema::Digest {
        let (Acceptance::Accepted(Accepted(state)) | Acceptance::Draft(Draft(state, _))) = self;
        crate::gate::what_runs(state.tool(), state.canonical())
    }
}

impl Accepted {
    /// The call as the model wrote it.
    pub fn call(&self) -> &ToolCall {
        &self.0.call
    }

    /// The tool.
    pub fn tool(&self) -> &HostTool {
        self.0.tool()
    }

    /// The accepted arguments.
    pub fn arguments(&self) -> Arguments<'_> {
        self.0.facts().arguments()
    }
}

impl Draft {
    /// What is there of the arguments.
    pub fn arguments(&self) -> Arguments<'_> {
        self.0.facts().arguments()
    }

    /// What isn't.
    pub fn open(&self) -> &[JsonPath] {
        &self.1
    }
}

impl Proposed {
    /// Brings the arguments into canonical form and reads them.
    ///
    /// `""`, white space, `null` and nothing at all mean `{}`. A string that holds an object is
    /// unwrapped, at the top and up to two times; every other text is what it is.
    ///
    /// # Errors
    /// `invalid_arguments`, with all problems at all depths.
    pub fn accept(self) -> Result<Acceptance, Ending> {
        let Proposed(mut state) = self;
        if let Some(args) = quick(state.tool(), &state.call) {
            state.args = Some(args);
            return Ok(Acceptance::Accepted(Accepted(state)));
        }
        let (walked, canonical) = match accept(state.tool(), &state.call) {
            Ok(accepted) => accepted,
            Err(problems) => return Err(refused(state, problems)),
        };
        state.canonical = canonical;
        if !walked.open.is_empty() {
            return Ok(Acceptance::Draft(Draft(state, walked.open)));
        }
        match crate::tool::caught(|| state.tool().read(&walked, state.canonical())) {
            Ok(Ok(args)) => {
                walked.recycle();
                state.args = Some(args);
                Ok(Acceptance::Accepted(Accepted(state)))
            }
            Ok(Err(problems)) => Err(refused(state, problems)),
            Err(panic) => {
                // A `Deserialize` of the author's own; what it says may quote a secret.
                let detail = if state.has_secrets() { "a `Deserialize` panicked".to_owned() } else { panic };
                let said = format!("The arguments of `{}` could not be read, and it did not run.", state.tool().name());
                Err(Ending::of(state, End::new(Code::InvalidArguments, said).with_detail(detail)))
            }
        }
    }
}

/// The arguments of a call about which there is no doubt: read and checked in one go, and their raw
/// text is the canonical text.
fn quick(tool: &HostTool, call: &ToolCall) -> Option<ErasedArgs> {
    let text = call.arguments.text().ok()?;
    if call.truncated || !call.no_result.is_empty() || !text.starts_with('{') || text.len() > MAX_TEXT {
        return None;
    }
    crate::tool::caught(|| tool.read_quick(text)).ok()?
}

/// Where the members stand, and the canonical text where it isn't the raw text itself.
fn accept(tool: &HostTool, call: &ToolCall) -> Result<(Walked, Option<String>), Problems> {
    let text = call.arguments.text().map_err(|offset| {
        let message = format!("not valid JSON: not UTF-8 from byte {offset} on");
        Problems::one(Problem::new(JsonPath::root(), What::Syntax { message }))
    })?;
    let built = tool.built();
    let open = call.open();
    let accepted = match plain_object(text) {
        Some(text) => {
            let mut walked = built.accept(text, &open)?;
            let canonical = walked.text.take();
            (walked, canonical)
        }
        None => {
            let text = unwrapped(text);
            let mut walked = built.accept(&text, &open)?;
            let canonical = walked.text.take().unwrap_or(text);
            (walked, Some(canonical))
        }
    };
    if call.truncated {
        // Half a list may read as a whole one.
        let message = "the turn was stopped before its end, so something may be missing".to_owned();
        return Err(Problems::one(Problem::new(JsonPath::root(), What::Syntax { message })));
    }
    Ok(accepted)
}

/// The object that a call's arguments were read as, as the model wrote it.
pub(super) fn as_given(call: &ToolCall) -> std::borrow::Cow<'_, str> {
    object_of(call.arguments.text().unwrap_or_default())
}

/// How much of arguments that nobody could read is kept for the host, in bytes.
const KEPT: usize = 1024;

#[cold]
fn refused(state: Box<State>, problems: Problems) -> Ending {
    // Which parts of refused arguments are secret nobody can say.
    let raw = if state.has_secrets() {
        "raw arguments: not kept, since some of the tool's arguments are secret".to_owned()
    } else {
        let raw = state.call.arguments.to_string_lossy();
        ["raw arguments: ", &text::visible(text::head(&raw, KEPT), KEPT)].concat()
    };
    let error = if state.call.truncated {
        ToolArgsError::truncated(state.tool().name(), problems)
    } else {
        ToolArgsError::new(state.tool().name(), problems)
    };
    let end = End::new(Code::InvalidArguments, error.text()).with_detail(raw);
    Ending::of(state, end)
}
