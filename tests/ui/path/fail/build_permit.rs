use tool_runtime::path::{Permit, Recorded};

fn permit(recorded: Recorded) -> Permit {
    let Recorded(state) = recorded;
    Permit(state)
}

fn main() {
    let _ = permit;
}
