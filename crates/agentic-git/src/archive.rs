//! The archive: one ref that keeps branches and notes of agents which have no refs of their own.
//!
//! Its commits have what they keep as parents, so that git itself keeps, pushes and checks all of
//! it. Its tree says what belongs to whom: `agents/<2 digits>/<2 digits>/<name>`, where the digits
//! are of a hash of the name, so that a write touches four small trees however many agents there
//! are. The archive only grows; an entry counts while there is no branch of that name.

mod private;

use std::collections::BTreeSet;

use agentic_model::commit::CommitData;
use agentic_model::{AgentName, Instant, Oid, Signature};

use super::{FileMode, RefMove, Repository, TreeChange, TreeEdit, to_id, to_oid};
use agentic_store::error::RefError;
use agentic_store::journal::{ArchivedAgent, BranchMove, GitKind, GitObject};
use agentic_store::{Error, Result};

pub use self::private::PrivacyChange;
pub use agentic_store::layout::{ARCHIVE_REF, PRIVATE_REF};

/// How often a writer tries again because somebody else moved the ref.
const RACES_MAX: usize = 1000;
/// How deep the folders of the archive's tree nest.
const DEPTH: usize = 3;

/// An agent of the archive: where its refs were, and since when they are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// The agent with its branch and notes.
    pub archived: ArchivedAgent,
    /// When it was archived.
    pub at: Instant,
    /// Who found that it is done.
    pub by: ArchivedBy,
}

/// Who archived an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchivedBy {
    /// A person; entries of earlier releases do not say who it was, and count as a person's.
    Person,
    /// An agent, or a program that tidies up, such as capture and trials.
    Program,
}

impl ArchivedBy {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            ArchivedBy::Person => "person",
            ArchivedBy::Program => "program",
        }
    }
}

/// The next state of the archive, not written yet.
#[derive(Debug)]
pub struct ArchiveDraft {
    /// The trees, blobs and the commit, which comes last.
    pub objects: Vec<GitObject>,
    /// How the ref moves.
    pub step: BranchMove,
}

