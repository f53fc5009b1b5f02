//! What an accepted announcement changes of what was believed.

use std::collections::BTreeSet;

use agentic_git::Repository;
use agentic_model::AgentName;

use super::SpaceResult;
use super::candidate::CandidateSpace;
use crate::Result;
use crate::acceptance::Acceptance;
use crate::accepted::AcceptedState;
use crate::folder::{TreeFolder, read_subfolder};
use crate::shard::{Heads, changed_heads, read_heads};
use crate::wrapping::{body_of, read_wrapped};

/// Reads all heads of a snapshot. Where everything that was announced before is believed, only what differs from
/// that is read: as a rule that is very little of it.
pub(crate) fn announced_heads(
    repository: &Repository,
    body: &TreeFolder,
    before: Option<&Acceptance>,
) -> Result<Heads> {
    let new = read_subfolder(repository, body, "heads")?;
    let Some(before) = before.filter(|before| before.held.is_empty()) else {
        return read_heads(repository, &new);
    };
    let old = body_of(repository, &read_wrapped(repository, before.announced)?)?;
    let old = read_subfolder(repository, &old, "heads")?;
    let mut heads = before.believed.clone();
    for change in changed_heads(repository, &old, &new)? {
        match change.new {
            Some(entry) => heads.insert(change.agent, entry),
            None => heads.remove(&change.agent),
        };
    }
    Ok(heads)
}

/// Lists the agents of which something else is believed.
pub(super) fn moved_agents(before: &Heads, after: &Heads) -> Vec<AgentName> {
    let names: BTreeSet<&AgentName> = before.keys().chain(after.keys()).collect();
    let moved = names.into_iter().filter(|agent| before.get(*agent) != after.get(*agent));
    moved.cloned().collect()
}

/// Lists the agents whose new head is none that goes on from the one before.
pub(super) fn rewound_agents(
    repository: &Repository,
    before: &Heads,
    after: &Heads,
) -> Result<Vec<AgentName>> {
    let mut rewound = Vec::new();
    for (agent, old) in before {
        let Some(new) = after.get(agent) else { continue };
        if old.head != new.head && !repository.is_ancestor(old.head, new.head)? {
            rewound.push(agent.clone());
        }
    }
    Ok(rewound)
}

/// Lists what is disowned once a candidate is accepted: what was before, and where the chain goes on from before
/// what was believed, everything that was believed and that it does not reach.
pub(super) fn disowned_by(
    repository: &Repository,
    before: Option<&AcceptedState>,
    candidate: &CandidateSpace,
) -> Result<Heads> {
    let Some(before) = before.map(|before| &before.acceptance) else { return Ok(Heads::new()) };
    let mut disowned = before.disowned.clone();
    if candidate.result == SpaceResult::Recovered {
        for (agent, entry) in &before.believed {
            if !repository.is_ancestor(entry.head, candidate.wrapped.commit)? {
                disowned.insert(agent.clone(), entry.clone());
            }
        }
    }
    Ok(disowned)
}
