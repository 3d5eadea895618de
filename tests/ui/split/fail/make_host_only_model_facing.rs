// The lock on `HostTool` opens if this holds.
use tool_runtime::{HostOnly, ModelFacing};

impl ModelFacing for HostOnly {}

fn main() {}
