//! Private agents: what a conversation saw is not the project's because it was had in its folder.
//!
//! Agents that were adopted, and their children, are named by `refs/agentic/private` until a person
//! says `agentic agent public`, or pushes them by name.

use agentic_model::AgentName;
use agentic_space::Space;
use agentic_space::error::AgentError;
use agentic_space::privacy::hide_beside_others;
use agentic_store::Patience;

use crate::CaptureError;

/// Tells whether an agent is private.
///
/// # Errors
/// Fails when the list of private agents is damaged.
pub fn is_private(space: &Space, agent: &AgentName) -> Result<bool, CaptureError> {
    Ok(space.repository().is_private(agent)?)
}

/// Makes an agent private, before it is made.
///
/// # Errors
/// Fails when the list cannot be written, and when others write it for longer than somebody wants to
/// wait.
pub fn mark(space: &Space, agent: &AgentName, patience: Patience) -> Result<(), CaptureError> {
    if hide_beside_others(space, agent, patience)? {
        return Ok(());
    }
    let busy = AgentError::Busy { name: agent.clone() };
    Err(CaptureError::from(agentic_space::Error::Agent(busy)))
}
