//! Tracking refs of peers, made what is believed before somebody reads them.

use agentic_federation::accepted::ACCEPTED_REFS;
use agentic_federation::caps::CAPS_REF;
use agentic_federation::tracking::{settle, settle_all};
use agentic_model::AgentName;
use agentic_session::SessionSpace;

use crate::{Notice, Refusal};

/// Makes the tracking refs of an agent of a peer what is believed, and says which somebody had moved. Nothing
/// for a text that is not `PEER/NAME`.
///
/// # Errors
/// Fails when a record is damaged, and when a ref cannot be written.
pub fn settle_named(space: &SessionSpace, text: &str) -> Result<Vec<Notice>, Refusal> {
    let Some((label, name)) = text.rsplit_once('/') else { return Ok(Vec::new()) };
    let Ok(agent) = AgentName::parse(name) else { return Ok(Vec::new()) };
    let is_alone = || space.repository().find_ref(CAPS_REF).map(|policy| policy.is_none());
    if label.contains('/') || (!has_accepted(space)? && is_alone()?) {
        return Ok(Vec::new());
    }
    Ok(settle(space, label, &agent)?.iter().map(|name| Notice::put_back(name)).collect())
}

/// Makes all tracking refs of peers what is believed, and says which somebody had moved.
///
/// # Errors
/// Fails as [`settle_named`] does.
pub fn settle_peers(space: &SessionSpace) -> Result<Vec<Notice>, Refusal> {
    match has_accepted(space)? {
        true => Ok(settle_all(space)?.iter().map(|name| Notice::put_back(name)).collect()),
        false => Ok(Vec::new()),
    }
}

fn has_accepted(space: &SessionSpace) -> Result<bool, Refusal> {
    Ok(!space.repository().list_refs(ACCEPTED_REFS)?.is_empty())
}
