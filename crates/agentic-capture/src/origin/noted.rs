//! All commits that have a trace, in the notes of open and archived agents.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Oid};
use agentic_space::{Result, Space};

/// A trace, the commit whose note names it, and whose notes those are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotedTrace {
    /// The agent.
    pub agent: AgentName,
    /// The commit that has the note.
    pub commit: Oid,
    /// The trace.
    pub cid: Cid,
    /// The state of the agent's notes that keeps it.
    pub notes: Oid,
}

/// The commits that have notes with traces.
#[derive(Debug, Default)]
pub struct NotedCommits {
    traces: BTreeMap<Oid, BTreeSet<(AgentName, Cid, Oid)>>,
    /// The states of the notes that were read.
    tips: Vec<(AgentName, Oid)>,
}

impl NotedCommits {
    /// Reads the notes of all agents here, archived ones too.
    ///
    /// # Errors
    /// Fails when notes or the archive cannot be read.
    pub fn read(space: &Space) -> Result<NotedCommits> {
        let mut noted = NotedCommits::default();
        for found in space.repository().list_refs(AgentName::NOTES_REFS)? {
            let agent = AgentName::from_notes_ref(&found.name);
            if let Some(agent) = agent {
                noted.read_notes(space, &agent, found.target)?;
            }
        }
        for entry in space.archived_agents()? {
            if let Some(tip) = entry.archived.notes {
                noted.read_notes(space, &entry.archived.agent, tip)?;
            }
        }
        Ok(noted)
    }

    fn read_notes(&mut self, space: &Space, agent: &AgentName, tip: Oid) -> Result<()> {
        self.tips.push((agent.clone(), tip));
        for (commit, text) in space.repository().notes_at(Some(tip))?.all_notes()? {
            if let Some(cid) = cid_in_note(&text) {
                self.traces.entry(commit).or_default().insert((agent.clone(), cid, tip));
            }
        }
        Ok(())
    }

    /// Tells whether no commit has one.
    pub fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// Lists the commits.
    pub fn commits(&self) -> impl Iterator<Item = Oid> {
        self.traces.keys().copied()
    }

    /// Lists the traces of a commit: of the agent whose commit it says to be, if that has one.
    pub fn of(&self, commit: Oid, claimed: Option<&AgentName>) -> Vec<NotedTrace> {
        let all = self.traces.get(&commit).into_iter().flatten();
        let traces: Vec<NotedTrace> = all
            .map(|(agent, cid, notes)| NotedTrace {
                agent: agent.clone(),
                commit,
                cid: *cid,
                notes: *notes,
            })
            .collect();
        match traces.iter().find(|noted| Some(&noted.agent) == claimed) {
            Some(own) => vec![own.clone()],
            None => traces,
        }
    }

    /// Reads which commits became which, by what they became.
    pub(super) fn rewrites(&self, space: &Space) -> Result<BTreeMap<Oid, BTreeSet<Oid>>> {
        let mut found: BTreeMap<Oid, BTreeSet<Oid>> = BTreeMap::new();
        for (_, tip) in &self.tips {
            for rewrite in space.kept_rewrites(Some(*tip))? {
                found.entry(rewrite.to).or_default().extend(rewrite.from);
            }
        }
        Ok(found)
    }

    /// Reads which commits are known to have been others before, with the agents that keep that.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn keepers_of_rewrites(&self, space: &Space) -> Result<BTreeMap<Oid, BTreeSet<AgentName>>> {
        let mut found: BTreeMap<Oid, BTreeSet<AgentName>> = BTreeMap::new();
        for (agent, tip) in &self.tips {
            for rewrite in space.kept_rewrites(Some(*tip))? {
                found.entry(rewrite.to).or_default().insert(agent.clone());
            }
        }
        Ok(found)
    }
}
