//! What nothing else has, in this process or in another.

use std::sync::atomic::{AtomicU64, Ordering};

use agentic_model::Cid;
use agentic_space::Clock;

/// Returns a number that nothing else in this process has.
pub(crate) fn unique_number() -> u64 {
    // Names must differ whoever in the process makes them: that is the one thing all have to share.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// Returns what no other run has, in memory or elsewhere.
pub fn unique_id() -> Cid {
    let (now, number) = (Clock::System.now(), unique_number());
    Cid::of(format!("{} {} {number}", now.millis(), std::process::id()).as_bytes())
}
