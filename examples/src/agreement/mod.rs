//! How often answers of models agree, how often they are right when they do, and what a gate would make of it.

mod airline;
mod batch;
mod draws;
mod import;

use std::error::Error;
use std::io::Write;

use tool_runtime::agreement::{AcceptsFrom, AgreementGate, Bounds, CanonicalForm, CanonicalStep, JudgementKind};

pub use self::airline::{AirlineFigures, Repeated, conversations};
pub use self::batch::{BatchFigures, batch};
use self::draws::{Cases, Judged};
use crate::grounding::Share;
use crate::grounding::conversations::read;

/// How samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many at a time.
    pub n: usize,
    /// How often for each prompt.
    pub draws: usize,
    /// What the draws follow from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { n: 5, draws: 20, seed: 1 }
    }
}

/// Draws in which all samples agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unanimous {
    /// Of all draws.
    pub draws: Share,
    /// Of these, how many are right.
    pub right: Share,
}

/// What a gate made of draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Made {
    /// Of all draws.
    pub accepted: Share,
    /// Of the accepted ones, those of which the plan is right.
    pub accepted_right: Share,
    /// Of all draws.
    pub deferred: Share,
    /// Of the deferred ones, those of which the plurality is right.
    pub deferred_right: Share,
    /// Of all draws.
    pub rejected: Share,
    /// Of the rejected ones, those of which the plurality is right.
    pub rejected_right: Share,
    /// Of the rejected ones, those of which at least one sample is right.
    pub rejected_some_right: Share,
    /// Of the rejected ones, those with a sample of several calls.
    pub rejected_several_calls: Share,
}

impl Made {
    fn of<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> Self {
        let mut made = Made::default();
        for one in judged {
            made.accepted.count(one.kind == JudgementKind::Accept);
            made.deferred.count(one.kind == JudgementKind::Defer);
            made.rejected.count(one.kind == JudgementKind::Reject);
            match one.kind {
                JudgementKind::Accept => made.accepted_right.count(one.right),
                JudgementKind::Reject => {
                    made.rejected_right.count(one.right);
                    made.rejected_some_right.count(one.some_right);
                    made.rejected_several_calls.count(one.several_calls);
                }
                _ => made.deferred_right.count(one.right),
            }
        }
        made
    }
}

/// What was measured.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Figures {
    /// How many draws there were.
    pub draws: usize,
    /// For each size of the largest group, from all down to none: the share of draws, and how many are right.
    pub by_largest: Vec<(usize, Share, Share)>,
    /// Samples that are right.
    pub single: Share,
    /// Draws of which the plurality is right.
    pub plurality: Share,
    /// Unanimous draws by what canonical form does, from nothing to all.
    pub unanimous: Vec<(&'static str, Unanimous)>,
    /// Each preset, how many samples it judged, and what it made of them.
    pub presets: Vec<(&'static str, usize, Made)>,
    /// First `n` samples, and for what is deferred `n` more, judged together.
    pub two_stages: Made,
}

/// Canonical forms, each with what it has in addition.
fn forms() -> [(&'static str, CanonicalForm); 5] {
    let without = |steps: &[CanonicalStep]| steps.iter().fold(CanonicalForm::full(), |form, step| form.without(*step));
    use CanonicalStep::{Calls, Keys, Numbers, Schema};
    [
        ("as written, in the order of writing", without(&[Keys, Numbers, Schema, Calls])),
        ("members in order", without(&[Numbers, Schema, Calls])),
        ("calls in order", without(&[Numbers, Schema])),
        ("numbers in one spelling", without(&[Schema])),
        ("as the schema accepts them", CanonicalForm::full()),
    ]
}

/// Reads the prompts of a file, draws from their answers, and writes what comes of it.
///
/// # Errors
/// If the file isn't one of prompts, or the report can't be written.
pub fn run(bytes: &[u8], options: Options, out: &mut impl Write) -> Result<Figures, Box<dyn Error>> {
    let prompts = read(bytes)?;
    let cases = Cases::new(&prompts, options)?;
    if cases.draws() == 0 || cases.fewest() < options.n {
        return Err(format!("there have to be {} answers to each prompt, and one prompt", options.n).into());
    }
    let Options { n, draws, seed } = options;
    let mut figures = Figures { draws: cases.draws(), ..Figures::default() };
    let mut nothing = Share::default();
    for (right, calls_nothing) in cases.samples() {
        figures.single.count(right);
        if calls_nothing {
            nothing.count(right);
        }
    }
    writeln!(
        out,
        "{} prompts with {} answers, {n} drawn at a time, {draws} draws a prompt (seed {seed}): {} draws",
        prompts.len(),
        figures.single.all,
        figures.draws,
    )?;
    writeln!(
        out,
        "An answer is right if the file says so. A plain text counts as the plan to call nothing: {nothing} are right."
    )?;

    let plain = cases.judge(&AgreementGate::new(Bounds::seed()), n)?;
    agreement(&plain, n, &mut figures, out)?;
    by_step(&cases, n, &mut figures, out)?;

    writeln!(out, "\n(c) Arguments alone, as if all tools were verified and their results agreed: presets")?;
    writeln!(
        out,
        "  {:12} {:>3}  {:17} {:17} rejected: plurality, any right",
        "", "N", "accepted: right", "deferred: right"
    )?;
    presets(&cases, n, &mut figures, out)?;

    writeln!(out, "\n(d) Arguments alone, as if all tools were verified and their results agreed: every bound")?;
    let mut sizes = vec![n];
    sizes.extend([10, 20].into_iter().filter(|&more| more > n && more <= cases.fewest()));
    for n in sizes {
        curve(&cases.judge(&AgreementGate::new(Bounds::seed()), n)?, n, out)?;
    }
    two_stages(&cases, n, &mut figures, out)?;
    Ok(figures)
}

fn agreement(plain: &[Judged], n: usize, figures: &mut Figures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "\n(a) Agreement, and how often the plurality is right")?;
    for largest in (0..=n).rev() {
        let (mut draws, mut right) = (Share::default(), Share::default());
        for one in plain {
            draws.count(one.largest == largest);
            if one.largest == largest {
                right.count(one.right);
            }
        }
        if largest > 0 || draws.of > 0 {
            writeln!(out, "  {largest:2} of {n}   {:25} right {right}", draws.to_string())?;
        }
        figures.by_largest.push((largest, draws, right));
    }
    plain.iter().for_each(|one| figures.plurality.count(one.right));
    writeln!(out, "  right: a single answer {}, the plurality {}", figures.single, figures.plurality)?;
    Ok(())
}

fn by_step(cases: &Cases, n: usize, figures: &mut Figures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "\n(b) Draws in which all agree, by canonical form: each with what stands above it")?;
    for (name, form) in forms() {
        let mut all = Unanimous::default();
        for one in cases.judge(&AgreementGate::new(Bounds::seed()).form(form), n)? {
            all.draws.count(one.largest == n);
            if one.largest == n {
                all.right.count(one.right);
            }
        }
        let steps: Vec<&str> = form.steps().map(CanonicalStep::as_str).collect();
        writeln!(out, "  {name:36} {:25} right {}   {}", all.draws.to_string(), all.right, steps.join(" "))?;
        figures.unanimous.push((name, all));
    }
    Ok(())
}

