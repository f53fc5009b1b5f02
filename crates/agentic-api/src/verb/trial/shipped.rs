//! The flows of trials that ship with the program, and with earlier releases: what a session of another
//! flow came to speaks for no adoption.

use agentic_model::Cid;

/// The flow of a trial.
pub(super) const TRIAL_FLOW: &str = include_str!("../../flows/trial.rhai");
/// The ids of the flows of all releases, one a line, the newest last.
const RELEASED: &str = include_str!("../../flows/trial.cids");

/// Lists the flows of trials that count. Each process asks for them as it starts, so the one that ships is read from
/// the list, too, of which it is the newest.
pub fn trial_flows() -> Vec<Cid> {
    RELEASED.lines().filter_map(|line| Cid::parse(line).ok()).collect()
}

#[cfg(test)]
mod tests;
