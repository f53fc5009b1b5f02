//! Which trials a behaviour was in, and the how manieth each is by now.

use std::collections::BTreeSet;

use agentic_model::Cid;
use agentic_session::trial::{KnownTrials, in_force_of, runs_of};

use super::recorded::recorded;
use crate::view::TriedView;
use crate::{Caller, Refusal};

/// Lists the agents of the trials of this clone, and those of their runs and scores.
pub(crate) fn agents_of_trials(caller: &Caller<'_>) -> Result<BTreeSet<String>, Refusal> {
    let mut agents = BTreeSet::new();
    for trial in KnownTrials::read(caller.space)?.all().iter().filter(|trial| trial.is_here) {
        agents.insert(trial.agent.to_string());
        if let Some(summary) = recorded(caller, &trial.agent)? {
            agents.extend(runs_of(&summary));
        }
    }
    Ok(agents)
}

/// Lists the trials that a behaviour was in, as far as they are known here.
pub(crate) fn tried(caller: &Caller<'_>, behaviour: &Cid) -> Result<Vec<TriedView>, Refusal> {
    let known = KnownTrials::read(caller.space)?;
    let mut views = Vec::new();
    for trial in known.of(behaviour) {
        let arms: Vec<String> = trial.arms().map(str::to_owned).collect();
        let versions: BTreeSet<String> = in_force_of(caller.space, &arms)?;
        let shown = if trial.is_here { Some(super::shown(caller, trial)?.answer) } else { None };
        views.push(TriedView {
            trial: trial.label.clone(),
            attempt: known.attempt(Some(trial), &versions),
            arms,
            cid: shown.as_ref().and_then(|shown| shown.cid.clone()),
            verdict: shown.and_then(|shown| shown.verdict),
        });
    }
    Ok(views)
}