fn presets(cases: &Cases, n: usize, figures: &mut Figures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut row = |name, said: AcceptsFrom, judged: Vec<Judged>| -> Result<(), Box<dyn Error>> {
        let made = Made::of(&judged);
        let pair = |share: Share, right: Share| format!("{:5.1} % @ {:5.1} %", share.percent(), right.percent());
        writeln!(
            out,
            "  {name:12} {:3}  {:17} {:17} {:5.2} % ({}): {:5.1} %, {:5.1} %; several calls {:5.1} %   {said}",
            said.of,
            pair(made.accepted, made.accepted_right),
            pair(made.deferred, made.deferred_right),
            made.rejected.percent(),
            made.rejected.of,
            made.rejected_right.percent(),
            made.rejected_some_right.percent(),
            made.rejected_several_calls.percent(),
        )?;
        figures.presets.push((name, said.of, made));
        Ok(())
    };
    let mut sizes = vec![n, 6, 10, 20];
    sizes.sort_unstable();
    sizes.dedup();
    let enough = |n: &usize| *n <= cases.fewest();
    for n in sizes.into_iter().filter(enough) {
        let gate = AgreementGate::new(Bounds::seed()).without_results();
        row("seed", Bounds::seed().said(n), cases.judge(&gate, n)?)?;
    }
    for n in [10, 20].into_iter().filter(enough) {
        let gate = AgreementGate::new(Bounds::measured()).without_results();
        row("measured", Bounds::measured().said(n), cases.judge(&gate, n)?)?;
    }
    for n in [n, 10].into_iter().filter(enough) {
        let gate = AgreementGate::new(Bounds::squared()).without_results();
        row("squared", Bounds::squared().said(n), cases.judge(&gate, n)?)?;
    }
    let gate = AgreementGate::new(Bounds::unanimous()).without_results();
    row("unanimous", Bounds::unanimous().said(n), cases.judge(&gate, n)?)
}

/// What every bound would come to.
fn curve(judged: &[Judged], n: usize, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(
        out,
        "  of {n:2}     accepted from there on: right            rejected up to there: plurality right, any right"
    )?;
    for bound in (1..=n).rev() {
        let (mut accepted, mut right) = (Share::default(), Share::default());
        let (mut rejected, mut plurality, mut some) = (Share::default(), Share::default(), Share::default());
        for one in judged {
            accepted.count(one.largest >= bound);
            rejected.count(one.largest <= bound);
            if one.largest >= bound {
                right.count(one.right);
            }
            if one.largest <= bound {
                plurality.count(one.right);
                some.count(one.some_right);
            }
        }
        writeln!(
            out,
            "  {bound:5}     {:5.1} %: {:5.1} %{:24} {:6.2} %: {:5.1} %, {:5.1} %",
            accepted.percent(),
            right.percent(),
            "",
            rejected.percent(),
            plurality.percent(),
            some.percent(),
        )?;
    }
    Ok(())
}

fn two_stages(cases: &Cases, n: usize, figures: &mut Figures, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    if 2 * n > cases.fewest() {
        return Ok(());
    }
    let gate = AgreementGate::new(Bounds::seed()).without_results();
    let mut judged = cases.judge(&gate, n)?;
    let deferred: Vec<usize> =
        judged.iter().enumerate().filter(|(_, one)| one.kind == JudgementKind::Defer).map(|(at, _)| at).collect();
    let again = cases.judge_where(&gate, 2 * n, |at| deferred.binary_search(&at).is_ok())?;
    for (&at, again) in deferred.iter().zip(again) {
        judged[at] = again;
    }
    let made = Made::of(&judged);
    figures.two_stages = made;
    writeln!(out, "\n(e) Two stages: {n}, and of what is deferred {n} more of the same epoch, judged together")?;
    writeln!(out, "  accepted {}   right {}", made.accepted, made.accepted_right)?;
    writeln!(out, "  deferred {}   right {}", made.deferred, made.deferred_right)?;
    writeln!(out, "  rejected {}   right {}", made.rejected, made.rejected_right)?;
    Ok(())
}
