//! Only a probe verifies a declaration.

use tool_runtime::HostTool;
use tool_runtime::agreement::{Epoch, Verified};

fn claimed(tool: &HostTool, epoch: &Epoch) -> Verified {
    Verified { tool: *tool.digest(), epoch: epoch.clone() }
}

fn main() {
    let _ = claimed;
}
