//! Named points at which tests make the process crash or a step fail.
//!
//! Without the feature `crash-points` all of this compiles to nothing. With it, `AGENTIC_CRASH_AT`
//! and `AGENTIC_FAIL_AT` hold `NAME` or `NAME:N` (the N-th time, from 1); the name `*` counts every
//! point, so that a test can walk through all steps of a verb without knowing their names.

#[cfg(feature = "crash-points")]
use crate::Error;
use crate::Result;

/// Marks a step between two durable states.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(not(feature = "crash-points"))]
pub fn point(_name: &'static str) -> Result<()> {
    Ok(())
}

/// Marks a step between two durable states.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(feature = "crash-points")]
pub fn point(name: &'static str) -> Result<()> {
    if armed::reached("AGENTIC_CRASH_AT", name) {
        std::process::abort();
    }
    if armed::reached("AGENTIC_FAIL_AT", name) {
        return Err(Error::Injected { point: name });
    }
    Ok(())
}

/// Tells whether a test asked for a crash at a point that needs preparation.
#[cfg(feature = "crash-points")]
pub fn is_armed(name: &str) -> bool {
    let wanted = std::env::var("AGENTIC_CRASH_AT").unwrap_or_default();
    wanted.split(':').next() == Some(name)
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    static COUNTS: Mutex<BTreeMap<(String, String), u64>> = Mutex::new(BTreeMap::new());

    /// Counts a visit and tells whether it is the one that `variable` asks for.
    pub fn reached(variable: &str, name: &str) -> bool {
        let Ok(wanted) = std::env::var(variable) else { return false };
        let (point, number) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        if point != "*" && point != name {
            return false;
        }
        let mut counts = COUNTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let count = counts.entry((variable.to_owned(), point.to_owned())).or_default();
        *count += 1;
        number.parse() == Ok(*count)
    }
}
