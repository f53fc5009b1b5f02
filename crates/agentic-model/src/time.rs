//! Instants. Nothing here reads a clock; instants are given.

use std::fmt;

/// A point in time: milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// The instants that the calendar below can print: from the year 1 to almost the end of 9999.
const MILLIS_RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_207_200_000;

impl Instant {
    /// Takes milliseconds since 1970-01-01 UTC; an instant outside the years 1 to 9999 is moved
    /// to the nearest one inside.
    pub fn from_millis(millis: i64) -> Instant {
        Instant(millis.clamp(*MILLIS_RANGE.start(), *MILLIS_RANGE.end()))
    }

    /// Parses an RFC 3339 instant such as `2026-11-21T22:40:01.250Z`.
    ///
    /// Returns nothing when the text is not one.
    pub fn parse(text: &str) -> Option<Instant> {
        let timestamp: jiff::Timestamp = text.parse().ok()?;
        Some(Instant::from_millis(timestamp.as_millisecond()))
    }

    /// Returns milliseconds since 1970-01-01 UTC.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Returns whole seconds since 1970-01-01 UTC, rounded down.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns the instant `millis` milliseconds later.
    pub fn plus_millis(self, millis: i64) -> Instant {
        Instant::from_millis(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Instant {
    /// Prints RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = jiff::Timestamp::from_millisecond(self.0)
            .expect("instants are kept inside the printable years");
        write!(f, "{timestamp:.3}")
    }
}

/// How far local time is from UTC, and when.
#[derive(Debug, Clone)]
pub struct Zone(jiff::tz::TimeZone);

impl Zone {
    /// Reads a zone from the content of a file of the zone database (TZif, RFC 9636).
    ///
    /// Returns nothing when it is not one.
    pub fn from_file(content: &[u8]) -> Option<Zone> {
        jiff::tz::TimeZone::tzif("local", content).ok().map(Zone)
    }

    /// Reads a rule of POSIX, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
    ///
    /// Returns nothing when the text is not one.
    pub fn from_rule(rule: &str) -> Option<Zone> {
        jiff::tz::TimeZone::posix(rule).ok().map(Zone)
    }

    /// Returns the offset from UTC at an instant, in minutes, east being positive.
    pub fn offset_minutes(&self, at: Instant) -> i32 {
        let timestamp = jiff::Timestamp::from_millisecond(at.0)
            .expect("instants are kept inside the printable years");
        self.0.to_offset(timestamp).seconds() / 60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_print_and_parse_alike() {
        let at = Instant::from_millis(1_795_300_801_250);
        assert_eq!(Instant::parse(&at.to_string()), Some(at), "{at}");
        assert_eq!(Instant::from_millis(-1).seconds(), -1);
    }

    #[test]
    fn no_instant_is_unprintable() {
        for millis in [i64::MIN, i64::MAX, 0] {
            assert!(!Instant::from_millis(millis).to_string().is_empty());
        }
    }
}
