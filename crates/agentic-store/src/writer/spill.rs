//! Spilling: objects that are too large for a record go into a pack beside the journal.

use super::Writer;
use crate::journal::{Content, GitKind, GitObject, Transaction};
use crate::{Result, fault};

/// The most that a record holds of objects, in bytes: 8 MiB.
const RECORD_OBJECT_BYTES_MAX: usize = 8 << 20;

impl Writer<'_> {
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
