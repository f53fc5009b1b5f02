//! The commits of agents that say they decide something, found by walking their branches.
//!
//! A cache names, for each agent, the head up to which its branch was walked and the commits that were
//! found: a moved head costs its new commits alone. What it says follows from the head, so it can
//! never become wrong.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Oid, Value};

use super::cache;
use super::reading::ReadSessions;
use super::remote::{commits_beyond, remote_branches};
use crate::{Result, SessionSpace};

/// The name of the cache.
const NAME: &str = "decisions";
/// The kind of a person's decision.
const DECISION: &str = "decision";

/// The commits of one agent that say they decide something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DecisionLine {
    /// The head of the branch.
    head: Oid,
    /// The commits, newest first.
    commits: Vec<Oid>,
}

/// The commits of a branch that may decide something.
pub(super) struct BranchDecisions {
    /// Whose branch it is.
    pub(super) agent: AgentName,
    /// The commits, newest first.
    pub(super) commits: Vec<Oid>,
}

/// What was found on the branches of agents: open ones, archived ones, and those of remotes.
pub(super) struct DecisionLines {
    /// The lines, those of remotes last.
    pub(super) lines: Vec<BranchDecisions>,
    /// What could not be walked.
    pub(super) damage: Vec<String>,
}

impl DecisionLines {
    /// Walks the branches of some agents, or of all.
    ///
    /// # Errors
    /// Fails when refs or the archive cannot be read.
    pub(super) fn of(
        read: &ReadSessions<'_>,
        is_wanted: impl Fn(&AgentName) -> bool,
    ) -> Result<DecisionLines> {
        let space = read.space;
        let mut known = read_cache(space).unwrap_or_default();
        let mut found = DecisionLines { lines: Vec::new(), damage: Vec::new() };
        let mut is_new = false;
        for (agent, head) in heads(read)? {
            if !is_wanted(&agent) {
                continue;
            }
            let before = known.get(&agent);
            let line = match before {
                Some(line) if line.head == head => {
                    read.count(NAME, 1, 0);
                    line.clone()
                }
                Some(_) | None => match walk(space, &agent, head, before) {
                    Ok(line) => {
                        is_new = true;
                        read.count(NAME, 1, 1);
                        known.insert(agent.clone(), line.clone());
                        line
                    }
                    Err(error) => {
                        let damage = format!("agent {agent} is left out: {error}");
                        found.damage.push(damage);
                        continue;
                    }
                },
            };
            found.lines.push(BranchDecisions { agent, commits: line.commits });
        }
        if is_new {
            write_cache(space, &known);
        }
        found.add_remote(read, is_wanted)?;
        Ok(found)
    }
}

impl DecisionLines {
    /// Adds what the branches of remotes have and those here have not, each commit once.
    fn add_remote(
        &mut self,
        read: &ReadSessions<'_>,
        is_wanted: impl Fn(&AgentName) -> bool,
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        for (branch, _) in remote_branches(read)? {
            if !is_wanted(&branch.agent) {
                continue;
            }
            match commits_beyond(read, &branch) {
                Ok(mut commits) => {
                    commits.retain(|commit| seen.insert(*commit));
                    self.lines.push(BranchDecisions { agent: branch.agent, commits });
                }
                Err(error) => self.damage.push(format!("agent {branch} is left out: {error}")),
            }
        }
        Ok(())
    }
}

/// Lists the agents that are open or archived, with the heads of their branches.
fn heads(read: &ReadSessions<'_>) -> Result<Vec<(AgentName, Oid)>> {
    let mut heads = read.space.agent_names()?;
    let archived = read.archived().into_iter();
    heads.extend(archived.map(|entry| (entry.archived.agent, entry.archived.head)));
    Ok(heads)
}

/// Walks a branch down to what was walked before, or to the first commit of the agent.
fn walk(
    space: &SessionSpace,
    agent: &AgentName,
    head: Oid,
    before: Option<&DecisionLine>,
) -> Result<DecisionLine> {
    let mut commits = Vec::new();
    for step in space.walk_own_commits(agent, head) {
        let (commit, claims) = step?;
        if let Some(before) = before.filter(|before| before.head == commit.oid) {
            commits.extend(&before.commits);
            break;
        }
        if claims.kind.is_some_and(|kind| kind.as_str() == DECISION) {
            commits.push(commit.oid);
        }
    }
    Ok(DecisionLine { head, commits })
}

/// Reads what was found before.
fn read_cache(space: &SessionSpace) -> Option<BTreeMap<AgentName, DecisionLine>> {
    let line = |(agent, oids): (&String, &Value)| {
        let mut oids = oids.as_list()?.iter().map(|oid| Oid::from_bytes(oid.as_bytes()?).ok());
        let head = oids.next()??;
        let commits = oids.collect::<Option<Vec<Oid>>>()?;
        Some((AgentName::parse(agent).ok()?, DecisionLine { head, commits }))
    };
    cache::read(space, NAME)?.as_map()?.iter().map(line).collect()
}

/// Remembers what was found.
fn write_cache(space: &SessionSpace, lines: &BTreeMap<AgentName, DecisionLine>) {
    let bytes = |oid: &Oid| Value::Bytes(oid.as_bytes().to_vec());
    let line = |(agent, line): (&AgentName, &DecisionLine)| {
        let oids = std::iter::once(&line.head).chain(&line.commits).map(bytes);
        (agent.to_string(), Value::List(oids.collect()))
    };
    cache::write(space, NAME, &Value::Map(lines.iter().map(line).collect()));
}
