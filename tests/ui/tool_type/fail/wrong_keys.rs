use tool_runtime::tool_type;

#[tool_type(rename_all = "camelCase", secret)]
struct Login {
    #[arg(secert)]
    password: String,
    #[arg(timeout = "5s")]
    user: String,
}

fn main() {
    let _ = |login: Login| (login.password, login.user);
}
