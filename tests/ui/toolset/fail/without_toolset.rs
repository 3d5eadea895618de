use tool_runtime::tool;

struct Files;

impl Files {
    /// Reads a file.
    #[tool(host(read_only))]
    async fn read(
        /// Where it is.
        path: String,
    ) -> String {
        path
    }
}

fn main() {}
