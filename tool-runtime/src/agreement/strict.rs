//! Rulings over lines of JSON, with nothing but JSON: no tools, no sandbox. What the line says of its tool is believed.

use super::argument::{elements, members};
use super::bounds::{Bounds, Estimator as _, ModeShare};
use super::canonical::{Numbers, is_empty, of_text};
use super::figures::group;
use super::rule::{Case, ResultSide};
use super::ruling::RulingReason;
use crate::ledger::JudgementKind;
use crate::schema::json::{Cursor, Fault, Token, write_f64};

/// How deeply a line may nest.
const DEPTH: usize = 127;

const OUTSIDE: &str = "outside_domain";

/// Rules over one line, `{"tool": {"name", "deterministic", "verified"}, "samples": [[arguments, result], …], "options":
/// {"arg_accept", "arg_reject", "result_accept", "result_quarantine", "min_samples", "fixed_epoch", "strict", "gate"}}`, and
/// gives one line, `{"ruling", "argument_agreement", "result_agreement", "reason"}`.
///
/// As [`AgreementGate::rule`](super::AgreementGate::rule) over plans of one call each; a sample `[arguments]` was not run, and
/// arguments that hold a member twice, or a number that no double can, agree with nothing.
///
/// With `"strict": true` it follows the document that the gate is from to the letter: only the order of members is
/// canonical, `1` and `1.0` are two values, results that are empty count, full agreement is accepted without a probe, and
/// what is an exception there has the ruling `error`. The line has to be JSON that nests at most 127 deep, without lone
/// surrogates, with integers of 64 bits and finite doubles; any other is an `error` with the reason
/// `outside_domain`. With `"gate": true` a tool that is declared and not verified is an `error` at once.
///
/// A ruling in words is data. No plan is run for it.
pub fn rule_line(line: &str) -> String {
    let (ruling, reason, arguments, results) = match judge(line) {
        Ok((kind, reason, arguments, results)) => (kind.as_str(), reason.as_str(), Some(arguments), results),
        Err(reason) => ("error", reason, None, None),
    };
    let mut out = format!(r#"{{"ruling":"{ruling}","argument_agreement":"#);
    write_share(&mut out, arguments);
    out.push_str(r#","result_agreement":"#);
    write_share(&mut out, results);
    out.push_str(r#","reason":""#);
    out.push_str(reason);
    out.push_str("\"}");
    out
}

fn write_share(out: &mut String, share: Option<f64>) {
    match share {
        Some(share) => write_f64(out, share),
        None => out.push_str("null"),
    }
}

type Judged = (JudgementKind, RulingReason, f64, Option<f64>);

fn judge(line: &str) -> Result<Judged, &'static str> {
    let mut cursor = Cursor::new(line);
    cursor.skip_value(DEPTH).and_then(|()| cursor.finish()).map_err(|Fault| OUTSIDE)?;
    let root = Object::of(line)?;
    let options = root.optional("options")?;
    let tool = Object::of(root.get("tool").ok_or(OUTSIDE)?)?;
    let (declared, verified) = (tool.flag("deterministic", false)?, tool.flag("verified", false)?);
    let strict = options.flag("strict", false)?;
    if strict && of_text(line, Numbers::Python, DEPTH).is_none() {
        return Err(OUTSIDE);
    }
    let mut bounds = Bounds::<ModeShare>::seed();
    bounds.argument_accept = options.number("arg_accept", bounds.argument_accept)?;
    bounds.argument_reject = Some(options.number("arg_reject", 0.2)?);
    bounds.result_accept = options.number("result_accept", bounds.result_accept)?;
    bounds.result_quarantine = options.number("result_quarantine", bounds.result_quarantine)?;
    let min_samples = options.number("min_samples", 5.0)?;
    let fixed_epoch = options.flag("fixed_epoch", true)?;
    if options.flag("gate", false)? && declared && !verified {
        return Err(RulingReason::NotVerified.as_str());
    }

    let samples = root.get("samples").and_then(elements).ok_or(OUTSIDE)?;
    let samples = samples.into_iter().map(elements).collect::<Option<Vec<_>>>().ok_or(OUTSIDE)?;
    let too_few = (samples.len() as f64) < min_samples;
    if strict {
        if too_few {
            return Err(RulingReason::TooFewSamples.as_str());
        }
        if !fixed_epoch {
            return Err(RulingReason::EpochMoved.as_str());
        }
        if samples.is_empty() {
            return Err(RulingReason::NoSamples.as_str());
        }
    }
    if samples.iter().any(|sample| sample.is_empty() || sample.len() > 2) {
        return Err(OUTSIDE);
    }
    let numbers = if strict { Numbers::Python } else { Numbers::Canonical };
    let arguments: Vec<Option<String>> = samples.iter().map(|sample| of_text(sample[0], numbers, DEPTH)).collect();
    let results: Vec<Option<String>> =
        samples.iter().map(|sample| sample.get(1).and_then(|text| of_text(text, numbers, DEPTH))).collect();
    if strict && results.iter().any(Option::is_none) {
        return Err(RulingReason::NoResults.as_str());
    }
    let keys = |texts: &[Option<String>], of_results: bool| {
        let says = |text: &&str| !of_results || strict || !is_empty(text);
        let kept: Vec<(usize, String)> = texts
            .iter()
            .enumerate()
            .filter_map(|(index, text)| Some((index, text.as_deref().filter(says)?.to_owned())))
            .collect();
        (group(kept.iter().map(|(index, text)| (*index, text.as_str()))), kept.len())
    };
    let ((argument_groups, plurality), _) = keys(&arguments, false);
    let ((result_groups, _), signals) = keys(&results, true);
    let argument_agreement = ModeShare::estimate(&argument_groups, samples.len());
    let result_agreement = (signals > 0).then(|| ModeShare::estimate(&result_groups, signals));
    let can_reject = declared && verified;
    let case = Case {
        samples: samples.len(),
        too_few,
        epoch_moved: !fixed_epoch,
        readable: plurality.is_some(),
        arguments: argument_agreement,
        results: match result_agreement {
            _ if samples.iter().all(|sample| sample.len() == 1) => ResultSide::NotRun,
            Some(share) if strict || signals as f64 >= min_samples => ResultSide::Agreement(share),
            _ => ResultSide::Silent,
        },
        all_have_to_agree: false,
        out_of_scope: None,
        can_reject,
        // To the letter, full agreement needs no probe.
        can_accept: can_reject || strict,
    };
    let (kind, reason) = case.decide(&bounds);
    Ok((kind, reason, argument_agreement, result_agreement))
}

/// An object of the line. Of a member that is given twice the last counts.
struct Object<'t>(Vec<(String, &'t str)>);

impl<'t> Object<'t> {
    fn of(text: &'t str) -> Result<Self, &'static str> {
        members(text).map(Object).ok_or(OUTSIDE)
    }

    fn get(&self, name: &str) -> Option<&'t str> {
        self.0.iter().rev().find(|(member, _)| member == name).map(|(_, text)| *text)
    }

    fn optional(&self, name: &str) -> Result<Self, &'static str> {
        self.get(name).map_or(Ok(Object(Vec::new())), Object::of)
    }

    fn flag(&self, name: &str, absent: bool) -> Result<bool, &'static str> {
        match self.get(name) {
            None => Ok(absent),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) => Err(OUTSIDE),
        }
    }

    fn number(&self, name: &str, absent: f64) -> Result<f64, &'static str> {
        match self.get(name) {
            None => Ok(absent),
            Some(text) => match Cursor::new(text).token() {
                Ok(Token::Number(text)) => text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(OUTSIDE),
                _ => Err(OUTSIDE),
            },
        }
    }
}
