use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_runtime::mcp::Pins;

use super::BoxError;

/// How the program is called.
pub const HELP: &str = "\
mcp_gate [OPTIONS] [-- PROGRAM ARGUMENT…]

  --policy FILE      rules (TOML); without them a person is asked about every call
  --servers FILE     servers (TOML), besides or instead of the one behind `--`
  --pins FILE        what may be called; default: pins.json beside the rules
  --pin update       show what is new or has changed, pin it, and end
  --checklist FILE   what has to be known or confirmed before calls run (TOML); lines can be added while the gate runs
  --ledger FILE      where verdicts and results go; default: ledger.jsonl beside the rules; SQLite if it ends in .db
  --key FILE         the key under which nobody changes the ledger unseen; made if there is none; default: ledger.key
                     beside the rules
  --http ADDRESS     serve HTTP there, at /mcp, instead of the standard input and output
  --desk ADDRESS     a page where questions can be answered, for clients that can't ask
  --wait SECONDS     how long a call waits for that page (default 45); after that it can be made again, also after the
                     gate was started anew
  --ask-within SECONDS   how long a client may take to answer a question (default 300)

The file of servers:

  [server.files]                 # its name, which goes before its tools: files__read_file
  command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \"/w\"]
  env_from = [\"TOKEN\"]           # variables of the environment that it gets besides what it always has
  include = [\"read_*\", \"list_*\"] # patterns; without it, all
  exclude = [\"read_media_file\"]
  timeout = 60                   # seconds a call may take

  [server.far]
  url = \"http://127.0.0.1:3900/mcp\"
  headers_from = { authorization = \"FAR_TOKEN\" }   # headers, and the variables that hold them";

/// What the command line says.
#[derive(Debug)]
pub struct Options {
    pub(super) policy: Option<PathBuf>,
    pub(super) servers: Option<PathBuf>,
    pub(super) pins: PathBuf,
    pub(super) pin: bool,
    pub(super) checklist: Option<PathBuf>,
    pub(super) ledger: PathBuf,
    pub(super) key: PathBuf,
    pub(super) http: Option<String>,
    pub(super) desk: Option<String>,
    pub(super) wait: Duration,
    pub(super) ask_within: Duration,
    pub(super) command: Vec<OsString>,
}

impl Options {
    /// Reads the arguments of the command line. `None`: the help is asked for.
    ///
    /// # Errors
    /// If there is something else among them, or no server.
    pub fn of(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut arguments = arguments.into_iter();
        let (mut policy, mut servers, mut pins, mut ledger) = (None, None, None, None);
        let (mut checklist, mut key) = (None, None);
        let (mut http, mut desk, mut pin) = (None, None, false);
        let (mut wait, mut ask_within) = (45, 300);
        let mut command = Vec::new();
        while let Some(argument) = arguments.next() {
            let argument = argument.into_string().map_err(|argument| format!("what is {argument:?}?"))?;
            let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
            let text = |value: OsString| value.into_string().map_err(|value| format!("{value:?} isn't text"));
            let seconds =
                |value: OsString| text(value)?.parse::<u64>().map_err(|_| format!("`{argument}` takes seconds"));
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--policy" => policy = Some(PathBuf::from(value()?)),
                "--servers" => servers = Some(PathBuf::from(value()?)),
                "--pins" => pins = Some(PathBuf::from(value()?)),
                "--ledger" => ledger = Some(PathBuf::from(value()?)),
                "--checklist" => checklist = Some(PathBuf::from(value()?)),
                "--key" => key = Some(PathBuf::from(value()?)),
                "--pin" if value()? == "update" => pin = true,
                "--http" => http = Some(text(value()?)?),
                "--desk" => desk = Some(text(value()?)?),
                "--wait" => wait = seconds(value()?)?,
                "--ask-within" => ask_within = seconds(value()?)?,
                "--" => command = arguments.by_ref().collect(),
                _ => return Err(format!("what is `{argument}`?")),
            }
        }
        if command.is_empty() && servers.is_none() {
            return Err("there is no server: name its program behind `--`, or a file of servers".to_owned());
        }
        let beside = |name: &str| policy.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).join(name);
        Ok(Some(Options {
            pins: pins.unwrap_or_else(|| beside("pins.json")),
            ledger: ledger.unwrap_or_else(|| beside("ledger.jsonl")),
            key: key.unwrap_or_else(|| beside("ledger.key")),
            checklist,
            policy,
            servers,
            pin,
            http,
            desk,
            wait: Duration::from_secs(wait),
            ask_within: Duration::from_secs(ask_within),
            command,
        }))
    }

    pub(super) fn rules(&self) -> Result<String, BoxError> {
        self.policy.as_deref().map_or_else(|| Ok(String::new()), read)
    }

    /// What was looked at so far; nothing, if there is no file.
    pub(super) fn pins(&self) -> Result<Pins, BoxError> {
        match fs::exists(&self.pins)? {
            true => Ok(Pins::from_json(&read(&self.pins)?)?),
            false => Ok(Pins::new()),
        }
    }

    /// In one step, so that there is never half a file.
    pub(super) fn write_pins(&self, pins: &Pins) -> Result<(), BoxError> {
        let fresh = self.pins.with_extension("json.new");
        let mut file = fs::File::create(&fresh)?;
        file.write_all(pins.to_json().as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &self.pins)?;
        Ok(())
    }
}

pub(super) fn read(file: &Path) -> Result<String, BoxError> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}
