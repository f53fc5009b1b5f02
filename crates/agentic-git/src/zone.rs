//! The local time zone, as the C library finds it: `TZ`, else the system's own.
//!
//! Date libraries look a zone up by its name and list the whole database for that, which takes
//! longer than all else that a small commit does. One file is enough for an offset.

use std::path::Path;

use agentic_model::Zone;

/// Where the zone of this machine is.
const SYSTEM_ZONE: &str = "/etc/localtime";

/// Where zones are that have a name.
const NAMED_ZONES: &str = "/usr/share/zoneinfo";

/// Finds the local time zone; none stands for UTC.
pub fn local_zone() -> Option<Zone> {
    zone(std::env::var("TZ").ok().as_deref())
}

/// Finds the zone that a value of `TZ` stands for.
fn zone(value: Option<&str>) -> Option<Zone> {
    let Some(value) = value else { return read(Path::new(SYSTEM_ZONE)) };
    let name = value.strip_prefix(':').unwrap_or(value);
    let is_inside = !name.is_empty() && !name.split('/').any(|part| part == "..");
    let named = is_inside.then(|| read(&Path::new(NAMED_ZONES).join(name))).flatten();
    named.or_else(|| Zone::from_rule(name))
}

/// Writes how far a time zone is from UTC, as git does.
pub(super) fn offset(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

fn read(file: &Path) -> Option<Zone> {
    Zone::from_file(&std::fs::read(file).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentic_model::Instant;

    #[test]
    fn a_value_of_tz_stands_for_a_zone() {
        let winter = Instant::parse("2026-01-01T12:00:00Z").expect("an instant");
        let summer = Instant::parse("2026-07-01T12:00:00Z").expect("an instant");
        let cases = [
            ("UTC0", Some((0, 0))),
            ("EST5EDT,M3.2.0,M11.1.0", Some((-300, -240))),
            (":IST-5:30", Some((330, 330))),
            ("", None),
            ("../etc/passwd", None),
            ("no such zone", None),
        ];
        for (value, expected) in cases {
            let found = zone(Some(value));
            let found =
                found.map(|zone| (zone.offset_minutes(winter), zone.offset_minutes(summer)));
            assert_eq!(found, expected, "TZ={value}");
        }
    }
}
