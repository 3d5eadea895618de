use std::fmt;
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// How agreement is estimated from the sizes of groups of equal samples.
///
/// Each estimator has bounds of its own: what one calls 0.8 another calls 0.6.
pub trait Estimator: sealed::Sealed + fmt::Debug + Clone + Copy + Send + Sync + 'static {
    /// Its name in records.
    const NAME: &'static str;

    /// Of `n` samples, among which are groups of these sizes. Samples that are in no group agree with nothing. 0 for no
    /// samples.
    fn estimate(groups: &[usize], n: usize) -> f64;

    /// The least that can come of `n` samples if each is something: no two are equal.
    fn least(n: usize) -> f64;

    /// From how many samples on the least is below a bound. `None` if it never is.
    fn from_samples(bound: f64) -> Option<usize>;
}

/// The share of the largest group. Never below 1/N unless nothing could be read, so with 5 samples it can't fall
/// below 0.20.
#[derive(Debug, Clone, Copy)]
pub enum ModeShare {}

/// The share of pairs of samples that are equal: about the square of the mode share. 0 where no two are.
#[derive(Debug, Clone, Copy)]
pub enum PairShare {}

impl sealed::Sealed for ModeShare {}
impl sealed::Sealed for PairShare {}

impl Estimator for ModeShare {
    const NAME: &'static str = "mode_share";

    fn estimate(groups: &[usize], n: usize) -> f64 {
        match groups.iter().max() {
            Some(&largest) if n > 0 => largest as f64 / n as f64,
            _ => 0.0,
        }
    }

    fn least(n: usize) -> f64 {
        Self::estimate(&[1], n)
    }

    fn from_samples(bound: f64) -> Option<usize> {
        // 1/n is below the bound from the first n above 1/bound on; the quotient is rounded, so the estimate decides.
        let near = (bound > 0.0).then(|| (1.0 / bound).floor())?;
        if near >= f64::from(u32::MAX) {
            return None;
        }
        let near = near as usize;
        (near.max(1)..=near + 2).find(|&n| 1.0 / (n as f64) < bound)
    }
}

impl Estimator for PairShare {
    const NAME: &'static str = "pair_share";

    fn estimate(groups: &[usize], n: usize) -> f64 {
        let pairs = |of: usize| of as f64 * of.saturating_sub(1) as f64;
        match n {
            0 => 0.0,
            // One sample that is something agrees with itself.
            1 => groups.len() as f64,
            _ => groups.iter().map(|&group| pairs(group)).sum::<f64>() / pairs(n),
        }
    }

    fn least(n: usize) -> f64 {
        Self::estimate(&[1], n)
    }

    fn from_samples(bound: f64) -> Option<usize> {
        // No two of two are equal, which is nothing at all.
        (bound > 0.0).then_some(2)
    }
}

/// Where accepting and rejecting begin, for one estimator. Those of one are not another's:
///
/// ```compile_fail,E0308
/// use tool_runtime::agreement::{AgreementGate, Bounds, PairShare};
///
/// let gate: AgreementGate<PairShare> = AgreementGate::new(Bounds::seed());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds<E> {
    pub(super) argument_accept: f64,
    pub(super) argument_reject: Option<f64>,
    pub(super) result_accept: f64,
    pub(super) result_quarantine: f64,
    pub(super) min_samples: usize,
    estimator: PhantomData<E>,
}

impl<E: Estimator> Bounds<E> {
    /// Accepts from `accept` on, and rejects below `reject`. 5 samples at the least; results are accepted from
    /// `accept` on too, and below 0.50 they quarantine.
    ///
    /// # Errors
    /// If a bound isn't within 0 to 1, or they overlap.
    pub fn new(accept: f64, reject: f64) -> Result<Self, BoundsError> {
        if !(0.0..=1.0).contains(&accept) || !(0.0..=1.0).contains(&reject) {
            return Err(BoundsError("a bound is a share, from 0 to 1"));
        }
        if reject > accept {
            return Err(BoundsError("what is rejected can't reach into what is accepted"));
        }
        Ok(Self::of(accept, Some(reject), accept, 5))
    }

