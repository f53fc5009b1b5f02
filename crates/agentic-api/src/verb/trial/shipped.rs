//! The flows of trials that ship with the program, and with earlier releases: what a session of another
//! flow came to speaks for no adoption.

use agentic_model::Cid;
use agentic_session::flow_object;

/// The flow of a trial.
pub(super) const TRIAL_FLOW: &str = include_str!("../../flows/trial.rhai");
/// The ids of the flows of all releases, one a line, the newest last.
const RELEASED: &str = include_str!("../../flows/trial.cids");

/// Lists the flows of trials that count.
pub fn trial_flows() -> Vec<Cid> {
    let own = flow_object(TRIAL_FLOW).expect("BUG: the flow of trials is a flow").cid();
    let released = RELEASED.lines().filter_map(|line| Cid::parse(line).ok());
    let mut flows: Vec<Cid> = released.chain([own]).collect();
    flows.dedup();
    flows
}

#[cfg(test)]
mod tests;
