//! The gate, between a client and a server, as programs: what a person who has no Rust of their own meets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tool_runtime::{CaseHistory, CaseState, FileLedger, History, LedgerKey};

/// How long a test waits for what has to come.
const SOON: Duration = Duration::from_secs(30);

/// A program of this crate. `cargo test -p examples --features mcp` builds it.
fn program(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built: `cargo build -p examples --features mcp --examples`", path.display());
    path
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mcp_gate-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Folder {
    /// The gate's ledger, read with its key.
    fn history(&self) -> History {
        let key = LedgerKey::from_hex("mcp_gate", &self.read("ledger.key")).unwrap();
        FileLedger::read(self.0.join("ledger.jsonl"), &key).unwrap()
    }

    /// How the calls ended, in their order.
    fn codes(&self) -> Vec<String> {
        let ends = self.history();
        let end = |case: &CaseHistory| match case.state() {
            CaseState::Ended(code) => code.as_str().to_owned(),
            state => format!("{state:?}"),
        };
        ends.cases().iter().map(end).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}

/// A gate that runs, and what it writes.
struct Gate {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    log: Receiver<String>,
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            if line.is_ok_and(|line| sender.send(line).is_err()) {
                return;
            }
        }
    });
    receiver
}

impl Gate {
    fn command(folder: &Folder, more: &[&str]) -> Command {
        let mut command = Command::new(program("mcp_gate"));
        command.arg("--policy").arg(folder.0.join("rules.toml")).args(more);
        command
    }

