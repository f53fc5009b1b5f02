//! Replaying journals after the machine stopped, or onto an older copy of the repository.
//!
//! What the disk had is what was synced: journals and checkpoints. Everything written since may be
//! there, be gone, or be there in part. First the objects of all journals are put back, because one
//! agent may have forked from or merged another; then the branches; then the notes.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Instant, Oid};

use super::{Mended, Recovered, findings};
use crate::git::{ARCHIVE_REF, RefMove, RefState, Repository};
use crate::journal::{self, Body, BranchMove, Journal, NotesEdit, Opened, Record, Transaction};
use crate::layout::Stream;
use crate::lock::Lock;
use crate::writer::{Finding, Writer, rescue_ref};
use crate::{Result, follow};

/// A write that was decided and not given up.
pub struct Decided {
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

/// Replays the journals of some streams. Worktrees follow by [`catch_up`](super::catch_up) then.
///
/// # Errors
/// Fails when a journal is damaged or the repository cannot be written.
pub fn replay(repository: &Repository, streams: &[Stream], now: Instant) -> Result<Vec<Recovered>> {
    let mut report = Vec::new();
    let streams = &archive_first(streams);
    repository.set_damaged_packs_aside()?;
    repository.set_damaged_objects_aside()?;
    for stream in streams {
        let _lock = lock(repository, stream)?;
        let mended = restore_objects(repository, stream)?;
        report.extend(mended.into_iter().map(|mended| recovered(stream, mended)));
    }
    let mut notes: BTreeMap<String, Edits> = BTreeMap::new();
    for stream in streams {
        let _lock = lock(repository, stream)?;
        if is_archived(repository, stream)? {
            continue;
        }
        let records = journal::records(repository.layout(), stream)?;
        collect_notes(&records, &mut notes);
        let decided = decided(records);
        break_stale_locks(repository, &decided)?;
        let mended = restore_branch(repository, stream, &decided)?;
        report.extend(mended.map(|mended| recovered(stream, mended)));
    }
    for (name, edits) in &notes {
        repository.restore_notes_ref(name, &edits.tips, edits.known)?;
    }
    for stream in streams {
        if !is_archived(repository, stream)? {
            apply_notes(repository, stream)?;
        }
        let writer = Writer::open(repository, stream, now)?;
        report.extend(findings(&writer));
        drop(writer);
        note_worktree(repository, stream)?;
    }
    Ok(report)
}

/// Puts the archive before the agents: what it has by now does not come back from a journal.
fn archive_first(streams: &[Stream]) -> Vec<Stream> {
    let archive = Stream::of_branch(ARCHIVE_REF);
    let (mut first, others): (Vec<Stream>, Vec<Stream>) =
        streams.iter().cloned().partition(|stream| *stream == archive);
    first.extend(others);
    first
}

/// Tells whether a stream is that of an agent which only the archive has.
fn is_archived(repository: &Repository, stream: &Stream) -> Result<bool> {
    let Some(agent) = stream.agent() else { return Ok(false) };
    let is_gone = repository.ref_state(&agent.branch_ref()) == RefState::Absent;
    // An archive that cannot be read has nobody; the doctor tells.
    Ok(is_gone && repository.archive_entry(agent).is_ok_and(|entry| entry.is_some()))
}

/// Keeps the transactions that were decided: those that were not given up.
pub fn decided(records: Vec<Record>) -> Vec<Decided> {
    let mut kept: Vec<Decided> = Vec::new();
    for record in records {
        let notes = record.standing.notes;
        match record.body {
            Body::Transaction(transaction) => {
                kept.push(Decided { transaction: *transaction, notes });
            }
            Body::Abort { .. } => {
                kept.pop();
            }
            Body::Open | Body::Entry(_) | Body::Done | Body::Cut { .. } => {}
        }
    }
    kept
}

fn lock(repository: &Repository, stream: &Stream) -> Result<Lock> {
    Lock::take(&repository.layout().lock(stream), repository.common_dir())
}

fn recovered(stream: &Stream, mended: Mended) -> Recovered {
    Recovered { stream: stream.clone(), mended }
}

fn restore_objects(repository: &Repository, stream: &Stream) -> Result<Vec<Mended>> {
    let mut mended = Vec::new();
    if let Opened::Ready { cut, .. } = Journal::open_after_power_cut(repository.layout(), stream)?
        && cut > 0
    {
        mended.push(Mended::Opened(Finding::CutTail { bytes: cut }));
    }
    repository.link_packs(stream)?;
    for decided in decided(journal::records(repository.layout(), stream)?) {
        for object in &decided.transaction.objects {
            let oid = repository.name_object(object);
            if !repository.has_object(oid) {
                repository.write_loose(std::slice::from_ref(object))?;
                mended.push(Mended::Object(oid));
            }
        }
    }
    Ok(mended)
}

/// Removes locks of git on the refs of a journal. No git that runs now made them: a git that does
/// gives its lock back within the wait.
fn break_stale_locks(repository: &Repository, decided: &[Decided]) -> Result<()> {
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
fn restore_branch(
    repository: &Repository,
    stream: &Stream,
    decided: &[Decided],
) -> Result<Option<Mended>> {
    let steps: Vec<(&BranchMove, &Transaction)> = decided
        .iter()
        .filter_map(|one| Some((one.transaction.branch.as_ref()?, &one.transaction)))
        .collect();
    let Some((last, transaction)) = steps.last() else { return Ok(None) };
    let follows_chain = match repository.ref_state(&last.name) {
        RefState::Sound(found) if repository.is_ancestor(last.new, found)? => {
            repository.mend_log(&last.name)?;
            return Ok(None);
        }
        RefState::Sound(found) => {
            steps.iter().any(|(step, _)| step.expect == Some(found) || step.new == found)
                && !repository.moved_away(&last.name, last.new)
        }
        RefState::Absent => steps.iter().any(|(step, _)| step.expect.is_none()),
        // Nothing better is known: where it was moved to cannot be read.
        RefState::Damaged => {
            repository.forget_damaged_ref(&last.name)?;
            true
        }
    };
    repository.mend_log(&last.name)?;
    if follows_chain {
        let expect = repository.find_ref(&last.name)?;
        let step = BranchMove { name: last.name.clone(), expect, new: last.new };
        let moved = repository.move_ref(&step, &transaction.committer, "agentic: recover")?;
        return Ok((moved == RefMove::Moved).then_some(Mended::Branch(last.new)));
    }
    let name = rescue_ref(stream, last.new);
    let step = BranchMove { name: name.clone(), expect: None, new: last.new };
    let rescued = repository.move_ref(&step, &transaction.committer, "agentic: rescue")?;
    Ok((rescued == RefMove::Moved).then_some(Mended::Rescued { commit: last.new, name }))
}

fn collect_notes(records: &[Record], notes: &mut BTreeMap<String, Edits>) {
    let mut known = None;
    for record in records {
        if record.first().is_some() {
            known = record.standing.notes;
        }
        let Body::Transaction(transaction) = &record.body else { continue };
        let Some(edit) = &transaction.notes else { continue };
        let edits = notes.entry(edit.name.clone()).or_default();
        edits.tips.extend(record.standing.notes);
        // Only an agent's own journal notes the state of its own ref when the log is cut.
        if known.is_some() && record.standing.notes == known {
            edits.known = known;
        }
    }
}

/// Applies the edits that a notes ref may have lost: those from the newest state on that it still
/// descends from. What somebody did to older notes since is left alone.
fn apply_notes(repository: &Repository, stream: &Stream) -> Result<()> {
    let _lock = lock(repository, stream)?;
    let decided = decided(journal::records(repository.layout(), stream)?);
    let mut by_name: BTreeMap<&str, Vec<(&NotesEdit, &Decided)>> = BTreeMap::new();
    for one in &decided {
        if let Some(edit) = &one.transaction.notes {
            by_name.entry(&edit.name).or_default().push((edit, one));
        }
    }
    for (name, edits) in by_name {
        let mut first = 0;
        if let Some(tip) = repository.find_ref(name)? {
            for (number, (_, one)) in edits.iter().enumerate().rev() {
                let has_it = match one.notes {
                    Some(before) => repository.is_ancestor(before, tip)?,
                    None => false,
                };
                if has_it {
                    first = number;
                    break;
                }
            }
        }
        for (edit, one) in &edits[first..] {
            repository.apply_notes(edit, &one.transaction)?;
        }
    }
    Ok(())
}

/// Notes that the worktree has to follow which the last write with a worktree names: git does not
/// sync an index, and neither do we. It follows when nobody holds a lock that others wait for.
fn note_worktree(repository: &Repository, stream: &Stream) -> Result<()> {
    let _lock = lock(repository, stream)?;
    let decided = decided(journal::records(repository.layout(), stream)?);
    match decided.iter().rev().find(|one| one.transaction.follow.is_some()) {
        Some(last) => follow::note(repository, &last.transaction),
        None => Ok(()),
    }
}
