//! Private agents: what a conversation saw is not the project's because it was had in its folder.
//!
//! Agents that were adopted, and their children, are named by `refs/agentic/private` until a person
//! says `agentic agent public`, or pushes them by name.

use agentic_model::AgentName;
use agentic_space::Space;
use agentic_space::privacy::hide_beside_others;

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
/// Fails when the list cannot be written.
pub fn mark(space: &Space, agent: &AgentName) -> Result<(), CaptureError> {
    Ok(hide_beside_others(space, agent)?)
}
