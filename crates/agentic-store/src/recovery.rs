//! Recovery: what every command does before its first read, and what a checkpoint makes needless.

mod absence;
mod checkpoint;
mod keep;
mod replay;
mod salvage;
pub(crate) mod sync_stamp;

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::boot::{self, Boot};
use crate::git::Repository;
use crate::journal;
use crate::layout::Stream;
use crate::lock::Lock;
use crate::writer::{Finding, Writer};
use crate::{Error, Result, follow};

pub use self::absence::{note_missing, note_missing_agent};
pub use self::checkpoint::{Checkpoint, KEEP_MILLIS, checkpoint, rest};
pub use self::keep::{keep, keep_notes, keep_objects_of, lacks};
pub use self::replay::replay;
pub use self::salvage::salvage;
pub use crate::follow::catch_up;

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
    /// The journal is damaged, so this stream alone was left out.
    LeftOut(String),
    /// The damaged journal was set aside, and what could be read of it goes on to count.
    Salvaged {
        /// Where the damaged journal is now.
        aside: PathBuf,
        /// How many of its records cannot be read.
        n_lost: u64,
        /// How many entries go on to be pending.
        n_pending: u64,
    },
    /// Notes and objects that had vanished from a notes ref, or could not be read there, are in it again.
    Notes {
        /// The ref.
        name: String,
        /// How many.
        count: usize,
    },
    /// A worktree was brought to where its branch is.
    Worktree(PathBuf),
    /// A worktree was brought to where its branch is, but for some files that were edited meanwhile.
    WorktreeInPart {
        /// The worktree.
        path: PathBuf,
        /// What was left as it is.
        left: Vec<String>,
    },
    /// The branch was moved forward to the newest acknowledged commit.
    Branch(Oid),
    /// The branch was gone and has been made again at the newest acknowledged commit.
    BranchMadeAgain(Oid),
    /// The branch had been moved or deleted on purpose; the newest acknowledged commit is kept aside.
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
        if layout.left_out(&stream).exists() {
            report.extend(replay::left_out(repository, &stream, now)?);
            continue;
        }
        match Writer::try_open(repository, &stream, now) {
            Ok(Some(writer)) => {
                report.extend(findings(&writer));
                // Somebody died before it could take the place of the journal that there still is.
                journal::discard(layout, &stream)?;
            }
            Ok(None) => {}
            // Whoever needs this stream is told again; nobody else is kept from working.
            Err(error) => {
                let mended = Mended::NotYet(error.to_string());
                report.push(Recovered { stream, mended });
            }
        }
    }
    report.extend(follow::catch_up(repository, now)?);
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

/// Lists what opening a writer found and mended.
pub fn findings(writer: &Writer<'_>) -> Vec<Recovered> {
    let recovered = |finding: &Finding| Recovered {
        stream: writer.stream().clone(),
        mended: Mended::Opened(finding.clone()),
    };
    writer.findings().iter().map(recovered).collect()
}
