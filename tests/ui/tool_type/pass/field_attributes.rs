use tool_runtime::{AllowAll, Harness, Registry, ToolCall, tool, tool_type};

#[tool_type]
#[derive(Debug, Default)]
#[serde(rename_all = "camelCase")]
struct Login {
    /// Who.
    #[arg(alias = "name", alias = "login")]
    user_name: String,
    #[arg(secret)]
    password: String,
    #[arg(path, default = ".")]
    home_dir: String,
    #[arg(default, rename = "n")]
    count: u8,
    #[arg(range = 1..=10, default = 2)]
    tries: u8,
    #[arg(length = ..=3, authored)]
    notes: Vec<String>,
    #[cfg(not(any()))]
    there: bool,
    #[cfg(any())]
    not_there: Missing,
}

// Checked in builds with the feature that has the means.
#[tool_type]
struct Contact {
    #[arg(format = "email", pattern = "@")]
    mail: Option<String>,
}

/// Writes to somebody.
#[tool]
fn write(
    /// Whom.
    contact: Contact,
) -> bool {
    contact.mail.is_some()
}

/// Logs in.
#[tool(host(inline))]
fn log_in(#[args] login: Login) -> String {
    assert_eq!(login.password, "p");
    format!("{}{}{}{}{}", login.user_name, login.home_dir, login.count, login.tries, login.there)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let parameters = WriteTool::schema().parameters();
    assert!(parameters.contains(r#""pattern":"@""#) && parameters.contains(r#""format":"email""#), "{parameters}");
    let harness = Harness::new(Registry::builder().tool(LogInTool::host()).build().unwrap(), AllowAll);
    let call = ToolCall::new("1", "log_in", r#"{"login":"u","password":"p","notes":[],"there":true}"#);
    let results = harness.run_settled([call], None).await;
    assert_eq!(results[0].result().text(), "u.02true");
    let record = format!("{:?}", results[0].record());
    assert!(!record.contains(r#""p""#), "{record}");
}
