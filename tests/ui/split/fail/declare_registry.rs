use tool_runtime::Registry;
use tool_runtime::wire::openai_chat::Declarations;

fn declare(registry: &Registry) -> String {
    Declarations::of(registry.iter()).to_json()
}

fn main() {
    let _ = declare;
}
