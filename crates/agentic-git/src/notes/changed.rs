//! Reading notes as far as they changed, and many objects at once.

use std::collections::BTreeMap;

use agentic_model::{Cid, Kind, Oid};
use agentic_store::Result;

use super::NotesState;
use super::difference::{LeafChange, LeafName};
use crate::Repository;

/// The note of a commit, as it is after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedNote {
    /// The commit that it is about.
    pub commit: Oid,
    /// Its text; nothing if it is gone.
    pub text: Option<String>,
}

/// Something that notes keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptLeaf {
    /// An object.
    Object(Cid),
    /// The note of a commit.
    Note(Oid),
}

impl Repository {
    /// Lists the notes by which two notes commits differ; without an older one all notes.
    ///
    /// # Errors
    /// Fails when a commit or a tree is damaged.
    pub fn changed_notes(&self, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<ChangedNote>> {
        let (old, new) = (self.notes_at(old)?, self.notes_at(new)?);
        let mut notes = Vec::new();
        for change in self.leaf_changes(old.tree, new.tree)? {
            if let LeafName::Note(commit) = change.name {
                let text = change.new.map(|blob| new.text(blob)).transpose()?;
                notes.push(ChangedNote { commit, text });
            }
        }
        Ok(notes)
    }

    /// Lists what a notes commit keeps and an older one does not; without an older one all.
    ///
    /// # Errors
    /// Fails when a commit or a tree is damaged.
    pub fn kept_since(&self, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<KeptLeaf>> {
        let (old, new) = (self.notes_at(old)?, self.notes_at(new)?);
        let kept = |change: LeafChange| match change.name {
            LeafName::Object(_, cid) => Some(KeptLeaf::Object(cid)),
            LeafName::Note(commit) => Some(KeptLeaf::Note(commit)),
            LeafName::Other(_) => None,
        };
        let changes = self.leaf_changes(old.tree, new.tree)?.into_iter();
        Ok(changes.filter(|change| change.old.is_none()).filter_map(kept).collect())
    }
}

impl NotesState<'_> {
    /// Lists the objects of a type with the blobs that hold them; none is read.
    ///
    /// # Errors
    /// Fails when the notes tree is damaged.
    pub fn blobs_of(&self, kind: &Kind) -> Result<BTreeMap<Cid, Oid>> {
        Ok(self.object_blobs(Some(kind))?.into_iter().collect())
    }

    /// Reads an object from the blob that holds it, and checks its bytes against its id.
    ///
    /// # Errors
    /// Fails when the blob cannot be read, or is another object.
    pub fn object_in(&self, cid: Cid, blob: Oid) -> Result<Vec<u8>> {
        self.checked(cid, blob)
    }
}
