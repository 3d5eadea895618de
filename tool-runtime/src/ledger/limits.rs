//! What limits on executions are counted by: see `at_most` in [`ChecklistBuilder::file`](crate::ChecklistBuilder::file).

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::LedgerError;
use super::entry::Entry;
use super::micros::in_micros;
use super::stored::{Stored, StoredKind};
use super::verdict::Verdict;
use crate::call::CaseId;
use crate::checklist::number::Fraction;
use crate::schema::Digest;
use crate::schema::json::Json;

/// How much of a limit is used: a number of runs, or a sum. Exact, with up to 18 digits after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(pub(crate) Fraction);

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount(Fraction::ZERO);

    /// Both together. `None` if that can't be said exactly.
    #[must_use]
    pub fn plus(self, other: Amount) -> Option<Amount> {
        self.0.plus(other.0).map(Amount)
    }

    /// So many times. `None` if that can't be said exactly.
    #[must_use]
    pub fn times(self, times: i64) -> Option<Amount> {
        self.0.repeated(times).map(Amount)
    }
}

impl FromStr for Amount {
    type Err = LedgerError;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, LedgerError> {
        let read = Fraction::parse(text).map(Amount);
        read.ok_or_else(|| LedgerError::new(format!("`{}` is no amount", crate::schema::text::shown(text, 64))))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A limit that is asked about: how much of it was used in its period, up to now by the ledger's clock?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tally {
    limit: Digest,
    per: Duration,
}

impl Tally {
    pub(crate) fn new(limit: Digest, per: Duration) -> Self {
        Tally { limit, per }
    }

    /// Which limit: it names the line, whose it is, and what it counts.
    pub fn limit(&self) -> &Digest {
        &self.limit
    }

    /// Its period, up to now.
    pub fn per(&self) -> Duration {
        self.per
    }
}

/// What one run takes of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUse {
    tally: Tally,
    takes: Amount,
    most: Option<Amount>,
}

impl LimitUse {
    pub(crate) fn new(tally: Tally, takes: Amount, most: Option<Amount>) -> Self {
        LimitUse { tally, takes, most }
    }

    /// Which limit, in which period.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What the run takes of it: 1, or what is summed.
    pub fn takes(&self) -> Amount {
        self.takes
    }

    /// How much there may be in the period, this run included. `None`: it counts, and may go beyond, since somebody has
    /// agreed to that or nothing is to be blocked.
    pub fn most(&self) -> Option<Amount> {
        self.most
    }

    /// Is there room for it, when so much is used?
    pub fn fits(&self, used: Amount) -> bool {
        self.most.is_none_or(|most| used.plus(self.takes).is_some_and(|used| used <= most))
    }

    pub(super) fn read(json: &Json) -> Option<Self> {
        let word = |name: &str| json.get(name).and_then(Json::as_str);
        let amount = |name: &str| word(name).map(|text| text.parse().ok());
        let micros = json.get("per_us")?.as_number()?.parse().ok()?;
        Some(LimitUse {
            tally: Tally::new(word("limit")?.parse().ok()?, Duration::from_micros(micros)),
            takes: amount("takes")??,
            most: match amount("most") {
                Some(most) => Some(most?),
                None => None,
            },
        })
    }
}

impl Serialize for LimitUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("LimitUse", 4)?;
        fields.serialize_field("limit", &self.tally.limit.to_string())?;
        fields.serialize_field("per_us", &in_micros(self.tally.per))?;
        fields.serialize_field("takes", &self.takes.to_string())?;
        match self.most {
            Some(most) => fields.serialize_field("most", &most.to_string())?,
            None => fields.skip_field("most")?,
        }
        fields.end()
    }
}

/// A cleared verdict on a call that takes something of limits.
#[derive(Clone)]
pub struct Clearing(Arc<Verdict>);

impl Clearing {
    pub(crate) fn new(verdict: Arc<Verdict>) -> Self {
        Clearing(verdict)
    }

    /// The entry that says that it may run.
    pub fn entry(&self) -> Entry {
        Entry::Verdict(Arc::clone(&self.0))
    }

    /// The call's way through the host.
    pub fn case(&self) -> CaseId {
        self.0.case()
    }

    /// What it takes of which limits.
    pub fn uses(&self) -> &[LimitUse] {
        self.0.uses()
    }
}

impl fmt::Debug for Clearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clearing").field("case", &self.case()).field("uses", &self.uses()).finish()
    }
}

/// What was used of limits, for ledgers with one writer. A run counts from its clearing on, whatever becomes of it,
/// unless it is known that its body didn't begin.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Of each limit, in the order in which it was taken.
    taken: HashMap<Digest, VecDeque<Taken>>,
    /// Of which limits each call has taken something that is still remembered.
    limits: HashMap<CaseId, Vec<Digest>>,
}

#[derive(Debug)]
struct Taken {
    case: CaseId,
    at: SystemTime,
    /// Until when the line that it was counted for remembers it.
    until: SystemTime,
    takes: Amount,
}

impl Uses {
    /// How much was used in the period up to now.
    pub(super) fn used(&self, tally: &Tally, now: SystemTime) -> Result<Amount, LedgerError> {
        let too_much = || LedgerError::new("so much is used that it can't be counted exactly");
        let since = now.checked_sub(tally.per);
        let taken = self.taken.get(&tally.limit).into_iter().flatten();
        let mut counts = taken.filter(|taken| since.is_none_or(|since| taken.at > since));
        counts.try_fold(Amount::ZERO, |used, taken| used.plus(taken.takes)).ok_or_else(too_much)
    }

