//! Draws samples from the answers to each prompt, and has the library rule over them.

use std::error::Error;

use tool_runtime::agreement::{
    AgreementGate, Determinism, Epoch, Estimator, JudgementKind, Observed, PlanTool, PlanTools, Probe, ProbeFinding,
    Ruling, Sample, SampleSet,
};

use super::Options;
use super::import::Prompt;
use crate::dice::Dice;

/// A prompt, ready to be judged.
struct Case {
    epoch: Epoch,
    tools: PlanTools,
    samples: Vec<(Sample, bool)>,
    /// For each draw, the places of all samples in the order in which they are drawn: so the first five are the
    /// same however many are looked at.
    orders: Vec<Vec<usize>>,
}

pub(super) struct Cases(Vec<Case>);

/// What became of one draw.
pub(super) struct Judged {
    pub(super) kind: JudgementKind,
    /// How many of the samples agree.
    pub(super) largest: usize,
    /// The plurality's plan is right.
    pub(super) right: bool,
    /// One of the samples is.
    pub(super) some_right: bool,
    /// It makes more than one call.
    pub(super) several_calls: bool,
}

impl Cases {
    pub(super) fn new(prompts: &[Prompt], options: Options) -> Result<Self, Box<dyn Error>> {
        let mut dice = Dice::new(options.seed);
        let case = |prompt: &Prompt| {
            let epoch = Epoch::begin();
            let mut tools = PlanTools::new();
            for tool in prompt.tools()? {
                // As if it were verified: there is nothing that could be run. The report says so.
                let given =
                    |result: &str| ProbeFinding { result: Observed::Value(result.into()), afterwards: "{}".into() };
                let probe = Probe::new(&tool, &epoch, "{}").ok_or("no probe")?;
                let verified = probe.compare([given("0"), given("0")])?;
                let known = PlanTool::of(&tool).determinism(Determinism::Declared).verified(verified);
                tools = tools.tool(tool.name(), known);
            }
            let samples: Vec<(Sample, bool)> = prompt
                .samples
                .iter()
                .map(|answered| (prompt.sample(answered).within(&epoch), answered.correct))
                .collect();
            let orders = (0..options.draws).map(|_| shuffled(samples.len(), &mut dice)).collect();
            Ok(Case { epoch, tools, samples, orders })
        };
        Ok(Cases(prompts.iter().map(case).collect::<Result<_, Box<dyn Error>>>()?))
    }

    /// How many draws there are.
    pub(super) fn draws(&self) -> usize {
        self.0.iter().map(|case| case.orders.len()).sum()
    }

    /// The smallest number of samples that a prompt has.
    pub(super) fn fewest(&self) -> usize {
        self.0.iter().map(|case| case.samples.len()).min().unwrap_or(0)
    }

    /// Of all samples whether they are right, and whether they call nothing.
    pub(super) fn samples(&self) -> impl Iterator<Item = (bool, bool)> {
        self.0.iter().flat_map(|case| case.samples.iter().map(|(one, right)| (*right, one.plan().calls().is_empty())))
    }

    /// Rules over the first `n` of every draw.
    pub(super) fn judge<E: Estimator>(&self, gate: &AgreementGate<E>, n: usize) -> Result<Vec<Judged>, Box<dyn Error>> {
        self.judge_where(gate, n, |_| true)
    }

    /// The same for some of the draws, by their place among all.
    pub(super) fn judge_where<E: Estimator>(
        &self,
        gate: &AgreementGate<E>,
        n: usize,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Judged>, Box<dyn Error>> {
        let mut found = Vec::new();
        let mut place = 0;
        for case in &self.0 {
            for order in &case.orders {
                if wanted(place) {
                    found.push(case.judge(gate, &order[..n.min(order.len())])?);
                }
                place += 1;
            }
        }
        Ok(found)
    }
}

impl Case {
    fn judge<E: Estimator>(&self, gate: &AgreementGate<E>, drawn: &[usize]) -> Result<Judged, Box<dyn Error>> {
        let mut set = SampleSet::new(self.epoch.clone());
        for &at in drawn {
            set.push(self.samples[at].0.clone())?;
        }
        let ruling: Ruling = gate.rule(&set, &self.tools);
        let figures = ruling.figures();
        let chosen = figures.plurality.map(|index| &self.samples[drawn[index]]);
        Ok(Judged {
            kind: ruling.kind(),
            largest: figures.groups.first().copied().unwrap_or(0),
            right: chosen.is_some_and(|(_, right)| *right),
            some_right: drawn.iter().any(|&at| self.samples[at].1),
            several_calls: drawn.iter().any(|&at| self.samples[at].0.plan().calls().len() > 1),
        })
    }
}

/// The numbers below `n` in an order of the dice's (Fisher and Yates).
fn shuffled(n: usize, dice: &mut Dice) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        let with = dice.below(at as u64 + 1);
        order.swap(at, usize::try_from(with).unwrap_or(at));
    }
    order
}
