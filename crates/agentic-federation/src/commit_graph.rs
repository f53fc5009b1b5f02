//! When git gets its graph of commits: each push and fetch opens the newest commits of all agents without.

use agentic_git::Repository;

/// From how many agents on that takes longer than anything else.
const CROWD: usize = 100;

/// Has git add to its graph, where there are very many agents and it is worth it.
pub(crate) fn keep_commit_graph(repository: &Repository, n_agents: usize, n_changed: usize) {
    if n_agents >= CROWD {
        repository.extend_commit_graph(n_changed);
    }
}
