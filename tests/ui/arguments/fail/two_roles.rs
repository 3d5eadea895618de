use tool_runtime::{tool, tool_type};

struct Client;

#[tool_type]
struct Query {
    text: String,
}

/// Asks.
#[tool]
fn ask(
    #[host]
    #[args]
    query: Query,
) -> String {
    query.text
}

/// Sends.
#[tool]
fn send(
    #[host]
    #[arg(default)]
    client: &Client,
    #[host(shared)] other: &Client,
) {
    let _ = (client, other);
}

/// Finds.
#[tool]
fn find(
    #[args]
    #[arg(secret)]
    query: Query,
) -> String {
    query.text
}

fn main() {}
