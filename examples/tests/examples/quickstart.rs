//! What `quickstart` shows.

use examples::quickstart::{self, Style};
use tool_runtime::Code;

/// What the quickstart prints, and what became of its calls.
fn quickstart(style: Style) -> (String, Vec<(String, Code, String)>) {
    let mut out = Vec::new();
    let settled = quickstart::run(&mut out, style).unwrap();
    let calls = settled.iter().map(|settled| {
        let record = settled.record();
        assert_eq!(record.call_id(), settled.result().call_id());
        (record.call_id().to_string(), record.code(), settled.result().text())
    });
    (String::from_utf8(out).unwrap(), calls.collect())
}

/// The columns of all tables, each line of one on a line.
fn columns(shown: &str) -> (String, String) {
    let rows = shown.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("│ ")?.strip_suffix(" │")?.split(" │ ");
        let (model, host) = (cells.next()?, cells.next()?);
        assert_eq!(cells.next(), None, "{line}");
        Some((model.trim_end().to_owned() + "\n", host.trim_end().to_owned() + "\n"))
    });
    rows.unzip()
}

/// Without line breaks and indentation, which depend on the width.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quickstart_gives_every_call_one_result() {
    let (_, calls) = quickstart(Style::plain());
    let codes: Vec<(&str, Code)> = calls.iter().map(|(id, code, _)| (id.as_str(), *code)).collect();
    assert_eq!(
        codes,
        [
            ("call_Xq1", Code::Ok),
            ("call_Xq2", Code::InvalidArguments),
            ("call_Xq3", Code::Ok),
            ("call_Xq4", Code::InvalidArguments),
            ("call_Xq5", Code::Denied),
            ("call_Xq6", Code::Ok),
            ("call_Xqa", Code::Ok),
            ("call_Xqb", Code::Ok),
            ("call_Xqc", Code::Ok),
            ("call_Xqd", Code::Ok),
            ("call_Xq7", Code::ToolError),
            ("call_Xq8", Code::Timeout),
            ("call_Xq9", Code::Panicked),
        ]
    );
    let text = |id: &str| &calls.iter().find(|(call, ..)| call == id).unwrap().2;
    assert!(text("call_Xq2").contains("did you mean `limit`?"));
    for problem in ["`start`", "`minutes`", "`attendees[0].role`", "`attendees[1].email`", "`attendees[1].mail`"] {
        assert!(text("call_Xq4").contains(problem), "{problem}");
    }
    assert!(text("call_Xq5").contains("made at the bank"));
    assert!(text("call_Xq8").contains("150 ms"));
}

#[test]
fn quickstart_says_what_overlapped() {
    let (shown, _) = quickstart(Style::plain());
    let (_, host) = columns(&shown);
    let ran = host.lines().filter(|line| line.starts_with("ran ")).count();
    assert_eq!(ran, 5, "one of the two transfers, and the four calls of one turn:\n{host}");
}

#[test]
fn quickstart_shows_each_side_its_own() {
    let (shown, calls) = quickstart(Style::plain());
    let (model, host) = columns(&shown);
    let (model, host) = (flowing(&model), flowing(&host));
    for (_, code, text) in &calls {
        assert!(model.contains(&flowing(text)), "{text}\n{model}");
        assert!(host.contains(&format!("code {code}")), "{code}\n{host}");
    }
    // What only the host may know: a budget, a cause, the words of a panic; and what nobody may, a secret.
    for only_host in ["timeout 5s", "/var/lib/notes/index.db", "attempt to divide by zero", "[redacted]"] {
        assert!(host.contains(only_host), "{only_host}\n{host}");
        assert!(!model.contains(only_host), "{only_host}\n{model}");
    }
    assert!(!host.contains("493817"), "{host}");
    // Defaults are filled in, numbers have one spelling, paths are normalised.
    for canonical in [r#""unit":"celsius", "days":2}"#, r#""cents":4000,"#, r#"{"path":"ideas/cat.md"}"#] {
        assert!(host.contains(canonical), "{canonical}\n{host}");
    }
    // A person is shown the call before it runs, and its result whatever became of it.
    for card in [
        "Send 40.00 EUR to DE89370400440532013000?",
        "Forecast for Paris, 2 days",
        "Not sent: 25000.00 EUR",
        "Sent: 40.00 EUR",
    ] {
        assert!(host.contains(card), "{card}\n{host}");
    }
}

#[test]
fn quickstart_fits_the_terminal() {
    for width in [72, 100, 133] {
        let (shown, _) = quickstart(Style { width, colour: false });
        assert!(!shown.contains('\x1b'));
        for line in shown.lines() {
            let length = line.chars().count();
            assert!(length <= width, "{length} > {width}: {line}");
            if line.starts_with(['│', '╭', '├', '╰']) {
                assert_eq!(length, width, "{line}");
            }
        }
    }
    let (shown, _) = quickstart(Style { width: 1, colour: true });
    assert!(shown.contains("\x1b[32mok\x1b[0m"));
}
