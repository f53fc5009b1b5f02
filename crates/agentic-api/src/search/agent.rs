//! Whose texts are found: those of agents that have a branch here, of those that the archive has, and
//! of those that only a remote has.

use agentic_git::ArchiveEntry;
use agentic_index::SeenAgent;
use agentic_model::AgentName;
use agentic_session::AgentBranch;

use super::GroundTexts;
use crate::roster::sound_agents_now;

/// What became of looking for agents.
type AgentsFound<T> = Result<T, agentic_session::Error>;

/// An agent, and where what it said stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextAgent {
    /// As hits name it: `NAME`, or `REMOTE/NAME`.
    pub name: String,
    /// The agent.
    pub agent: AgentName,
    /// Where its branch and its notes are, or were.
    pub seen: SeenAgent,
    /// Whether something of it may be bound to no commit yet.
    pub is_here: bool,
}

impl TextAgent {
    fn archived(entry: &ArchiveEntry) -> TextAgent {
        let archived = &entry.archived;
        TextAgent {
            name: archived.agent.to_string(),
            agent: archived.agent.clone(),
            seen: SeenAgent { head: archived.head, notes: archived.notes },
            is_here: false,
        }
    }
}

impl GroundTexts<'_> {
    /// Finds an agent by the name that hits have for it; nothing where it is gone.
    ///
    /// # Errors
    /// Fails when refs or the archive cannot be read.
    pub fn agent(&self, name: &str) -> AgentsFound<Option<TextAgent>> {
        let repository = self.space.repository();
        if let Ok(agent) = AgentName::parse(name) {
            let Some(head) = repository.find_ref(&agent.branch_ref())? else {
                let entry = self.space.archived_agent(&agent)?;
                return Ok(entry.as_ref().map(TextAgent::archived));
            };
            let seen = SeenAgent { head, notes: repository.find_ref(&agent.notes_ref())? };
            return Ok(Some(TextAgent { name: name.to_owned(), agent, seen, is_here: true }));
        }
        let Some(branch) = self.space.remote_branch(name)? else { return Ok(None) };
        // What is here, or was, is no remote's.
        let is_ours = repository.find_ref(&branch.agent.branch_ref())?.is_some()
            || repository.archive_entry(&branch.agent)?.is_some();
        if is_ours {
            return Ok(None);
        }
        let head = self.space.branch_head(&branch)?;
        let notes = repository.find_ref(&branch.notes_ref())?;
        let seen = SeenAgent { head, notes };
        Ok(Some(TextAgent { name: name.to_owned(), agent: branch.agent, seen, is_here: false }))
    }

    /// Lists the agents that have a branch here, and those that only a remote has; those that are damaged
    /// are left out.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn agents_on_branches(&self) -> AgentsFound<Vec<TextAgent>> {
        let here = sound_agents_now(self.space)?
            .agents
            .into_iter()
            .map(|(agent, seen)| TextAgent { name: agent.to_string(), agent, seen, is_here: true });
        let mut all: Vec<TextAgent> = here.collect();
        for found in self.space.remote_agents()? {
            let branch = AgentBranch { agent: found.name, remote: Some(found.remote) };
            let notes = self.space.repository().find_ref(&branch.notes_ref())?;
            all.push(TextAgent {
                name: branch.to_string(),
                agent: branch.agent,
                seen: SeenAgent { head: found.head, notes },
                is_here: false,
            });
        }
        Ok(all)
    }

    /// Lists the agents that only the archive has.
    ///
    /// # Errors
    /// Fails when the archive is damaged.
    pub fn archived_agents(&self) -> AgentsFound<Vec<TextAgent>> {
        Ok(self.space.archived_agents()?.iter().map(TextAgent::archived).collect())
    }
}
