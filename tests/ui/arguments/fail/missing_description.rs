use tool_runtime::tool;

struct Client;

/// Looks something up.
#[tool]
async fn look_up(
    key: String,
    ///
    limit: Option<u32>,
    client: &Client,
) -> String {
    let _ = (limit, client);
    key
}

fn main() {}