    const fn of(accept: f64, reject: Option<f64>, result_accept: f64, min_samples: usize) -> Self {
        Bounds {
            argument_accept: accept,
            argument_reject: reject,
            result_accept,
            result_quarantine: 0.5,
            min_samples,
            estimator: PhantomData,
        }
    }

    /// How many samples there have to be.
    #[must_use]
    pub fn min_samples(mut self, samples: usize) -> Self {
        self.min_samples = samples;
        self
    }

    /// From where on results are accepted, and below where they quarantine a tool's declaration.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn results(mut self, accept: f64, quarantine: f64) -> Result<Self, BoundsError> {
        Self::new(accept, quarantine)?;
        (self.result_accept, self.result_quarantine) = (accept, quarantine);
        Ok(self)
    }

    /// Nothing is ever rejected.
    #[must_use]
    pub fn never_rejecting(mut self) -> Self {
        self.argument_reject = None;
        self
    }

    /// The bounds in numbers of samples, for `n` of them: the smallest largest group that accepts, and the largest one
    /// that rejects, where all other samples agree with nothing.
    pub fn said(&self, n: usize) -> AcceptsFrom {
        // The best that is possible with this largest group: all others are single.
        let estimate = |largest: usize| {
            let mut groups = vec![1; n - largest];
            groups.push(largest);
            E::estimate(&groups, n)
        };
        // A larger group never agrees less: the smallest that reaches a bound, `n + 1` if none does.
        let reaches = |bound: f64| {
            let (mut from, mut to) = (1, n + 1);
            while from < to {
                let middle = from.midpoint(to);
                if estimate(middle) >= bound { to = middle } else { from = middle + 1 }
            }
            from
        };
        let accept = Some(reaches(self.argument_accept)).filter(|&largest| largest <= n);
        let reject = self.argument_reject.map(|bound| reaches(bound) - 1).filter(|&largest| largest > 0);
        AcceptsFrom { of: n, accept, reject }
    }
}

impl Bounds<ModeShare> {
    /// Accept from 0.80 on both signals, reject below 0.20, 5 samples. At 5 samples it never rejects, since one of five
    /// is 0.20.
    pub const fn seed() -> Self {
        Self::of(0.8, Some(0.2), 0.8, 5)
    }

    /// What was measured to be worth having on single-turn function calling by 26 models: 10 samples, accept
    /// from 0.70 (67 % of draws, 98.8 % of them right), reject where no two of ten agree (0.2 %, of which the plurality was
    /// right in 2 %). Samples of one model are more alike than those were: expect more that is accepted, and less of it
    /// right. The example `agreement` prints these figures, for other bounds and other data, too.
    pub const fn measured() -> Self {
        Self::of(0.7, Some(0.2), 0.8, 10)
    }

    /// For what changes state: all samples have to agree, and nothing is rejected. A majority of three in four was right
    /// less often than a coin there.
    pub const fn unanimous() -> Self {
        Self::of(1.0, None, 0.8, 5)
    }
}

impl Bounds<PairShare> {
    /// Accept from 0.60, reject below 0.04: about the squares of the seed's.
    pub const fn squared() -> Self {
        Self::of(0.6, Some(0.04), 0.6, 5)
    }
}

/// Bounds in numbers of samples, such as "of 5: accept from 4, reject never".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcceptsFrom {
    /// Of how many samples.
    pub of: usize,
    /// How many have to agree at the least. `None`: it never accepts.
    pub accept: Option<usize>,
    /// How many may agree at the most for a reject, if the others agree with nothing. `None`: it never
    /// rejects, unless nothing of the samples can be read.
    pub reject: Option<usize>,
}

impl fmt::Display for AcceptsFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of {}: ", self.of)?;
        match self.accept {
            Some(from) => write!(f, "accept from {from}, ")?,
            None => f.write_str("accept never, ")?,
        }
        match self.reject {
            Some(1) => f.write_str("reject if no two agree"),
            Some(to) => write!(f, "reject up to {to}"),
            None => f.write_str("reject never"),
        }
    }
}

/// Bounds that can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundsError(&'static str);

impl fmt::Display for BoundsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BoundsError {}
