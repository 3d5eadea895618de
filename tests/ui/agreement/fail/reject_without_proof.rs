//! A reject rests on tools that a probe has verified, and only a gate makes one.

use tool_runtime::agreement::{Judgement, Rejection};

fn main() {
    let _ruling = Judgement::Reject(Rejection(Vec::new()));
}
