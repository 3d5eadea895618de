//! Times as ledgers write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since 1970, as ledgers write times.
pub(crate) fn to_micros(time: SystemTime) -> i64 {
    let since = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -since(before.duration()), since)
}

/// The time that was written so. `None` if no clock can show it.
pub(crate) fn from_micros(micros: i64) -> Option<SystemTime> {
    let span = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) }
}

pub(super) fn in_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
