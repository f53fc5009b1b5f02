//! Which trials are known, and the how manieth each is: those of other clones count once they are
//! fetched, and those that came to nothing count, too.
//!
//! A clock can be set to any time. So a trial names those that were known when it began, by the hashes of
//! their first commits: what names a trial began after it. Of any other nobody can know that it did, and
//! it counts as earlier.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Instant, Object, Oid, Value};
use agentic_replay::Summary;
use agentic_space::AgentBranch;
use agentic_space::agent::RemoteAgent;

use super::{SCORER_END, TRIAL_AFTER, TRIAL_AGENT, TRIAL_FIXED};
use crate::{Result, SessionSpace};

/// A trial that is known here.
pub struct KnownTrial {
    /// Its agent; `REMOTE/NAME` of another clone.
    pub label: String,
    /// Its agent, by its bare name.
    pub agent: AgentName,
    /// Whether it is of this clone.
    pub is_here: bool,
    /// What was fixed before its first run.
    pub briefing: Object,
    /// When it began, as its first commit says; no earlier than what its tasks begin at.
    begun_at: Instant,
    /// Its first commit.
    genesis: Oid,
    /// The first commits of trials that were known when it began; nothing where it does not say.
    after: Option<BTreeSet<Oid>>,
}

/// All trials that are known here, the oldest first.
pub struct KnownTrials(Vec<KnownTrial>);

impl KnownTrial {
    /// Lists the behaviours that are tried.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        let arms = self.briefing.map().get("arms").and_then(Value::as_list).unwrap_or_default();
        arms.iter().filter_map(Value::as_text)
    }

    fn has_any(&self, versions: &BTreeSet<String>) -> bool {
        self.arms().any(|arm| versions.contains(arm))
    }
}

/// Lists the agents of the runs that the session of a trial asked for, and those that scored them.
pub fn runs_of(summary: &Summary) -> BTreeSet<String> {
    let mut runs = BTreeSet::new();
    for asked in summary.asked.iter().filter(|asked| asked.kind == "exec") {
        let command = asked.payload.get("command").and_then(Value::as_text).unwrap_or_default();
        let Some((_, run)) = command.rsplit_once(" --run ") else { continue };
        if run.starts_with(&format!("{}-", summary.agent)) {
            runs.insert(format!("{run}{SCORER_END}"));
            runs.insert(run.to_owned());
        }
    }
    runs
}

/// Reads which trials a briefing names as known before.
fn named_before(briefing: &Object) -> Option<BTreeSet<Oid>> {
    let named = briefing.map().get(TRIAL_AFTER)?.as_list()?.iter();
    Some(named.filter_map(|oid| Oid::parse(oid.as_text()?).ok()).collect())
}

/// Lists what the tasks of a trial begin at.
fn bases(briefing: &Object) -> impl Iterator<Item = Oid> {
    let fixed = briefing.map().get(TRIAL_FIXED);
    let tasks = fixed.and_then(|fixed| fixed.get("tasks")?.as_list()).unwrap_or_default();
    let bases: BTreeSet<&str> =
        tasks.iter().filter_map(|task| task.get("base")?.as_text()).collect();
    bases.into_iter().filter_map(|base| Oid::parse(base).ok())
}

/// Where the branch of what may be a trial stands.
struct TrialBranch {
    branch: AgentBranch,
    head: Oid,
}

/// Reads what agents are that may have a trial each.
struct TrialReader<'s> {
    space: &'s SessionSpace,
    /// The briefings that were read, those of no trial as nothing: the runs of a task share one.
    briefings: BTreeMap<Cid, Option<Object>>,
}

impl TrialReader<'_> {
    /// Reads the trial of an agent. The agents of its runs have names that begin like its own.
    fn read(&mut self, place: TrialBranch) -> Option<KnownTrial> {
        let TrialBranch { branch, head } = place;
        let genesis = self.space.genesis_below(&branch.agent, head).ok()??;
        let cid = Claims::read(&genesis.message).briefing?;
        let space = self.space;
        let known = self.briefings.entry(cid).or_insert_with(|| {
            let briefing = briefing(space, &branch, cid)?;
            briefing.map().contains_key(TRIAL_FIXED).then_some(briefing)
        });
        let briefing = known.clone()?;
        let (label, is_here) = (branch.to_string(), branch.remote.is_none());
        let (begun_at, genesis, after) = (genesis.at, genesis.oid, named_before(&briefing));
        let floors = bases(&briefing).filter_map(|base| space.repository().read_commit(base).ok());
        let begun_at = floors.map(|base| base.at).fold(begun_at, Instant::max);
        Some(KnownTrial { label, agent: branch.agent, is_here, briefing, begun_at, genesis, after })
    }
}

