use std::fmt::{self, Write as _};
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::BoxFuture;
use crate::gate::{Answer, Approver, Blank, Confirmed, GrantScope, Question, QuestionSet};
use crate::schema::json::Json;
use crate::schema::text::{ascii, excerpt, foreign_in_paths, visible};
use crate::schema::{JsonPath, Segment};
use crate::tool::Card;

/// Asks on a terminal, one question after the other: `y` for yes, `n` for no, `a` for always this
/// very call ([`GrantScope::SameArguments`]). Anything else is asked once more, and is then no answer;
/// so are the end of the input and an error.
///
/// What a model or a remote tool wrote is shown so that it can't pretend to be something else: control,
/// bidirectional and invisible characters as `\u{202e}`, each value on one line, names in ASCII,
/// what isn't ASCII in paths and addresses pointed out, and of long values the length, the
/// head and the tail.
///
/// Reading blocks a thread of tokio's blocking pool, and nothing can stop that: after a question was
/// withdrawn, the next line belongs to it and does nothing; and a runtime that is shut down meanwhile
/// waits for that line. Without a tokio runtime nobody is asked.
///
/// ```
/// use std::io::Cursor;
/// use tool_runtime::{Answer, Approver, Question, QuestionSet, TerminalApprover};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let approver = TerminalApprover::new(Cursor::new("y\n"), std::io::sink());
/// let set = QuestionSet::new([
///     Question::new("call_1", "pay", r#"{"amount":1}"#),
///     Question::new("call_2", "pay", r#"{"amount":2}"#),
/// ]);
/// // Nobody is there for the second.
/// assert_eq!(approver.ask(set).await, [Answer::Yes, Answer::Unavailable]);
/// # });
/// ```
#[derive(Clone)]
pub struct TerminalApprover(Arc<Mutex<Terminal>>);

type ReadLine = Box<dyn FnMut(usize) -> io::Result<Option<Vec<u8>>> + Send>;

struct Terminal {
    /// The next whole line, without more of it than the given number of bytes. `None`: there is none.
    read: ReadLine,
    write: Box<dyn Write + Send>,
}

impl TerminalApprover {
    /// Asks on the standard error stream, where prompts don't mix with a program's output, and reads
    /// from standard input. Whatever comes from there is taken for a person's answer, also from a pipe, and also what
    /// was typed or pasted before the question stood there: a terminal keeps such lines until they are read.
    pub fn stdio() -> Self {
        // Locked for each line only, so that others can read from it, too.
        Self::of(Box::new(|longest| read_line(&mut io::stdin().lock(), longest)), Box::new(io::stderr()))
    }

    /// Asks by any other pair of streams.
    pub fn new(mut reader: impl BufRead + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        Self::of(Box::new(move |longest| read_line(&mut reader, longest)), Box::new(writer))
    }

    fn of(read: ReadLine, write: Box<dyn Write + Send>) -> Self {
        TerminalApprover(Arc::new(Mutex::new(Terminal { read, write })))
    }
}

impl fmt::Debug for TerminalApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TerminalApprover")
    }
}

#[diagnostic::do_not_recommend]
impl Approver for TerminalApprover {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let terminal = Arc::clone(&self.0);
        Box::pin(async move {
            let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Vec::new() };
            let asking = runtime.spawn_blocking(move || {
                // One set at a time: two prompts at once would share their answers.
                let mut terminal = terminal.lock().unwrap_or_else(PoisonError::into_inner);
                terminal.ask_all(&questions)
            });
            // A stream that panics has answered nothing.
            asking.await.unwrap_or_default()
        })
    }

    fn tell(&self, notices: Vec<String>) -> BoxFuture<'static, bool> {
        let terminal = Arc::clone(&self.0);
        Box::pin(async move {
            let Ok(runtime) = tokio::runtime::Handle::try_current() else { return false };
            let telling =
                runtime.spawn_blocking(move || terminal.lock().unwrap_or_else(PoisonError::into_inner).tell(&notices));
            telling.await.unwrap_or(false)
        })
    }
}

