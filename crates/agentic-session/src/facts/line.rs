//! The commits of agents that say they decide something, found by walking their branches.
//!
//! A cache names, for each agent, the head up to which its branch was walked and the commits that were
//! found: a moved head costs its new commits alone. What it says follows from the head, so it can
//! never become wrong. It stands in a few files, of which one is looked at after the other.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Oid, Value};
use agentic_store::checksum;

use super::cache;
use super::reading::ReadSessions;
use super::remote::{commits_beyond, remote_branches};
use crate::{Result, SessionSpace};

/// The name of the cache.
const NAME: &str = "decisions";
/// The folder with its files, and how many those are.
const FOLDER: &str = "deciding";
const SHARDS: u32 = 16;
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
#[derive(Default)]
pub(super) struct DecisionLines {
    /// The lines that have any commit, those of remotes last.
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
        wanted: Option<&BTreeSet<AgentName>>,
    ) -> Result<DecisionLines> {
        let mut found = DecisionLines::default();
        let mut shards: BTreeMap<u32, Vec<(AgentName, Oid)>> = BTreeMap::new();
        for (agent, head) in heads(read, wanted)? {
            let shard = checksum(agent.as_str().as_bytes()) % SHARDS;
            shards.entry(shard).or_default().push((agent, head));
        }
        for (shard, heads) in shards {
            found.add_shard(read, &format!("{FOLDER}/{shard:02}"), heads);
        }
        found.lines.sort_by(|left, right| left.agent.cmp(&right.agent));
        found.add_remote(read, |agent| wanted.is_none_or(|all| all.contains(agent)))?;
        Ok(found)
    }

    /// Adds what is found on branches that stand in one file of the cache.
    fn add_shard(&mut self, read: &ReadSessions<'_>, name: &str, heads: Vec<(AgentName, Oid)>) {
        let mut known = read_cache(read.space, name).unwrap_or_default();
        let mut is_new = false;
        for (agent, head) in heads {
            let before = known.get(&agent);
            let commits = match before {
                Some(line) if line.head == head => {
                    read.count(NAME, 1, 0);
                    line.commits.clone()
                }
                Some(_) | None => match walk(read.space, &agent, head, before) {
                    Ok(line) => {
                        is_new = true;
                        read.count(NAME, 1, 1);
                        let commits = line.commits.clone();
                        known.insert(agent.clone(), line);
                        commits
                    }
                    Err(error) => {
                        self.damage.push(format!("agent {agent} is left out: {error}"));
                        continue;
                    }
                },
            };
            if !commits.is_empty() {
                self.lines.push(BranchDecisions { agent, commits });
            }
        }
        if is_new {
            write_cache(read.space, name, &known);
        }
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

/// Lists the agents that are open or archived, with the heads of their branches: some, or all.
fn heads(
    read: &ReadSessions<'_>,
    wanted: Option<&BTreeSet<AgentName>>,
) -> Result<Vec<(AgentName, Oid)>> {
    let Some(wanted) = wanted else {
        let mut heads = read.open_agents()?;
        let archived = read.archived().into_iter();
        heads.extend(archived.map(|entry| (entry.archived.agent, entry.archived.head)));
        return Ok(heads);
    };
    let mut heads = Vec::new();
    for agent in wanted {
        heads.extend(read.head_of(agent)?.map(|head| (agent.clone(), head)));
    }
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
fn read_cache(space: &SessionSpace, name: &str) -> Option<BTreeMap<AgentName, DecisionLine>> {
    let line = |(agent, oids): (&String, &Value)| {
        let mut oids = oids.as_list()?.iter().map(|oid| Oid::from_bytes(oid.as_bytes()?).ok());
        let head = oids.next()??;
        let commits = oids.collect::<Option<Vec<Oid>>>()?;
        Some((AgentName::parse(agent).ok()?, DecisionLine { head, commits }))
    };
    cache::read(space, name)?.as_map()?.iter().map(line).collect()
}

/// Remembers what was found.
fn write_cache(space: &SessionSpace, name: &str, lines: &BTreeMap<AgentName, DecisionLine>) {
    let bytes = |oid: &Oid| Value::Bytes(oid.as_bytes().to_vec());
    let line = |(agent, line): (&AgentName, &DecisionLine)| {
        let oids = std::iter::once(&line.head).chain(&line.commits).map(bytes);
        (agent.to_string(), Value::List(oids.collect()))
    };
    cache::write(space, name, &Value::Map(lines.iter().map(line).collect()));
}
