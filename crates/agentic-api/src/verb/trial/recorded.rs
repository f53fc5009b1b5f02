//! What the session of a trial has come to, by its records.

use agentic_model::{AgentName, Value};
use agentic_session::behaviour::session_with_key;
use agentic_session::trial::TRIAL_KEY;
use agentic_session::{SessionState, Summary};

use crate::{Caller, Refusal};

/// Reads the session of a trial.
pub(super) fn recorded(caller: &Caller<'_>, agent: &AgentName) -> Result<Option<Summary>, Refusal> {
    let session = session_with_key(caller.space, agent, TRIAL_KEY)?;
    Ok(session.map(|id| caller.space.session(&id)).transpose()?)
}

/// Returns what it gave, once it is done.
pub(super) fn recorded_result(
    caller: &Caller<'_>,
    agent: &AgentName,
) -> Result<Option<Value>, Refusal> {
    let summary = recorded(caller, agent)?;
    let done = summary.filter(|summary| summary.state == SessionState::Done);
    Ok(done.and_then(|summary| summary.result))
}
