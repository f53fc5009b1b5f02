//! Effects that may be tried again, and how often.

use std::collections::BTreeMap;

use agentic_model::{Instant, Value};
use agentic_replay::{Path, Performance};

/// The most further attempts that a request may ask for.
pub const RETRIES_MAX: u32 = 10;

/// Effects that wait for their next attempt.
#[derive(Debug, Default)]
pub struct Backlog(BTreeMap<Path, (Instant, Performance)>);

impl Backlog {
    /// Keeps those that may not begin yet, and returns the others.
    pub fn keep_later(&mut self, perform: Vec<Performance>, now: Instant) -> Vec<Performance> {
        let mut ready = Vec::new();
        for performance in perform {
            match performance.not_before.filter(|at| *at > now) {
                Some(at) => {
                    self.0.insert(performance.request.path.clone(), (at, performance));
                }
                None => ready.push(performance),
            }
        }
        ready
    }

    /// Takes those that are due.
    pub fn take_due(&mut self, now: Instant) -> Vec<Performance> {
        let is_due = |_: &Path, (at, _): &mut (Instant, Performance)| *at <= now;
        self.0.extract_if(.., is_due).map(|(_, (_, performance))| performance).collect()
    }

    /// Forgets an effect that nobody waits for.
    pub fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }
}

/// Returns how many further attempts a payload asks for, where it does.
pub fn wanted(payload: &Value) -> Option<u32> {
    let retries = payload.get("retries")?.as_int()?.clamp(0, i64::from(RETRIES_MAX));
    Some(u32::try_from(retries).unwrap_or(RETRIES_MAX))
}

#[cfg(test)]
mod tests;
