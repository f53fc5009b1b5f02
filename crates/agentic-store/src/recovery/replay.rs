//! Replaying journals after the machine stopped, or onto an older copy of the repository.
//!
//! What the disk had is what was synced: journals and checkpoints. Everything written since may be
//! there, be gone, or be there in part. First the objects of all journals are put back, because one
//! agent may have forked from or merged another; then the branches; then the notes.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Instant, Oid};

use super::absence::BranchHistory;
use super::keep::{keep_notes, keep_objects};
use crate::error::{GitError, RefError};
use crate::file::{self, Persistence};
use crate::ground::{GroundStore, RefMove, RefState, Upkeep};
use crate::journal::{
    self, BranchMove, Journal, JournalBody, JournalRecord, NotesEdit, OpenedJournal, Transaction,
};
use crate::layout::{ARCHIVE_REF, PRIVATE_REF, Stream};
use crate::lock::Lock;
use crate::report::{Finding, RecoveryAct, StreamRecovery};
use crate::writer::{Writer, make_mark};
use crate::{Error, Result};

/// A write that was decided and not given up.
pub struct RecoveredWrite {
    /// The write.
    pub transaction: Transaction,
    /// Where its notes ref was before it.
    pub notes: Option<Oid>,
}

/// The edits of one notes ref that journals hold, oldest first in each journal.
#[derive(Default)]
struct Edits {
    /// A state that a checkpoint made durable.
    known: Option<Oid>,
    /// States that the ref has had.
    tips: Vec<Oid>,
}

/// Replays the journals of some streams. Worktrees follow by [`GroundStore::catch_up`] then.
///
/// # Errors
/// Fails when a journal is damaged or the repository cannot be written.
pub fn replay<G: GroundStore>(
    repository: &G,
    streams: &[Stream],
    now: Instant,
) -> Result<Vec<StreamRecovery>> {
    let mut report = Vec::new();
    let streams = &archive_first(streams);
    repository.set_damaged_aside()?;
    let mut streams = streams.clone();
    each_sound(repository, &mut streams, &mut report, |stream| {
        let _lock = lock(repository, stream)?;
        restore_objects(repository, stream)
    })?;
    let mut notes: BTreeMap<String, Edits> = BTreeMap::new();
    each_sound(repository, &mut streams, &mut report, |stream| {
        let _lock = lock(repository, stream)?;
        if is_archived(repository, stream)? {
            return Ok(Vec::new());
        }
        let records = journal::records(repository.layout(), stream)?;
        collect_notes(&records, &mut notes);
        Ok(restore_branch(repository, stream, records)?.into_iter().collect())
    })?;
    for (name, edits) in &notes {
        repository.restore_notes_ref(name, &edits.tips, edits.known)?;
    }
    each_sound(repository, &mut streams, &mut report, |stream| {
        let mut mended = {
            let _lock = lock(repository, stream)?;
            if !is_archived(repository, stream)? {
                apply_notes(repository, stream)?;
            }
            keep_notes(repository, stream, now)?
        };
        // Everything that opening a writer does can be done again, so this counts as replayed.
        file::remove(&repository.layout().left_out(stream))?;
        let writer = Writer::open(repository, stream, now)?;
        mended.extend(writer.findings().iter().cloned().map(RecoveryAct::Opened));
        drop(writer);
        note_worktree(repository, stream)?;
        Ok(mended)
    })?;
    Ok(report)
}

/// Takes a step of the replay for each stream. One whose journal turns out to be damaged, or whose
/// branch git holds, is reported and left out of later steps: nobody else has to wait for it.
fn each_sound<G: GroundStore>(
    repository: &G,
    streams: &mut Vec<Stream>,
    report: &mut Vec<StreamRecovery>,
    mut step: impl FnMut(&Stream) -> Result<Vec<RecoveryAct>>,
) -> Result<()> {
    let mut sound = Vec::new();
    for stream in streams.drain(..) {
        let mended = match step(&stream) {
            Ok(mended) => {
                sound.push(stream.clone());
                mended
            }
            // What is damaged beside the journal is told in the same way, and looked at again.
            Err(error @ (Error::Damage(_) | Error::Git(GitError::Layer { .. }))) => {
                leave_out(repository, &stream)?;
                vec![RecoveryAct::LeftOut(error.to_string())]
            }
            // Whoever needs the branch waits for git as well; the next command tries again.
            Err(error @ Error::Ref(RefError::Occupied { .. })) => {
                leave_out(repository, &stream)?;
                vec![RecoveryAct::NotYet(error.to_string())]
            }
            Err(error) => return Err(error),
        };
        report.extend(mended.into_iter().map(|mended| recovered(&stream, mended)));
    }
    *streams = sound;
    Ok(())
}

