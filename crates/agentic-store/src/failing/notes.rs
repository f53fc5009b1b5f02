//! Notes that fail at a step.

use agentic_model::{Cid, Oid};

use super::FailingAt;
use crate::Result;
use crate::ground::{Notes, Upkeep};
use crate::journal::{Compared, NotesEdit, Transaction};

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
    ) -> Result<Compared> {
        self.step("apply-notes", |inner| inner.apply_notes(edit, write, upkeep))
    }

    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool> {
        self.step("unite-notes", |inner| inner.unite_notes(name, theirs, write))
    }

    fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()> {
        self.step("restore-notes-ref", |inner| inner.restore_notes_ref(name, tips, known))
    }
}
