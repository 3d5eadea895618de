//! The approver at a terminal.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use tool_runtime::{
    Answer, Approver, CallFacts, Code, Decision, GrantScope, Question, QuestionSet, TerminalApprover, ToolCall,
};

use super::{Person, code, harness, harness_of, pays};
use crate::support::{lock, millis};

/// A writer that is ours to look at.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).into_owned()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn d69_a_terminal_takes_whole_answers_only() {
    let cases: [(&str, Answer); 12] = [
        ("y\n", Answer::Yes),
        (" YES \r\n", Answer::Yes),
        ("n\n", Answer::No),
        ("a\n", Answer::YesForSession(GrantScope::SameArguments)),
        ("what?\ny\n", Answer::Yes),
        ("what?\nyeah\ny\n", Answer::Unavailable),
        ("\n\n", Answer::Unavailable),
        ("", Answer::Unavailable),
        ("y", Answer::Unavailable),
        ("y\u{200b}\nno way\n", Answer::Unavailable),
        ("\u{ff59}\n", Answer::Unavailable),
        ("what?\n", Answer::Unavailable),
    ];
    for (typed, answer) in cases {
        let screen = Screen::default();
        let approver = TerminalApprover::new(Cursor::new(typed), screen.clone());
        let set = QuestionSet::new([Question::new("1", "pay", r#"{"amount":1}"#)]);
        assert_eq!(approver.ask(set).await, [answer], "{typed:?}");
        assert!(screen.text().contains("argument amount: 1\n"));
    }
    // An answer that nobody can have read the question to is none.
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let set = || QuestionSet::new([Question::new("1", "pay", "{}"), Question::new("2", "pay", "{}")]);
    let approver = TerminalApprover::new(Cursor::new("y\ny\n"), Broken);
    assert_eq!(approver.ask(set()).await, [Answer::Unavailable; 2]);
    let approver = TerminalApprover::new(Cursor::new("y\nn\n"), io::sink());
    assert_eq!(approver.ask(set()).await, [Answer::Yes, Answer::No]);
}

#[tokio::test]
async fn b67_b68_a_terminal_shows_nothing_that_pretends() {
    let (harness, log, _) = harness();
    let screen = Screen::default();
    let harness = harness.approver(TerminalApprover::new(Cursor::new("n\n"), screen.clone()));
    let to = "you\\u001b[2K\\r\\nRun it? [y]es\\u202e\\u2028\u{200b}".to_owned() + &"x".repeat(10_000) + "the end";
    let call = pays("1\n  tool: other\u{1b}[2J", &format!(r#"{{"amount":1,"to":"{to}","pin":"t0k"}}"#));
    assert_eq!(code(&harness, call).await, Code::Rejected);
    let text = screen.text();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{2028}', '\u{200b}']), "{text:?}");
    assert!(text.contains("\\u{200b}") && text.contains("the end\"\n") && text.contains("characters, head and tail"));
    assert!(!text.contains("t0k") && text.contains("[redacted]"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("Run it?")).count(), 1, "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("tool:")).count(), 1, "{text}");
    assert!(text.contains("notice: Money leaves the account."), "{text}");
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn b68_an_entry_is_one_line() {
    let (harness, _, ledger) = harness_of(|_: &CallFacts<'_>| Decision::ask("so\n{\"entry\":\"answered\"}"));
    let harness = harness.approver(Person::who_says(Answer::No));
    let call = pays("1\n\u{1b}[2K", r#"{"amount":1,"to":"\n{\"answer\":\"yes\"}\r\u001b"}"#);
    harness.run([call, ToolCall::new("2", "pay\n{}", "")]).await;
    let entries = ledger.entries();
    assert_eq!(entries.len(), 5);
    for entry in entries {
        let line = serde_json::to_string(&entry).unwrap_or_default();
        assert!(line.starts_with(r#"{"entry":""#) && !line.contains(char::is_control), "{line:?}");
    }
}

/// A line to a question that was withdrawn is not an answer to the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d70_a_line_answers_the_question_that_was_shown() {
    let (lines, typed) = std::sync::mpsc::channel::<&'static str>();
    struct Keyboard(std::sync::mpsc::Receiver<&'static str>, Vec<u8>);
    impl io::Read for Keyboard {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.1.is_empty() {
                self.1 = self.0.recv().unwrap_or_default().into();
            }
            let count = self.1.len().min(into.len());
            into[..count].copy_from_slice(&self.1[..count]);
            self.1.drain(..count);
            Ok(count)
        }
    }
    let screen = Screen::default();
    let approver = TerminalApprover::new(io::BufReader::new(Keyboard(typed, Vec::new())), screen.clone());
    let (harness, log, _) = harness();
    let harness = harness.approver(approver);
    let token = CancellationToken::new();
    let cancel = token.clone();
    let (settled, ()) = tokio::join!(harness.run_settled([pays("1", r#"{"amount":1}"#)], Some(token)), async {
        while !screen.text().contains("Run it?") {
            millis(1).await;
        }
        cancel.cancel();
    });
    assert_eq!(settled[0].record().code(), Code::CancelledBeforeStart);
    let (code, ()) = tokio::join!(code(&harness, pays("2", r#"{"amount":2}"#)), async {
        let _ = lines.send("y\n");
        while screen.text().matches("Run it?").count() < 2 {
            millis(1).await;
        }
        let _ = lines.send("n\n");
    });
    assert_eq!((code, log.take().len()), (Code::Rejected, 0));
    assert!(screen.text().contains("was withdrawn"));
}

#[tokio::test]
async fn b63_letters_that_look_alike_are_pointed_out_in_paths() {
    // The last letter of `secretѕ` is Cyrillic; a name in a text is nobody's business.
    for (to, marked) in [("/w/secret\u{455}/k", true), ("Zo\u{eb} of \u{41a}\u{438}\u{435}\u{432}", false)] {
        let (harness, _, _) = harness();
        let screen = Screen::default();
        let harness = harness.approver(TerminalApprover::new(Cursor::new("n\n"), screen.clone()));
        let call = pays("1", &format!(r#"{{"amount":1,"to":"{to}","pin":"1"}}"#));
        assert_eq!(code(&harness, call).await, Code::Rejected);
        assert_eq!(screen.text().contains("look closely: not ASCII"), marked, "{}", screen.text());
    }
}

#[tokio::test]
async fn b63_b67_no_look_alike_passes_for_a_slash_or_a_point() {
    let shown = async |value: &str| {
        let screen = Screen::default();
        let approver = TerminalApprover::new(Cursor::new("n\n"), screen.clone());
        let arguments = serde_json::json!({ "url": value }).to_string();
        approver.ask(QuestionSet::new([Question::new("1", "fetch", arguments)])).await;
        screen.text()
    };
    for look_alike in ['\u{2215}', '\u{2044}', '\u{ff0f}', '\u{29f8}', '\u{2024}', '\u{ff0e}', '\u{ff1a}', '\u{a789}'] {
        let text = shown(&format!("https://bank.example{look_alike}.evil.example")).await;
        let pointed_out = format!("not ASCII: {look_alike} ({})", look_alike.escape_unicode());
        assert!(text.contains(&pointed_out), "{text}");
    }
}

#[tokio::test]
async fn b68_no_name_of_an_argument_passes_for_a_value() {
    let screen = Screen::default();
    let approver = TerminalApprover::new(Cursor::new("n\n"), screen.clone());
    let arguments = r#"{"cmd: \"ls\"":"rm -rf /","limit (default)":1,"to":"x"}"#;
    approver.ask(QuestionSet::new([Question::new("1", "run", arguments)])).await;
    let text = screen.text();
    assert!(text.contains(r#"  argument "cmd: \"ls\"": "rm -rf /""#), "{text}");
    assert!(text.contains("  argument \"limit (default)\": 1\n") && text.contains("  argument to: \"x\"\n"), "{text}");
}
