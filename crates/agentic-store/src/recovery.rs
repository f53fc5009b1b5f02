//! Recovery: what every command does before its first read, and what a checkpoint makes needless.

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::boot::{self, Boot};
use crate::git::{RefMove, Repository};
use crate::journal::{self, Body, BranchMove, Record, Transaction};
use crate::layout::Stream;
use crate::lock::Lock;
use crate::writer::{Finding, Writer};
use crate::{Error, Result};

/// Records younger than this stay when a log is cut, in milliseconds: ten minutes. A prune that
/// began before them may still be running.
const KEEP_MILLIS: i64 = 10 * 60 * 1000;

/// What recovery did to one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The stream.
    pub stream: Stream,
    /// What was done.
    pub mended: Mended,
}

/// One thing that recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mended {
    /// Opening the stream's writer found something.
    Opened(Finding),
    /// A lost or damaged object was written again.
    Object(Oid),
    /// The branch was moved forward to the newest acknowledged commit.
    Branch(Oid),
    /// The branch had been moved on purpose; the newest acknowledged commit is kept aside.
    Rescued {
        /// The commit.
        commit: Oid,
        /// The ref that keeps it.
        name: String,
    },
}

/// Brings everything to a sound state: finishes writes whose process died, and after a restart of
/// the machine replays every journal. Costs nothing but a look into a folder otherwise.
///
/// # Errors
/// Fails when a journal is damaged or the repository cannot be written.
pub fn recover(repository: &Repository, now: Instant) -> Result<Vec<Recovered>> {
    let layout = repository.layout();
    let mut report = Vec::new();
    if boot::compare(layout)? == Boot::Other {
        let _lock = Lock::take(&layout.space_lock("boot"), repository.common_dir())?;
        if boot::compare(layout)? == Boot::Other {
            for stream in streams_in(&layout.dirty_marks())? {
                replay(repository, &stream, now, &mut report)?;
            }
            boot::record(layout)?;
        }
    }
    for stream in streams_in(&layout.open_marks())? {
        if let Some(writer) = Writer::try_open(repository, &stream, now)? {
            report.extend(findings(&writer));
        }
    }
    Ok(report)
}

/// Replays one journal after the machine was restarted, or at `agentic doctor --replay`.
///
/// # Errors
/// Fails when the journal is damaged or the repository cannot be written.
pub fn replay(
    repository: &Repository,
    stream: &Stream,
    now: Instant,
    report: &mut Vec<Recovered>,
) -> Result<()> {
    let mut done = |mended| report.push(Recovered { stream: stream.clone(), mended });
    let lock = Lock::take(&repository.layout().lock(stream), repository.common_dir())?;
    if let journal::Opened::Ready { cut, .. } = journal::Journal::open(repository.layout(), stream)?
        && cut > 0
    {
        done(Mended::Opened(Finding::CutTail { bytes: cut }));
    }
    let decided = decided(journal::records(repository.layout(), stream)?);
    for transaction in &decided {
        for object in &transaction.objects {
            if repository.restore_object(object)? {
                done(Mended::Object(repository.name_object(object)));
            }
        }
    }
    if let Some(mended) = restore_branch(repository, stream, &decided)? {
        done(mended);
    }
    if let Some(edit) = decided.iter().find_map(|transaction| transaction.notes.as_ref()) {
        repository.restore_notes_ref(&edit.name)?;
    }
    for transaction in &decided {
        if let Some(edit) = &transaction.notes {
            repository.apply_notes(edit, transaction)?;
        }
    }
    drop(lock);
    let writer = Writer::open(repository, stream, now)?;
    report.extend(findings(&writer));
    Ok(())
}

/// What a checkpoint did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Everything recorded is durable in git; the log was cut.
    Cut,
    /// Nothing could be cut yet: records are too young, or a collection is running.
    TooEarly,
    /// There is nothing to cut.
    Nothing,
}

