//! Tombstones: those that count here, those that came from elsewhere, and what each of them names.
//!
//! One that was made here, or that a person took over, stands in a ref of this space that no push
//! takes along. One that is only in an agent's notes came from elsewhere: it deletes nothing by itself.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{LibraryEdit, PointerEdit, RefMove};
use agentic_model::commit::CommitData;
use agentic_model::{AgentName, Cid, Kind, Object, Oid, Tombstone};
use agentic_store::journal::{BranchMove, GitKind, GitObject, KeptObject};
use agentic_store::{Stream, Writer};

use super::TOMBSTONES_REF;
use crate::error::BranchError;
use crate::{Error, Result, Space};

/// The folder of the tombstones that a person set aside.
const IGNORED: &str = "ignored";

/// What is to become of a tombstone that came from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TombstoneFate {
    /// It counts here from now on.
    Followed,
    /// It does not.
    Ignored,
}

/// A tombstone in the notes of an agent that came from elsewhere, and that nobody has decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignTombstone {
    /// Whose notes have it.
    pub agent: AgentName,
    /// Its id.
    pub cid: Cid,
    /// What it says.
    pub tombstone: Tombstone,
}

impl Space {
    /// Reads the tombstones that count here.
    ///
    /// # Errors
    /// Fails when they are damaged.
    pub fn tombstones(&self) -> Result<Vec<Tombstone>> {
        let notes = self.repository().notes(TOMBSTONES_REF)?;
        let found = notes.read_objects(&kind())?;
        found.iter().map(|(_, bytes)| read(bytes)).collect()
    }

    /// Finds the tombstones in the notes of an agent that came from elsewhere, and that name something
    /// which these notes still have.
    ///
    /// # Errors
    /// Fails when notes are damaged.
    pub fn foreign_tombstones(&self, agent: &AgentName) -> Result<Vec<ForeignTombstone>> {
        let repository = self.repository();
        let notes = repository.notes(&agent.notes_ref())?;
        let mut listed = notes.objects(Some(&kind()))?;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        let ours = repository.notes(TOMBSTONES_REF)?;
        let decided: BTreeSet<Cid> = ours.objects(Some(&kind()))?.into_iter().collect();
        listed.retain(|cid| !decided.contains(cid));
        let mut found = Vec::new();
        for cid in listed {
            if ours.pointer(IGNORED, &cid.to_string())?.is_some() {
                continue;
            }
            let Some(bytes) = notes.object(cid)? else { continue };
            let tombstone = read(&bytes)?;
            let mut is_here = false;
            for id in &tombstone.purged {
                is_here |= match (Cid::parse(id), Oid::parse(id)) {
                    (Ok(cid), _) => notes.object(cid)?.is_some(),
                    (Err(_), Ok(oid)) => repository.has_object(oid),
                    (Err(_), Err(_)) => false,
                };
            }
            if is_here {
                found.push(ForeignTombstone { agent: agent.clone(), cid, tombstone });
            }
        }
        Ok(found)
    }

    /// Finds what stands in the place of an object that was purged; nothing if it was not, or nothing
    /// does. Commits go on naming the id that it had.
    ///
    /// # Errors
    /// Fails when tombstones are damaged.
    pub fn replacement(&self, cid: Cid) -> Result<Option<Cid>> {
        let mut tombstones = self.tombstones()?;
        for found in self.repository().list_refs(AgentName::NOTES_REFS)? {
            let notes = self.repository().notes(&found.name)?;
            for (_, bytes) in notes.read_objects(&kind())? {
                tombstones.push(read(&bytes)?);
            }
        }
        let all = replacements(&tombstones);
        let (mut at, mut found) = (cid, None);
        // What was purged twice was replaced twice.
        for _ in 0..tombstones.len() {
            let Some(Some(new)) = all.get(&at.to_string()) else { break };
            let Ok(new) = Cid::parse(new) else { break };
            (at, found) = (new, Some(new));
        }
        Ok(found)
    }

    /// Lets tombstones count here, or sets them aside.
    ///
    /// # Errors
    /// Fails when somebody else writes the ref at the time, and when the disk does.
    pub fn decide_tombstones(&self, tombstones: &[Object], fate: TombstoneFate) -> Result<()> {
        let repository = self.repository();
        let signatures = self.own_signatures()?;
        let mut writer = Writer::open(repository, &Stream::of_branch(TOMBSTONES_REF), self.now())?;
        let tip = repository.find_ref(TOMBSTONES_REF)?;
        let state = repository.notes_at(tip)?;
        let edit = match fate {
            TombstoneFate::Followed => LibraryEdit {
                objects: tombstones.iter().map(KeptObject::from).collect(),
                pointers: Vec::new(),
            },
            TombstoneFate::Ignored => {
                let pointer = |object: &Object| PointerEdit {
                    folder: IGNORED,
                    name: object.cid().to_string(),
                    text: Some("ignored\n".to_owned()),
                };
                LibraryEdit {
                    objects: Vec::new(),
                    pointers: tombstones.iter().map(pointer).collect(),
                }
            }
        };
        let Some(next) = repository.library_tree(&state, &edit)? else { return Ok(()) };
        let commit = CommitData {
            tree: next.tree,
            parents: tip.into_iter().collect(),
            author: signatures.author,
            committer: signatures.committer.clone(),
            message: "agentic purge\n".to_owned(),
        };
        let commit = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = repository.name_object(&commit);
        repository.write_loose(&[next.objects, vec![commit]].concat())?;
        repository.sync_filesystem()?;
        let step = BranchMove { name: TOMBSTONES_REF.to_owned(), expect: tip, new };
        let committer = &signatures.committer;
        let moved = writer.with_refs(&[TOMBSTONES_REF], || {
            repository.move_ref(&step, committer, "agentic: purge")
        })?;
        match moved {
            RefMove::Moved => Ok(repository.sync_filesystem()?),
            RefMove::Lost { found } => Err(Error::Branch(BranchError::HeadMoved {
                branch: TOMBSTONES_REF.to_owned(),
                expected: tip.map(|tip| tip.to_string()).unwrap_or_default(),
                found,
            })),
        }
    }
}

/// Unites what tombstones say: each id that is gone, with what stands in its place.
pub fn replacements(tombstones: &[Tombstone]) -> BTreeMap<String, Option<String>> {
    let mut all = BTreeMap::new();
    for tombstone in tombstones {
        for id in &tombstone.purged {
            let new = tombstone.replaced.get(id).cloned();
            let known: &mut Option<String> = all.entry(id.clone()).or_default();
            *known = new.or_else(|| known.take());
        }
    }
    all
}

fn kind() -> Kind {
    Kind::parse("tombstone").expect("a valid name")
}

fn read(bytes: &[u8]) -> Result<Tombstone> {
    Ok(Tombstone::from_object(&Object::decode(bytes)?)?)
}
