use tool_runtime::tool;

struct Client;

/// Pings the server.
#[tool]
async fn ping(#[host] client: Client) -> String {
    let Client = client;
    "pong".to_owned()
}

fn main() {}
