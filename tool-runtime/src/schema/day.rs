use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the calendar (Gregorian, also before its introduction), written as `2024-05-20`.
///
/// ```
/// use tool_runtime::Day;
///
/// let day: Day = "2024-05-20".parse()?;
/// assert_eq!(Day::new(2024, 5, 20), Some(day));
/// assert_eq!(Day::new(2023, 2, 29), None);
/// # Ok::<(), tool_runtime::DayError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// Year from 0 to 9999, month and day from 1. `None` if there is no such day.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let there = year <= 9999 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        there.then_some(Day { year, month, day })
    }

    /// The day of a moment in UTC. `None` outside of the years 0 to 9999.
    pub fn of(moment: SystemTime) -> Option<Self> {
        let seconds = match moment.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_secs()).ok()?,
            Err(before) => -i64::try_from(before.duration().as_secs_f64().ceil() as u64).ok()?,
        };
        // Days since 0000-03-01, by which leap days come last (H. Hinnant, "chrono-compatible low-level date algorithms").
        let days = seconds.div_euclid(86_400) + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Day::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)
    }

    /// From 0 to 9999.
    pub fn year(self) -> u16 {
        self.year
    }

    /// From 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// From 1 to 31.
    pub fn day(self) -> u8 {
        self.day
    }

    /// The day after. `None` after the year 9999.
    pub fn next(self) -> Option<Self> {
        let Day { year, month, day } = self;
        Day::new(year, month, day + 1).or_else(|| Day::new(year, month + 1, 1)).or_else(|| Day::new(year + 1, 1, 1))
    }

    /// The day before. `None` before the year 0.
    pub fn previous(self) -> Option<Self> {
        let Day { year, month, day } = self;
        if day > 1 {
            return Day::new(year, month, day - 1);
        }
        match month {
            1 => Day::new(year.checked_sub(1)?, 12, 31),
            month => Day::new(year, month - 1, days_of(year, month - 1)),
        }
    }
}

fn days_of(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let number = |from: usize, to: usize| {
            let digits = text.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?;
            digits.parse::<u16>().ok()
        };
        let dashes = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let day = || Day::new(number(0, 4)?, number(5, 7)?.try_into().ok()?, number(8, 10)?.try_into().ok()?);
        if dashes { day() } else { None }.ok_or(DayError)
    }
}

/// A text is no [`Day`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DayError;

impl fmt::Display for DayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no day: it isn't written as `2024-05-20`, or there is none like it")
    }
}

impl std::error::Error for DayError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_days() {
        use std::time::Duration;
        let day = |seconds: i64| {
            let span = Duration::from_secs(seconds.unsigned_abs());
            Day::of(if seconds < 0 { UNIX_EPOCH - span } else { UNIX_EPOCH + span }).map(|day| day.to_string())
        };
        assert_eq!(day(0).as_deref(), Some("1970-01-01"));
        assert_eq!(day(-1).as_deref(), Some("1969-12-31"));
        assert_eq!(day(951_782_400).as_deref(), Some("2000-02-29"));
        assert_eq!(day(1_709_164_800 + 86_399).as_deref(), Some("2024-02-29"));
        assert_eq!(day(253_402_300_799).as_deref(), Some("9999-12-31"));
        assert_eq!(day(253_402_300_800), None);
    }

    #[test]
    fn days_follow_each_other() {
        let mut day = Day::new(1899, 12, 30).unwrap();
        for expected in ["1899-12-31", "1900-01-01"] {
            let next = day.next().unwrap();
            assert_eq!((next.to_string().as_str(), next.previous()), (expected, Some(day)));
            day = next;
        }
        let next = |text: &str| text.parse::<Day>().unwrap().next().map(|day| day.to_string());
        assert_eq!(next("2024-02-28").as_deref(), Some("2024-02-29"));
        assert_eq!(next("1900-02-28").as_deref(), Some("1900-03-01"));
        assert_eq!(next("2000-02-29").as_deref(), Some("2000-03-01"));
        assert_eq!(next("9999-12-31"), None);
        assert_eq!("0000-01-01".parse::<Day>().unwrap().previous(), None);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "",
            "2024-5-20",
            "2024-05-32",
            "2024-00-01",
            "2024-13-01",
            "2023-02-29",
            "+024-05-20",
            "2024/05/20",
            "２０24-5-1",
        ] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
    }
}
