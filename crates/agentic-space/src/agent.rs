//! Agents: which there are, where each begins and ends, and what it was asked to do.

use std::fmt;

use agentic_git::{CommitInfo, DamagedRef, FirstParents};
use agentic_model::commit::{Claims, subject};
use agentic_model::{AgentName, Briefing, Cid, Instant, Kind, Object, Oid, guidance};
use agentic_store::{Stream, journal};

use crate::error::{AgentError, BranchError, LookupError};
use crate::{Error, Result, Space};

/// What is known about one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// Where its branch is.
    pub head: Oid,
    /// Its first commit; nothing for a branch that was not spawned here.
    pub genesis: Option<Oid>,
    /// The agent it was forked from.
    pub parent: Option<AgentName>,
    /// The id of its briefing.
    pub briefing: Option<Cid>,
    /// How many commits it made, the genesis included.
    pub n_commits: usize,
    /// The first line of its newest commit's message.
    pub subject: String,
    /// When its newest commit was made.
    pub at: Instant,
}

/// An agent that a remote has and this space has not adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAgent {
    /// The remote.
    pub remote: String,
    /// Its name there.
    pub name: AgentName,
    /// Where its branch was at the last fetch.
    pub head: Oid,
}

/// The agents of a space, by name, as far as their branches can be read.
#[derive(Debug)]
pub struct SoundAgents {
    /// Those whose branch can be read, with its head.
    pub agents: Vec<(AgentName, Oid)>,
    /// The others.
    pub damaged: Vec<DamagedAgent>,
}

/// An agent of which something cannot be read.
#[derive(Debug)]
pub struct DamagedAgent {
    /// Its name.
    pub name: AgentName,
    /// Why it cannot be read.
    pub why: Error,
}

/// An agent's own commits with their claims, newest first, each one read when it is asked for.
pub struct OwnCommits<'s> {
    name: AgentName,
    line: FirstParents<'s>,
    /// Whether the genesis was read.
    is_over: bool,
}

impl fmt::Display for DamagedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent `{}` is left out: {}", self.name, guidance::chain(&self.why))
    }
}

