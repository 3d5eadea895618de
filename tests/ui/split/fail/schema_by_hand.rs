use tool_runtime::ToolSchema;

fn main() {
    let _ = ToolSchema::new;
}
