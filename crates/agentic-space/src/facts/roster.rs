//! Which agents there are: open ones, archived ones, and those that only a remote has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use agentic_git::{ArchiveEntry, ArchivedBy};
use agentic_model::{AgentName, Instant, Oid};

use super::SpaceFacts;
use crate::Result;
use crate::agent::{DamagedAgent, SoundAgents};
use crate::branch::AgentBranch;

/// Up to so many agents are looked up one by one; for more, all of them are listed.
pub(super) const NAMED_MAX: usize = 16;

/// Where an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentPlace {
    Open,
    Archived,
    Remote,
}

/// An agent, as the query saw it first.
#[derive(Debug)]
pub(super) struct FactAgent {
    /// What queries call it.
    pub name: String,
    /// Its name where it is.
    pub agent: AgentName,
    pub place: AgentPlace,
    pub head: Oid,
    pub notes: Option<Oid>,
    /// When it was archived, and who did it; nothing of one that has a branch.
    pub archived: Option<(Instant, ArchivedBy)>,
}

/// The agents that a query has seen.
#[derive(Debug, Default)]
pub(super) struct KnownAgents {
    by_name: BTreeMap<String, Option<Rc<FactAgent>>>,
    /// Whether all agents of this space are among them.
    is_here_whole: bool,
    /// Whether those of remotes are, too.
    is_whole: bool,
}

impl AgentPlace {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            AgentPlace::Open => "open",
            AgentPlace::Archived => "archived",
            AgentPlace::Remote => "remote",
        }
    }
}

impl fmt::Display for FactAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FactAgent {
    fn archived(entry: &ArchiveEntry) -> FactAgent {
        let archived = &entry.archived;
        FactAgent {
            name: archived.agent.to_string(),
            agent: archived.agent.clone(),
            place: AgentPlace::Archived,
            head: archived.head,
            notes: archived.notes,
            archived: Some((entry.at, entry.by)),
        }
    }
}

