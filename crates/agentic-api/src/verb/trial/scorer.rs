//! Who scores the runs of a trial: a behaviour, or people by their decisions.

use agentic_session::decide::is_principal;

use super::draft::runnable;
use crate::{Caller, Refusal};

/// Who scores runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrialScorer {
    /// A behaviour, by its id.
    Behaviour(String),
    /// A person, or whoever has a role.
    Person(String),
}

impl TrialScorer {
    /// Finds who is meant. A colon is in no name of a behaviour.
    pub fn of(caller: &Caller<'_>, named: &str) -> Result<TrialScorer, Refusal> {
        if named.is_empty() {
            let message = "nobody is named who scores runs";
            return Err(Refusal::usage(message, "give a behaviour, or people, with --score"));
        }
        if !named.contains(':') {
            return Ok(TrialScorer::Behaviour(runnable(caller, named)?.cid().to_string()));
        }
        if is_principal(named) {
            return Ok(TrialScorer::Person(named.to_owned()));
        }
        let message = format!("`{named}` is nobody who scores runs");
        let hint = "name a behaviour, or people as `user:NAME` or `role:NAME`";
        Err(Refusal::usage(&message, hint))
    }

    /// Returns what is fixed of it.
    pub fn word(&self) -> &str {
        match self {
            TrialScorer::Behaviour(word) | TrialScorer::Person(word) => word,
        }
    }

    /// Returns how often people decide where there are so many runs.
    pub fn n_decisions(&self, n_runs: usize) -> usize {
        match self {
            TrialScorer::Behaviour(_) => 0,
            TrialScorer::Person(_) => n_runs,
        }
    }
}