    /// Takes it, if there is room for all of it.
    pub(super) fn take(&mut self, case: CaseId, uses: &[LimitUse], now: SystemTime) -> Result<bool, LedgerError> {
        for used in uses {
            if used.most.is_some() && !used.fits(self.used(&used.tally, now)?) {
                return Ok(false);
            }
        }
        self.put(case, uses, now);
        Ok(true)
    }

    fn put(&mut self, case: CaseId, uses: &[LimitUse], at: SystemTime) {
        self.release(case);
        for LimitUse { tally, takes, .. } in uses {
            let taken = self.taken.entry(tally.limit).or_default();
            while let Some(oldest) = taken.pop_front_if(|oldest| oldest.until <= at) {
                if let Some(limits) = self.limits.get_mut(&oldest.case) {
                    if let Some(place) = limits.iter().position(|limit| *limit == tally.limit) {
                        limits.swap_remove(place);
                    }
                    if limits.is_empty() {
                        self.limits.remove(&oldest.case);
                    }
                }
            }
            let until = at.checked_add(tally.per).unwrap_or(at);
            taken.push_back(Taken { case, at, until, takes: *takes });
            self.limits.entry(case).or_default().push(tally.limit);
        }
    }

    /// The call didn't run after all.
    pub(super) fn release(&mut self, case: CaseId) {
        for limit in self.limits.remove(&case).unwrap_or_default() {
            let Some(taken) = self.taken.get_mut(&limit) else { continue };
            // The newest stand at the end, and that is nearly always where it is.
            if let Some(place) = taken.iter().rposition(|taken| taken.case == case) {
                taken.remove(place);
            }
        }
    }

    /// Does a limit still count what became of these entries, all of one call?
    pub(super) fn count(entries: &[Stored], now: SystemTime) -> bool {
        let mut until = None;
        for entry in entries {
            match entry.kind() {
                StoredKind::Verdict if entry.is_cleared() => {
                    let longest = entry.uses().iter().map(|used| used.tally.per).max();
                    // A period that ends after all times never ends.
                    until = entry.at().zip(longest).map(|(at, per)| at.checked_add(per));
                }
                StoredKind::End if !entry.started() => until = None,
                _ => {}
            }
        }
        until.is_some_and(|until| until.is_none_or(|until| until > now))
    }

    /// An entry that was read back, and when it was written by the ledger's time.
    pub(super) fn see(&mut self, entry: &Stored, at: Option<SystemTime>) {
        match entry.kind() {
            StoredKind::Verdict if entry.is_cleared() => {
                let uses = entry.uses();
                if let (false, Some(at)) = (uses.is_empty(), at) {
                    self.put(entry.case(), &uses, at);
                }
            }
            StoredKind::End if !entry.started() => self.release(entry.case()),
            _ => {}
        }
    }

    /// An entry that is written.
    pub(super) fn note(&mut self, entry: &Entry) {
        if let (false, Entry::End(record)) = (self.limits.is_empty(), entry)
            && !record.started()
        {
            self.release(record.case());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn amount(text: &str) -> Amount {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn what_is_remembered_of_no_limit_is_remembered_of_no_call() {
        let limit = |name: &str| Tally::new(Digest::of_bytes(name.as_bytes()), Duration::from_secs(10));
        let of = |name: &str| LimitUse::new(limit(name), amount("1"), None);
        let mut uses = Uses::default();
        let (first, second, third) = (CaseId::fresh(), CaseId::fresh(), CaseId::fresh());
        uses.take(first, &[of("a"), of("b")], at(0)).unwrap();
        uses.take(second, &[of("a")], at(5)).unwrap();
        uses.take(third, &[of("a")], at(10)).unwrap();
        assert_eq!(uses.limits[&first], [limit("b").limit]);
        uses.release(first);
        uses.release(second);
        assert_eq!(uses.limits.keys().collect::<Vec<_>>(), [&third]);
        let left = |name: &str| uses.taken[&limit(name).limit].iter().map(|taken| taken.case).collect::<Vec<_>>();
        assert_eq!((left("a"), left("b")), (vec![third], vec![]));
    }

    #[test]
    fn only_what_is_within_the_period_counts() {
        let tally = Tally::new(Digest::of_bytes(b"limit"), Duration::from_secs(10));
        let takes = |takes: &str| [LimitUse::new(tally, amount(takes), Some(amount("3.5")))];
        let case = |number: u32| -> CaseId {
            format!("0000000000000001-{number}").parse().unwrap_or_else(|error| panic!("{error}"))
        };
        let mut uses = Uses::default();
        assert!(uses.take(case(1), &takes("1.5"), at(0)).is_ok_and(|took| took));
        assert!(uses.take(case(2), &takes("2"), at(5)).is_ok_and(|took| took));
        // Full, to the last digit; and what isn't taken isn't counted.
        assert!(uses.take(case(3), &takes("0.1"), at(9)).is_ok_and(|took| !took));
        assert_eq!(uses.used(&tally, at(9)).ok(), Some(amount("3.5")));
        // The first is as old as the period.
        assert!(uses.take(case(4), &takes("1.5"), at(10)).is_ok_and(|took| took));
        assert_eq!(uses.used(&tally, at(14)).ok(), Some(amount("3.5")));
        uses.release(case(2));
        assert_eq!(uses.used(&tally, at(14)).ok(), Some(amount("1.5")));
        assert_eq!(uses.used(&tally, at(20)).ok(), Some(Amount::ZERO));
        // Another limit is another matter.
        assert_eq!(uses.used(&Tally::new(Digest::of_bytes(b"other"), tally.per), at(14)).ok(), Some(Amount::ZERO));
    }
}
