//! Ground state as git keeps it.

use std::path::Path;

use agentic_model::{Cid, Oid, Signature};

use super::{PackedBlobs, Repository};
use crate::ground::{
    AuthoredMessage, GroundStore, Notes, Objects, Packs, RefMove, RefName, Refs, Upkeep, Written,
};
use crate::journal::{BranchMove, Compared, GitObject, NotesEdit, Transaction};
use crate::layout::{Layout, Stream};
use crate::writer::WriterSlot;
use crate::{Result, trail};

impl Refs for Repository {
    fn find_ref(&self, name: &str) -> Result<Option<Oid>> {
        Repository::find_ref(self, name)
    }

    fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        Repository::list_refs(self, prefix)
    }

    fn move_ref(&self, step: &BranchMove, who: &Signature, why: &str) -> Result<RefMove> {
        Repository::move_ref(self, step, who, why)
    }

    fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
        Repository::delete_refs(self, refs)
    }

    fn check_place_of_ref(&self, name: &str) -> Result<()> {
        Repository::check_place_of_ref(self, name)
    }

    fn wait_for_ref_lock(&self, name: &str) -> Result<()> {
        Repository::wait_for_ref_lock(self, name)
    }
}

impl Objects for Repository {
    fn name_object(&self, object: &GitObject) -> Oid {
        Repository::name_object(self, object)
    }

    fn has_object(&self, oid: Oid) -> bool {
        Repository::has_object(self, oid)
    }

    fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        Repository::verify_object(self, oid)
    }

    fn read_message(&self, commit: Oid) -> Result<AuthoredMessage> {
        let text = self.read_commit(commit)?.message;
        Ok(AuthoredMessage { text, authored_at: self.authored_at(commit)? })
    }

    fn write_objects(&self, objects: &[GitObject]) -> Result<Written> {
        Repository::write_objects(self, objects)
    }

    fn confirm_objects(&self, objects: &[GitObject], written: &Written) -> Result<()> {
        Repository::confirm_objects(self, objects, written)
    }

    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        Repository::write_again(self, object, oid)
    }

    fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        Repository::is_ancestor(self, old, new)
    }
}

impl Notes for Repository {
    fn read_note(&self, name: &str, commit: Oid) -> Result<Option<String>> {
        self.notes(name)?.note(commit)
    }

    fn read_noted(&self, name: &str, cid: Cid) -> Result<Option<Vec<u8>>> {
        self.notes(name)?.object(cid)
    }

    fn apply_notes(
        &self,
        edit: &NotesEdit,
        write: &Transaction,
        upkeep: &Upkeep<'_>,
    ) -> Result<Compared> {
        Repository::apply_notes(self, edit, write, upkeep)
    }

    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool> {
        Repository::unite_notes(self, name, theirs, write)
    }

    fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()> {
        Repository::restore_notes_ref(self, name, tips, known)
    }
}

impl Packs for Repository {
    type Packed = PackedBlobs;

    fn keep_as_pack(&self, stream: &Stream, objects: &[GitObject]) -> Result<()> {
        Repository::keep_as_pack(self, stream, objects)
    }

    fn keep_blobs(&self, stream: &Stream, blobs: PackedBlobs) -> Result<()> {
        Repository::keep_blobs(self, stream, blobs)
    }

    fn link_packs(&self, stream: &Stream) -> Result<()> {
        Repository::link_packs(self, stream)
    }

    fn release_packs(&self, stream: &Stream) -> Result<()> {
        Repository::release_packs(self, stream)
    }
}

impl GroundStore for Repository {
    fn layout(&self) -> &Layout {
        Repository::layout(self)
    }

    fn common_dir(&self) -> &Path {
        Repository::common_dir(self)
    }

    fn slot(&self) -> &WriterSlot {
        &self.slot
    }

    fn hold(&self, stream: &Stream) {
        self.cache.hold(stream);
    }

    fn release(&self, stream: &Stream) {
        self.cache.release(stream);
    }

    fn sync_filesystem(&self) -> Result<()> {
        Repository::sync_filesystem(self)
    }

    fn check_unoccupied(&self, branch: &str) -> Result<()> {
        self.worktree_of(branch).map(drop)
    }

    fn note_trail(&self, write: &Transaction) -> Result<()> {
        trail::note(self, write)
    }
}
