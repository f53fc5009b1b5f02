//! Which trials are known, and the how manieth each is: those of other clones count once they are
//! fetched, and those that came to nothing count, too.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Cid, Instant, Object, Oid, Value};

use super::AGENT;
use super::fixed::FIXED;
use crate::behaviours::BehaviourShelf;
use crate::{Caller, Refusal};

/// A trial that is known here.
pub(crate) struct KnownTrial {
    /// Its agent; `REMOTE/NAME` of another clone.
    pub label: String,
    /// Its agent, by its bare name.
    pub agent: AgentName,
    /// Whether it is of this clone.
    pub is_here: bool,
    /// What was fixed before its first run.
    pub briefing: Object,
    /// When it began.
    begun_at: Instant,
    /// Its first commit.
    genesis: Oid,
}

/// All trials that are known here, the oldest first.
pub(crate) struct KnownTrials(Vec<KnownTrial>);

impl KnownTrial {
    fn read(caller: &Caller<'_>, place: TrialBranch) -> Option<KnownTrial> {
        let TrialBranch { label, agent, head, is_here } = place;
        if !agent.as_str().starts_with(AGENT) {
            return None;
        }
        let commits = caller.space.walk_own_commits(&agent, head);
        let (genesis, claims) = commits.filter_map(Result::ok).last()?;
        let briefing = caller.space.object(claims.briefing?).ok()?;
        // The agents of its runs have names that begin like its own.
        briefing.map().contains_key(FIXED).then_some(KnownTrial {
            label,
            agent,
            is_here,
            briefing,
            begun_at: genesis.at,
            genesis: genesis.oid,
        })
    }

    /// Lists the behaviours that are tried.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        let arms = self.briefing.map().get("arms").and_then(Value::as_list).unwrap_or_default();
        arms.iter().filter_map(Value::as_text)
    }

    fn has_any(&self, versions: &BTreeSet<String>) -> bool {
        self.arms().any(|arm| versions.contains(arm))
    }
}

/// Where the branch of what may be a trial stands.
struct TrialBranch {
    label: String,
    agent: AgentName,
    head: Oid,
    is_here: bool,
}

impl KnownTrials {
    /// Finds them: the agents of this clone, archived ones too, and those of other clones.
    pub fn read(caller: &Caller<'_>) -> Result<KnownTrials, Refusal> {
        let mut branches = Vec::new();
        let mut here = |agent: AgentName, head: Oid| {
            branches.push(TrialBranch { label: agent.to_string(), agent, head, is_here: true });
        };
        for (agent, head) in caller.space.agent_names()? {
            here(agent, head);
        }
        for entry in caller.space.archived_agents()? {
            here(entry.archived.agent, entry.archived.head);
        }
        for remote in caller.space.remote_agents()? {
            let label = format!("{}/{}", remote.remote, remote.name);
            let (agent, head) = (remote.name, remote.head);
            branches.push(TrialBranch { label, agent, head, is_here: false });
        }
        let known = branches.into_iter().filter_map(|place| KnownTrial::read(caller, place));
        let mut known: Vec<KnownTrial> = known.collect();
        known.sort_by(|left, right| {
            (left.begun_at, left.genesis).cmp(&(right.begun_at, right.genesis))
        });
        // The same trial may be seen in several clones.
        let mut seen = BTreeSet::new();
        known.retain(|trial| seen.insert(trial.genesis));
        Ok(KnownTrials(known))
    }

    /// Lists them, the oldest first.
    pub fn all(&self) -> &[KnownTrial] {
        &self.0
    }

    /// Finds the trial of an agent of this clone.
    pub fn here(&self, agent: &str) -> Option<&KnownTrial> {
        self.0.iter().find(|trial| trial.is_here && trial.agent.as_str() == agent)
    }

    /// Lists the trials that a behaviour was in.
    pub fn of(&self, behaviour: &Cid) -> Vec<&KnownTrial> {
        let cid = behaviour.to_string();
        self.0.iter().filter(|trial| trial.arms().any(|arm| arm == cid)).collect()
    }

    /// Returns the how manieth trial with one of these versions a trial is, or the next one would be
    /// where it is not known.
    pub fn attempt(&self, trial: Option<&KnownTrial>, versions: &BTreeSet<String>) -> u32 {
        let is_earlier = |other: &&KnownTrial| match trial {
            Some(trial) => (other.begun_at, other.genesis) < (trial.begun_at, trial.genesis),
            None => true,
        };
        let earlier = self.0.iter().filter(is_earlier).filter(|other| other.has_any(versions));
        u32::try_from(earlier.count()).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// Lists which of some behaviours are in force by a name.
pub(crate) fn adopted_of(
    caller: &Caller<'_>,
    cids: &[String],
) -> Result<BTreeSet<String>, Refusal> {
    let in_force = BehaviourShelf::new(caller.space).in_force()?;
    let in_force: BTreeSet<String> = in_force.keys().map(ToString::to_string).collect();
    Ok(cids.iter().filter(|cid| in_force.contains(*cid)).cloned().collect())
}
