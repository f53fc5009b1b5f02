use agentic_model::Cid;
use agentic_session::flow_object;

use super::{RELEASED, TRIAL_FLOW, trial_flows};

#[test]
fn the_flow_of_trials_is_the_newest_of_those_that_are_listed() {
    let own = flow_object(TRIAL_FLOW).expect("it is short").cid();
    let listed: Vec<Result<Cid, _>> = RELEASED.lines().map(Cid::parse).collect();
    let newest = listed.last().and_then(|cid| cid.as_ref().ok());
    assert_eq!(newest, Some(&own), "append its id to `flows/trial.cids`: {own}");
    assert!(listed.iter().all(Result::is_ok), "{listed:?}");
    assert_eq!(trial_flows().len(), listed.len());
}
