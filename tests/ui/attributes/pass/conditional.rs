// Both orders, and what is switched off may hold what doesn't exist.
#![allow(unexpected_cfgs)]

use tool_runtime::tool;

#[cfg(nope)]
/// Is hidden.
#[tool]
fn hidden_above(
    /// Nothing.
    missing: Missing,
) -> Missing {
    missing
}

/// Is hidden.
#[tool]
#[cfg(nope)]
fn hidden_below(
    /// Nothing.
    missing: Missing,
) -> Missing {
    missing
}

/// Is there.
#[cfg(not(nope))]
#[tool]
fn shown_above() {}

/// Is there.
#[tool]
#[cfg(not(nope))]
fn shown_below() {}

/// Is there.
#[cfg_attr(not(nope), tool)]
fn shown_by_attr() {}

/// Is a plain function.
#[cfg_attr(nope, tool)]
fn plain(missing: u8) -> u8 {
    missing
}

/// Works on this system in one way.
#[tool]
#[cfg(unix)]
fn open() {}

/// Works on this system in one way.
#[tool]
#[cfg(not(unix))]
fn open() {}

fn main() {
    let _ = (ShownAboveTool::host(), ShownBelowTool::host(), ShownByAttrTool::host(), OpenTool::host(), plain(1));
}