impl Space {
    /// Lists the agents of this space by name, each one read when it is asked for. One that is damaged is
    /// an item that says so.
    ///
    /// # Errors
    /// Fails when no refs can be read.
    pub fn agents(
        &self,
    ) -> Result<impl Iterator<Item = std::result::Result<Agent, DamagedAgent>> + '_> {
        let SoundAgents { agents, damaged } = self.sound_agents()?;
        let read = |(name, head): (AgentName, Oid)| {
            let damaged = |why| DamagedAgent { name: name.clone(), why };
            self.describe(name.clone(), head).map_err(damaged)
        };
        Ok(agents.into_iter().map(read).chain(damaged.into_iter().map(Err)))
    }

    /// Returns what is known about one agent.
    ///
    /// # Errors
    /// Fails when there is no such agent.
    pub fn agent(&self, name: &AgentName) -> Result<Agent> {
        self.describe(name.clone(), self.head(name)?)
    }

    /// Lists names and heads of the agents, without reading a commit.
    ///
    /// # Errors
    /// Fails when refs cannot be read, that of one agent too.
    pub fn agent_names(&self) -> Result<Vec<(AgentName, Oid)>> {
        let SoundAgents { agents, damaged } = self.sound_agents()?;
        match damaged.into_iter().next() {
            Some(DamagedAgent { why, .. }) => Err(why),
            None => Ok(agents),
        }
    }

    /// Does the same with those whose branch can be read, and names the others: for lists that say what
    /// they leave out.
    ///
    /// # Errors
    /// Fails when no refs can be read.
    pub fn sound_agents(&self) -> Result<SoundAgents> {
        let named = |name: &str, head: Oid| Some((AgentName::from_branch_ref(name)?, head));
        let listed = self.repository().list_sound_refs_as("refs/heads/agents/", named)?;
        let agents = listed.found;
        let damaged = listed.damaged.into_iter().filter_map(|DamagedRef { name, why }| {
            Some(DamagedAgent { name: AgentName::from_branch_ref(&name)?, why: why.into() })
        });
        let damaged: Vec<DamagedAgent> = damaged.collect();
        // Sorted by name, as their refs are.
        let is_there = |name: &AgentName| {
            agents.binary_search_by(|(other, _)| other.as_str().cmp(name.as_str())).is_ok()
                || damaged.iter().any(|other| other.name == *name)
        };
        agentic_store::recovery::note_missing(self.repository(), is_there);
        Ok(SoundAgents { agents, damaged })
    }

    /// Lists the agents of remotes that have no branch here.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn remote_agents(&self) -> Result<Vec<RemoteAgent>> {
        let (mut found, remotes) = (Vec::new(), self.repository().remotes());
        for remote in self.read_remotes()? {
            // An agent of a peer is another one than the agent of that name here.
            let is_peer = !remotes.contains(&remote);
            let prefix = format!("refs/remotes/{remote}/agents/");
            for reference in self.repository().list_refs(&prefix)? {
                let name = reference.name.strip_prefix(&prefix).map(AgentName::parse);
                let Some(Ok(name)) = name else { continue };
                let is_here = !is_peer && self.has_or_had(&name)?;
                if !is_here {
                    found.push(RemoteAgent {
                        remote: remote.clone(),
                        name,
                        head: reference.target,
                    });
                }
            }
        }
        Ok(found)
    }

    /// Tells whether an agent has a branch here, or an entry in the archive.
    fn has_or_had(&self, name: &AgentName) -> Result<bool> {
        Ok(self.repository().find_ref(&name.branch_ref())?.is_some()
            || self.repository().archive_entry(name)?.is_some())
    }

    /// Reads the briefing of an agent: its id and what it says.
    ///
    /// # Errors
    /// Fails when there is no such agent, or it has no briefing.
    pub fn briefing(&self, name: &AgentName) -> Result<(Cid, Object)> {
        let genesis = self.genesis(name)?;
        let briefing = genesis.and_then(|genesis| Claims::read(&genesis.message).briefing);
        if briefing.is_none()
            && let Some(earlier) = self.renamed_from(name)?
        {
            return Err(Error::Agent(AgentError::Renamed { name: name.clone(), earlier }));
        }
        let unknown =
            || Error::Lookup(LookupError::Unknown { id: format!("the briefing of {name}") });
        self.read_briefing(name, briefing.ok_or_else(unknown)?)
    }

    /// Reads the briefing that the first commit of an agent names.
    ///
    /// # Errors
    /// Fails when it is not here, or is no briefing.
    pub fn read_briefing(&self, name: &AgentName, cid: Cid) -> Result<(Cid, Object)> {
        let bytes = self.repository().notes(&name.notes_ref())?.object(cid)?;
        let object = match bytes {
            Some(bytes) => Object::decode(&bytes)?,
            None => self.object(cid)?,
        };
        Briefing::from_object(&object)?;
        // Of one that was purged the commit names the id that it had.
        Ok((object.cid(), object))
    }

    /// Finds the best common ancestor of two agents.
    ///
    /// # Errors
    /// Fails when one does not exist, and when they have no commit in common.
    pub fn fork_point(&self, left: &AgentName, right: &AgentName) -> Result<Oid> {
        let found = self.repository().fork_point(self.head(left)?, self.head(right)?)?;
        let (left, right) = (left.to_string(), right.to_string());
        found.ok_or(Error::Branch(BranchError::NoForkPoint { left, right }))
    }

    /// Walks an agent's own commits, newest first: along first parents down to the genesis.
    ///
    /// # Errors
    /// Fails when a commit cannot be read.
    pub fn own_commits(&self, name: &AgentName, head: Oid) -> Result<Vec<CommitInfo>> {
        self.walk_own_commits(name, head).map(|step| Ok(step?.0)).collect()
    }

    /// Walks an agent's own commits with their claims, newest first; reads no further than it is
    /// asked.
    pub fn walk_own_commits(&self, name: &AgentName, head: Oid) -> OwnCommits<'_> {
        let line = self.repository().first_parents(head);
        OwnCommits { name: name.clone(), line, is_over: false }
    }

    /// Finds the first commit of an agent: by walking, no further than to the head that its journal knows.
    pub(crate) fn find_genesis(&self, name: &AgentName, head: Oid) -> Result<Option<Oid>> {
        let stream = Stream::Agent(name.clone());
        let tail = journal::tail(self.repository().layout(), &stream)?;
        let known_at = |commit: Oid| {
            let standing = tail.as_ref().map(|record| &record.standing);
            standing.filter(|standing| standing.head == Some(commit))
        };
        if let Some(known) = known_at(head) {
            return Ok(known.genesis);
        }
        for commit in self.repository().first_parents(head) {
            let commit = commit?;
            if let Some(known) = known_at(commit.oid) {
                return Ok(known.genesis);
            }
            if is_genesis_of(name, &Claims::read(&commit.message)) {
                return Ok(Some(commit.oid));
            }
        }
        Ok(None)
    }

    /// Reads the first commit of an agent whose head is given: an archived agent has no branch.
    ///
    /// # Errors
    /// Fails when commits cannot be read.
    pub fn genesis_below(&self, name: &AgentName, head: Oid) -> Result<Option<CommitInfo>> {
        let genesis = self.find_genesis(name, head)?;
        genesis.map(|genesis| self.read_commit(genesis)).transpose()
    }

    /// Reads the first commit of an agent; nothing for a branch that was not spawned here.
    ///
    /// # Errors
    /// Fails when there is no such agent.
    pub fn genesis(&self, name: &AgentName) -> Result<Option<CommitInfo>> {
        self.genesis_from(name, self.head(name)?)
    }

    /// Does the same for a branch whose head is, or was, there.
    ///
    /// # Errors
    /// Fails when history cannot be read.
    pub fn genesis_from(&self, name: &AgentName, head: Oid) -> Result<Option<CommitInfo>> {
        let genesis = self.find_genesis(name, head)?;
        genesis.map(|genesis| self.read_commit(genesis)).transpose()
    }

    /// Finds the agent whose branch a person gave this name: commits of it are here, and its own
    /// branch is gone.
    pub(crate) fn renamed_from(&self, name: &AgentName) -> Result<Option<AgentName>> {
        let head = self.head(name)?;
        if self.find_genesis(name, head)?.is_some() {
            return Ok(None);
        }
        for commit in self.repository().first_parents(head) {
            let claimed = Claims::read(&commit?.message).agent;
            let Some(agent) = claimed.filter(|agent| agent != name) else { continue };
            let is_there = self.repository().find_ref(&agent.branch_ref())?.is_some()
                || self.repository().archive_entry(&agent)?.is_some();
            let is_known = self.repository().find_ref(&agent.notes_ref())?.is_some();
            return Ok((!is_there && is_known).then_some(agent));
        }
        Ok(None)
    }

    /// Finds the agent that another was spawned from.
    pub fn parent_of(&self, name: &AgentName) -> Result<Option<AgentName>> {
        let Some(genesis) = self.find_genesis(name, self.head(name)?)? else { return Ok(None) };
        Ok(Claims::read(&self.read_commit(genesis)?.message).parent)
    }

    /// Tells what is known about an agent whose branch is somewhere.
    pub fn describe(&self, name: AgentName, head: Oid) -> Result<Agent> {
        let commits = self.own_commits(&name, head)?;
        Ok(Agent::of(name, head, &commits))
    }
}

