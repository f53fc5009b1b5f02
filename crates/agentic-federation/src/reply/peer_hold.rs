//! What agents of peers ask, as far as their notes are believed here.

use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_session::elsewhere::{AgentElsewhere, holds_elsewhere};
use agentic_session::hold::PendingHold;

use crate::Result;
use crate::acceptance::Acceptance;
use crate::id::Petname;
use crate::shard::AdoptedFrom;
use crate::tracking::{TrackedSpace, notes_ref, tracked_spaces};

/// The fewest digits of the id of a request that name one.
const DIGITS_MIN: usize = 4;

/// An open hold of a peer's agent.
#[derive(Debug, Clone)]
pub struct PeerHold {
    /// The agent as it is read here: `ada/x`.
    pub name: String,
    /// Whose agent it is.
    pub of: AdoptedFrom,
    /// The head that is believed.
    pub head: Oid,
    /// What it asks.
    pub pending: PendingHold,
}

/// Lists the open holds of a peer, or of all peers, oldest first for each agent.
///
/// # Errors
/// Fails when the policy or a record is damaged.
pub fn peer_holds(space: &SessionSpace, of: Option<&Petname>) -> Result<Vec<PeerHold>> {
    let mut holds = Vec::new();
    for tracked in tracked_spaces(space)? {
        if of.is_none_or(|petname| *petname == tracked.petname) {
            holds.extend(holds_of(space, &tracked)?);
        }
    }
    Ok(holds)
}

/// Finds the holds that a text names: a request as it is listed, or an agent of a peer.
///
/// # Errors
/// Fails as [`peer_holds`] does.
pub fn find_peer_hold(space: &SessionSpace, text: &str) -> Result<Vec<PeerHold>> {
    let mut holds = peer_holds(space, None)?;
    match text.split_once('.').filter(|(_, request)| is_hex(request)) {
        Some((session, request)) => holds.retain(|hold| {
            let hold = &hold.pending.hold;
            hold.session.to_string().starts_with(session)
                && hold.id.to_string().starts_with(request)
                && session.len() >= DIGITS_MIN
        }),
        None => holds.retain(|hold| hold.name == text),
    }
    Ok(holds)
}

fn holds_of(space: &SessionSpace, tracked: &TrackedSpace) -> Result<Vec<PeerHold>> {
    let record = Acceptance::read(space.repository(), tracked.record)?;
    let mut holds = Vec::new();
    for (agent, entry) in &record.believed {
        let Some(notes) = entry.notes else { continue };
        let notes_ref = notes_ref(&tracked.label, agent);
        let of = AgentElsewhere { agent, head: entry.head, notes, notes_ref: &notes_ref };
        for pending in holds_elsewhere(space, of)? {
            holds.push(PeerHold {
                name: format!("{}/{agent}", tracked.label),
                of: AdoptedFrom {
                    peer: tracked.peer.0,
                    space: tracked.space,
                    agent: agent.clone(),
                },
                head: entry.head,
                pending,
            });
        }
    }
    Ok(holds)
}

fn is_hex(text: &str) -> bool {
    text.len() >= DIGITS_MIN && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
