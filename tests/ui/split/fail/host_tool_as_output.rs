// `HostTool` has an impl of `Serialize`, which never holds: nothing is advised that would open it.
use tool_runtime::{HostTool, Registry, tool};

/// Finds a tool.
#[tool]
fn find(
    /// Its name.
    name: String,
    #[host] registry: Registry,
) -> Option<HostTool> {
    registry.get(&name).cloned()
}

fn main() {}
