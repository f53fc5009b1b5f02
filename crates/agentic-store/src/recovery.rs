//! Recovery: what every command does before its first read, and what a checkpoint makes needless.

mod replay;

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::boot::{self, Boot};
use crate::git::Repository;
use crate::journal::{self, Body, Record};
use crate::layout::Stream;
use crate::lock::Lock;
use crate::writer::{Finding, Writer};
use crate::{Error, Result};

pub use self::replay::replay;

/// Records younger than this stay when a log is cut, in milliseconds: ten minutes. A prune that
/// began before them may still be running.
pub(crate) const KEEP_MILLIS: i64 = 10 * 60 * 1000;

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
    /// Something unfinished could not be finished now; the next command tries again.
    NotYet(String),
    /// A lost or damaged object was written again.
    Object(Oid),
    /// The index of a worktree was made anew.
    Worktree(PathBuf),
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
    if boot::compare(layout)? == Boot::Other
        && let Err(error) = replay_after_restart(repository, now, &mut report)
    {
        if !error.is_read_only() {
            return Err(error);
        }
        // Whoever only reads is served as well as can be.
        let mended = Mended::NotYet(error.to_string());
        report.push(Recovered { stream: Stream::Space, mended });
    }
    for stream in streams_in(&layout.open_marks())? {
        match Writer::try_open(repository, &stream, now) {
            Ok(Some(writer)) => report.extend(findings(&writer)),
            Ok(None) => {}
            // Whoever needs this stream is told again; nobody else is kept from working.
            Err(error) => {
                let mended = Mended::NotYet(error.to_string());
                report.push(Recovered { stream, mended });
            }
        }
    }
    Ok(report)
}

fn replay_after_restart(
    repository: &Repository,
    now: Instant,
    report: &mut Vec<Recovered>,
) -> Result<()> {
    let layout = repository.layout();
    let _lock = Lock::take(&layout.space_lock("boot"), repository.common_dir())?;
    if boot::compare(layout)? == Boot::Other {
        let streams = streams_in(&layout.dirty_marks())?;
        report.extend(replay(repository, &streams, now)?);
        boot::record(layout)?;
    }
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
    let mut notes_name = None;
    for decided in replay::decided(records) {
        for object in &decided.transaction.objects {
            repository.verify_object(repository.name_object(object))?;
        }
        notes_name = decided.transaction.notes.map(|edit| edit.name).or(notes_name);
    }
    // Read before the sync, so that the sync covers it.
    let notes = notes_name.map(|name| repository.find_ref(&name)).transpose()?.flatten();
    repository.sync_filesystem()?;
    let pending = writer.pending_entries()?;
    let stream = writer.stream().clone();
    let journal = writer.journal();
    journal.restart(pending, notes, now)?;
    journal.drop_older_segments()?;
    repository.release_packs(&stream)?;
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