impl Terminal {
    fn tell(&mut self, notices: &[String]) -> bool {
        let mut out = String::new();
        show_notices(&mut out, notices);
        self.say(&out).is_ok()
    }

    /// One answer a question, whoever is there.
    fn ask_all(&mut self, set: &QuestionSet) -> Vec<Answer> {
        let token = set.token();
        let mut answers = Vec::new();
        for (index, question) in set.questions.iter().enumerate() {
            if token.is_cancelled() {
                break;
            }
            let mut prompt = String::new();
            if index == 0 {
                show_notices(&mut prompt, &set.notices);
            }
            show(&mut prompt, question, (index + 1, set.questions.len()));
            let answer = self.ask(set, question, &prompt);
            if token.is_cancelled() {
                let _ = self.say("That question was withdrawn; the answer does nothing.\n");
                break;
            }
            match answer {
                Ok(Some(answer)) => answers.push(answer),
                // Nobody is there, for the other questions neither.
                Ok(None) | Err(_) => break,
            }
        }
        answers.resize(set.questions.len(), Answer::Unavailable);
        answers
    }

    /// `None` at the end of the input.
    fn ask(&mut self, set: &QuestionSet, question: &Question, prompt: &str) -> io::Result<Option<Answer>> {
        self.say(prompt)?;
        for blank in &question.blanks {
            match self.fill(set, question, blank)? {
                Some(true) => {}
                Some(false) => return Ok(Some(Answer::Unavailable)),
                None => return Ok(None),
            }
        }
        for last in [false, true] {
            self.say("Run it? [y]es, [n]o, [a]lways this very call: ")?;
            let Some(line) = (self.read)(LONGEST_ANSWER)? else { return Ok(None) };
            match line.trim_ascii().to_ascii_lowercase().as_slice() {
                b"y" | b"yes" => return Ok(Some(Answer::Yes)),
                b"n" | b"no" => return Ok(Some(Answer::No)),
                b"a" | b"always" => return Ok(Some(Answer::YesForSession(GrantScope::SameArguments))),
                _ if last => self.say("No answer; it won't run.\n")?,
                _ => self.say("Please answer y, n or a.\n")?,
            }
        }
        Ok(Some(Answer::Unavailable))
    }

    /// Asks for a value. `None` at the end of the input, `false` if nothing was given that can be taken.
    fn fill(&mut self, set: &QuestionSet, question: &Question, blank: &Blank) -> io::Result<Option<bool>> {
        let mut prompt = format!("  asked: {}\n", excerpt(&blank.asks, LONGEST));
        for choice in &blank.choices {
            let _ = writeln!(prompt, "  choice: {}", excerpt(choice, LONGEST));
        }
        self.say(&prompt)?;
        for last in [false, true] {
            self.say("Your answer, or nothing: ")?;
            let Some(line) = (self.read)(LONGEST_VALUE)? else { return Ok(None) };
            let typed = String::from_utf8_lossy(&line);
            let typed = typed.trim();
            if typed.is_empty() {
                break;
            }
            match set.fill_text(&question.id, &blank.slot, typed) {
                Ok(()) => return Ok(Some(true)),
                Err(error) if last => self.say(&format!("It {error}.\n"))?,
                Err(error) => self.say(&format!("It {error}. Please try again.\n"))?,
            }
        }
        self.say("Left open; it won't run.\n")?;
        Ok(Some(false))
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.write.write_all(text.as_bytes())?;
        self.write.flush()
    }
}

/// Longer lines are no answer.
const LONGEST_ANSWER: usize = 64;

/// Longer lines are no value that a person would type.
const LONGEST_VALUE: usize = 8 * 1024;