/// Notes that a stream has still to be replayed, so that every command says so until it is.
fn leave_out<G: GroundStore>(repository: &G, stream: &Stream) -> Result<()> {
    let layout = repository.layout();
    let note = layout.left_out(stream);
    std::fs::create_dir_all(layout.dirty_marks()).map_err(Error::io("create", &note))?;
    file::replace(&note, b"", Persistence::Synced)?;
    make_mark(&layout.open_mark(stream), &layout.lock(stream))
}

/// Replays a stream that was left out, if its journal can be read by now.
pub(super) fn left_out<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
) -> Result<Vec<StreamRecovery>> {
    match journal::records(repository.layout(), stream) {
        Ok(_) => replay(repository, std::slice::from_ref(stream), now),
        Err(error) => Ok(vec![recovered(stream, RecoveryAct::LeftOut(error.to_string()))]),
    }
}

/// Puts the archives before the agents: what they have by now does not come back from a journal.
fn archive_first(streams: &[Stream]) -> Vec<Stream> {
    let archives = [Stream::of_branch(ARCHIVE_REF), Stream::of_branch(PRIVATE_REF)];
    let (mut first, others): (Vec<Stream>, Vec<Stream>) =
        streams.iter().cloned().partition(|stream| archives.contains(stream));
    first.extend(others);
    first
}

/// Tells whether a stream is that of an agent which only the archive has.
fn is_archived<G: GroundStore>(repository: &G, stream: &Stream) -> Result<bool> {
    let Some(agent) = stream.agent() else { return Ok(false) };
    let is_gone = repository.ref_state(&agent.branch_ref()) == RefState::Absent;
    // An archive that cannot be read has nobody; the doctor tells.
    Ok(is_gone && repository.find_archived(agent).is_ok_and(|found| found.is_some()))
}

/// Keeps the transactions that were decided: those that were not given up.
pub fn decided(records: Vec<JournalRecord>) -> Vec<RecoveredWrite> {
    let mut kept: Vec<RecoveredWrite> = Vec::new();
    for record in records {
        let notes = record.standing.notes;
        match record.body {
            JournalBody::Transaction(transaction) => {
                kept.push(RecoveredWrite { transaction: *transaction, notes });
            }
            JournalBody::Abort { .. } => {
                kept.pop();
            }
            JournalBody::Open
            | JournalBody::Entry(_)
            | JournalBody::Done { .. }
            | JournalBody::Cut { .. } => {}
        }
    }
    kept
}

fn lock<G: GroundStore>(repository: &G, stream: &Stream) -> Result<Lock> {
    Lock::take(&repository.layout().lock(stream), repository.common_dir())
}

fn recovered(stream: &Stream, mended: RecoveryAct) -> StreamRecovery {
    StreamRecovery { stream: stream.clone(), mended }
}

fn restore_objects<G: GroundStore>(repository: &G, stream: &Stream) -> Result<Vec<RecoveryAct>> {
    let layout = repository.layout();
    let mut mended = Vec::new();
    repository.link_packs(stream)?;
    let opened = Journal::open_after_power_cut(layout, stream);
    if let Err(Error::Damage(_)) = &opened {
        // Other agents may have built upon what its good records hold.
        let _said_by_what_follows = restore_readable(repository, stream);
    }
    if let OpenedJournal::Ready { cut, .. } = opened?
        && cut > 0
    {
        mended.push(RecoveryAct::Opened(Finding::CutTail { bytes: cut }));
    }
    let records = journal::records(layout, stream);
    if records.is_err() {
        let _said_by_what_follows = restore_readable(repository, stream);
    }
    mended.extend(keep_objects(repository, &records?)?);
    Ok(mended)
}

/// Writes the objects again that the good records of a damaged journal hold.
fn restore_readable<G: GroundStore>(repository: &G, stream: &Stream) -> Result<()> {
    let found = journal::salvage(repository.layout(), stream)?;
    keep_objects(repository, &found.records).map(drop)
}

/// Removes locks of git on the refs of a journal. No git that runs now made them: a git that does
/// gives its lock back within the wait.
fn break_stale_locks<G: GroundStore>(repository: &G, decided: &[RecoveredWrite]) -> Result<()> {
    let branches = decided.iter().filter_map(|one| one.transaction.branch.as_ref());
    let notes = decided.iter().filter_map(|one| one.transaction.notes.as_ref());
    let names: BTreeSet<&str> = branches
        .map(|branch| branch.name.as_str())
        .chain(notes.map(|edit| edit.name.as_str()))
        .collect();
    for name in names {
        if repository.wait_for_ref_lock(name).is_err() {
            repository.break_ref_lock(name)?;
        }
    }
    Ok(())
}

