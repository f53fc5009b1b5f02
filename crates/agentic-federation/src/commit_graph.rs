//! When git gets its graph of commits: each push and fetch opens the newest commits of all agents without.

use agentic_git::Repository;

use crate::Result;

/// From how many agents on that takes longer than anything else.
const CROWD: usize = 100;

/// Has git add to its graph, where there are very many agents and it is worth it.
///
/// # Errors
/// Fails when git cannot be started.
pub(crate) fn keep_commit_graph(
    repository: &Repository,
    n_agents: usize,
    n_changed: usize,
) -> Result<()> {
    match n_agents >= CROWD {
        true => Ok(repository.extend_commit_graph(n_changed)?),
        false => Ok(()),
    }
}