impl OwnCommits<'_> {
    /// Names the one that comes next, which was not read yet; nothing behind the genesis.
    pub fn next_oid(&self) -> Option<Oid> {
        self.line.next_oid().filter(|_| !self.is_over)
    }
}

impl Iterator for OwnCommits<'_> {
    type Item = Result<(CommitInfo, Claims)>;

    fn next(&mut self) -> Option<Result<(CommitInfo, Claims)>> {
        self.next_oid()?;
        let read = |commit: CommitInfo| {
            let claims = Claims::read(&commit.message);
            self.is_over = is_genesis_of(&self.name, &claims);
            (commit, claims)
        };
        self.line.next().map(|commit| commit.map(read).map_err(Error::from))
    }
}

impl Agent {
    /// Tells what is known about an agent by its own commits, newest first: at least one.
    pub fn of(name: AgentName, head: Oid, commits: &[CommitInfo]) -> Agent {
        let newest = commits.first().expect("a walk begins with the head");
        let oldest = commits.last().expect("a walk begins with the head");
        let claims = Claims::read(&oldest.message);
        let is_genesis = is_genesis_of(&name, &claims);
        Agent {
            head,
            genesis: is_genesis.then_some(oldest.oid),
            parent: claims.parent.filter(|_| is_genesis),
            briefing: claims.briefing.filter(|_| is_genesis),
            n_commits: commits.len(),
            subject: subject(&newest.message).to_owned(),
            at: newest.at,
            name,
        }
    }
}

/// The kind of an agent's first commit.
pub(crate) const GENESIS_KIND: &str = "spawn";

/// Tells whether a commit on the branch of `name` is its genesis.
pub fn is_genesis_of(name: &AgentName, claims: &Claims) -> bool {
    let is_spawn = claims.kind.as_ref().is_some_and(|kind| kind.as_str() == GENESIS_KIND);
    is_spawn && claims.agent.as_ref() == Some(name)
}

/// The kind of a commit on the branch of `name`: what it claims, if the claim counts there.
pub fn kind_on(name: &AgentName, claims: &Claims) -> Kind {
    let counts = claims.agent.as_ref() == Some(name);
    claims.kind.clone().filter(|_| counts).unwrap_or_else(Kind::agent_commit)
}
