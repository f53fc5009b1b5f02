//! All commits of the agents that are open here, one after the other: what counts them need not have
//! them in memory together.
//!
//! Agents are read in groups that share files of the cache, and a group is forgotten before the next
//! begins. Only the names of agents and their heads are held throughout.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::{AgentName, Instant, Oid};

use super::SpaceFacts;
use super::cache::{SHARDS, shard_of};
use super::line::{CommitLine, LineCommit};
use super::roster::{AgentPlace, FactAgent};
use crate::agent::{GENESIS_KIND, SoundAgents, is_genesis_of};
use crate::{Result, Space};

/// How many agents are read at once, about, as long as the files of the cache are enough.
const AGENTS_AT_ONCE: usize = 2_048;

/// How commits are folded.
#[derive(Clone)]
pub struct CommitFold<'s> {
    space: &'s Space,
    agent: Option<AgentName>,
    agents_at_once: usize,
}

/// A commit that is handed over.
#[derive(Debug, Clone, Copy)]
pub struct FoldedCommit<'c> {
    /// The agent on whose line it stands.
    pub agent: &'c AgentName,
    /// Its id.
    pub oid: Oid,
    /// Its kind there.
    pub kind: &'c str,
    /// When it was committed.
    pub at: Instant,
    /// What it says.
    pub message: &'c str,
}

/// What became of a fold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoldReport {
    /// What could not be read.
    pub notes: Vec<String>,
    /// How many commits stood on the lines that were read.
    pub n_read: usize,
    /// How many of them were in memory at once, at most.
    pub n_held_max: usize,
}

/// What a fold remembers of the lines that it has left behind.
struct SharedCommits<'s> {
    space: &'s Space,
    /// The commits that stand on lines beyond other agents' first ones, with their kinds there.
    seen: HashSet<(Oid, String)>,
    /// The agent that was asked for last, and its commits with their kinds.
    owner: Option<(AgentName, HashSet<(Oid, String)>)>,
}

