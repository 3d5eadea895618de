//! How much may be done in how long: lines that are held against what a ledger has seen.
//!
//! Here is what a limit is and how a count of it is judged. Who counts is the path: a list knows no ledger.

use std::sync::Arc;
use std::time::Duration;

use super::applied::{Applied, Place};
use super::examine::{Agree, Examined, Findings};
use super::leaves;
use super::number::Fraction;
use super::origin::Origin;
use super::recorded::Recorded;
use super::slot::{Party, SlotState, Unknown};
use crate::document::{At, Entry, Reader, Sited, Value};
use crate::gate::Addressee;
use crate::schema::json::Json;
use crate::schema::{Digest, text};

/// A limit as a line has it.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    /// What ledgers call it: whoever's it is, and what it counts.
    pub(crate) id: Digest,
    pub(crate) most: Fraction,
    pub(crate) per: Duration,
    /// The period in the words of the line.
    said: Arc<str>,
    /// The arguments whose sum is counted. `None`: runs are.
    pub(crate) sums: Option<Place>,
    pub(crate) beyond: Beyond,
    pub(crate) approver: Addressee,
}

/// What becomes of a call that goes beyond a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// It doesn't run.
    Block,
    /// Somebody has to agree.
    Ask,
}

/// What a line says of a limit, as it was written.
#[derive(Debug, Clone)]
pub(crate) struct WrittenLimit {
    pub(crate) most: Sited<Fraction>,
    pub(crate) per: Sited<(Duration, String)>,
    pub(crate) sum: Option<Sited<String>>,
    pub(crate) beyond: Beyond,
}

/// The same, while it is read.
#[derive(Debug, Default)]
pub(super) struct LimitParts {
    most: Option<Sited<Fraction>>,
    per: Option<Sited<(Duration, String)>>,
    sum: Option<Sited<String>>,
    beyond: Option<Beyond>,
    /// Where the first of its keys stands.
    begins: Option<At>,
    /// One of its keys can't be read, which is noted already.
    is_wrong: bool,
}

/// The longest period, which is how long a ledger has to remember.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

impl Reader {
    /// One of the keys of a limit.
    pub(super) fn of_limit(&mut self, entry: &Entry<'_>, parts: &mut LimitParts) {
        const BEYOND: [(&str, Beyond); 2] = [("block", Beyond::Block), ("ask", Beyond::Ask)];
        parts.begins.get_or_insert(entry.key_at);
        let faults = self.faults.len();
        match entry.key {
            "at_most" => parts.most = self.amount(entry),
            "per" => parts.per = self.period(entry),
            "sum" => parts.sum = self.text(entry),
            _ => parts.beyond = self.word(entry, &BEYOND),
        }
        parts.is_wrong |= self.faults.len() > faults;
    }

    /// What they come to together.
    pub(super) fn limit(&mut self, parts: LimitParts) -> Option<WrittenLimit> {
        let LimitParts { most, per, sum, beyond, begins, is_wrong } = parts;
        let at = begins?;
        match (most, per) {
            (Some(most), Some(per)) => {
                return Some(WrittenLimit { most, per, sum, beyond: beyond.unwrap_or(Beyond::Block) });
            }
            _ if is_wrong => {}
            (None, _) => self.fault(at, "`per`, `sum` and `over` are about a limit: it needs an `at_most`"),
            (_, None) => self.fault(at, "a limit needs a `per`: in how long, such as \"day\""),
        }
        None
    }

    /// A number that can be counted up to.
    fn amount(&mut self, entry: &Entry<'_>) -> Option<Sited<Fraction>> {
        let read = match entry.value {
            Value::Number(number) => Fraction::parse(number),
            Value::Radix(digits, radix) => i64::from_str_radix(digits, *radix).ok().map(Fraction::of_integer),
            _ => {
                self.expected(entry, "a number");
                return None;
            }
        };
        match read {
            Some(amount) if amount >= Fraction::ZERO => Some(Sited { value: amount, at: entry.at }),
            Some(_) => {
                self.fault(entry.at, format!("`{}` is below zero", entry.key));
                None
            }
            None => {
                self.fault(entry.at, format!("`{}` has more digits than can be counted exactly", entry.key));
                None
            }
        }
    }

