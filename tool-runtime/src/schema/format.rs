//! The string formats that are checked here, without a regular expression.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Day;

/// A `format` of JSON Schema 2020-12 (§7.3 of its validation vocabulary).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    DateTime,
    Date,
    Time,
    Uuid,
    Ipv4,
    Ipv6,
    /// Either of the two, as `schemars` describes `std::net::IpAddr`.
    Ip,
}

/// Formats of the standard that only the `jsonschema` crate enforces.
pub(super) const FOREIGN_FORMATS: [&str; 11] = [
    "duration",
    "email",
    "hostname",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

impl Format {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Format::DateTime,
            "date" => Format::Date,
            "time" => Format::Time,
            "uuid" => Format::Uuid,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "ip" => Format::Ip,
            _ => return None,
        })
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Format::DateTime => "a date and time such as \"2026-01-31T09:30:00Z\"",
            Format::Date => "a date such as \"2026-01-31\"",
            Format::Time => "a time such as \"09:30:00Z\"",
            Format::Uuid => "a UUID such as \"123e4567-e89b-12d3-a456-426614174000\"",
            Format::Ipv4 => "an IPv4 address",
            Format::Ipv6 => "an IPv6 address",
            Format::Ip => "an IP address",
        }
    }

    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Format::DateTime => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time)),
            Format::Date => is_date(text),
            Format::Time => is_time(text),
            Format::Uuid => is_uuid(text),
            Format::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Format::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Format::Ip => Format::Ipv4.accepts(text) || Format::Ipv6.accepts(text),
        }
    }
}

/// Two digits, at most `limit`.
fn two(text: &str, limit: u8) -> Option<u8> {
    let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|&value| value <= limit)
}

/// `full-date` of RFC 3339.
fn is_date(text: &str) -> bool {
    text.parse::<Day>().is_ok()
}

/// `full-time` of RFC 3339. A leap second stands at 23:59:60 UTC only.
fn is_time(text: &str) -> bool {
    let (Some(clock), Some(rest)) = (text.get(..8), text.get(8..)) else {
        return false;
    };
    let mut parts = clock.split(':');
    let (Some(hour), Some(minute), Some(second), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (two(hour, 23), two(minute, 59), two(second, 60)) else {
        return false;
    };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == fraction.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    let offset = match zone {
        "Z" | "z" => Some(0),
        _ => zone.split_at_checked(1).and_then(|(sign, clock)| {
            let (hours, minutes) = clock.split_once(':')?;
            let minutes = i32::from(two(hours, 23)?) * 60 + i32::from(two(minutes, 59)?);
            match sign {
                "+" => Some(minutes),
                "-" => Some(-minutes),
                _ => None,
            }
        }),
    };
    let Some(offset) = offset else { return false };
    second < 60 || (i32::from(hour) * 60 + i32::from(minute) - offset).rem_euclid(24 * 60) == 24 * 60 - 1
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_follow_rfc_3339_and_friends() {
        for (format, good, bad) in [
            (
                Format::Date,
                vec!["2024-02-29", "2000-02-29"],
                vec!["2023-02-29", "1900-02-29", "2024-13-01", "24-01-01", "2024-1-1", "2024-00-10", "+024-01-01"],
            ),
            (
                Format::Time,
                vec!["09:30:00Z", "23:59:60z", "09:30:00.5+02:00", "01:29:60+01:30"],
                vec!["09:30:00", "09:30Z", "24:00:00Z", "10:00:60Z", "09:30:00.Z", "09:30:00+2:00", "日本語日本"],
            ),
            (
                Format::DateTime,
                vec!["2024-02-29T09:30:00Z", "1963-06-19t08:30:06z"],
                vec!["2024-02-29 09:30:00Z", "2024-02-30T09:30:00Z", ""],
            ),
            (
                Format::Uuid,
                vec!["123e4567-e89b-12d3-A456-426614174000"],
                vec!["123e4567e89b12d3a456426614174000", "x23e4567-e89b-12d3-a456-426614174000"],
            ),
            (Format::Ip, vec!["127.0.0.1", "::1"], vec!["127.0.0.01", "localhost", "1.2.3"]),
        ] {
            for text in good {
                assert!(format.accepts(text), "{format:?} {text}");
            }
            for text in bad {
                assert!(!format.accepts(text), "{format:?} {text}");
            }
        }
    }
}