/// The next line that has an end. A part of a line is no answer: nobody knows how it would go on.
fn read_line(reader: &mut impl BufRead, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let part = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part?,
        };
        if part.is_empty() {
            return Ok(None);
        }
        let end = part.iter().position(|&byte| byte == b'\n');
        let taken = &part[..end.unwrap_or(part.len())];
        // One more than an answer may have, so that what is too long shows.
        line.extend(taken.iter().take((longest + 1).saturating_sub(line.len())));
        let used = end.map_or(part.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(if line.len() > longest { b"?".to_vec() } else { line }));
        }
    }
}

/// How much of one text is shown, in characters.
const LONGEST: usize = 400;

/// How many lines of one list are shown.
const MOST: usize = 60;

fn show_notices(out: &mut String, notices: &[String]) {
    for notice in notices {
        let _ = writeln!(out, "  notice: {}", excerpt(notice, LONGEST));
    }
}

/// Each line that holds anything from outside begins with two spaces and a word of ours, so that none
/// looks like a prompt.
fn show(out: &mut String, question: &Question, (number, total): (usize, usize)) {
    let _ = writeln!(out, "May this call run? ({number} of {total})");
    let _ = writeln!(out, "  tool: {}", ascii(&question.tool, LONGEST));
    let _ = writeln!(out, "  call: {}", ascii(question.call_id.as_str(), LONGEST));
    cut_list(out, question.reasons.iter(), |out, reason| {
        let _ = writeln!(out, "  why: {}", excerpt(reason, LONGEST));
    });
    if let Some(card) = &question.card {
        show_card(out, card);
    }
    match Json::parse(&question.arguments) {
        Ok(Json::Object(members)) => cut_list(out, members.iter(), |out, (name, value)| {
            let is_default = question.defaults.iter().any(|path| is_member(path, name));
            show_argument(out, name, &value.to_string(), is_default);
        }),
        _ => show_argument(out, "all", &question.arguments, false),
    }
    let inner = question.defaults.iter().filter(|path| path.segments().len() > 1);
    cut_list(out, inner.collect::<Vec<_>>().into_iter(), |out, path| {
        let _ = writeln!(out, "  default: {}", ascii(&path.to_string(), LONGEST));
    });
    cut_list(out, question.confirmed.iter(), |out, Confirmed { slot, question }| {
        let _ = writeln!(out, "  confirmed before: {} (question {question})", ascii(slot, LONGEST));
    });
    let digest = question.digest.to_string();
    let _ = writeln!(out, "  digest: {}", visible(&digest, 64));
}

fn is_member(path: &JsonPath, name: &str) -> bool {
    matches!(path.segments(), [Segment::Key(key)] if key == name)
}

fn show_card(out: &mut String, card: &Card) {
    let _ = writeln!(out, "  card: {}", excerpt(&card.title, LONGEST));
    let lines: Vec<&str> = card.body.as_deref().unwrap_or_default().lines().collect();
    cut_list(out, lines.into_iter(), |out, line| {
        let _ = writeln!(out, "  card | {}", excerpt(line, LONGEST));
    });
}

/// A name that could pass for more than a name stands in quotes.
fn shown_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@');
    match !name.is_empty() && name.chars().all(is_plain) {
        true => ascii(name, LONGEST),
        false => ascii(&Json::string(name).to_string(), LONGEST),
    }
}

fn show_argument(out: &mut String, name: &str, value: &str, is_default: bool) {
    let _ = write!(out, "  argument {}", shown_name(name));
    if is_default {
        out.push_str(" (default)");
    }
    // Said before the value, which could say anything itself.
    let length = value.chars().count();
    if length > LONGEST {
        let _ = write!(out, " ({length} characters, head and tail)");
    }
    let _ = writeln!(out, ": {}", excerpt(value, LONGEST));
    let foreign = foreign_in_paths(value);
    if !foreign.is_empty() {
        let foreign: Vec<String> = foreign.iter().map(|c| format!("{c} ({})", c.escape_unicode())).collect();
        let _ = writeln!(out, "  look closely: not ASCII: {}", foreign.join(", "));
    }
}