    /// A period.
    fn period(&mut self, entry: &Entry<'_>) -> Option<Sited<(Duration, String)>> {
        let Sited { value, at } = self.text(entry)?;
        match period(&value) {
            Ok(read) => Some(Sited { value: (read, value), at }),
            Err(why) => {
                self.fault(at, format!("`{}` \"{}\" {why}", entry.key, text::shown(&value, 64)));
                None
            }
        }
    }
}

const UNITS: [(&str, &str, u64); 5] =
    [("s", "second", 1), ("m", "minute", 60), ("h", "hour", 3600), ("d", "day", 86_400), ("w", "week", 604_800)];

/// `"day"`, `"24h"`, `"90s"`.
fn period(words: &str) -> Result<Duration, &'static str> {
    const FORM: &str = "is no period: write \"day\" (or second, minute, hour, week), or a number with a unit, such as \
                        \"90s\", \"15m\", \"24h\", \"7d\" or \"2w\"";
    if let Some((.., seconds)) = UNITS.iter().find(|(_, name, _)| *name == words) {
        return Ok(Duration::from_secs(*seconds));
    }
    let digits = words.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (.., seconds) = UNITS.iter().find(|(unit, ..)| *unit == &words[digits.len()..]).ok_or(FORM)?;
    let number: u64 = digits.parse().map_err(|_| FORM)?;
    let span = number.checked_mul(*seconds).map(Duration::from_secs).filter(|span| *span <= LONGEST);
    match span {
        Some(Duration::ZERO) => Err("is no time at all"),
        Some(span) => Ok(span),
        None => Err("is longer than a year, and nothing is remembered for so long"),
    }
}

impl Limit {
    pub(super) fn new(
        written: &WrittenLimit,
        origin: &Origin,
        name: &str,
        sums: Option<Place>,
        approver: Addressee,
    ) -> Self {
        let (per, said) = written.per.value.clone();
        let sum = written.sum.as_ref().map_or(Json::Null, |sum| Json::string(&sum.value));
        let id =
            Json::Array(vec![Json::string(origin.list().as_str()), Json::string(origin.by()), Json::string(name), sum]);
        Limit {
            id: Digest::of_bytes(id.to_string().as_bytes()),
            most: written.most.value,
            per,
            said: said.into(),
            sums,
            beyond: written.beyond,
            approver,
        }
    }

    /// As one of several tools' own, which know nothing of each other.
    pub(super) fn of_tool(mut self, tool: &str) -> Self {
        self.id = Digest::of_bytes(format!("{} {tool}", self.id).as_bytes());
        self
    }

    /// What a call would take of it.
    ///
    /// # Errors
    /// If that can't be told.
    fn takes(&self, call: &Examined<'_>, arguments: &Json) -> Result<Fraction, String> {
        let Some(sums) = &self.sums else { return Ok(Fraction::of_integer(1)) };
        if call.open.iter().any(|open| sums.is_below(open)) {
            return Err("how much it is has not been said yet".to_owned());
        }
        let mut sum = Fraction::ZERO;
        for (_, value) in leaves::within(arguments).iter().filter(|(path, _)| sums.is_of(path)) {
            let amount = value.as_number().and_then(Fraction::parse);
            let amount =
                amount.ok_or_else(|| format!("{} can't be counted exactly", text::shown(&value.to_string(), 64)))?;
            // What is taken back makes no room.
            sum = sum.plus(amount.max(Fraction::ZERO)).ok_or("the sum can't be counted exactly")?;
        }
        Ok(sum)
    }
}

/// One limit of one call, on its way.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) limit: Arc<Limit>,
    name: Arc<str>,
    words: String,
    origin: Origin,
    slot: usize,
    pub(crate) takes: Result<Fraction, String>,
    /// What stands in the findings because of it.
    unmet: Option<String>,
    unknown: Option<Unknown>,
    /// It goes beyond the limit, which somebody has to agree to.
    pub(crate) is_beyond: bool,
}

/// What a limit comes to: how much of it was used before. `Err` says why that can't be told.
pub(crate) type Used = Result<Fraction, String>;

