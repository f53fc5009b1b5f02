//! Notes that fail at a step.

use agentic_model::{Cid, Oid};

use super::FailingAt;
use crate::Result;
use crate::ground::{Notes, NotesGap, Upkeep};
use crate::journal::{ComparedNotes, LoggedEdits, NotesEdit, Transaction};

impl<G: Notes> Notes for FailingAt<G> {
    fn read_note(&self, name: &str, commit: Oid) -> Result<Option<String>> {
        self.step("read-note", |inner| inner.read_note(name, commit))
    }

    fn read_noted(&self, name: &str, cid: Cid) -> Result<Option<Vec<u8>>> {
        self.step("read-noted", |inner| inner.read_noted(name, cid))
    }

    fn apply_notes(
        &self,
        edit: &NotesEdit,
        write: &Transaction,
        upkeep: &Upkeep<'_>,
    ) -> Result<ComparedNotes> {
        self.step("apply-notes", |inner| inner.apply_notes(edit, write, upkeep))
    }

    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool> {
        self.step("unite-notes", |inner| inner.unite_notes(name, theirs, write))
    }

    fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()> {
        self.step("restore-notes-ref", |inner| inner.restore_notes_ref(name, tips, known))
    }

    fn has_whole_notes(&self, tip: Oid, known: Option<Oid>) -> bool {
        self.inner.has_whole_notes(tip, known)
    }

    fn notes_gap(&self, name: &str, tip: Option<Oid>, edits: &LoggedEdits) -> Result<NotesGap> {
        self.step("notes-gap", |inner| inner.notes_gap(name, tip, edits))
    }

    fn vanished_notes(
        &self,
        name: &str,
        tip: Option<Oid>,
        upkeep: &Upkeep<'_>,
    ) -> Result<NotesGap> {
        self.step("vanished-notes", |inner| inner.vanished_notes(name, tip, upkeep))
    }
}
