//! Making a decided write visible: objects, then the branch, then the notes.

use super::{Writer, names_of};
use crate::ground::{GroundStore, RefMove};
use crate::journal::Transaction;
use crate::recovery::sync_stamp;
use crate::{Result, fault, fold};

impl<G: GroundStore> Writer<'_, G> {
    /// Writes the objects, moves the branch and applies the notes edit. Doing it again is harmless.
    pub(super) fn make_visible(&self, transaction: &Transaction) -> Result<RefMove> {
        self.compared.take();
        let written = self.repository.write_objects(&transaction.objects)?;
        let names = names_of(transaction);
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        if let RefMove::Lost { found } =
            self.lock().announced(&names, || self.move_refs(transaction))?
        {
            return Ok(RefMove::Lost { found });
        }
        // A prune that ran between the first write and the move may have taken some away.
        self.repository.confirm_objects(&transaction.objects, &written)?;
        Ok(RefMove::Moved)
    }

    /// Moves the branch and applies the notes edit. Git's locks on them are given back on every way
    /// out.
    fn move_refs(&self, transaction: &Transaction) -> Result<RefMove> {
        fault::point("announced")?;
        if let Some(branch) = &transaction.branch {
            let why = format!("agentic: {}", transaction.verb);
            let moved = self.repository.move_ref(branch, &transaction.committer, &why)?;
            if let RefMove::Lost { found } = moved {
                let stands = match found {
                    Some(found) => self.repository.is_ancestor(branch.new, found)?,
                    None => false,
                };
                if !stands {
                    return Ok(RefMove::Lost { found });
                }
            } else if branch.expect.is_none() {
                sync_stamp::note_made(self.repository.layout(), &self.stream, branch.new);
            }
        }
        if let Some(notes) = &transaction.notes {
            self.apply_notes(notes, transaction)?;
            fault::point("after-notes")?;
        }
        if let Some(fold) = &transaction.fold {
            fold::carry(self.repository, fold, transaction)?;
        }
        Ok(RefMove::Moved)
    }
}
