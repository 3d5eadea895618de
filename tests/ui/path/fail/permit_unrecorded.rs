use tool_runtime::path::{Decided, Permit};

fn permit(decided: Decided) -> Permit {
    decided.permit().unwrap()
}

fn main() {
    let _ = permit;
}