    fn pin(folder: &Folder, more: &[&str]) -> String {
        let output = Gate::command(folder, &["--pin", "update"]).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn start(folder: &Folder, more: &[&str], capabilities: &Value) -> Self {
        let mut child = Gate::command(folder, more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = lines(child.stderr.take().unwrap());
        let (sender, messages) = channel();
        let stdout = lines(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            // Nothing but messages may come here.
            while let Ok(line) = stdout.recv() {
                if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut gate = Gate { stdin: child.stdin.take(), child, lines: messages, log };
        gate.send(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        }}));
        assert_eq!(gate.next()["result"]["serverInfo"]["name"], "mcp_gate");
        gate.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        gate
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// What comes next, but for words of changed tools, which may come at any time.
    fn next(&self) -> Value {
        loop {
            let message = self.lines.recv_timeout(SOON).unwrap();
            if message["method"] != "notifications/tools/list_changed" {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        self.next()
    }

    fn tools(&mut self) -> Vec<String> {
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        let answer = self.next();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The first line of the log that has this in it.
    fn logged(&self, what: &str) -> String {
        let begun = Instant::now();
        while let Ok(line) = self.log.recv_timeout(SOON.saturating_sub(begun.elapsed())) {
            if line.contains(what) {
                return line;
            }
        }
        panic!("no line with {what}");
    }

    /// The page's address, its secret, and the name under which it is asked.
    fn desk(&self) -> (String, String, String) {
        let url = self.logged("questions wait at");
        let (address, secret) = url.split_once("http://").unwrap().1.split_once('/').unwrap();
        let host = format!("127.0.0.1:{}", address.rsplit(':').next().unwrap());
        (address.to_owned(), secret.to_owned(), host)
    }

    fn ends(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn server() -> String {
    program("mcp_server").to_str().unwrap().to_owned()
}

const RULES: &str = r#"
[[rule]]
decision = "deny"
tool = ["echo", "*__echo"]
reason = "nobody shouts"

[[rule.when]]
argument = "text"
matches = "*!*"

[[rule]]
decision = "ask"
tool = "add"
reason = "sums cost money"

[[rule]]
decision = "allow"
tool = ["echo", "test_*", "*__echo", "*__test_*", "crash", "sleep"]
"#;

#[test]
fn calls_go_through_the_rules_and_into_the_ledger_and_only_pinned_tools_are_there() {
    let folder = Folder::new("rules");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    let mut gate = Gate::start(&folder, &behind, &json!({}));
    // Nobody has looked at anything yet.
    assert_eq!(gate.tools(), [""; 0]);
    assert_eq!(gate.call("echo", json!({"text": "a"}))["error"]["code"], -32602);
    gate.ends();

    let shown = Gate::pin(&folder, &behind);
    assert!(shown.contains("server: `echo` is new") && shown.contains("Says the text again."), "{shown}");
    assert!(!Gate::pin(&folder, &behind).contains("is new"));

    let mut gate = Gate::start(&folder, &behind, &json!({}));
    assert!(gate.tools().contains(&"echo".to_owned()));
    assert_eq!(text(&gate.call("echo", json!({"text": "a"}))), "a");
    let denied = gate.call("echo", json!({"text": "a!"}));
    assert_eq!(denied["result"]["isError"], true);
    assert!(text(&denied).contains("nobody shouts"));
    assert!(text(&gate.call("echo", json!({"txt": "a"}))).contains("`text`"));
    // There is nobody who could be asked.
    assert_eq!(gate.call("add", json!({"a": 1, "b": 2}))["result"]["isError"], true);
    assert_eq!(gate.call("test_error_handling", json!({}))["result"]["isError"], true);
    assert_eq!(gate.call("test_audio_content", json!({}))["result"]["content"][0]["type"], "audio");
    let resource = gate.call("test_embedded_resource", json!({}));
    assert_eq!(resource["result"]["content"][0]["resource"]["uri"], "test://embedded-resource");
    gate.ends();
    assert_eq!(
        folder.codes(),
        ["unknown_tool", "ok", "denied", "invalid_arguments", "approval_unavailable", "tool_error", "ok", "ok"]
    );
}

#[test]
fn a_server_that_crashes_is_started_again_and_the_call_is_not() {
    let folder = Folder::new("crash");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    Gate::pin(&folder, &behind);
    let mut gate = Gate::start(&folder, &behind, &json!({}));
    let answer = gate.call("crash", json!({}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("may have had its effects"), "{answer}");
    let begun = Instant::now();
    while gate.call("echo", json!({"text": "a"}))["result"]["isError"] == true {
        assert!(begun.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(50));
    }
    gate.ends();
    let history = folder.history();
    assert_eq!(history.cases().iter().filter(|case| case.tool() == "crash").count(), 1);
}

#[test]
fn the_person_behind_the_client_is_asked() {
    let folder = Folder::new("client");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    Gate::pin(&folder, &behind);
    let mut gate = Gate::start(&folder, &behind, &json!({"elicitation": {}}));
    let asked = gate.call("add", json!({"a": 1, "b": 2}));
    assert_eq!(asked["method"], "elicitation/create");
    assert!(asked["params"]["message"].as_str().unwrap().contains("sums cost money"));
    let answer = json!({"action": "accept", "content": {"go_ahead": true}});
    gate.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
    assert_eq!(gate.next()["result"]["structuredContent"], json!({"sum": 3}));
    gate.ends();
}

/// A request to the page, and the whole response.
fn http(address: &str, method: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_client_that_cant_ask_calls_again_once_the_page_has_the_answer() {
    let folder = Folder::new("desk");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    Gate::pin(&folder, &behind);
    let options = ["--desk", "127.0.0.1:0", "--wait", "0", "--", server.as_str()];
    let mut gate = Gate::start(&folder, &options, &json!({}));
    let (address, secret, host) = gate.desk();
    let (address, secret) = (address.as_str(), secret.as_str());
    let pending = gate.call("add", json!({"a": 1, "b": 2}));
    assert_eq!(pending["result"]["isError"], true, "{pending}");
    let page = http(address, "GET", &format!("/{secret}"), &host);
    assert!(page.contains("sums cost money") && page.contains("&quot;a&quot;:1"), "{page}");
    let action = page.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(action.ends_with("/yes"));
    // Not by whoever doesn't know the address, and not by a page elsewhere.
    assert!(http(address, "GET", "/", &host).starts_with("HTTP/1.1 404"));
    assert!(http(address, "POST", &action.replace(secret, &"0".repeat(32)), &host).starts_with("HTTP/1.1 404"));
    assert!(http(address, "POST", action, "evil.example").starts_with("HTTP/1.1 404"));
    assert!(http(address, "POST", action, &host).starts_with("HTTP/1.1 303"));
    // The first answer counts.
    assert!(http(address, "POST", action, &host).starts_with("HTTP/1.1 409"));
    // It is for these values, and for one call.
    assert_eq!(gate.call("add", json!({"a": 1, "b": 3}))["result"]["isError"], true);
    assert_eq!(gate.call("add", json!({"b": 2, "a": 1}))["result"]["structuredContent"], json!({"sum": 3}));
    assert_eq!(gate.call("add", json!({"a": 1, "b": 2}))["result"]["isError"], true);
    gate.ends();
    // What was asked and not answered waits; what was made again while it waited is no second question.
    assert_eq!(folder.codes(), ["ok", "Waiting", "Waiting"]);
}

#[test]
fn an_approval_outlives_the_gate_and_is_spent_once() {
    let folder = Folder::new("outlives");
    folder.write("rules.toml", RULES);
    let server = server();
    Gate::pin(&folder, &["--", server.as_str()]);
    for ledger in ["ledger.jsonl", "ledger.db"] {
        let file = folder.0.join(ledger);
        let options =
            ["--ledger", file.to_str().unwrap(), "--desk", "127.0.0.1:0", "--wait", "0", "--", server.as_str()];
        let mut gate = Gate::start(&folder, &options, &json!({}));
        let pending = gate.call("add", json!({"a": 1, "b": 2}));
        assert!(text(&pending).contains("make the same call again"), "{pending}");
        assert!(text(&gate.call("add", json!({"a": 5, "b": 5}))).contains("make the same call again"));
        gate.ends();

        // Another process: asked is what was asked, and the answer goes where the question is.
        let mut gate = Gate::start(&folder, &options, &json!({}));
        let (address, secret, host) = gate.desk();
        // Nobody has answered; that asks nobody a second time.
        assert!(text(&gate.call("add", json!({"a": 1, "b": 2}))).contains("make the same call again"));
        let page = http(&address, "GET", &format!("/{secret}"), &host);
        assert_eq!(page.matches("<h2>add</h2>").count(), 2, "{page}");
        assert!(page.contains("sums cost money"));
        let of_two = page.split("<h2>").find(|part| part.contains("&quot;b&quot;:2")).unwrap();
        let action = of_two.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(http(&address, "POST", action, &host).starts_with("HTTP/1.1 303"));
        gate.ends();

        // And another: the yes is there, for one run.
        let mut gate = Gate::start(&folder, &options, &json!({}));
        assert_eq!(gate.call("add", json!({"a": 1, "b": 2}))["result"]["structuredContent"], json!({"sum": 3}));
        assert!(text(&gate.call("add", json!({"a": 1, "b": 2}))).contains("make the same call again"));
        gate.ends();
    }
    assert_eq!(folder.codes(), ["ok", "Waiting", "Waiting"]);
}

#[test]
fn a_call_that_waits_for_the_page_runs_when_the_page_says_so() {
    let folder = Folder::new("waits");
    folder.write("rules.toml", RULES);
    let server = server();
    Gate::pin(&folder, &["--", server.as_str()]);
    let options = ["--desk", "127.0.0.1:0", "--wait", "60", "--", server.as_str()];
    let mut gate = Gate::start(&folder, &options, &json!({}));
    let (address, secret, host) = gate.desk();
    for (answer, is_error) in [("yes", false), ("no", true)] {
        let params = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
        gate.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        let begun = Instant::now();
        let action = loop {
            let page = http(&address, "GET", &format!("/{secret}"), &host);
            if let Some(action) = page.split("action=\"").nth(1) {
                break action.split('"').next().unwrap().to_owned();
            }
            assert!(begun.elapsed() < SOON);
            std::thread::sleep(Duration::from_millis(20));
        };
        let action = format!("{}/{answer}", action.rsplit_once('/').unwrap().0);
        assert!(http(&address, "POST", &action, &host).starts_with("HTTP/1.1 303"));
        let answer = gate.next();
        assert_eq!(answer["result"]["isError"] == true, is_error, "{answer}");
    }
    gate.ends();
    assert_eq!(folder.codes(), ["ok", "rejected"]);
}

#[test]
fn lines_of_a_checklist_hold_calls_up() {
    let folder = Folder::new("checklist");
    folder.write("rules.toml", RULES);
    let list = folder.write(
        "list.toml",
        "[[line]]\ntool = \"echo\"\nargument = \"text\"\nlabel = \"confirm\"\nask = \"Shall it be said?\"\n",
    );
    let server = server();
    Gate::pin(&folder, &["--", server.as_str()]);
    let options = ["--checklist", list.to_str().unwrap(), "--", server.as_str()];
    let mut gate = Gate::start(&folder, &options, &json!({"elicitation": {}}));
    // The rules allow it, and the list has a person confirm it.
    for (answer, is_error) in [
        (json!({"action": "decline"}), true),
        (json!({"action": "accept", "content": {"go_ahead": true}}), true),
        (json!({"action": "accept", "content": {"go_ahead": true, "go_ahead_blank_1": "b"}}), false),
    ] {
        let asked = gate.call("echo", json!({"text": "a"}));
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let fields = &asked["params"]["requestedSchema"]["properties"];
        assert_eq!(fields["go_ahead_blank_1"]["title"], "Shall it be said?", "{asked}");
        gate.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}));
        let answer = gate.next();
        assert_eq!(answer["result"]["isError"] == true, is_error, "{answer}");
    }
    gate.ends();
    assert_eq!(folder.codes().last().map(String::as_str), Some("ok"));
}

#[test]
fn several_servers_stand_side_by_side_and_what_is_left_out_is_out_of_reach() {
    let folder = Folder::new("several");
    folder.write("rules.toml", RULES);
    let program = server();
    let servers = format!(
        "[server.one]\ncommand = [{program:?}]\ninclude = [\"echo\", \"test_simple_*\"]\n\n\
         [server.two]\ncommand = [{program:?}]\ninclude = [\"echo\", \"add\"]\nexclude = [\"add\"]\n\n\
         [server.dead]\ncommand = [\"/no/such/program\"]\n"
    );
    let file = folder.write("servers.toml", &servers);
    let live = folder.write("live.toml", servers.split("[server.dead]").next().unwrap());
    Gate::pin(&folder, &["--servers", live.to_str().unwrap()]);
    let mut gate = Gate::start(&folder, &["--servers", file.to_str().unwrap()], &json!({}));
    // One that can't be started stops nobody.
    gate.logged("could not be started");
    assert_eq!(gate.tools(), ["one__echo", "one__test_simple_text", "two__echo"]);
    assert_eq!(text(&gate.call("two__echo", json!({"text": "b"}))), "b");
    assert!(text(&gate.call("one__echo", json!({"text": "b!"}))).contains("nobody shouts"));
    for hidden in ["two__add", "one__add", "add", "echo", "two__test_simple_text"] {
        assert_eq!(gate.call(hidden, json!({}))["error"]["code"], -32602, "{hidden}");
    }
    gate.ends();
}

#[test]
fn a_tool_that_has_changed_since_it_was_pinned_is_off() {
    let folder = Folder::new("pins");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    Gate::pin(&folder, &behind);
    let pins = folder.read("pins.json");
    folder.write("pins.json", &pins.replace("Says the text again.", "Says the text."));
    let mut gate = Gate::start(&folder, &behind, &json!({}));
    gate.logged("`echo` has changed");
    assert!(!gate.tools().contains(&"echo".to_owned()));
    assert_eq!(gate.call("echo", json!({"text": "a"}))["error"]["code"], -32602);
    gate.ends();
    let shown = Gate::pin(&folder, &behind);
    assert!(shown.contains("- /description: \"Says the text.\""), "{shown}");
    assert!(shown.contains("+ /description: \"Says the text again.\""), "{shown}");
    folder.write("pins.json", "{\"server\": 7}");
    let output = Gate::command(&folder, &behind).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("pins: `server` has to be an object of tools"));
}

/// The processes whose parent is this one.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<u32> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parent = |process: &u32| {
        let status = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse::<u32>().ok()
    };
    processes.filter(|process| parent(process) == Some(of)).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn children_end_with_the_gate_however_it_ends() {
    let folder = Folder::new("children");
    folder.write("rules.toml", RULES);
    let server = server();
    let behind = ["--", server.as_str()];
    Gate::pin(&folder, &behind);
    for signal in ["-TERM", "-INT", "-KILL", "close"] {
        let mut gate = Gate::start(&folder, &behind, &json!({}));
        assert_eq!(text(&gate.call("echo", json!({"text": "a"}))), "a");
        let children = children(gate.child.id());
        assert_eq!(children.len(), 1);
        match signal {
            "close" => drop(gate.stdin.take()),
            signal => {
                assert!(Command::new("kill").args([signal, &gate.child.id().to_string()]).status().unwrap().success());
            }
        }
        gate.child.wait().unwrap();
        let begun = Instant::now();
        while Path::new("/proc").join(children[0].to_string()).join("exe").exists() {
            assert!(begun.elapsed() < SOON, "{signal}: the server goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A server of 2025-11-25 that is a script: `$1` is where it counts how often its tools were listed, `list` what it answers
/// the `$n`th time.
#[cfg(unix)]
fn scripted(folder: &Folder, list: &str) -> [String; 4] {
    let script = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"server/discover"'*) answer '"error":{"code":-32601,"message":"what?"}' ;;
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*)
        echo >> "$1"
        n=$(wc -l < "$1" | tr -d ' ')
        LIST
        ;;
    *'"tools/call"'*) answer '"result":{"content":[{"type":"text","text":"done"}]}' ;;
    esac
done
"#;
    let script = folder.write("server.sh", &script.replace("LIST", list));
    let count = folder.0.join("lists");
    ["--", "sh", script.to_str().unwrap(), count.to_str().unwrap()].map(str::to_owned)
}

#[cfg(unix)]
#[test]
fn what_changes_while_the_gate_begins_is_not_missed() {
    let folder = Folder::new("changes");
    folder.write("rules.toml", RULES);
    // The second time it has only one of its tools, and says at once that this is over.
    let list = r#"
        one='{"name":"test_one","inputSchema":{"type":"object"}}'
        two='{"name":"test_two","inputSchema":{"type":"object"}}'
        case "$n" in
        2)
            answer "\"result\":{\"tools\":[$one]}"
            printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
            ;;
        *) answer "\"result\":{\"tools\":[$one,$two]}" ;;
        esac"#;
    let behind = scripted(&folder, list);
    let behind = behind.each_ref().map(String::as_str);
    Gate::pin(&folder, &behind);
    let mut gate = Gate::start(&folder, &behind, &json!({}));
    let begun = Instant::now();
    while gate.tools() != ["test_one", "test_two"] {
        assert!(begun.elapsed() < SOON, "the change was missed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(text(&gate.call("test_two", json!({}))), "done");
    gate.ends();
}

/// Whoever looks at a terminal is to see what is there.
#[cfg(unix)]
#[test]
fn names_of_tools_are_shown_plainly() {
    let folder = Folder::new("names");
    folder.write("rules.toml", RULES);
    let list = r#"
        case "$n" in
        1) answer '"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"\u001b[1A\u001b[2K\u202eohce","inputSchema":{"type":"object"}}]}' ;;
        2) answer '"result":{"tools":[{"name":"\u001b[2Kother","inputSchema":{"type":"object"}}]}' ;;
        *) answer '"error":{"code":-32000,"message":"\u001b[2J"}' ;;
        esac"#;
    let behind = scripted(&folder, list);
    let behind = behind.each_ref().map(String::as_str);
    let shown = Gate::pin(&folder, &behind);
    let again = Gate::pin(&folder, &behind);
    let mut gate = Gate::start(&folder, &behind, &json!({}));
    assert_eq!(gate.tools(), [""; 0]);
    let failed = gate.logged("its tools");
    gate.ends();
    for shown in [shown, again, failed] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}
