//! What an accepted announcement changes of what was believed.

use agentic_git::Repository;
use agentic_model::AgentName;

use super::SpaceResult;
use super::candidate::CandidateSpace;
use crate::Result;
use crate::acceptance::{Acceptance, AcceptanceOutline};
use crate::folder::{TreeFolder, read_subfolder};
use crate::shard::{HeadChange, Heads, apply, changed_heads, read_heads};
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
    apply(&changed_heads(repository, &old, &new)?, &mut heads);
    Ok(heads)
}

/// Lists the agents that changed.
pub(super) fn names_of(changes: &[HeadChange]) -> Vec<AgentName> {
    let mut names: Vec<AgentName> = changes.iter().map(|change| change.agent.clone()).collect();
    names.sort();
    names
}

/// Lists the agents whose new head is none that goes on from the one before.
pub(super) fn rewound_agents(
    repository: &Repository,
    changes: &[HeadChange],
) -> Result<Vec<AgentName>> {
    let mut rewound = Vec::new();
    for change in changes {
        let (Some(old), Some(new)) = (&change.old, &change.new) else { continue };
        if old.head != new.head && !repository.is_ancestor(old.head, new.head)? {
            rewound.push(change.agent.clone());
        }
    }
    rewound.sort();
    Ok(rewound)
}

/// Lists what is disowned once a candidate is accepted: what was before, and where the chain goes on from before
/// what was believed, everything that was believed and that it does not reach.
pub(super) fn disowned_by(
    repository: &Repository,
    before: Option<&AcceptanceOutline>,
    candidate: &CandidateSpace,
) -> Result<Heads> {
    let Some(before) = before else { return Ok(Heads::new()) };
    let mut disowned = before.disowned.clone();
    if candidate.result == SpaceResult::Recovered {
        for (agent, entry) in read_heads(repository, &before.believed)? {
            if !repository.is_ancestor(entry.head, candidate.wrapped.commit)? {
                disowned.insert(agent, entry);
            }
        }
    }
    Ok(disowned)
}
