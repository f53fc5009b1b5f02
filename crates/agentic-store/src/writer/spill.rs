//! Spilling: objects that are too large for a record go into a pack beside the journal.

use super::Writer;
use crate::ground::GroundStore;
use crate::journal::{Content, GitKind, GitObject, RECORD_OBJECT_BYTES_MAX, Transaction};
use crate::{Result, fault};

impl<G: GroundStore> Writer<'_, G> {
    /// Brings blobs that are packed already, for the next write.
    pub fn bring(&mut self, blobs: Option<G::Packed>) {
        self.brought.extend(blobs);
    }

    /// Makes the packs that were brought parts of the log, before the record that needs them.
    pub(super) fn keep_brought(&mut self) -> Result<()> {
        for blobs in std::mem::take(&mut self.brought) {
            self.repository.keep_blobs(&self.stream, blobs)?;
            fault::point("blobs-kept")?;
        }
        Ok(())
    }

    /// Keeps a record short: what is too large for it becomes a pack beside the journal.
    pub(super) fn spill(&self, mut transaction: Transaction) -> Result<Transaction> {
        if transaction.object_bytes() <= RECORD_OBJECT_BYTES_MAX {
            return Ok(transaction);
        }
        let (commits, mut others): (Vec<GitObject>, Vec<GitObject>) =
            std::mem::take(&mut transaction.objects)
                .into_iter()
                .partition(|object| object.kind == GitKind::Commit);
        transaction.objects = commits;
        for object in transaction.notes.iter_mut().flat_map(|notes| &mut notes.objects) {
            if let Content::Inline(bytes) = &mut object.content {
                let blob = GitObject { kind: GitKind::Blob, bytes: std::mem::take(bytes) };
                object.content = Content::Stored(self.repository.name_object(&blob));
                others.push(blob);
            }
        }
        self.repository.keep_as_pack(&self.stream, &others)?;
        fault::point("spilled")?;
        Ok(transaction)
    }
}
