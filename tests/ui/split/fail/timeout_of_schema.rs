use tool_runtime::ToolSchema;

fn main() {
    let _ = |schema: &ToolSchema| schema.timeout;
    let _ = |schema: &ToolSchema| schema.output_schema();
}
