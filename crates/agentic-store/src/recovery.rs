//! Recovery: what every command does before its first read, and what a checkpoint makes needless.

mod absence;
mod checkpoint;
mod keep;
mod purge;
mod replay;
mod retire;
mod salvage;
pub(crate) mod sync_stamp;
mod synced;

use agentic_model::Instant;

use crate::Result;
use crate::boot::{self, Boot};
use crate::ground::GroundStore;
use crate::journal;
use crate::layout::{Stream, streams_in};
use crate::lock::Lock;
use crate::report::{RecoveryAct, StreamRecovery};
use crate::writer::Writer;

pub use self::absence::{note_missing, note_missing_agent};
pub use self::checkpoint::{Checkpoint, checkpoint, rest};
pub use self::keep::{keep, keep_notes, keep_objects_of, lacks};
pub use self::purge::{PurgedLog, cut_for_purge, ready_for_purge};
pub use self::replay::replay;
pub use self::retire::drop_journal;
pub use self::salvage::salvage;
pub use self::synced::{make_durable, sync_beside_others};
pub use crate::journal::KEEP_MILLIS;

/// Brings everything to a sound state: finishes writes whose process died, and after a restart of
/// the machine replays every journal. Costs nothing but a look into a folder otherwise.
///
/// # Errors
/// Fails when a journal is damaged or the repository cannot be written.
pub fn recover<G: GroundStore>(repository: &G, now: Instant) -> Result<Vec<StreamRecovery>> {
    let layout = repository.layout();
    let mut report = Vec::new();
    if boot::compare(layout)? == Boot::Other
        && let Err(error) = replay_after_restart(repository, now, &mut report)
    {
        if !error.is_read_only() {
            return Err(error);
        }
        // Whoever only reads is served as well as can be.
        let mended = RecoveryAct::NotYet(error.to_string());
        report.push(StreamRecovery { stream: Stream::Space, mended });
    }
    for stream in streams_in(&layout.open_marks())? {
        if layout.left_out(&stream).exists() {
            report.extend(replay::left_out(repository, &stream, now)?);
            continue;
        }
        match Writer::try_open(repository, &stream, now) {
            Ok(Some(writer)) => {
                report.extend(writer.report());
                // Somebody died before it could take the place of the journal that there still is.
                journal::discard(layout, &stream)?;
            }
            Ok(None) => {}
            // Whoever needs this stream is told again; nobody else is kept from working.
            Err(error) => {
                let mended = RecoveryAct::NotYet(error.to_string());
                report.push(StreamRecovery { stream, mended });
            }
        }
    }
    report.extend(repository.catch_up(now)?);
    Ok(report)
}

fn replay_after_restart<G: GroundStore>(
    repository: &G,
    now: Instant,
    report: &mut Vec<StreamRecovery>,
) -> Result<()> {
    let layout = repository.layout();
    let _lock = Lock::take(&layout.space_lock("boot"), repository.common_dir())?;
    if boot::compare(layout)? == Boot::Other {
        let streams = streams_in(&layout.dirty_marks())?;
        tracing::info!(streams = streams.len(), "replaying journals after a restart");
        report.extend(replay(repository, &streams, now)?);
        boot::record(layout)?;
    }
    Ok(())
}

/// Lists all streams that have a journal.
///
/// # Errors
/// Fails when the folder of journals cannot be read.
pub fn all_streams<G: GroundStore>(repository: &G) -> Result<Vec<Stream>> {
    streams_in(&repository.layout().journals())
}