impl<'s> CommitFold<'s> {
    /// Folds the commits of all agents that are open.
    pub fn of_all(space: &'s Space) -> CommitFold<'s> {
        CommitFold { space, agent: None, agents_at_once: AGENTS_AT_ONCE }
    }

    /// Folds those of one agent alone.
    pub fn of_agent(space: &'s Space, agent: AgentName) -> CommitFold<'s> {
        CommitFold { agent: Some(agent), ..CommitFold::of_all(space) }
    }

    /// Reads about so many agents at once.
    pub fn agents_at_once(self, agents_at_once: usize) -> CommitFold<'s> {
        CommitFold { agents_at_once: agents_at_once.max(1), ..self }
    }

    /// Hands over each commit, on as many lines as it may stand, once for each kind that it has there.
    /// `Break` ends it.
    ///
    /// # Errors
    /// Fails when refs cannot be read. What else cannot be is noted.
    pub fn visit(
        &self,
        visit: &mut dyn FnMut(&FoldedCommit<'_>) -> ControlFlow<()>,
    ) -> Result<FoldReport> {
        let mut report = FoldReport::default();
        let open = match &self.agent {
            Some(agent) => {
                let head = self.space.repository().find_ref(&agent.branch_ref())?;
                head.map(|head| (agent.clone(), head)).into_iter().collect()
            }
            None => {
                let SoundAgents { agents, damaged } = self.space.sound_agents()?;
                report.notes.extend(damaged.iter().map(ToString::to_string));
                agents
            }
        };
        let mut shared = SharedCommits { space: self.space, seen: HashSet::new(), owner: None };
        for group in groups(open, self.agents_at_once) {
            let agents: Vec<Rc<FactAgent>> =
                group.into_iter().map(|(agent, head)| open_agent(agent, head)).collect();
            let facts = SpaceFacts::new(self.space);
            facts.read_lines(&agents);
            let mut n_held = 0;
            let mut is_over = ControlFlow::Continue(());
            for agent in &agents {
                let line = match facts.line(agent) {
                    Ok(line) => line,
                    Err(why) => {
                        report.notes.push(format!("the commits of agent `{agent}`: {why}"));
                        continue;
                    }
                };
                n_held += line.len();
                if is_over.is_continue() {
                    let shared = self.agent.is_none().then_some(&mut shared);
                    is_over = visit_line(agent, &line, shared, visit);
                }
            }
            report.n_read += n_held;
            report.n_held_max = report.n_held_max.max(n_held);
            if is_over.is_break() {
                break;
            }
        }
        Ok(report)
    }
}

/// Puts agents together whose lines stand in the same files of the cache.
fn groups(open: Vec<(AgentName, Oid)>, at_once: usize) -> Vec<Vec<(AgentName, Oid)>> {
    let most = SHARDS as usize;
    let n_groups = open.len().div_ceil(at_once).next_power_of_two().min(most);
    let mut groups = vec![Vec::new(); n_groups];
    for (agent, head) in open {
        let group = shard_of(agent.as_str()) as usize % n_groups;
        groups[group].push((agent, head));
    }
    groups
}

fn open_agent(agent: AgentName, head: Oid) -> Rc<FactAgent> {
    let (name, place) = (agent.to_string(), AgentPlace::Open);
    Rc::new(FactAgent { name, agent, place, head, notes: None, archived: None })
}

/// Hands over the commits of a line, oldest first.
fn visit_line(
    agent: &FactAgent,
    line: &CommitLine,
    mut shared: Option<&mut SharedCommits<'_>>,
    visit: &mut dyn FnMut(&FoldedCommit<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let commits: Vec<LineCommit<'_>> = line.commits().collect();
    let mut owner = line.genesis().map(|_| agent.agent.clone());
    for commit in commits.iter().rev() {
        if let Some(shared) = shared.as_deref_mut() {
            owner = genesis_agent(commit).or(owner);
            let is_own = owner.as_ref() == Some(&agent.agent);
            if !is_own && shared.is_known(owner.as_ref(), commit) {
                continue;
            }
        }
        visit(&FoldedCommit {
            agent: &agent.agent,
            oid: commit.oid,
            kind: commit.kind,
            at: commit.at,
            message: commit.message,
        })?;
    }
    ControlFlow::Continue(())
}

/// Returns the agent whose first commit this is.
fn genesis_agent(commit: &LineCommit<'_>) -> Option<AgentName> {
    // Few are, and to read what all others claim takes longer than to count them.
    if !commit.message.contains(GENESIS_KIND) {
        return None;
    }
    let claims = commit.claims();
    claims.agent.clone().filter(|agent| is_genesis_of(agent, &claims))
}

impl SharedCommits<'_> {
    /// Tells whether a commit that stands beyond the first one of `owner` is handed over on another
    /// line, as the same kind: that of its owner, or one that was read before.
    fn is_known(&mut self, owner: Option<&AgentName>, commit: &LineCommit<'_>) -> bool {
        let key = (commit.oid, commit.kind.to_owned());
        if owner.is_some_and(|owner| self.has(owner, &key)) {
            return true;
        }
        !self.seen.insert(key)
    }

    /// Tells whether a commit stands on the line of an agent that is open.
    fn has(&mut self, owner: &AgentName, key: &(Oid, String)) -> bool {
        if self.owner.as_ref().is_none_or(|(known, _)| known != owner) {
            self.owner = Some((owner.clone(), self.commits_of(owner)));
        }
        self.owner.as_ref().is_some_and(|(_, commits)| commits.contains(key))
    }

    fn commits_of(&self, owner: &AgentName) -> HashSet<(Oid, String)> {
        let head = self.space.repository().find_ref(&owner.branch_ref()).ok().flatten();
        let Some(head) = head else { return HashSet::new() };
        let facts = SpaceFacts::new(self.space);
        let line = facts.line(&open_agent(owner.clone(), head));
        let key = |commit: LineCommit<'_>| (commit.oid, commit.kind.to_owned());
        line.map(|line| line.commits().map(key).collect()).unwrap_or_default()
    }
}
