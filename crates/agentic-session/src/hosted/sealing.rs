//! Sealing what another host has recorded.

use std::os::unix::fs::FileExt as _;

use agentic_model::{AgentName, Cid};
use agentic_replay::{HashedRecord, SessionId};

use super::{SealedRun, ToldLine};
use crate::folder::{Folder, damaged};
use crate::seal::{keep, record_parts, value_objects};
use crate::segment::Segments;
use crate::{Result, SessionSpace};

/// Records of a session, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedRecords {
    /// The session.
    pub session: SessionId,
    /// The position of the first.
    pub from: usize,
    /// The bytes of each.
    pub records: Vec<Vec<u8>>,
    /// The long values that they name, whole or in pieces.
    pub pieces: Vec<ValuePiece>,
    /// What the trace of the agent is told with them.
    pub told: Vec<ToldLine>,
}

/// A piece of a long value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuePiece {
    /// The value.
    pub cid: Cid,
    /// Where in it the piece begins.
    pub at: u64,
    /// How long the value is.
    pub length: u64,
    /// The piece.
    pub bytes: Vec<u8>,
}

/// Seals records into the notes of an agent, in the form that all sessions have, and tells its trace what
/// comes with them. The same bytes again change nothing; after a crash between the two the trace may be told
/// twice. Returns how many are sealed then.
///
/// # Errors
/// Fails with [`Diverged`](crate::error::SessionError::Diverged) when other bytes are sealed at one of the
/// positions, when records between are missing, and when they cannot be written.
pub fn seal_hosted(
    space: &SessionSpace,
    agent: &AgentName,
    hosted: &HostedRecords,
) -> Result<usize> {
    let id = &hosted.session;
    let (folder, _lock) = Folder::lock(space, id)?;
    for piece in &hosted.pieces {
        keep_piece(&folder, piece)?;
    }
    let segments = Segments::of(space, agent)?;
    let n_sealed = segments.n_records(id);
    if hosted.from > n_sealed {
        let reason = format!("records {n_sealed} to {} are not sealed", hosted.from);
        return Err(damaged(id, &reason));
    }
    let n_known = (n_sealed - hosted.from).min(hosted.records.len());
    if n_known > 0 {
        let sealed = SealedRun::of(space, id)?;
        for (at, record) in hosted.records[..n_known].iter().enumerate() {
            sealed.check(hosted.from + at, record)?;
        }
    }
    let fresh: Vec<HashedRecord> =
        hosted.records[n_known..].iter().cloned().map(HashedRecord::new).collect();
    let parts = record_parts(id, n_sealed, &fresh)?;
    let mut objects: Vec<_> = parts.into_iter().map(|part| part.object).collect();
    let kept = space.repository().notes(&agent.notes_ref())?.objects(None)?;
    let values = value_objects(&folder)?.into_iter();
    objects.extend(values.filter(|object| kept.binary_search(&object.cid()).is_err()));
    // What came with records that are sealed already was told before.
    if !fresh.is_empty() || hosted.records.is_empty() {
        tell(space, agent, &hosted.told)?;
    }
    if !objects.is_empty() {
        keep(space, agent, "seal", &objects)?;
        segments.remember(&objects);
    }
    Ok(n_sealed + fresh.len())
}

/// Tells the trace of an agent, if it is still there.
fn tell(space: &SessionSpace, agent: &AgentName, told: &[ToldLine]) -> Result<()> {
    if told.is_empty() || space.head(agent).is_err() {
        return Ok(());
    }
    Ok(space.add_entries(agent, told.iter().flat_map(ToldLine::entries).collect())?)
}

/// Keeps a piece of a long value; with the last one, the value.
fn keep_piece(folder: &Folder, piece: &ValuePiece) -> Result<()> {
    let ValuePiece { cid, at, length, bytes } = piece;
    let end = at + bytes.len() as u64;
    if *at == 0 && end == *length {
        return folder.keep_object(cid, bytes);
    }
    let path = folder.piece(cid);
    let io = |doing| agentic_store::Error::io(doing, &path);
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(io("create the folder of"))?;
    }
    let mut options = std::fs::OpenOptions::new();
    let opened = options.create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(io("open"))?;
    file.write_all_at(bytes, *at).map_err(io("write"))?;
    file.sync_all().map_err(io("sync"))?;
    if end < *length {
        return Ok(());
    }
    let whole = std::fs::read(&path).map_err(io("read"))?;
    // A repetition may come after the value is kept.
    if Cid::of(&whole) == *cid {
        folder.keep_object(cid, &whole)?;
    } else if folder.read_object(cid)?.is_none() {
        return Err(damaged(&folder.id, &format!("the pieces of `{cid}` have other bytes")));
    }
    Ok(std::fs::remove_file(&path).map_err(io("remove"))?)
}
