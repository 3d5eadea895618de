// One wrong tool gives all its errors, each on the token at fault, and none that follows from another.
use tool_runtime::tool;

#[tool(timeout = "5s", nmae = "x", host(timeout = "soon", name = "y"))]
async fn search(
    city: String,
    /// Size.
    (w, h): (u8, u8),
    /// Text.
    text: impl Into<String>,
    /// Limit.
    #[arg(range = 5..=1, secret, default = 3)]
    limit: u32,
) -> String {
    let _ = (w, h, limit);
    city + &text.into()
}

fn main() {
    let _ = SearchTool::schema().name();
    let _ = SearchTool::host();
}
