//! A log that holds what is to go is cut at once, whatever its age and whoever keeps logs: it would
//! write again what is missing.

use std::collections::BTreeMap;

use agentic_model::{Instant, Oid};

use super::keep::{keep, lacks};
use crate::ground::GroundStore;
use crate::journal::{self, CarriedState, EntryScrub};
use crate::writer::Writer;
use crate::{Error, Result, file};

/// Makes sure that git has everything that a log says, so that the log can be cut. The caller syncs
/// before it cuts.
///
/// # Errors
/// Fails when something is in the log alone.
pub fn ready_for_purge<G: GroundStore>(
    repository: &G,
    writer: &Writer<'_, G>,
    now: Instant,
) -> Result<()> {
    if writer.standing().is_none() {
        return Ok(());
    }
    let stream = writer.stream();
    keep(repository, stream, now)?;
    let records = journal::records(repository.layout(), stream)?;
    match lacks(repository, stream, &records)?.pop() {
        None => Ok(()),
        Some(lacking) => Err(Error::corrupt(lacking, "it cannot be read, and the log stays")),
    }
}

/// What becomes of a log that is cut.
pub struct PurgedLog<'l, 's> {
    /// Says what becomes of its pending entries.
    pub scrub: &'l mut EntryScrub<'s>,
    /// Commits that become others.
    pub moved: &'l BTreeMap<Oid, Oid>,
}

/// Cuts a log whole. Its pending entries stay, as `log` gives them.
///
/// # Errors
/// Fails when it cannot be written, and as `scrub` does. Whoever is killed calls this again.
pub fn cut_for_purge<G: GroundStore>(
    repository: &G,
    writer: &mut Writer<'_, G>,
    log: PurgedLog<'_, '_>,
    now: Instant,
) -> Result<()> {
    if writer.standing().is_none() {
        return Ok(());
    }
    let (layout, stream) = (repository.layout(), writer.stream().clone());
    let carried = CarriedState::from_records(&journal::records(layout, &stream)?, None);
    let pending = (log.scrub)(writer.pending_entries()?)?;
    let journal = writer.journal();
    journal.restart_apart(pending, carried, log.moved, now)?;
    journal.drop_segments_before(journal.segment())?;
    repository.release_packs(&stream)?;
    file::remove(&layout.dirty(&stream))?;
    file::remove(&layout.missing(&stream))
}
