//! Keeping in git what a log has: before it is cut, after a restart, and when the doctor comes by.
//!
//! What git lacks of it, or has in a way that cannot be read, is written again from the records. So
//! nothing is cut that could not be made again.

use agentic_model::{AgentName, Instant, Oid, Signature};

use crate::Result;
use crate::ground::{GroundStore, NotesGap, RefState, Upkeep};
use crate::journal::{
    self, Content, CopiedContent, EditFold, GitKind, GitObject, JournalBody, JournalRecord,
    LoggedEdits, Transaction,
};
use crate::layout::Stream;
use crate::lock::Lock;
use crate::report::RecoveryAct;

/// Where the notes of an agent are looked for.
enum NotesPlace {
    /// In its ref.
    Ref,
    /// In the state that the archive keeps: its ref is not made again.
    Archive(Option<Oid>),
    /// Nowhere: a person deleted the agent with its notes.
    Nowhere,
}

/// Writes the objects of a log again that git lacks, under the lock of its stream.
///
/// # Errors
/// Fails when the journal is damaged or the repository cannot be written.
pub fn keep_objects_of<G: GroundStore>(
    repository: &G,
    stream: &Stream,
) -> Result<Vec<RecoveryAct>> {
    let _lock = Lock::take(&repository.layout().lock(stream), repository.common_dir())?;
    repository.link_packs(stream)?;
    keep_objects(repository, &journal::records(repository.layout(), stream)?)
}

/// Writes again what git lacks of a log. The caller holds the stream's lock.
///
/// # Errors
/// Fails when the journal is damaged, the repository cannot be written, and when something is gone
/// that the log does not have either.
pub fn keep<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
) -> Result<Vec<RecoveryAct>> {
    let records = journal::records(repository.layout(), stream)?;
    repository.link_packs(stream)?;
    let mut mended = keep_objects(repository, &records)?;
    mended.extend(keep_notes(repository, stream, now)?);
    Ok(mended)
}

/// Tells what git lacks of some records, the newest of their log or all of it. Mends nothing.
///
/// # Errors
/// Fails when refs cannot be read.
pub fn lacks<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    records: &[JournalRecord],
) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for object in logged_objects(records) {
        let oid = repository.name_object(object);
        if repository.verify_object(oid).is_err() {
            lacking.push(format!("object {oid} of {}", stream.subject()));
        }
    }
    for (name, edits) in journal::logged_edits(records) {
        let tip = match place(repository, &name)? {
            NotesPlace::Ref => repository.find_ref(&name),
            NotesPlace::Archive(notes) => Ok(notes),
            NotesPlace::Nowhere => continue,
        };
        let is_closed = tip.is_ok_and(|tip| {
            is_whole(repository, tip, &edits)
                && repository.notes_gap(&name, tip, &edits).is_ok_and(|gap| gap.is_closed())
        });
        if !is_closed {
            lacking.push(format!("what {} wrote into `{name}`", stream.subject()));
        }
    }
    Ok(lacking)
}

/// Writes the objects of records again that are gone or damaged.
pub(super) fn keep_objects<G: GroundStore>(
    repository: &G,
    records: &[JournalRecord],
) -> Result<Vec<RecoveryAct>> {
    let mut mended = Vec::new();
    for object in logged_objects(records) {
        let oid = repository.name_object(object);
        if repository.verify_object(oid).is_err() {
            repository.write_again(object, oid)?;
            mended.push(RecoveryAct::Object(oid));
        }
    }
    Ok(mended)
}

/// Puts the notes edits of a log back that are gone from their refs, or cannot be read there, and
/// what vanished from the stream's own ref that the log does not have any more. The caller holds the
/// stream's lock.
///
/// # Errors
/// Fails as [`keep`] does.
pub fn keep_notes<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
) -> Result<Vec<RecoveryAct>> {
    let mut mended = Vec::new();
    // Most often nothing is lacking, and a long log need not be held to see that.
    if !has_logged_notes(repository, stream)? {
        let records = journal::records(repository.layout(), stream)?;
        mended = keep_logged_notes(repository, &records)?;
    }
    mended.extend(keep_older_notes(repository, stream, now)?);
    Ok(mended)
}

