//! What an earlier process had decided and not finished.

use agentic_model::Instant;

use super::{Writer, remove_mark};
use crate::Result;
use crate::ground::{GroundStore, RefMove};
use crate::journal::{BranchMove, Journal, JournalRecord, Transaction};
use crate::report::Finding;

impl<G: GroundStore> Writer<'_, G> {
    /// Rolls an unfinished write of an earlier process forward, or gives it up.
    pub(super) fn finish_earlier(&mut self, now: Instant) -> Result<()> {
        let last = self.journal.as_ref().map(Journal::last);
        let unfinished = last.and_then(JournalRecord::transaction).cloned();
        if let Some(transaction) = unfinished {
            // Whoever wrote the record may have died before the disk had it.
            self.journal().sync()?;
            self.check_free(&transaction)?;
            match self.make_visible(&transaction)? {
                RefMove::Moved => {
                    self.repository.note_trail(&transaction)?;
                    self.append_done(now)?;
                    let commit = transaction.branch.as_ref().map(|branch| branch.new);
                    self.found.push(Finding::RolledForward { commit });
                }
                RefMove::Lost { found } => {
                    let kept = self.keep_aside(&transaction)?;
                    self.journal().append_abort(found, now)?;
                    self.found.push(Finding::GaveUp { found, kept });
                }
            }
        }
        remove_mark(&self.repository.layout().open_mark(&self.stream));
        Ok(())
    }

    /// Checks that git is not about to move the branch of a write that has still to be moved.
    fn check_free(&self, transaction: &Transaction) -> Result<()> {
        let Some(branch) = &transaction.branch else { return Ok(()) };
        let is_to_move =
            branch.expect.is_some() && self.repository.find_ref(&branch.name)? == branch.expect;
        match is_to_move {
            true => self.repository.check_unoccupied(&branch.name),
            false => Ok(()),
        }
    }

    /// Carries out a write that no journal which can be opened ends with, or keeps its commit aside;
    /// tells whether it was carried out.
    pub(crate) fn finish_or_keep(&self, transaction: &Transaction) -> Result<bool> {
        self.check_free(transaction)?;
        match self.make_visible(transaction)? {
            RefMove::Moved => {
                self.repository.note_trail(transaction)?;
                Ok(true)
            }
            RefMove::Lost { .. } => {
                self.keep_aside(transaction)?;
                Ok(false)
            }
        }
    }

    /// Keeps the commit of a write that is given up: whoever made it may have been told that it was
    /// decided, if only making it visible failed.
    fn keep_aside(&self, transaction: &Transaction) -> Result<Option<String>> {
        let Some(branch) = &transaction.branch else { return Ok(None) };
        let name = self.stream.rescue_ref(branch.new);
        let step = BranchMove { name: name.clone(), expect: None, new: branch.new };
        let _there_already = self.repository.move_ref(&step, &transaction.committer, "rescue")?;
        Ok(Some(name))
    }
}
