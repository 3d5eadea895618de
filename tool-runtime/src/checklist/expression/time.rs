//! Points in time and spans between them.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::schema::Format;

const SECOND: i128 = 1_000_000_000;
const DAY: i64 = 86_400;

/// 0001-01-01T00:00:00Z and the first second after 9999-12-31: what RFC 3339 can write and CEL's `timestamp` holds.
const FIRST: i128 = -62_135_596_800 * SECOND;
const END: i128 = 253_402_300_800 * SECOND;

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(i128);

/// Nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span(i128);

/// What can be asked of a moment or a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Year,
    Month,
    /// From 0, as CEL's `getDayOfMonth`.
    DayOfMonth,
    /// From 1, as CEL's `getDate`.
    Date,
    DayOfWeek,
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

/// Days from 1970-01-01 to a date of the Gregorian calendar: <https://howardhinnant.github.io/date_algorithms.html>.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01: the inverse of [`days`].
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Nanoseconds of the digits after a point; digits after the ninth are cut off.
fn nanoseconds(digits: &str) -> Option<i128> {
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().ok()
}

/// Seconds of an offset from UTC: `Z`, `UTC`, `+02:00`, `-05:30`.
pub(super) fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z" | "UTC") {
        return Some(0);
    }
    let (sign, clock) = match text.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':')?;
    let two = |digits: &str, limit: i64| {
        let digits = (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)?;
        digits.parse::<i64>().ok().filter(|&value| value <= limit)
    };
    Some(sign * (two(hours, 23)? * 3600 + two(minutes, 59)? * 60))
}

impl Moment {
    fn bounded(nanoseconds: i128) -> Option<Self> {
        (FIRST..END).contains(&nanoseconds).then_some(Moment(nanoseconds))
    }

    pub(super) fn of_system(time: SystemTime) -> Option<Self> {
        let nanoseconds = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).ok()?,
            Err(before) => -i128::try_from(before.duration().as_nanos()).ok()?,
        };
        Self::bounded(nanoseconds)
    }

    /// A date and time of RFC 3339. A leap second is the second after it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !Format::DateTime.accepts(text) {
            return None;
        }
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
        let days = days(number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
        let rest = text.get(19..)?;
        let zone_at = rest.find(['Z', 'z', '+', '-'])?;
        let (fraction, zone) = rest.split_at(zone_at);
        let nanoseconds = nanoseconds(fraction.strip_prefix('.').unwrap_or(""))?;
        let seconds = i128::from(days * DAY + seconds - offset(zone)?);
        Self::bounded(seconds * SECOND + nanoseconds)
    }

    /// As RFC 3339, in UTC.
    pub(super) fn text(self) -> String {
        let (year, month, day) = date(self.day(0));
        let clock = self.clock(0);
        let (hours, minutes, seconds) = (clock / 3600, clock / 60 % 60, clock % 60);
        let mut out = format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}");
        push_fraction(&mut out, self.0.rem_euclid(SECOND));
        out.push('Z');
        out
    }

    fn seconds(self, offset: i64) -> i64 {
        // In bounds: see `bounded`.
        i64::try_from(self.0.div_euclid(SECOND)).unwrap_or(0) + offset
    }

    fn day(self, offset: i64) -> i64 {
        self.seconds(offset).div_euclid(DAY)
    }

    fn clock(self, offset: i64) -> i64 {
        self.seconds(offset).rem_euclid(DAY)
    }

    /// At an offset from UTC, in seconds.
    pub(super) fn part(self, part: Part, offset: i64) -> i64 {
        let (year, month, day) = date(self.day(offset));
        let clock = self.clock(offset);
        match part {
            Part::Year => year,
            Part::Month => month - 1,
            Part::DayOfMonth => day - 1,
            Part::Date => day,
            // 1970-01-01 was a Thursday.
            Part::DayOfWeek => (self.day(offset) + 4).rem_euclid(7),
            Part::DayOfYear => self.day(offset) - days(year, 1, 1),
            Part::Hours => clock / 3600,
            Part::Minutes => clock / 60 % 60,
            Part::Seconds => clock % 60,
            Part::Milliseconds => i64::try_from(self.0.rem_euclid(SECOND) / 1_000_000).unwrap_or(0),
        }
    }

    pub(super) fn plus(self, span: Span) -> Option<Self> {
        Self::bounded(self.0 + span.0)
    }

    pub(super) fn minus(self, span: Span) -> Option<Self> {
        Self::bounded(self.0 - span.0)
    }

    pub(super) fn since(self, other: Self) -> Span {
        Span(self.0 - other.0)
    }
}

impl Span {
    /// No longer than from the first moment to the last.
    fn bounded(nanoseconds: i128) -> Option<Self> {
        (FIRST - END..=END - FIRST).contains(&nanoseconds).then_some(Span(nanoseconds))
    }

