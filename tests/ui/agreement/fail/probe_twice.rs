//! What a probe has compared once is spent: it can't be asked until the answer is right.

use tool_runtime::agreement::{Probe, ProbeFinding, Verified};

fn until_it_holds(probe: Probe, first: [ProbeFinding; 2], second: [ProbeFinding; 2]) -> Option<Verified> {
    probe.compare(first).ok().or_else(|| probe.compare(second).ok())
}

fn main() {
    let _ = until_it_holds;
}
