//! Setting a damaged journal aside without losing what can still be read of it.

use agentic_model::Instant;

use super::keep::{keep_logged_notes, keep_objects};
use super::replay::{replay, restore_branch};
use crate::ground::GroundStore;
use crate::journal::{self, JournalInheritance, JournalRecord, Salvage};
use crate::layout::Stream;
use crate::report::{RecoveryAct, StreamRecovery};
use crate::writer::{PendingOutcome, Writer};
use crate::{Error, Result};

/// Sets the journal of a stream aside if it is damaged. Its good records are carried out first, as far
/// as that was not done: what they hold is in git then, and what only a journal knows goes on to
/// count in the one that takes its place. Nothing if the journal is sound.
///
/// # Errors
/// Fails when the repository cannot be written, and when a newer version wrote the journal.
pub fn salvage<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
) -> Result<Option<Vec<StreamRecovery>>> {
    let layout = repository.layout();
    let mut writer = Writer::open_without_journal(repository, stream)?;
    let left_out = layout.left_out(stream);
    match journal::records(layout, stream) {
        Ok(_) if left_out.exists() => {
            drop(writer);
            return replay(repository, std::slice::from_ref(stream), now).map(Some);
        }
        Ok(_) => return Ok(None),
        Err(Error::Damage(_)) => {}
        Err(error) => return Err(error),
    }
    let found = journal::salvage(layout, stream)?;
    let Some(standing) = found.standing().cloned() else {
        // Nothing of it can be read. Whoever writes next begins it anew, and says so.
        return Ok(None);
    };
    repository.link_packs(stream)?;
    let mut mended = keep_objects(repository, &found.records)?;
    if left_out.exists() {
        // On the same boot nothing but a person can have taken back what was done.
        mended.extend(restore_branch(repository, stream, found.records.clone())?);
    }
    mended.extend(keep_logged_notes(repository, &found.records)?);
    let taken_before = finish(&mut writer, &found, standing.taken_before)?;
    let notes = match stream.agent() {
        Some(agent) => repository.find_ref(&agent.notes_ref())?,
        None => None,
    };
    let pending = found.entries_from(taken_before);
    let n_pending = pending.len() as u64;
    let (genesis, head, decisions) = (standing.genesis, standing.head, found.decisions());
    let heritage = JournalInheritance { genesis, head, notes, decisions, pending };
    let aside = writer.replace_journal(genesis, heritage, PendingOutcome::CarriedOver, now)?;
    mended.push(RecoveryAct::Salvaged { aside, n_lost: found.n_lost, n_pending });
    let recovered = |mended| StreamRecovery { stream: stream.clone(), mended };
    Ok(Some(mended.into_iter().map(recovered).collect()))
}

/// Finishes the write at the end, or gives it up; returns from which number on entries are pending.
fn finish<G: GroundStore>(
    writer: &mut Writer<'_, G>,
    found: &Salvage,
    taken_before: u64,
) -> Result<u64> {
    let last = found.records.last();
    let Some(transaction) = last.and_then(JournalRecord::transaction) else {
        return Ok(taken_before);
    };
    let is_given_up = !writer.finish_or_keep(transaction)?;
    match is_given_up && transaction.taken.count > 0 {
        true => Ok(transaction.taken.from),
        false => Ok(taken_before),
    }
}
