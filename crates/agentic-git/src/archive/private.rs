//! Private agents: a second archive that is never pushed names them all, and keeps those of them that
//! are archived. Where an agent has a branch, its entry is a mere mark.

use std::collections::BTreeSet;

use agentic_model::commit::CommitData;
use agentic_model::{AgentName, Oid, Signature};

use super::{ArchiveDraft, DEPTH, PRIVATE_REF, place_of};
use crate::{FileMode, Repository, TreeChange, TreeEdit};
use agentic_store::Result;
use agentic_store::journal::{BranchMove, GitKind, GitObject};

/// What stands in place of an entry while the agent has a branch.
pub(super) const MARK: &str = "private\n";

/// Whether agents become private, or cease to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivacyChange {
    /// They become so.
    Private,
    /// They are no longer.
    Public,
}

impl Repository {
    /// Tells whether an agent is private.
    ///
    /// # Errors
    /// Fails when the list of them is damaged.
    pub fn is_private(&self, agent: &AgentName) -> Result<bool> {
        let Some(tip) = self.find_ref(PRIVATE_REF)? else { return Ok(false) };
        Ok(self.find_in_tree(self.archive_tree(tip)?, place_of(agent).as_bytes())?.is_some())
    }

    /// Lists the private agents.
    ///
    /// # Errors
    /// Fails when the list of them is damaged.
    pub fn private_agents(&self) -> Result<BTreeSet<AgentName>> {
        let Some(tip) = self.find_ref(PRIVATE_REF)? else { return Ok(BTreeSet::new()) };
        let mut files = Vec::new();
        self.list_files(self.archive_tree(tip)?, "", DEPTH, &mut files)?;
        let named = |(path, _): &(String, Oid)| {
            let agent = AgentName::parse(path.rsplit('/').next()?).ok()?;
            (place_of(&agent) == *path).then_some(agent)
        };
        Ok(files.iter().filter_map(named).collect())
    }

    /// Makes the commit that says of agents that they are private, or no longer; nothing if nothing
    /// changes. Entries of archived ones stay as they are.
    ///
    /// # Errors
    /// Fails when the list is damaged.
    pub fn draft_privacy(
        &self,
        agents: &[AgentName],
        change: PrivacyChange,
        (author, committer): (&Signature, &Signature),
    ) -> Result<Option<ArchiveDraft>> {
        let tip = self.find_ref(PRIVATE_REF)?;
        let base = tip.map(|tip| self.archive_tree(tip)).transpose()?;
        let base = base.unwrap_or_else(|| self.empty_tree());
        let scratch = self.scratch();
        let mut edit = TreeEdit::new();
        for agent in agents {
            let place = place_of(agent);
            let is_there = self.find_in_tree(base, place.as_bytes())?.is_some();
            match (change, is_there) {
                (PrivacyChange::Private, false) => {
                    let blob = scratch.write_blob(MARK.as_bytes())?;
                    let set = TreeChange::Set { mode: FileMode::Plain, blob };
                    edit.insert(place.into_bytes(), set);
                }
                (PrivacyChange::Public, true) => {
                    edit.insert(place.into_bytes(), TreeChange::Remove);
                }
                (PrivacyChange::Private, true) | (PrivacyChange::Public, false) => {}
            }
        }
        if edit.is_empty() {
            return Ok(None);
        }
        let tree = scratch.edit_tree(base, &edit)?;
        let mut objects = scratch.difference(base, tree)?;
        let word = match change {
            PrivacyChange::Private => "private",
            PrivacyChange::Public => "public",
        };
        let commit = CommitData {
            tree,
            parents: tip.into_iter().collect(),
            author: author.clone(),
            committer: committer.clone(),
            message: format!("agentic agent {word}\n"),
        };
        let commit = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = self.name_object(&commit);
        objects.push(commit);
        let step = BranchMove { name: PRIVATE_REF.to_owned(), expect: tip, new };
        Ok(Some(ArchiveDraft { objects, step }))
    }
}
