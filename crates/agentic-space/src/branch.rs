//! The branch of an agent, here or as a remote had it at the last fetch.

use std::fmt;

use agentic_model::{AgentName, Oid};
use agentic_store::journal::ArchivedAgent;

use crate::error::BranchError;
use crate::{Error, Result, Space};

/// The branch of an agent: people write `NAME`, or `REMOTE/NAME` for that of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentBranch {
    /// The agent.
    pub agent: AgentName,
    /// The remote that has it; nothing for the branch here.
    pub remote: Option<String>,
}

impl AgentBranch {
    /// The branch that an agent has here.
    pub fn here(agent: AgentName) -> AgentBranch {
        AgentBranch { agent, remote: None }
    }

    /// Returns the full name of the ref that has its commits.
    pub fn branch_ref(&self) -> String {
        match &self.remote {
            None => self.agent.branch_ref(),
            Some(remote) => format!("refs/remotes/{remote}/agents/{}", self.agent),
        }
    }

    /// Returns the full name of the ref that has its notes.
    pub fn notes_ref(&self) -> String {
        match &self.remote {
            None => self.agent.notes_ref(),
            Some(remote) => format!("refs/agentic/remotes/{remote}/notes/{}", self.agent),
        }
    }
}

impl fmt::Display for AgentBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.remote {
            None => write!(f, "{}", self.agent),
            Some(remote) => write!(f, "{remote}/{}", self.agent),
        }
    }
}

/// The folder of what remotes had.
const REMOTES: &str = "refs/remotes/";
/// The ref that holds the policy on peers.
const CAPS_REF: &str = "refs/agentic/caps";
/// Its folder of peers, by the names that they have here.
const PEERS: &str = "peers";
/// The ref that holds our own identity, if there is one.
const IDENTITY_REF: &str = "refs/agentic/identity";
/// The name under which our own other spaces are read.
const OWN: &str = "self";
/// What stands between the name of a peer and the nick of one of its spaces.
const NICK: char = '+';

/// Where a commit stands that says whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitHome {
    /// On the branch of that agent, here or at a remote.
    Branch(AgentBranch),
    /// On the branch that the agent had, which the archive keeps.
    Archive(ArchivedAgent),
}

impl CommitHome {
    /// Returns where the notes of that agent are, as far as there are any.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn notes_tip(&self, space: &Space) -> Result<Option<Oid>> {
        match self {
            CommitHome::Branch(branch) => Ok(space.repository().find_ref(&branch.notes_ref())?),
            CommitHome::Archive(archived) => Ok(archived.notes),
        }
    }
}

impl Space {
    /// Finds where a commit stands that says to be one of an agent: on its branch here, on one of a remote,
    /// or in the archive; nothing where it was copied.
    ///
    /// # Errors
    /// Fails when refs or commits cannot be read.
    pub fn home_of_commit(&self, agent: &AgentName, commit: Oid) -> Result<Option<CommitHome>> {
        let repository = self.repository();
        let here = AgentBranch::here(agent.clone());
        if let Some(head) = repository.find_ref(&here.branch_ref())?
            && repository.is_ancestor(commit, head)?
        {
            return Ok(Some(CommitHome::Branch(here)));
        }
        for remote in self.read_remotes()? {
            let there = AgentBranch { agent: agent.clone(), remote: Some(remote) };
            if let Some(head) = repository.find_ref(&there.branch_ref())?
                && repository.is_ancestor(commit, head)?
            {
                return Ok(Some(CommitHome::Branch(there)));
            }
        }
        match self.archived_agent(agent)? {
            Some(entry) if repository.is_ancestor(commit, entry.archived.head)? => {
                Ok(Some(CommitHome::Archive(entry.archived)))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Lists the names under which agents of others are read: remotes of git's, and peers that are
    /// followed, by spaces.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn read_remotes(&self) -> Result<Vec<String>> {
        let repository = self.repository();
        let mut names = repository.remotes();
        let own = repository.find_ref(IDENTITY_REF)?;
        let peers = match repository.find_ref(CAPS_REF)? {
            Some(_) => repository.notes(CAPS_REF)?.pointers(PEERS)?,
            None if own.is_none() => return Ok(names),
            None => Vec::new(),
        };
        let is_peer = |label: &str| {
            let petname = label.split(NICK).next();
            (own.is_some() && petname == Some(OWN) && label.contains(NICK))
                || peers.iter().any(|peer| Some(peer.name.as_str()) == petname)
        };
        let label = |name: &str, _| Some(name.strip_prefix(REMOTES)?.split('/').next()?.to_owned());
        let mut labels = repository.list_refs_as(REMOTES, label)?;
        labels.dedup();
        for label in labels {
            if is_peer(&label) && !names.contains(&label) {
                names.push(label);
            }
        }
        Ok(names)
    }

    /// Finds the branch that `REMOTE/NAME` means; nothing if no remote has it, or the text is no
    /// such name.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn remote_branch(&self, text: &str) -> Result<Option<AgentBranch>> {
        let Some((remote, name)) = text.rsplit_once('/') else { return Ok(None) };
        let Ok(agent) = AgentName::parse(name) else { return Ok(None) };
        if !self.read_remotes()?.iter().any(|known| known == remote) {
            return Ok(None);
        }
        let branch = AgentBranch { agent, remote: Some(remote.to_owned()) };
        let found = self.repository().find_ref(&branch.branch_ref())?;
        Ok(found.map(|_| branch))
    }

    /// Returns where the branch of an agent is.
    ///
    /// # Errors
    /// Fails when there is no such branch.
    pub fn branch_head(&self, branch: &AgentBranch) -> Result<Oid> {
        if branch.remote.is_none() {
            return self.head(&branch.agent);
        }
        let head = self.repository().find_ref(&branch.branch_ref())?;
        head.ok_or_else(|| Error::Branch(BranchError::Unknown { name: branch.to_string() }))
    }
}

/// Returns the name that people know a branch by: that of its agent, or without `refs/heads/`.
pub(crate) fn short(branch: &str) -> String {
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    short.strip_prefix("agents/").unwrap_or(short).to_owned()
}

#[cfg(test)]
mod tests;