/// Notes a limit, which is counted later. What a record has needs no counting.
pub(super) fn note(
    (line, limit): (&Applied, &Arc<Limit>),
    call: &Examined<'_>,
    arguments: &Json,
    recorded: Option<&Recorded>,
    findings: &mut Findings,
) {
    let state = SlotState::Open { party: Party::Host, why: "nothing has counted it yet".to_owned() };
    let slot = findings.line(line, state);
    let counted = Counted {
        limit: Arc::clone(limit),
        name: Arc::clone(&line.name),
        words: line.words.as_deref().unwrap_or(&line.name).to_owned(),
        origin: line.origin.clone(),
        slot,
        takes: limit.takes(call, arguments),
        unmet: None,
        unknown: None,
        is_beyond: false,
    };
    findings.limits.push(counted);
    if let Some(recorded) = recorded {
        let used = recorded.fact(&used_named(&line.name));
        let used = used.and_then(|used| Fraction::parse(used).ok_or_else(|| "the record can't be read".to_owned()));
        findings.judge_limit(findings.limits.len() - 1, used, call.open.is_empty());
    }
}

/// Takes one out that is as this.
fn take_one<T: PartialEq>(all: &mut Vec<T>, one: Option<T>) {
    if let Some(place) = one.and_then(|one| all.iter().rposition(|known| *known == one)) {
        all.remove(place);
    }
}

fn used_named(name: &str) -> String {
    format!("used.{name}")
}

impl Findings {
    /// Judges a limit by a count of it, in the place of what an earlier count came to.
    pub(crate) fn judge_limit(&mut self, place: usize, used: Used, is_whole: bool) {
        let Some(counted) = self.limits.get_mut(place) else { return };
        let Counted { limit, name, words, origin, slot, takes, unmet, unknown, is_beyond } = counted;
        self.agree.retain(|agree| agree.slot != *slot);
        // Others may have the same name, or say the same: theirs stay.
        take_one(&mut self.unknowns, unknown.take());
        take_one(&mut self.unmet, unmet.take());
        *is_beyond = false;
        let (used, takes) = match (&used, &*takes) {
            (Ok(used), Ok(takes)) => (*used, *takes),
            (Err(why), _) | (_, Err(why)) => {
                if let Some(slot) = self.slots.get_mut(*slot) {
                    slot.parts_mut().state = SlotState::Open { party: Party::Host, why: why.clone() };
                }
                // Of a draft it is judged again once it is complete.
                if is_whole {
                    let open = Unknown::of_line(Arc::clone(name), Party::Host, words.clone());
                    self.unknowns.push(open.clone());
                    *unknown = Some(open);
                }
                return;
            }
        };
        let fits = used.plus(takes).is_some_and(|used| used <= limit.most);
        let begins = format!("{words} ({origin}: ");
        let said = format!(
            "{begins}{used} of {} used, counted per {}; this takes {takes}, and {} is left)",
            limit.most,
            limit.said,
            limit.left(used)
        );
        let state = match (fits, limit.beyond) {
            (true, _) => SlotState::Holds,
            (false, Beyond::Block) => {
                self.unmet.push(said.clone());
                *unmet = Some(said);
                SlotState::Fails
            }
            (false, Beyond::Ask) => {
                *is_beyond = true;
                let (by, slot) = (limit.approver.clone(), *slot);
                self.agree.push(Agree { words: said, by, slot, limit: Some(begins) });
                SlotState::Unconfirmed
            }
        };
        if let Some(slot) = self.slots.get_mut(*slot) {
            let parts = slot.parts_mut();
            parts.state = state;
            let fact = |named: String, amount: Fraction| (Arc::from(named), Arc::from(amount.to_string()));
            parts.facts = vec![fact(used_named(name), used), fact(format!("takes.{name}"), takes)];
        }
    }
}

impl Limit {
    fn left(&self, used: Fraction) -> Fraction {
        let left = used.repeated(-1).and_then(|used| self.most.plus(used));
        left.unwrap_or(self.most).max(Fraction::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read() {
        let read = |words| period(words).map(|span| span.as_secs());
        for (words, seconds) in [("day", 86_400), ("24h", 86_400), ("90s", 90), ("15m", 900), ("2w", 1_209_600)] {
            assert_eq!(read(words), Ok(seconds), "{words}");
        }
        for words in ["", "days", "h", "1.5h", "-1d", "0s", "3000w", "99999999999999999999s", "1 d", "month", "ä"] {
            assert!(read(words).is_err(), "{words}");
        }
    }
}
