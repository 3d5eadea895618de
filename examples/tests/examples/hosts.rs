//! What a host puts around its tools: `layers`, `gate`, `agent`.

use std::io::Write;
use std::sync::{Arc, Mutex};

use examples::agent::{self, Model};
use examples::gate;
use tool_runtime::{NeverAsk, TerminalApprover};

#[test]
fn layers_retry_answer_and_measure() {
    let mut out = Vec::new();
    examples::layers::run(&mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    for line in [
        "ok, bodies run: 2; the model reads: {\"cents\":169,\"currency\":\"EUR\"}",
        "ok, bodies run: 0; the model reads: {\"cents\":169,\"currency\":\"EUR\"}",
        "tool_error, bodies run: 1; the model reads: The shop has no article 7.",
        "invalid_arguments, bodies run: 0;",
        "look_up_price: ok × 2",
        "order: tool_error × 1",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn gate_asks_grants_and_denies() {
    let play = |approver: TerminalApprover| {
        let mut out = Vec::new();
        gate::run(gate::RULES, approver, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let shown = play(TerminalApprover::new(std::io::Cursor::new("a\nn\n"), std::io::sink()));
    for line in [
        "call_2 write_file {\"path\":\"notes.txt\",\"content\":\"buy milk\"}: cleared",
        "because: allowed for this session with these arguments",
        "call_4 write_file {\"path\":\"notes.txt\",\"content\":\"sell the house\"}: blocked, rejected",
        "call_5 read_file {\"path\":\"/work/secrets/key.pem\"}: blocked, denied",
        "call_6 write_file {\"path\":\"secrets/key.pem\",\"content\":\"mine\"}: blocked, denied",
        "6 calls, 2 questions, grants: 1",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // A yes for once is no grant; and nobody is nobody.
    let shown = play(TerminalApprover::new(std::io::Cursor::new("y\ny\ny\n"), std::io::sink()));
    assert!(shown.contains("6 calls, 3 questions, grants: 0"), "{shown}");
    let mut out = Vec::new();
    gate::run(gate::RULES, NeverAsk, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(shown.contains("call_2 write_file") && shown.contains("blocked, denied"), "{shown}");
    assert!(gate::run("[[rule]]\ndecision = \"maybe\"\n", NeverAsk, &mut Vec::new()).is_err());
}

/// A screen that is ours to look at.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn agent_goes_on_until_the_model_has_nothing_to_call() {
    // The scripted model refuses a conversation in which a call is not answered once and in its place.
    let model = Model::scripted().unwrap();
    let screen = Screen::default();
    let person = TerminalApprover::new(std::io::Cursor::new("y\n"), std::io::sink());
    let summary = agent::run(&model, agent::PROMPT, person, screen.clone()).unwrap();
    assert_eq!((summary.turns, summary.calls, summary.answer.as_str()), (4, 4, "There were seven words."));
    let shown = screen.text();
    for line in [
        "model: Let me look.",
        "calls count_words {\"pth\":\"notes.txt\"}",
        "did you mean `path`?",
        "100 % 7 words",
        "✓ count_words: 7",
        "✓ list_files: [\"notes.txt\"]",
        "✓ write_file: notes.txt is written.",
        "model: There were seven words.",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // Nobody there to ask: the model reads so, and goes on.
    let screen = Screen::default();
    let nobody = TerminalApprover::new(std::io::empty(), std::io::sink());
    let summary = agent::run(&model, agent::PROMPT, nobody, screen.clone()).unwrap();
    assert_eq!(summary.turns, 4);
    assert!(screen.text().contains("✗ write_file:"), "{}", screen.text());
    assert!(agent::run(&Model::at("http://127.0.0.1:9/v1", "x", None), "hi", NeverAsk, std::io::sink()).is_err());
}
