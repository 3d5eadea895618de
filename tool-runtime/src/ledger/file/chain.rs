//! The lines of a ledger file, and the chain of codes that holds them together.

use std::fmt;

use super::super::key::{LedgerKey, Mac};
use super::super::micros::{from_micros, to_micros};
use super::super::stored::{Owner, Stored};
use crate::schema::json::{Json, write_string};
use crate::schema::{Digest, DigestError, JsonPath, text};

/// What stands behind each line's own text: `,"mac":"`, 64 digits, `"}`.
const TAIL: usize = 8 + 64 + 2;

/// Where a chain has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHead {
    lines: u64,
    mac: Mac,
}

impl FileHead {
    /// Before the first line.
    pub(super) const START: FileHead = FileHead { lines: 0, mac: [0; 32] };

    pub(super) fn new(lines: u64, mac: Mac) -> Self {
        FileHead { lines, mac }
    }

    /// How many lines there are.
    pub fn lines(&self) -> u64 {
        self.lines
    }
}

impl fmt::Display for FileHead {
    /// `N:MAC`, as it is read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.lines, Digest::from(self.mac))
    }
}

impl std::str::FromStr for FileHead {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (lines, mac) = text.split_once(':').ok_or(DigestError)?;
        let mac: Digest = mac.parse()?;
        Ok(FileHead { lines: lines.parse().map_err(|_| DigestError)?, mac: *mac.as_bytes() })
    }
}

/// Writes lines on, each with the code of all before it.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// What is written is written under this, and read also under those before it.
    pub(super) key: LedgerKey,
    /// The name of the key under which it was begun.
    first: String,
    pub(super) ledger: String,
    /// Which file of the ledger it is in, from 1.
    pub(super) file: u64,
    pub(super) head: FileHead,
}