impl SpaceFacts<'_> {
    /// Returns the agents of these names that there are, by name; all agents without names.
    pub(super) fn agents(&self, names: Option<&BTreeSet<String>>) -> Result<Vec<Rc<FactAgent>>> {
        match names {
            Some(names) if names.len() <= NAMED_MAX => {
                let found = names.iter().map(|name| self.agent_named(name));
                found.filter_map(Result::transpose).collect()
            }
            Some(names) => {
                let all = self.all_agents()?.into_iter();
                Ok(all.filter(|agent| names.contains(&agent.name)).collect())
            }
            None => self.all_agents(),
        }
    }

    fn agent_named(&self, name: &str) -> Result<Option<Rc<FactAgent>>> {
        {
            let known = self.agents.borrow();
            if let Some(found) = known.by_name.get(name) {
                return Ok(found.clone());
            }
            if known.is_whole || (known.is_here_whole && AgentName::parse(name).is_ok()) {
                return Ok(None);
            }
        }
        let found = match AgentName::parse(name) {
            Ok(agent) => match self.find_here(agent.clone()) {
                Err(crate::Error::Store(why)) => {
                    self.leave_out(DamagedAgent { name: agent, why: why.into() }.to_string());
                    None
                }
                found => found?,
            },
            Err(_) => self.find_at_remote(name)?,
        };
        let found = found.map(Rc::new);
        self.agents.borrow_mut().by_name.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    fn find_here(&self, agent: AgentName) -> Result<Option<FactAgent>> {
        let repository = self.space.repository();
        if let Some(head) = repository.find_ref(&agent.branch_ref())? {
            let notes = repository.find_ref(&agent.notes_ref())?;
            let (name, place) = (agent.to_string(), AgentPlace::Open);
            let archived = None;
            return Ok(Some(FactAgent { name, agent, place, head, notes, archived }));
        }
        let entry = repository.archive_entry(&agent)?;
        Ok(entry.as_ref().map(FactAgent::archived))
    }

    fn find_at_remote(&self, name: &str) -> Result<Option<FactAgent>> {
        let Some(branch) = self.space.remote_branch(name)? else { return Ok(None) };
        let repository = self.space.repository();
        let Some(head) = repository.find_ref(&branch.branch_ref())? else { return Ok(None) };
        let notes = repository.find_ref(&branch.notes_ref())?;
        let (name, place) = (name.to_owned(), AgentPlace::Remote);
        let (agent, archived) = (branch.agent, None);
        let found = FactAgent { name, agent, place, head, notes, archived };
        Ok(self.has_more_than_here(&found)?.then_some(found))
    }

    fn all_agents(&self) -> Result<Vec<Rc<FactAgent>>> {
        self.all_here()?;
        if !self.agents.borrow().is_whole {
            let remote = self.list_remote()?;
            let mut known = self.agents.borrow_mut();
            known.add(remote);
            known.is_whole = true;
        }
        Ok(self.agents.borrow().by_name.values().flatten().cloned().collect())
    }

    /// Returns the agents that are in one place, by name.
    pub(super) fn agents_at(&self, place: AgentPlace) -> Result<Vec<Rc<FactAgent>>> {
        let mut found = match place {
            AgentPlace::Open | AgentPlace::Archived => self.all_here()?,
            AgentPlace::Remote => self.all_agents()?,
        };
        found.retain(|agent| agent.place == place);
        Ok(found)
    }

    /// Returns the agents of this space, by name.
    pub(super) fn all_here(&self) -> Result<Vec<Rc<FactAgent>>> {
        if !self.agents.borrow().is_here_whole {
            let mut found = self.list_open()?;
            self.list_archived(&mut found)?;
            let mut known = self.agents.borrow_mut();
            known.add(found);
            known.is_here_whole = true;
        }
        let known = self.agents.borrow();
        let here = known.by_name.values().flatten().filter(|it| it.place != AgentPlace::Remote);
        Ok(here.cloned().collect())
    }

    fn list_open(&self) -> Result<Vec<FactAgent>> {
        let notes = self.sound_refs(AgentName::NOTES_REFS)?;
        let notes: BTreeMap<String, Oid> =
            notes.into_iter().map(|found| (found.name, found.target)).collect();
        let SoundAgents { agents, damaged } = self.space.sound_agents()?;
        damaged.iter().for_each(|agent| self.leave_out(agent.to_string()));
        let open = agents.into_iter().map(|(agent, head)| FactAgent {
            name: agent.to_string(),
            notes: notes.get(&agent.notes_ref()).copied(),
            place: AgentPlace::Open,
            agent,
            head,
            archived: None,
        });
        Ok(open.collect())
    }

    fn list_archived(&self, found: &mut Vec<FactAgent>) -> Result<()> {
        let repository = self.space.repository();
        let open: BTreeSet<String> = found.iter().map(|agent| agent.name.clone()).collect();
        let entries = repository.all_archive_entries()?;
        let archived = entries.iter().map(FactAgent::archived);
        found.extend(archived.filter(|agent| !open.contains(&agent.name)));
        Ok(())
    }

    fn list_remote(&self) -> Result<Vec<FactAgent>> {
        let (repository, mut found) = (self.space.repository(), Vec::new());
        for remote in self.space.read_remotes()? {
            let prefix = format!("refs/remotes/{remote}/agents/");
            for reference in self.sound_refs(&prefix)? {
                let name = reference.name.strip_prefix(&prefix).map(AgentName::parse);
                let Some(Ok(agent)) = name else { continue };
                let branch = AgentBranch { agent, remote: Some(remote.clone()) };
                let notes = repository.find_ref(&branch.notes_ref())?;
                let name = branch.to_string();
                let (agent, place, head) = (branch.agent, AgentPlace::Remote, reference.target);
                let candidate = FactAgent { name, agent, place, head, notes, archived: None };
                if self.has_more_than_here(&candidate)? {
                    found.push(candidate);
                }
            }
        }
        Ok(found)
    }

    /// Says whether the branch of a remote has commits that no agent here has: its head is such a one,
    /// or none is.
    fn has_more_than_here(&self, remote: &FactAgent) -> Result<bool> {
        if let Some(here) = self.agent_named(remote.agent.as_str())? {
            if here.head == remote.head {
                return Ok(false);
            }
            if self.line(&here).is_ok_and(|line| line.has(remote.head)) {
                return Ok(false);
            }
        }
        Ok(!self.commits_here()?.contains(&remote.head))
    }
}

impl KnownAgents {
    /// Says whether there may be an agent of a name.
    pub fn may_have(&self, name: &str) -> bool {
        !self.is_whole || self.by_name.get(name).is_some_and(Option::is_some)
    }

    /// Says whether these are all agents of this space.
    pub fn are_all_here(&self, agents: &[Rc<FactAgent>]) -> bool {
        let is_here = |agent: &&Rc<FactAgent>| agent.place != AgentPlace::Remote;
        let n_here = self.by_name.values().flatten().filter(is_here).count();
        self.is_here_whole && agents.len() == n_here && agents.iter().all(|it| is_here(&it))
    }

    /// Adds agents; what the query has seen already stays as it was.
    fn add(&mut self, agents: Vec<FactAgent>) {
        for agent in agents {
            self.by_name.entry(agent.name.clone()).or_insert_with(|| Some(Rc::new(agent)));
        }
    }
}
