//! What one estimator calls 0.8 another calls 0.6: the seed's bounds belong to the mode share.

use tool_runtime::agreement::{AgreementGate, Bounds, PairShare};

fn main() {
    let _gate: AgreementGate<PairShare> = AgreementGate::new(Bounds::seed());
}