/// Moves a branch forward along its recorded chain, if it stands on it and nobody moved it away.
///
/// # Errors
/// Fails with [`RefError::Occupied`] while git is about to move the branch by itself.
pub(super) fn restore_branch<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    records: Vec<JournalRecord>,
) -> Result<Option<RecoveryAct>> {
    let history = BranchHistory::of(&records);
    let decided = decided(records);
    break_stale_locks(repository, &decided)?;
    let steps: Vec<(&BranchMove, &Transaction)> = decided
        .iter()
        .filter_map(|one| Some((one.transaction.branch.as_ref()?, &one.transaction)))
        .collect();
    let Some((last, transaction)) = steps.last() else { return Ok(None) };
    let state = repository.ref_state(&last.name);
    let follows_chain = match state {
        RefState::Sound(found) if repository.is_ancestor(last.new, found)? => {
            repository.mend_log(&last.name)?;
            return Ok(None);
        }
        RefState::Sound(found) => {
            steps.iter().any(|(step, _)| step.expect == Some(found) || step.new == found)
                && !repository.moved_away(&last.name, last.new)
        }
        RefState::Absent => !history.is_deleted(repository.layout(), stream, &last.name),
        // Nothing better is known: where it was moved to cannot be read.
        RefState::Damaged => true,
    };
    if follows_chain {
        // Git moves a branch by itself when it is done rebasing or bisecting it, and undoes ours.
        repository.check_unoccupied(&last.name)?;
    }
    if state == RefState::Damaged {
        repository.forget_damaged_ref(&last.name)?;
    }
    repository.mend_log(&last.name)?;
    if follows_chain {
        let expect = repository.find_ref(&last.name)?;
        let step = BranchMove { name: last.name.clone(), expect, new: last.new };
        let moved = repository.move_ref(&step, &transaction.committer, "agentic: recover")?;
        let mended = match state {
            RefState::Absent => RecoveryAct::BranchMadeAgain(last.new),
            RefState::Sound(_) | RefState::Damaged => RecoveryAct::Branch(last.new),
        };
        return Ok((moved == RefMove::Moved).then_some(mended));
    }
    rescue(repository, stream, last, transaction)
}

/// Keeps the last commit of a branch that somebody moved away or deleted.
fn rescue<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    last: &BranchMove,
    transaction: &Transaction,
) -> Result<Option<RecoveryAct>> {
    let name = stream.rescue_ref(last.new);
    if repository.find_ref(&name)? == Some(last.new) {
        // Said when it was kept.
        return Ok(None);
    }
    let step = BranchMove { name: name.clone(), expect: None, new: last.new };
    let rescued = repository.move_ref(&step, &transaction.committer, "agentic: rescue")?;
    Ok((rescued == RefMove::Moved).then_some(RecoveryAct::Rescued { commit: last.new, name }))
}

fn collect_notes(records: &[JournalRecord], notes: &mut BTreeMap<String, Edits>) {
    let mut known = None;
    for record in records {
        if record.first().is_some() {
            known = record.standing.notes;
        }
        let JournalBody::Transaction(transaction) = &record.body else { continue };
        let Some(edit) = &transaction.notes else { continue };
        let edits = notes.entry(edit.name.clone()).or_default();
        edits.tips.extend(record.standing.notes);
        // Only an agent's own journal notes the state of its own ref when the log is cut.
        if known.is_some() && record.standing.notes == known {
            edits.known = known;
        }
    }
}

/// Applies the edits of a journal again to notes refs that the restart set back, write by write: so
/// the same commits and trees come to be that were lost, and those that were not stay whole.
fn apply_notes<G: GroundStore>(repository: &G, stream: &Stream) -> Result<()> {
    let records = journal::records(repository.layout(), stream)?;
    let compared = records.last().and_then(|record| record.standing.compared);
    let decided = decided(records);
    let mut by_name: BTreeMap<&str, Vec<(&NotesEdit, &RecoveredWrite)>> = BTreeMap::new();
    for one in &decided {
        if let Some(edit) = &one.transaction.notes {
            by_name.entry(&edit.name).or_default().push((edit, one));
        }
    }
    for (name, edits) in by_name {
        let tip = repository.find_ref(name)?;
        let has = |state: Option<Oid>| match (state, tip) {
            (Some(state), Some(tip)) => repository.is_ancestor(state, tip),
            _ => Ok(false),
        };
        // What a person did to notes since then is not undone.
        if has(compared)? {
            continue;
        }
        let mut first = 0;
        for (number, (_, one)) in edits.iter().enumerate().rev() {
            if has(one.notes)? {
                first = number;
                break;
            }
        }
        for (edit, one) in &edits[first..] {
            repository.apply_notes(edit, &one.transaction, &Upkeep::NONE)?;
        }
    }
    Ok(())
}

/// Notes that the worktree has to follow which the last write with a worktree names: git does not
/// sync an index, and neither do we. It follows when nobody holds a lock that others wait for.
fn note_worktree<G: GroundStore>(repository: &G, stream: &Stream) -> Result<()> {
    let _lock = lock(repository, stream)?;
    let decided = decided(journal::records(repository.layout(), stream)?);
    match decided.iter().rev().find(|one| one.transaction.follow.is_some()) {
        Some(last) => repository.note_trail(&last.transaction),
        None => Ok(()),
    }
}