/// Reads a briefing; of an agent that only a remote has, as it came with that.
fn briefing(space: &SessionSpace, branch: &AgentBranch, cid: Cid) -> Option<Object> {
    if branch.remote.is_none() {
        return space.object(cid).ok();
    }
    let bytes = space.repository().notes(&branch.notes_ref()).ok()?.object(cid).ok()??;
    Object::decode(&bytes).ok()
}

impl KnownTrials {
    /// Finds them: the agents of this clone, archived ones too, and those of other clones.
    ///
    /// # Errors
    /// Fails when agents cannot be listed.
    pub fn read(space: &SessionSpace) -> Result<KnownTrials> {
        let mut branches = Vec::new();
        let mut add = |branch: AgentBranch, head: Oid| {
            if branch.agent.as_str().starts_with(TRIAL_AGENT) {
                branches.push(TrialBranch { branch, head });
            }
        };
        for (agent, head) in space.agent_names()? {
            add(AgentBranch::here(agent), head);
        }
        for entry in space.archived_agents()? {
            add(AgentBranch::here(entry.archived.agent), entry.archived.head);
        }
        for RemoteAgent { remote, name, head } in space.remote_agents()? {
            add(AgentBranch { agent: name, remote: Some(remote) }, head);
        }
        let mut reader = TrialReader { space, briefings: BTreeMap::new() };
        let known = branches.into_iter().filter_map(|place| reader.read(place));
        let mut known: Vec<KnownTrial> = known.collect();
        known.sort_by_key(|trial| (trial.begun_at, trial.genesis));
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

    /// Lists the first commits of the trials that no other trial names: whatever begins now names these,
    /// and so all.
    pub fn newest(&self) -> Vec<Oid> {
        let named: BTreeSet<Oid> =
            self.0.iter().flat_map(|it| it.after.iter().flatten()).copied().collect();
        self.0.iter().map(|trial| trial.genesis).filter(|oid| !named.contains(oid)).collect()
    }

    /// Finds the trials that name one as known before, themselves or by those that they name.
    fn later_than(&self, trial: &KnownTrial) -> BTreeSet<Oid> {
        let mut naming: BTreeMap<Oid, Vec<Oid>> = BTreeMap::new();
        for other in &self.0 {
            for named in other.after.iter().flatten() {
                naming.entry(*named).or_default().push(other.genesis);
            }
        }
        let (mut later, mut open) = (BTreeSet::new(), vec![trial.genesis]);
        while let Some(oid) = open.pop() {
            for one in naming.get(&oid).into_iter().flatten() {
                if later.insert(*one) {
                    open.push(*one);
                }
            }
        }
        later
    }

    /// Returns the how manieth trial with one of these versions a trial is, or the next one would be
    /// where it is not known.
    pub fn attempt(&self, trial: Option<&KnownTrial>, versions: &BTreeSet<String>) -> u32 {
        let later = trial.map_or_else(BTreeSet::new, |trial| self.later_than(trial));
        let is_earlier = |other: &&KnownTrial| match trial {
            None => true,
            Some(trial) if other.genesis == trial.genesis => false,
            Some(_) if other.after.is_some() => !later.contains(&other.genesis),
            // What does not say what was known before is as old as it says.
            Some(trial) => (other.begun_at, other.genesis) < (trial.begun_at, trial.genesis),
        };
        let earlier = self.0.iter().filter(is_earlier).filter(|other| other.has_any(versions));
        u32::try_from(earlier.count()).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// Lists which of some behaviours are in force by a name.
///
/// # Errors
/// Fails when the library is damaged.
pub fn in_force_of(space: &SessionSpace, cids: &[String]) -> Result<BTreeSet<String>> {
    let names = space.behaviours_in_force()?.names;
    let in_force = names.into_iter().filter_map(|name| name.pointer);
    let in_force: BTreeSet<String> = in_force.map(|pointer| pointer.cid.to_string()).collect();
    Ok(cids.iter().filter(|cid| in_force.contains(*cid)).cloned().collect())
}
