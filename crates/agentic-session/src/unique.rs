//! What nothing else has, in this process or in another.

use agentic_model::Cid;
use agentic_space::Clock;
use agentic_store::file::unique_number;

/// Returns what no other run has, in memory or elsewhere.
pub fn unique_id() -> Cid {
    let (now, number) = (Clock::System.now(), unique_number());
    Cid::of(format!("{} {} {number}", now.millis(), std::process::id()).as_bytes())
}