/// The head and the tail of a list that is too long, and how much of it is missing.
fn cut_list<T>(out: &mut String, list: impl ExactSizeIterator<Item = T>, line: impl Fn(&mut String, T)) {
    let total = list.len();
    for (index, item) in list.enumerate() {
        if total <= MOST || index < MOST / 2 || index >= total - MOST / 2 {
            line(out, item);
        } else if index == MOST / 2 {
            let _ = writeln!(out, "  left out: {} more lines like these", total - MOST / 2 * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(question: &Question) -> String {
        let mut out = String::new();
        show(&mut out, question, (1, 1));
        out
    }

    #[test]
    fn b67_nothing_hidden_reaches_the_terminal() {
        let long = format!("{}; rm -rf /", "x".repeat(10_000));
        for text in
            ["http://safe\u{202e}elif", "/tmp/\u{200b}x", "a\rb", "\u{1b}[2K\u{9b}2K", "Run it?\nRun it? y", &long]
        {
            let arguments = Json::Object(vec![("cmd".into(), Json::string(text))]).to_string();
            let mut question = Question::new(format!("c{text}"), format!("t{text}"), arguments);
            question.reasons = vec![text.to_owned()];
            question.card = Some(Card::new(text).with_body(text));
            let out = shown(&question);
            for line in out.split('\n').skip(1).filter(|line| !line.is_empty()) {
                assert!(line.starts_with("  "), "{line:?}");
            }
            let hidden = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
            assert_eq!(out.chars().find(hidden), None, "{out:?}");
        }
    }

    #[test]
    fn b67_long_values_keep_head_and_tail() {
        let out = shown(&Question::new("c", "t", format!("{{\"cmd\":\"begin{}rm -rf /\"}}", "x".repeat(10_000))));
        assert!(out.contains("(10015 characters, head and tail): \"beginxx") && out.contains("rm -rf /\"\n"), "{out}");
        let many: Vec<String> = (0..1000).map(|n| format!("\"k{n}\":{n}")).collect();
        let out = shown(&Question::new("c", "t", format!("{{{}}}", many.join(","))));
        assert!(out.contains("argument k0: 0\n") && out.contains("argument k999: 999\n"), "{out}");
        assert!(out.contains("left out: 940 more"), "{out}");
    }

    #[test]
    fn b63_letters_that_look_alike_are_pointed_out() {
        let out = shown(&Question::new("c", "b\u{430}sh", r#"{"path":"/w/secretѕ/k","text":"Čeština"}"#));
        assert!(out.contains("tool: b\\u{430}sh\n"), "{out}");
        assert!(out.contains("not ASCII: ѕ (\\u{455})"), "{out}");
        assert_eq!(out.matches("look closely").count(), 1, "{out}");
    }

    #[test]
    fn b69_defaults_are_marked() {
        let mut question = Question::new("c", "t", r#"{"limit":10,"of":{"n":1}}"#);
        question.defaults = ["/limit", "/of/n"].into_iter().filter_map(JsonPath::from_pointer).collect();
        let out = shown(&question);
        assert!(out.contains("argument limit (default): 10\n"), "{out}");
        assert!(out.contains("argument of: {\"n\":1}\n") && out.contains("default: of.n\n"), "{out}");
    }

    #[test]
    fn only_whole_lines_of_bounded_length_are_answers() {
        let read = |text: &str| {
            let mut reader = io::BufReader::with_capacity(3, text.as_bytes());
            let mut lines = Vec::new();
            while let Ok(Some(line)) = read_line(&mut reader, LONGEST_ANSWER) {
                lines.push(String::from_utf8_lossy(&line).into_owned());
            }
            lines
        };
        assert_eq!(read("y\r\nno\n\ny"), ["y\r", "no", ""]);
        assert_eq!(read(&format!("y{}no way\ny\n", " ".repeat(100))), ["?", "y"]);
    }
}