    /// `1h30m`, `1.5s`, `-20ms`: as CEL's `duration` reads it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (sign, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Some(Span(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, after) = rest.split_at(end);
            let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
            let (unit, after) = after.split_at(end);
            let unit = match unit {
                "h" => 3600 * SECOND,
                "m" => 60 * SECOND,
                "s" => SECOND,
                "ms" => 1_000_000,
                "us" | "µs" => 1000,
                "ns" => 1,
                _ => return None,
            };
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
                return None;
            }
            let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
            let part = whole.checked_mul(unit)?.checked_add(nanoseconds(fraction)? * unit / SECOND)?;
            total = total.checked_add(part)?;
            rest = after;
        }
        Self::bounded(sign * total)
    }

    /// In seconds, as protobuf's JSON writes it: `5400s`.
    pub(super) fn text(self) -> String {
        let (whole, rest) = (self.0.unsigned_abs() / SECOND.unsigned_abs(), self.0.abs() % SECOND);
        let mut out = format!("{}{whole}", if self.0 < 0 { "-" } else { "" });
        push_fraction(&mut out, rest);
        out.push('s');
        out
    }

    /// How many whole hours, minutes or seconds it is. `None` for what only a moment has.
    pub(super) fn part(self, part: Part) -> Option<i64> {
        let unit = match part {
            Part::Hours => 3600 * SECOND,
            Part::Minutes => 60 * SECOND,
            Part::Seconds => SECOND,
            _ => return None,
        };
        i64::try_from(self.0 / unit).ok()
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 + other.0)
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 - other.0)
    }

    pub(super) fn negated(self) -> Self {
        Span(-self.0)
    }
}

fn push_fraction(out: &mut String, nanoseconds: i128) {
    if nanoseconds != 0 {
        let digits = format!("{nanoseconds:09}");
        let _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        Moment::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn moments_are_read_and_written() {
        assert_eq!(moment("1970-01-01T00:00:00Z"), Moment(0));
        assert_eq!(moment("2001-09-09T03:46:40.5+02:00"), Moment(1_000_000_000 * SECOND + SECOND / 2));
        for text in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2024-02-29T12:30:00.25Z"] {
            assert_eq!(moment(text).text(), text);
        }
        assert_eq!(moment("2016-12-31T23:59:60Z").text(), "2017-01-01T00:00:00Z");
        for text in ["2024-02-30T00:00:00Z", "2024-02-28", "0001-01-01T00:00:00+01:00", "0000-06-01T00:00:00Z", ""] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        assert_eq!(Moment::of_system(UNIX_EPOCH), Some(Moment(0)));
        assert_eq!(
            Moment::of_system(UNIX_EPOCH - std::time::Duration::from_millis(1)).unwrap().text(),
            "1969-12-31T23:59:59.999Z"
        );
    }

    #[test]
    fn every_day_has_one_date() {
        for day in (-719_162..2_932_897).step_by(13) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(date(19_782), (2024, 2, 29));
    }

    #[test]
    fn parts_are_of_the_asked_offset() {
        let late = moment("2023-12-31T23:30:15.25Z");
        let parts = |offset| {
            use Part::{Date, DayOfMonth, DayOfWeek, DayOfYear, Hours, Milliseconds, Minutes, Month, Seconds, Year};
            [Year, Month, DayOfMonth, Date, DayOfWeek, DayOfYear, Hours, Minutes, Seconds, Milliseconds]
                .map(|part| late.part(part, offset))
        };
        assert_eq!(parts(0), [2023, 11, 30, 31, 0, 364, 23, 30, 15, 250]);
        assert_eq!(parts(offset("+01:00").unwrap()), [2024, 0, 0, 1, 1, 0, 0, 30, 15, 250]);
        for wrong in ["", "Europe/Rome", "+1:00", "+24:00", "+01:60", "01:00", "+é0:00"] {
            assert_eq!(offset(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans_are_read_and_written() {
        for (text, written) in [
            ("1h30m", "5400s"),
            ("1.5s", "1.5s"),
            ("-20ms", "-0.02s"),
            ("0", "0s"),
            ("100ns", "0.0000001s"),
            (".5m", "30s"),
        ] {
            assert_eq!(Span::parse(text).unwrap().text(), written, "{text}");
        }
        for wrong in
            ["", "-", "1", "h", "1x", "1h-1m", "1..5s", ".s", "1d", "99999999999999999999999999999999999999h", "1 h"]
        {
            assert_eq!(Span::parse(wrong), None, "{wrong}");
        }
        assert_eq!(moment("2024-03-01T00:00:00Z").since(moment("2024-02-29T00:00:00Z")), Span::parse("24h").unwrap());
        assert_eq!(Span::parse("90m").unwrap().part(Part::Hours), Some(1));
        assert_eq!(moment("9999-12-31T00:00:00Z").plus(Span::parse("24h").unwrap()), None);
    }
}