impl Repository {
    /// Reads the entry of an agent in either archive, whether or not it has a branch meanwhile.
    ///
    /// # Errors
    /// Fails when an archive is damaged.
    pub fn archive_entry(&self, agent: &AgentName) -> Result<Option<ArchiveEntry>> {
        for name in [ARCHIVE_REF, PRIVATE_REF] {
            if let Some(tip) = self.find_ref(name)?
                && let Some(entry) = self.archive_entry_at(tip, agent)?
            {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Lists the entries of both archives by name.
    ///
    /// # Errors
    /// Fails when an archive is damaged.
    pub fn all_archive_entries(&self) -> Result<Vec<ArchiveEntry>> {
        let mut entries = self.archive_entries(self.find_ref(ARCHIVE_REF)?)?;
        entries.extend(self.archive_entries(self.find_ref(PRIVATE_REF)?)?);
        // The one that is pushed is the one that counts.
        entries.sort_by(|left, right| left.archived.agent.cmp(&right.archived.agent));
        entries.dedup_by(|left, right| left.archived.agent == right.archived.agent);
        Ok(entries)
    }

    /// Reads the entry of an agent in one state of the archive.
    ///
    /// # Errors
    /// Fails when the archive is damaged.
    pub fn archive_entry_at(&self, tip: Oid, agent: &AgentName) -> Result<Option<ArchiveEntry>> {
        let damaged = |error| Error::corrupt(format!("the archive's commit {tip}"), error);
        let tree = self.tree_of(tip).map_err(damaged)?;
        let blob = self.find_in_tree(tree, place_of(agent).as_bytes())?;
        match blob {
            Some(blob) => self.read_entry(agent.clone(), blob),
            None => Ok(None),
        }
    }

    /// Lists the entries of one state of the archive by name.
    ///
    /// # Errors
    /// Fails when the archive is damaged.
    pub fn archive_entries(&self, tip: Option<Oid>) -> Result<Vec<ArchiveEntry>> {
        let Some(tip) = tip else { return Ok(Vec::new()) };
        let tree = self.archive_tree(tip)?;
        let mut entries = Vec::new();
        let mut files = Vec::new();
        self.list_files(tree, "", DEPTH, &mut files)?;
        for (path, blob) in files {
            // What somebody else put into the tree is nobody's entry.
            let name = path.rsplit('/').next().and_then(|name| AgentName::parse(name).ok());
            if let Some(agent) = name.filter(|agent| place_of(agent) == path) {
                entries.extend(self.read_entry(agent, blob)?);
            }
        }
        entries.sort_by(|left, right| left.archived.agent.cmp(&right.archived.agent));
        Ok(entries)
    }

    /// Makes the commit that adds entries to an archive, by its ref. `also` are further parents.
    ///
    /// # Errors
    /// Fails when the archive is damaged.
    pub fn draft_archive(
        &self,
        archive: &str,
        entries: &[ArchiveEntry],
        also: Option<Oid>,
        (author, committer): (&Signature, &Signature),
    ) -> Result<ArchiveDraft> {
        let tip = self.find_ref(archive)?;
        let base = tip.map(|tip| self.archive_tree(tip)).transpose()?;
        let base = base.unwrap_or_else(|| self.empty_tree());
        let scratch = self.scratch();
        let mut edit = TreeEdit::new();
        for entry in entries {
            let blob = scratch.write_blob(entry.text().as_bytes())?;
            let change = TreeChange::Set { mode: FileMode::Plain, blob };
            edit.insert(place_of(&entry.archived.agent).into_bytes(), change);
        }
        let tree = scratch.edit_tree(base, &edit)?;
        let mut objects = scratch.difference(base, tree)?;
        let commit = CommitData {
            tree,
            parents: parents(tip, also, entries),
            author: author.clone(),
            committer: committer.clone(),
            message: message(entries),
        };
        let commit = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = self.name_object(&commit);
        objects.push(commit);
        let step = BranchMove { name: archive.to_owned(), expect: tip, new };
        Ok(ArchiveDraft { objects, step })
    }

    /// Takes in another state of the archive. Of an agent that both have, the later head counts;
    /// where neither is later, ours does, and the agent is returned. Both stay reachable.
    ///
    /// # Errors
    /// Fails when the ref is locked or either state is damaged.
    pub fn unite_archive(
        &self,
        theirs: Oid,
        author: &Signature,
        committer: &Signature,
    ) -> Result<Vec<AgentName>> {
        for _ in 0..RACES_MAX {
            let ours = self.find_ref(ARCHIVE_REF)?;
            let (step, diverged) = match ours {
                Some(tip) if self.is_ancestor(theirs, tip)? => return Ok(Vec::new()),
                Some(tip) if !self.is_ancestor(tip, theirs)? => {
                    let (entries, diverged) = self.missing_from_archive(tip, theirs)?;
                    let signed = (author, committer);
                    let draft = self.draft_archive(ARCHIVE_REF, &entries, Some(theirs), signed)?;
                    self.write_loose(&draft.objects)?;
                    (draft.step, diverged)
                }
                expect => {
                    let name = ARCHIVE_REF.to_owned();
                    (BranchMove { name, expect, new: theirs }, Vec::new())
                }
            };
            if self.move_ref(&step, committer, "agentic: fetch")? == RefMove::Moved {
                return Ok(diverged);
            }
        }
        Err(Error::Ref(RefError::Locked { name: ARCHIVE_REF.to_owned() }))
    }

    fn archive_tree(&self, tip: Oid) -> Result<Oid> {
        let damaged = |error| Error::corrupt(format!("the archive's commit {tip}"), error);
        Ok(self.read_commit(tip).map_err(damaged)?.tree)
    }

    /// Lists what `ours` lacks of `theirs`, and the agents of which neither has the later head.
    fn missing_from_archive(
        &self,
        ours: Oid,
        theirs: Oid,
    ) -> Result<(Vec<ArchiveEntry>, Vec<AgentName>)> {
        let (mut missing, mut diverged) = (Vec::new(), Vec::new());
        for entry in self.archive_entries(Some(theirs))? {
            let theirs = &entry.archived;
            match self.archive_entry_at(ours, &theirs.agent)? {
                Some(own) if self.is_ancestor(theirs.head, own.archived.head)? => {}
                Some(own) if !self.is_ancestor(own.archived.head, theirs.head)? => {
                    diverged.push(theirs.agent.clone());
                }
                Some(_) | None => missing.push(entry),
            }
        }
        Ok((missing, diverged))
    }

    fn list_files(
        &self,
        tree: Oid,
        above: &str,
        depth: usize,
        files: &mut Vec<(String, Oid)>,
    ) -> Result<()> {
        let doing = || format!("read tree {tree}");
        let find = || self.inner.find_tree(to_id(tree)).map_err(Error::git(doing()));
        let object = self.again(find)?;
        for entry in object.iter() {
            let entry = entry.map_err(Error::git(doing()))?;
            let (path, oid) = (format!("{above}{}", entry.filename()), to_oid(&entry.object_id()));
            match entry.mode().is_tree() {
                true if depth > 0 => self.list_files(oid, &format!("{path}/"), depth - 1, files)?,
                true => {}
                false => files.push((path, oid)),
            }
        }
        Ok(())
    }

    /// Reads an entry; nothing where the agent is only marked and has a branch.
    fn read_entry(&self, agent: AgentName, blob: Oid) -> Result<Option<ArchiveEntry>> {
        let text = self.read_blob(blob)?;
        let text = String::from_utf8_lossy(&text);
        if text == private::MARK {
            return Ok(None);
        }
        let damaged = || {
            let what = format!("the archive's entry of `{agent}`");
            Error::corrupt(what, "a line is missing or wrong")
        };
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let oid = |text: &str| Oid::parse(text).map_err(|_| damaged());
        let head = field("head").ok_or_else(damaged).and_then(oid)?;
        let notes = field("notes").map(oid).transpose()?;
        let at = field("at").and_then(Instant::parse).ok_or_else(damaged)?;
        let by = match field("by") {
            Some(word) if word == ArchivedBy::Program.word() => ArchivedBy::Program,
            Some(_) | None => ArchivedBy::Person,
        };
        Ok(Some(ArchiveEntry { archived: ArchivedAgent { agent, head, notes }, at, by }))
    }
}

impl ArchiveEntry {
    /// The entry as its blob has it: lines that people can read and put back by hand.
    fn text(&self) -> String {
        let notes = self.archived.notes.map_or(String::new(), |notes| format!("notes {notes}\n"));
        let by = match self.by {
            ArchivedBy::Person => String::new(),
            ArchivedBy::Program => format!("by {}\n", self.by.word()),
        };
        format!("head {}\n{notes}at {}\n{by}", self.archived.head, self.at)
    }
}

/// Orders agents by their place in the archive. Agents that are archived together in this order
/// touch few of its trees.
pub fn archive_order(agent: &AgentName) -> String {
    agentic_store::hash_hex(agent.as_str().as_bytes())
}

fn place_of(agent: &AgentName) -> String {
    let hash = archive_order(agent);
    format!("agents/{}/{}/{agent}", &hash[..2], &hash[2..4])
}

/// What a state of the archive keeps: the one before, and all branches and notes that it adds.
fn parents(tip: Option<Oid>, also: Option<Oid>, entries: &[ArchiveEntry]) -> Vec<Oid> {
    let kept = entries.iter().map(|entry| &entry.archived);
    let kept = kept.flat_map(|archived| [Some(archived.head), archived.notes]);
    let mut seen = BTreeSet::new();
    tip.into_iter().chain(also).chain(kept.flatten()).filter(|oid| seen.insert(*oid)).collect()
}

fn message(entries: &[ArchiveEntry]) -> String {
    let names = entries.iter().map(|entry| entry.archived.agent.as_str()).collect::<Vec<_>>();
    match names.as_slice() {
        [] => "agentic archive\n".to_owned(),
        [one] => format!("agentic archive {one}\n"),
        several => format!("agentic archive {} agents\n\n{}\n", several.len(), several.join("\n")),
    }
}
