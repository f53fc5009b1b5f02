//! The journals of archived agents: removed once git holds durably what they recorded.

use agentic_model::Instant;

use super::keep::lacks;
use crate::ground::GroundStore;
use crate::journal::{self, JournalBody, KEEP_MILLIS};
use crate::layout::{Layout, Stream};
use crate::{Error, Result, fault, file};

/// Removes what is kept beside git for an archived agent: its journal, whose records git holds
/// durably since the fold. A journal with young records stays, because a prune that began before
/// them may still be running. The caller holds the agent's lock.
///
/// # Errors
/// Fails when the journal cannot be read or moved.
pub fn drop_journal<G: GroundStore>(repository: &G, stream: &Stream, now: Instant) -> Result<()> {
    let layout = repository.layout();
    let is_recent = |at: Instant| now.millis() - at.millis() < KEEP_MILLIS;
    let mut is_young = false;
    journal::each_record(layout, stream, &mut |record| {
        is_young |= matches!(record.body, JournalBody::Transaction(_)) && is_recent(record.at);
    })?;
    if is_young || repository.keeps_logs() {
        return Ok(());
    }
    let records = journal::records(layout, stream)?;
    if !lacks(repository, stream, &records)?.is_empty() {
        // It is the only place that still has it.
        return Ok(());
    }
    repository.release_packs(stream)?;
    file::remove(&layout.dirty(stream))?;
    file::remove(&layout.missing(stream))?;
    journal::discard(layout, stream)?;
    file::remove(&layout.cache().join("facts").join(stream.to_string()))?;
    remove_journal(layout, stream)
}

/// Moves the journal away as a whole first, so that a crash never leaves a part of it.
fn remove_journal(layout: &Layout, stream: &Stream) -> Result<()> {
    let folder = layout.journal(stream);
    if !folder.exists() {
        return Ok(());
    }
    let aside = layout.aside(stream, "archived");
    let above = aside.parent().expect("folders aside stand in a folder");
    std::fs::create_dir_all(above).map_err(Error::io("create", above))?;
    match std::fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &aside)(error));
        }
        _ => {}
    }
    std::fs::rename(&folder, &aside).map_err(Error::io("set aside", &folder))?;
    fault::point("journal-retired")?;
    std::fs::remove_dir_all(&aside).map_err(Error::io("remove", &aside))
}
