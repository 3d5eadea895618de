//! Rules: what they decide, what they can't tell, and what is refused before anything runs.

mod about;
mod building;
mod file;
mod precedence;
mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_runtime::{
    Code, DynamicTool, Harness, HostTool, Registry, Rule, Rules, RulesError, Test, ToolCall, tool, tool_type,
};

/// How often bodies began.
#[derive(Debug, Clone, Default)]
struct Ran(Arc<AtomicUsize>);

/// Reads a file.
#[tool(host(read_only))]
async fn file_read(
    /// Which one.
    #[arg(path, alias = "file")]
    path: String,
    #[host] ran: Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    path
}

/// Writes a file.
#[tool(host(destructive))]
async fn file_write(
    /// Which one, as it is.
    path: String,
    /// What.
    text: Option<String>,
    #[host] ran: Ran,
) -> String {
    ran.0.fetch_add(1, Ordering::SeqCst);
    text.unwrap_or(path)
}

/// Wipes everything.
#[tool(host(destructive))]
async fn filesystem_wipe(#[host] ran: Ran) {
    ran.0.fetch_add(1, Ordering::SeqCst);
}

/// What a payment is in.
#[tool_type]
#[serde(rename_all = "lowercase")]
enum Currency {
    /// Euros.
    Eur,
    /// Dollars.
    Usd,
}

/// A payment.
#[tool_type]
struct Payment {
    /// How much.
    amount: f64,
    /// In what.
    #[arg(default = Currency::Eur)]
    currency: Currency,
    /// Which invoice.
    invoice: Option<u128>,
    /// To whom else.
    copies: Vec<String>,
}

/// Pays.
#[tool]
async fn pay(
    /// What.
    payment: Payment,
    #[host] ran: Ran,
) -> f64 {
    ran.0.fetch_add(1, Ordering::SeqCst);
    payment.amount
}

/// A tool that takes what its schema says.
fn any(name: &str, parameters: &str) -> HostTool {
    let built =
        DynamicTool::builder(name, "Does it.").parameters(parameters).output("true").run(|text, _| async { Ok(text) });
    match built {
        Ok(tool) => tool,
        Err(error) => panic!("{error}"),
    }
}

/// Values of any type.
fn free() -> HostTool {
    any("free", r#"{"type":"object","properties":{"value":{},"list":{"type":"array"}}}"#)
}

fn tools() -> Registry {
    registry([
        FileReadTool::host(),
        FileWriteTool::host(),
        FilesystemWipeTool::host(),
        PayTool::host(),
        free(),
        any("git", r#"{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}"#),
    ])
}

fn registry(tools: impl IntoIterator<Item = HostTool>) -> Registry {
    match Registry::builder().tools(tools).state(Ran::default()).build() {
        Ok(registry) => registry,
        Err(error) => panic!("{error}"),
    }
}

fn rules(rules: impl IntoIterator<Item = Rule>) -> Rules {
    match Rules::builder().base("/w").rules(rules).build(&tools()) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    }
}

fn from_toml(text: &str) -> Rules {
    match Rules::from_toml(text, &tools()) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    }
}

fn refused(rules: impl IntoIterator<Item = Rule>) -> RulesError {
    match Rules::builder().rules(rules).build(&tools()) {
        Ok(_) => panic!("the rules were taken"),
        Err(error) => error,
    }
}

/// What rules say of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Allowed,
    Denied(String),
    Asked(String),
}

impl Said {
    fn is_denied(&self) -> bool {
        matches!(self, Said::Denied(_))
    }

    /// A person is asked since something couldn't be told.
    fn is_asked_about(&self, rule: usize, argument: &str) -> bool {
        matches!(self, Said::Asked(why)
            if why.contains(&format!("rule {rule} ")) && why.contains("can't tell") && why.contains(&format!("`{argument}`")))
    }
}

/// One call, with nobody to ask.
async fn said(rules: &Rules, tool: &str, arguments: &str) -> Said {
    let harness = Harness::new(tools(), rules.clone());
    let mut settled = harness.run_settled([ToolCall::new("1", tool, arguments)], None).await;
    let Some(settled) = settled.pop() else { panic!("no result") };
    let why = settled.record().verdict().map(|verdict| verdict.reasons().join("; ")).unwrap_or_default();
    match settled.record().code() {
        Code::Ok => Said::Allowed,
        Code::Denied => Said::Denied(why),
        Code::ApprovalUnavailable => Said::Asked(why),
        code => panic!("{code:?}: {}", settled.result().text()),
    }
}

fn path(path: &str) -> String {
    serde_json::json!({ "path": path }).to_string()
}

fn secrets() -> Rule {
    Rule::deny("file_*").because("secrets stay").when("path", Test::under("/w/secrets"))
}