impl Chain {
    /// The first line, which says what the file is.
    pub(super) fn begin(key: LedgerKey, ledger: String, at: i64, out: &mut String) -> Self {
        let mut chain = Chain { first: key.id().to_owned(), key, ledger, file: 1, head: FileHead::START };
        let start = out.len();
        out.push_str(r#"{"n":0,"at_us":"#);
        out.push_str(itoa::Buffer::new().format(at));
        out.push_str(r#","format":1,"ledger":"#);
        write_string(out, &chain.ledger);
        out.push_str(r#","key":"#);
        write_string(out, chain.key.id());
        chain.close(out, start);
        chain
    }

    /// The first line of the file after a closed one, whose chain it goes on with.
    pub(super) fn follow(closed: &Chain, at: i64, out: &mut String) -> Self {
        let mut chain = Chain { first: closed.key.id().to_owned(), file: closed.file + 1, ..closed.clone() };
        let start = out.len();
        out.push_str(r#"{"n":"#);
        out.push_str(itoa::Buffer::new().format(chain.head.lines));
        out.push_str(r#","at_us":"#);
        out.push_str(itoa::Buffer::new().format(at));
        out.push_str(r#","format":2,"ledger":"#);
        write_string(out, &chain.ledger);
        out.push_str(r#","key":"#);
        write_string(out, chain.key.id());
        out.push_str(r#","file":"#);
        out.push_str(itoa::Buffer::new().format(chain.file));
        out.push_str(r#","after":"#);
        write_string(out, &chain.head.to_string());
        chain.close(out, start);
        chain
    }

    /// A line with an entry.
    pub(super) fn line(&mut self, entry: &str, at: i64, owner: &str, out: &mut String) {
        let start = self.open(at, owner, out);
        out.push_str(r#","entry":"#);
        out.push_str(entry);
        self.close(out, start);
    }

    /// The last line of a file.
    pub(super) fn last(&mut self, at: i64, owner: &str, out: &mut String) {
        let start = self.open(at, owner, out);
        out.push_str(r#","closed":"#);
        out.push_str(itoa::Buffer::new().format(self.file));
        self.close(out, start);
    }

    /// A line with an entry of a file that is going to be taken out. Counts only with the line of that.
    pub(super) fn carried(&mut self, entry: &Stored, at: i64, owner: &str, out: &mut String) {
        let start = self.open(at, owner, out);
        out.push_str(r#","carried":{"at_us":"#);
        match entry.at() {
            Some(at) => out.push_str(itoa::Buffer::new().format(to_micros(at))),
            None => out.push_str("null"),
        }
        out.push_str(r#","owner":"#);
        write_string(out, &entry.owner().map(ToString::to_string).unwrap_or_default());
        out.push_str(r#","key":"#);
        write_string(out, entry.key_id().unwrap_or(&self.first));
        out.push_str(r#"},"entry":"#);
        out.push_str(entry.text());
        self.close(out, start);
    }

    /// A line that says that files were taken out, and that as many lines before it have what is kept of them.
    pub(super) fn pruned(&mut self, pruned: &Pruned, carried: usize, at: i64, owner: &str, out: &mut String) {
        let start = self.open(at, owner, out);
        out.push_str(r#","pruned":{"file":"#);
        out.push_str(itoa::Buffer::new().format(pruned.file));
        out.push_str(r#","head":"#);
        write_string(out, &pruned.head.to_string());
        out.push_str(r#","carried":"#);
        out.push_str(itoa::Buffer::new().format(carried));
        out.push('}');
        self.close(out, start);
    }

    fn open(&self, at: i64, owner: &str, out: &mut String) -> usize {
        let start = out.len();
        out.push_str(r#"{"n":"#);
        out.push_str(itoa::Buffer::new().format(self.head.lines));
        out.push_str(r#","at_us":"#);
        out.push_str(itoa::Buffer::new().format(at));
        out.push_str(r#","owner":"#);
        write_string(out, owner);
        out.push_str(r#","key":"#);
        write_string(out, self.key.id());
        start
    }

    fn close(&mut self, out: &mut String, start: usize) {
        let mac = self.key.mac(DOMAIN, &self.parts(&self.key, &out[start..]));
        out.push_str(r#","mac":""#);
        out.push_str(&Digest::from(mac).to_string());
        out.push_str("\"}\n");
        self.head = FileHead { lines: self.head.lines + 1, mac };
    }

    fn parts<'a>(&'a self, key: &'a LedgerKey, line: &'a str) -> [&'a [u8]; 4] {
        [self.ledger.as_bytes(), key.id().as_bytes(), &self.head.mac, line.as_bytes()]
    }

    /// Is it the next line, but for its newline? Then the chain goes on behind it. `json`: the same, read.
    fn takes(&mut self, line: &str, json: &Json) -> bool {
        // Before keys could be changed, only the first line had the name of one.
        let id = json.get("key").and_then(Json::as_str).unwrap_or(&self.first);
        let Some(key) = self.key.named(id) else { return false };
        let Some((text, tail)) = line.len().checked_sub(TAIL).and_then(|at| line.split_at_checked(at)) else {
            return false;
        };
        let digits = tail.strip_prefix(r#","mac":""#).and_then(|tail| tail.strip_suffix("\"}"));
        let Some(mac) = digits.and_then(|digits| digits.parse::<Digest>().ok()) else { return false };
        let holds = key.is_mac(DOMAIN, &self.parts(key, text), mac.as_bytes());
        if holds {
            self.head = FileHead { lines: self.head.lines + 1, mac: *mac.as_bytes() };
        }
        holds
    }
}

const DOMAIN: &str = "file-line";

/// Up to where files were taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pruned {
    /// The last of them.
    pub(super) file: u64,
    /// Where it came to.
    pub(super) head: FileHead,
}

/// How a file ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileTail {
    /// With a whole line.
    Whole,
    /// With a line that is whole but for its newline; this is instead of it. Nothing is lost.
    NoNewline(Vec<u8>),
    /// With so many bytes of a line that was not written to its end.
    Torn(u64),
}

/// What is in a file.
pub(super) struct Contents {
    /// `None`: not even the first line is whole.
    pub(super) chain: Option<Chain>,
    /// Where the file before it came to.
    pub(super) after: FileHead,
    /// It has its last line.
    pub(super) is_closed: bool,
    /// What it says last of files that were taken out, and what it has of them.
    pub(super) pruned: Option<(Pruned, Vec<Stored>)>,
    /// What has been read of that and doesn't count yet.
    carried: Vec<Stored>,
    pub(super) entries: Vec<Stored>,
    /// The codes of its lines.
    pub(super) macs: Vec<Mac>,
    /// Up to where it is whole.
    pub(super) good: usize,
    pub(super) tail: FileTail,
}

/// Reads a file, checking every line.
///
/// # Errors
/// The number of the first line that isn't what was written, from 1, and why.
pub(super) fn read(bytes: &[u8], key: &LedgerKey) -> Result<Contents, (u64, String)> {
    let mut contents = Contents {
        chain: None,
        after: FileHead::START,
        is_closed: false,
        pruned: None,
        carried: Vec::new(),
        entries: Vec::new(),
        macs: Vec::new(),
        good: 0,
        tail: FileTail::Whole,
    };
    while contents.good < bytes.len() {
        let rest = &bytes[contents.good..];
        let number = contents.macs.len() as u64 + 1;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        if take(&mut contents, line, key).map_err(|why| (number, why))? {
            contents.good += line.len() + 1;
            if end.is_none() {
                contents.good = bytes.len();
                contents.tail = FileTail::NoNewline(Vec::new());
            }
            continue;
        }
        // Some other byte stands where its newline was.
        if end.is_none()
            && let Some((last, line)) = line.split_last()
            && take(&mut contents, line, key).map_err(|why| (number, why))?
        {
            contents.good += line.len();
            contents.tail = FileTail::NoNewline(vec![*last]);
            return Ok(contents);
        }
        if is_torn(&contents, rest, key) {
            contents.tail = FileTail::Torn(rest.len() as u64);
            return Ok(contents);
        }
        let why = match contents.chain {
            // Nothing has held yet.
            None => "it is not what was written there, or the key has another secret",
            Some(_) => "it is not what was written there",
        };
        return Err((number, why.to_owned()));
    }
    Ok(contents)
}

/// Takes a line if it is the next one.
fn take(contents: &mut Contents, line: &[u8], key: &LedgerKey) -> Result<bool, String> {
    let Ok(line) = std::str::from_utf8(line) else { return Ok(false) };
    let Ok(json) = Json::parse(line) else { return Ok(false) };
    let mut chain = match &contents.chain {
        Some(chain) => chain.clone(),
        None => match first(&json, key)? {
            Some(chain) => chain,
            None => return Ok(false),
        },
    };
    let before = chain.head;
    if !chain.takes(line, &json) {
        return match json.get("key").and_then(Json::as_str) {
            Some(id) if key.named(id).is_none() => Err(other_key(id)),
            _ => Ok(false),
        };
    }
    if contents.is_closed {
        return Err("a line stands behind the one that closes the file".to_owned());
    }
    if contents.chain.is_none() {
        contents.after = before;
    } else {
        hold(contents, line, &json, &chain).ok_or("it holds nothing that this version knows")?;
    }
    contents.macs.push(chain.head.mac);
    contents.chain = Some(chain);
    Ok(true)
}

/// Keeps what is in a line that isn't the first.
fn hold(contents: &mut Contents, line: &str, json: &Json, chain: &Chain) -> Option<()> {
    let number = |json: &Json, name: &str| json.get(name)?.as_number()?.parse::<u64>().ok();
    if json.get("closed").is_some() {
        contents.is_closed = number(json, "closed") == Some(chain.file);
        return contents.is_closed.then_some(());
    }
    if let Some(pruned) = json.get("pruned") {
        let head = pruned.get("head")?.as_str()?.parse().ok()?;
        let first = contents.carried.len().checked_sub(usize::try_from(number(pruned, "carried")?).ok()?)?;
        let kept = contents.carried.split_off(first);
        contents.carried.clear();
        contents.pruned = Some((Pruned { file: number(pruned, "file")?, head }, kept));
        return Some(());
    }
    match json.get("carried") {
        Some(about) => contents.carried.push(entry(line, about, &chain.first)?),
        None => contents.entries.push(entry(line, json, &chain.first)?),
    }
    Some(())
}

/// The chain that a first line begins. `Err` if it was written under another key or by another version.
fn first(json: &Json, key: &LedgerKey) -> Result<Option<Chain>, String> {
    let word = |name: &str| json.get(name).and_then(Json::as_str);
    let Some((ledger, id)) = word("ledger").zip(word("key")) else { return Ok(None) };
    if key.named(id).is_none() {
        return Err(other_key(id));
    }
    let (file, head) = match json.get("format").and_then(Json::as_number) {
        Some("1") => (1, FileHead::START),
        Some("2") => {
            let file = json.get("file").and_then(Json::as_number).and_then(|file| file.parse().ok());
            match file.zip(word("after").and_then(|after| after.parse().ok())) {
                Some(place) => place,
                None => return Ok(None),
            }
        }
        _ => return Err("it is of another format".to_owned()),
    };
    Ok(Some(Chain { key: key.clone(), first: id.to_owned(), ledger: ledger.to_owned(), file, head }))
}

fn other_key(id: &str) -> String {
    format!("it was written under the key `{}`, which isn't there", text::shown(id, 64))
}

/// The entry in a line that holds. `about`: when it was written, and by whom. `first`: the key of those that name none.
fn entry(line: &str, about: &Json, first: &str) -> Option<Stored> {
    let at = about.get("at_us")?.as_number().and_then(|at| from_micros(at.parse().ok()?));
    let owner = about.get("owner")?.as_str().and_then(Owner::read);
    // Its very text, and not how it would be written anew.
    let text = JsonPath::from_pointer("/entry")?.find(line)?;
    let key = about.get("key").and_then(Json::as_str).unwrap_or(first);
    Some(Stored::read(text).ok()?.written(at, owner, Some(key)))
}

/// Can it be what is left of a write that was cut off? Then it holds no line that was ever whole, and
/// nobody can have been told that it was written.
fn is_torn(contents: &Contents, rest: &[u8], key: &LedgerKey) -> bool {
    let text: &str = match std::str::from_utf8(rest) {
        Ok(text) => text,
        // Cut inside a character.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or(""),
        // A crash of the machine may leave anything behind the last line that was synced.
        Err(_) => return !rest.contains(&b'\n'),
    };
    let mut cursor = 0;
    while let Some(end) = text[cursor..].find("\"}") {
        cursor += end + 2;
        let line = &text[..cursor];
        let Ok(json) = Json::parse(line) else { continue };
        let whole = match &contents.chain {
            Some(chain) => chain.clone().takes(line, &json),
            None => first(&json, key).is_ok_and(|chain| chain.is_some_and(|mut chain| chain.takes(line, &json))),
        };
        if whole {
            return false;
        }
    }
    // A newline is written last. Only a crash of the machine leaves one behind what wasn't written; the
    // blocks that it never wrote read as zeros then.
    !text.contains('\n') || text.contains(UNWRITTEN)
}

const UNWRITTEN: &str = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