/// Makes everything that a stream's journal records durable in git itself, and cuts the log.
///
/// # Errors
/// Fails when an object is damaged or the disk is; nothing is cut then.
pub fn checkpoint(
    writer: &mut Writer<'_>,
    repository: &Repository,
    now: Instant,
) -> Result<Checkpoint> {
    let layout = repository.layout();
    let records = journal::records(layout, writer.stream())?;
    let is_write = |record: &Record| matches!(record.body, Body::Transaction(_));
    if !records.iter().any(is_write) || writer.last_body().is_none() {
        return Ok(Checkpoint::Nothing);
    }
    let youngest = records.iter().filter(|record| is_write(record)).map(|record| record.at).max();
    let is_young = youngest.is_some_and(|at| now.millis() - at.millis() < KEEP_MILLIS);
    let keep = repository.config("agentic.keepLog").is_some_and(|value| value == "true");
    if is_young || keep || repository.common_dir().join("gc.pid").exists() {
        return Ok(Checkpoint::TooEarly);
    }
    for transaction in decided(records) {
        for object in &transaction.objects {
            repository.restore_object(object)?;
        }
    }
    repository.sync_filesystem()?;
    let pending = writer.pending_entries()?;
    let stream = writer.stream().clone();
    let journal = writer.journal();
    journal.restart(pending, now)?;
    journal.drop_older_segments()?;
    let mark = layout.dirty(&stream);
    match std::fs::remove_file(&mark) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", &mark)(error))
        }
        _ => Ok(Checkpoint::Cut),
    }
}

/// Lists all streams that have a journal.
///
/// # Errors
/// Fails when the folder of journals cannot be read.
pub fn all_streams(repository: &Repository) -> Result<Vec<Stream>> {
    streams_in(&repository.layout().journals())
}

fn streams_in(dir: &PathBuf) -> Result<Vec<Stream>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", dir)(error)),
    };
    let mut streams = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("read", dir))?.file_name();
        streams.extend(name.to_str().and_then(Stream::parse));
    }
    streams.sort();
    Ok(streams)
}

fn findings(writer: &Writer<'_>) -> Vec<Recovered> {
    let recovered = |finding: &Finding| Recovered {
        stream: writer.stream().clone(),
        mended: Mended::Opened(finding.clone()),
    };
    writer.findings().iter().map(recovered).collect()
}

/// Keeps the transactions that were decided: those that were not given up.
fn decided(records: Vec<Record>) -> Vec<Transaction> {
    let mut kept: Vec<Transaction> = Vec::new();
    for record in records {
        match record.body {
            Body::Transaction(transaction) => kept.push(*transaction),
            Body::Abort { .. } => {
                kept.pop();
            }
            Body::Open | Body::Entry(_) | Body::Done => {}
        }
    }
    kept
}

/// Moves a branch forward along its recorded chain, if it stands on it and nobody moved it away.
fn restore_branch(
    repository: &Repository,
    stream: &Stream,
    decided: &[Transaction],
) -> Result<Option<Mended>> {
    let steps: Vec<(&BranchMove, &Transaction)> = decided
        .iter()
        .filter_map(|transaction| Some((transaction.branch.as_ref()?, transaction)))
        .collect();
    let Some((last, transaction)) = steps.last() else { return Ok(None) };
    let found = repository.find_sound_commit(&last.name)?;
    if let Some(found) = found
        && repository.is_ancestor(last.new, found)?
    {
        return Ok(None);
    }
    let on_chain = steps.iter().any(|(step, _)| step.expect == found || Some(step.new) == found);
    if on_chain && !repository.moved_away(&last.name, last.new)? {
        let step = BranchMove { name: last.name.clone(), expect: found, new: last.new };
        repository.forget_damaged_ref(&last.name)?;
        let moved = repository.move_ref(&step, &transaction.committer, "agentic: recover")?;
        return Ok((moved == RefMove::Moved).then_some(Mended::Branch(last.new)));
    }
    let name = format!("refs/agentic/rescued/{stream}/{}", last.new);
    let step = BranchMove { name: name.clone(), expect: None, new: last.new };
    let rescued = repository.move_ref(&step, &transaction.committer, "agentic: rescue")?;
    Ok((rescued == RefMove::Moved).then_some(Mended::Rescued { commit: last.new, name }))
}
