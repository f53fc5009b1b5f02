//! The notes of a write: applied after what vanished from their ref since this stream's last write.

use agentic_model::Instant;

use super::Writer;
use crate::Result;
use crate::ground::{GroundStore, Upkeep};
use crate::journal::{self, ComparedNotes, JournalBody, LoggedEdits, NotesEdit, Transaction};

impl<G: GroundStore> Writer<'_, G> {
    /// Applies the notes edit of a write. Of its own ref a stream knows where it left it; what it
    /// writes into those of others is looked for when its log is cut.
    pub(super) fn apply_notes(&self, edit: &NotesEdit, transaction: &Transaction) -> Result<()> {
        let own = self.stream.agent().map(|agent| agent.notes_ref());
        if own.as_ref() != Some(&edit.name) {
            self.repository.apply_notes(edit, transaction, &Upkeep::NONE)?;
            return Ok(());
        }
        let compared = self.standing().and_then(|standing| standing.compared);
        let log = || self.logged(&edit.name);
        let upkeep = Upkeep { compared, log: &log };
        let applied = match self.repository.apply_notes(edit, transaction, &upkeep) {
            Err(error) if error.is_damage() => {
                self.restore_notes(&edit.name)?;
                self.repository.apply_notes(edit, transaction, &upkeep)
            }
            applied => applied,
        };
        self.compared.replace(Some(applied?));
        Ok(())
    }

    /// Notes that the last write is materialised. One without a notes edit has looked at nothing and
    /// repeats what the one before knew.
    pub(super) fn append_done(&mut self, now: Instant) -> Result<()> {
        let known = ComparedNotes { tip: self.journal().standing().compared, removed: Vec::new() };
        let compared = self.compared.take().unwrap_or(known);
        self.journal().append_done(compared, now)
    }

    /// Reads what the log says of this stream's own notes ref; nothing if it has no such write but
    /// the one that is under way.
    fn logged(&self, name: &str) -> Result<Option<LoggedEdits>> {
        let is_first = self.journal.as_ref().is_none_or(|journal| journal.last().seq <= 1);
        if is_first {
            return Ok(None);
        }
        let mut records = journal::records(self.repository.layout(), &self.stream)?;
        if records.last().is_some_and(|last| matches!(last.body, JournalBody::Transaction(_))) {
            records.pop();
        }
        Ok(journal::logged_edits(&records).remove(name))
    }

    /// Brings a notes ref that cannot be read back to the newest state that can.
    fn restore_notes(&self, name: &str) -> Result<()> {
        let edits = self.logged(name)?;
        let tips = edits.map_or(Vec::new(), |edits| edits.tips);
        self.repository.restore_notes_ref(name, &tips, tips.first().copied())
    }
}
