use std::fmt;

use super::bounds::{Bounds, Estimator};

/// What a gate can't do as it is built, although its bounds read as if it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgreementWarning {
    /// Of the fewest samples that it judges, no largest group is below the bound of rejecting, unless nothing can be read:
    /// one of five is 0.20, and not below.
    NeverRejects {
        /// The fewest samples that are judged.
        of: usize,
        /// From how many samples on it can. `None`: however many there are.
        from: Option<usize>,
    },
    /// Fewer than five samples are enough for it: then chance alone may carry an agreement over a bound.
    FewSamples {
        /// The fewest samples that are judged.
        of: usize,
    },
}

impl AgreementWarning {
    pub(super) fn of<E: Estimator>(bounds: &Bounds<E>) -> Vec<Self> {
        let of = bounds.min_samples;
        let mut found = Vec::new();
        // Who switched rejecting off knows.
        if let Some(reject) = bounds.argument_reject
            && E::least(of) >= reject
        {
            found.push(AgreementWarning::NeverRejects { of, from: E::from_samples(reject).filter(|from| *from > of) });
        }
        if of < 5 {
            found.push(AgreementWarning::FewSamples { of });
        }
        found
    }
}

impl fmt::Display for AgreementWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgreementWarning::NeverRejects { of, from: Some(from) } => {
                write!(f, "it never rejects of {of} samples; it can from {from} on")
            }
            AgreementWarning::NeverRejects { from: None, .. } => {
                f.write_str("it never rejects, however many samples there are")
            }
            AgreementWarning::FewSamples { of } => {
                write!(f, "it judges {of} samples: below 5, chance alone may carry an agreement over a bound")
            }
        }
    }
}
