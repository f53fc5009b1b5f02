//! How long ago something was, as people say it.

use agentic_model::Instant;

/// Writes a span of time.
pub fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Writes how long ago an instant was that is written as text.
pub fn since(at: &str, now: Instant) -> String {
    Instant::parse(at).map_or_else(String::new, |at| span(now.millis() - at.millis()))
}

/// Writes how long it is until then, or how long it is too late.
pub fn until(at: &str, now: Instant) -> String {
    let Some(at) = Instant::parse(at) else { return String::new() };
    let left = at.millis() - now.millis();
    match left {
        0.. => format!("in {}", span(left)),
        _ => format!("{} ago", span(-left)),
    }
}