/// Tells whether git has all that a log says of notes, without holding the bytes of objects. The caller
/// holds the stream's lock.
fn has_logged_notes<G: GroundStore>(repository: &G, stream: &Stream) -> Result<bool> {
    let name = |bytes: &[u8]| {
        repository.name_object(&GitObject { kind: GitKind::Blob, bytes: bytes.to_vec() })
    };
    let mut fold = EditFold::new(CopiedContent::Named(&name));
    journal::each_record(repository.layout(), stream, &mut |record| fold.add(record))?;
    for (name, edits) in fold.finish() {
        match place(repository, &name)? {
            NotesPlace::Ref => {}
            NotesPlace::Archive(_) | NotesPlace::Nowhere => continue,
        }
        let tip = repository.find_ref(&name);
        let is_closed = tip.is_ok_and(|tip| {
            is_whole(repository, tip, &edits)
                && repository.notes_gap(&name, tip, &edits).is_ok_and(|gap| gap.is_closed())
        });
        if !is_closed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Does the same with what some records say: all that there are of a log.
///
/// # Errors
/// Fails as [`keep`] does.
pub(super) fn keep_logged_notes<G: GroundStore>(
    repository: &G,
    records: &[JournalRecord],
) -> Result<Vec<RecoveryAct>> {
    let mut mended = Vec::new();
    for (name, edits) in journal::logged_edits(records) {
        match place(repository, &name)? {
            NotesPlace::Ref => {}
            NotesPlace::Archive(_) | NotesPlace::Nowhere => continue,
        }
        let gap = match gap_of(repository, &name, &edits) {
            Err(error) if error.is_damage() => {
                restore_ref(repository, &name, &edits)?;
                gap_of(repository, &name, &edits)?
            }
            gap => gap?,
        };
        if !gap.is_closed() {
            repository.apply_notes(&gap.edit, &edits.last, &Upkeep::NONE)?;
            let count = gap.edit.notes.len() + gap.edit.objects.len();
            mended.push(RecoveryAct::Notes { name, count });
        }
    }
    Ok(mended)
}

/// Puts back what vanished from a stream's own ref since its last write: an editor may stay open
/// longer than a log.
fn keep_older_notes<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
) -> Result<Option<RecoveryAct>> {
    let Some(agent) = stream.agent() else { return Ok(None) };
    let name = agent.notes_ref();
    let last = journal::tail(repository.layout(), stream)?;
    let compared = last.and_then(|record| record.standing.compared);
    let tip = repository.find_ref(&name)?;
    if compared.is_none()
        || tip == compared
        || !matches!(place(repository, &name)?, NotesPlace::Ref)
    {
        return Ok(None);
    }
    let upkeep = Upkeep { compared, log: &|| Ok(None) };
    let gap = repository.vanished_notes(&name, tip, &upkeep)?;
    if gap.is_closed() {
        return Ok(None);
    }
    let who = Signature { person: repository.committer()?, at: now, offset_minutes: 0 };
    let write = Transaction::keeping("doctor", &name, Vec::new(), (who.clone(), who));
    repository.apply_notes(&gap.edit, &write, &Upkeep::NONE)?;
    let count = gap.edit.notes.len() + gap.edit.objects.len();
    Ok(Some(RecoveryAct::Notes { name, count }))
}

fn gap_of<G: GroundStore>(repository: &G, name: &str, edits: &LoggedEdits) -> Result<NotesGap> {
    let tip = repository.find_ref(name)?;
    if !is_whole(repository, tip, edits) {
        restore_ref(repository, name, edits)?;
    }
    repository.notes_gap(name, repository.find_ref(name)?, edits)
}

/// Tells whether a state can be read with its history, as far back as the log goes.
fn is_whole<G: GroundStore>(repository: &G, tip: Option<Oid>, edits: &LoggedEdits) -> bool {
    tip.is_none_or(|tip| repository.has_whole_notes(tip, edits.tips.first().copied()))
}

/// Brings a notes ref back to the newest state that can be read. Blobs that the log has are not what
/// keeps one from it.
fn restore_ref<G: GroundStore>(repository: &G, name: &str, edits: &LoggedEdits) -> Result<()> {
    for blob in blobs(edits) {
        let oid = repository.name_object(&blob);
        if repository.verify_object(oid).is_err() {
            repository.write_again(&blob, oid)?;
        }
    }
    repository.restore_notes_ref(name, &edits.tips, edits.tips.first().copied())
}

fn blobs(edits: &LoggedEdits) -> impl Iterator<Item = GitObject> {
    let notes = edits.notes.values().map(|note| note.text.as_bytes().to_vec());
    let objects = edits.objects.values().filter_map(|object| match &object.content {
        Content::Inline(bytes) => Some(bytes.clone()),
        Content::Stored(_) => None,
    });
    notes.chain(objects).map(|bytes| GitObject { kind: GitKind::Blob, bytes })
}

/// Lists the objects of writes that were not given up.
fn logged_objects(records: &[JournalRecord]) -> impl Iterator<Item = &GitObject> {
    let after = records.iter().skip(1).map(Some).chain([None]);
    let is_given_up = |after: Option<&JournalRecord>| {
        after.is_some_and(|after| matches!(after.body, JournalBody::Abort { .. }))
    };
    records.iter().zip(after).flat_map(move |(record, after)| match &record.body {
        JournalBody::Transaction(transaction) if !is_given_up(after) => {
            transaction.objects.as_slice()
        }
        JournalBody::Transaction(_)
        | JournalBody::Open
        | JournalBody::Entry(_)
        | JournalBody::Done { .. }
        | JournalBody::Abort { .. }
        | JournalBody::Cut { .. } => &[],
    })
}

fn place<G: GroundStore>(repository: &G, name: &str) -> Result<NotesPlace> {
    let agent = AgentName::from_notes_ref(name);
    let Some(agent) = agent else { return Ok(NotesPlace::Ref) };
    if repository.ref_state(&agent.branch_ref()) != RefState::Absent {
        return Ok(NotesPlace::Ref);
    }
    // An archive that cannot be read has nobody; the doctor tells.
    if let Ok(Some(archived)) = repository.find_archived(&agent) {
        return Ok(NotesPlace::Archive(archived.notes));
    }
    match repository.ref_state(name) {
        RefState::Absent => Ok(NotesPlace::Nowhere),
        RefState::Sound(_) | RefState::Damaged => Ok(NotesPlace::Ref),
    }
}
