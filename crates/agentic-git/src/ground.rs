//! Ground state as git keeps it.

use std::path::Path;

use agentic_model::{AgentName, Cid, Instant, Oid, Person, Signature};

use super::{PackedBlobs, Repository};
use crate::{follow, trail};
use agentic_store::Result;
use agentic_store::ground::{
    AuthoredMessage, GroundStore, Notes, NotesGap, ObjectStore, Packs, RefMove, RefName, RefState,
    Refs, Upkeep, WrittenObjects,
};
use agentic_store::journal::{
    ArchivedAgent, BranchMove, ComparedNotes, GitObject, LoggedEdits, NotesEdit, Transaction,
};
use agentic_store::layout::{Layout, Stream};
use agentic_store::report::StreamRecovery;
use agentic_store::writer::WriterSlot;

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

    fn break_ref_lock(&self, name: &str) -> Result<()> {
        Repository::break_ref_lock(self, name)
    }

    fn ref_state(&self, name: &str) -> RefState {
        Repository::ref_state(self, name)
    }

    fn forget_damaged_ref(&self, name: &str) -> Result<()> {
        Repository::forget_damaged_ref(self, name)
    }

    fn moved_away(&self, name: &str, from: Oid) -> bool {
        Repository::moved_away(self, name, from)
    }

    fn mend_log(&self, name: &str) -> Result<()> {
        Repository::mend_log(self, name)
    }
}

impl ObjectStore for Repository {
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

    fn write_objects(&self, objects: &[GitObject]) -> Result<WrittenObjects> {
        Repository::write_objects(self, objects)
    }

    fn confirm_objects(&self, objects: &[GitObject], written: &WrittenObjects) -> Result<()> {
        Repository::confirm_objects(self, objects, written)
    }

    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        Repository::write_again(self, object, oid)
    }

    fn set_damaged_aside(&self) -> Result<()> {
        self.set_damaged_packs_aside()?;
        self.set_damaged_objects_aside()
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
    ) -> Result<ComparedNotes> {
        Repository::apply_notes(self, edit, write, upkeep)
    }

    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool> {
        Repository::unite_notes(self, name, theirs, write)
    }

    fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()> {
        Repository::restore_notes_ref(self, name, tips, known)
    }

    fn has_whole_notes(&self, tip: Oid, known: Option<Oid>) -> bool {
        self.notes_at(Some(tip)).is_ok_and(|notes| notes.is_whole(known))
    }

    fn notes_gap(&self, name: &str, tip: Option<Oid>, edits: &LoggedEdits) -> Result<NotesGap> {
        Repository::notes_gap(self, name, tip, edits)
    }

    fn vanished_notes(
        &self,
        name: &str,
        tip: Option<Oid>,
        upkeep: &Upkeep<'_>,
    ) -> Result<NotesGap> {
        self.vanished(name, &self.notes_at(tip)?, upkeep)
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

    fn sweep_replaced_packs(&self) -> Result<()> {
        Repository::sweep_replaced_packs(self)
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

    fn catch_up(&self, now: Instant) -> Result<Vec<StreamRecovery>> {
        follow::catch_up(self, now)
    }

    /// A person may want to keep them, and a collection that runs may not see yet what they name.
    fn keeps_logs(&self) -> bool {
        self.config("agentic.keepLog").is_some_and(|value| value == "true")
            || self.common_dir().join("gc.pid").exists()
    }

    fn committer(&self) -> Result<Person> {
        Repository::committer(self)
    }

    fn find_archived(&self, agent: &AgentName) -> Result<Option<ArchivedAgent>> {
        Ok(self.archive_entry(agent)?.map(|entry| entry.archived))
    }
}

#[cfg(test)]
mod tests;
