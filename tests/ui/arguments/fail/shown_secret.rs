use tool_runtime::tool;

/// Logs in.
#[tool]
fn log_in(
    /// The password.
    #[arg(secret, default = "hunter2")]
    password: String,
    /// The one-time code.
    #[arg(secret, example = "123456")]
    code: String,
) -> String {
    password + &code
}

fn main() {}
