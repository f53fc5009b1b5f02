//! Sealing what another host has recorded.

use agentic_model::{AgentName, Cid};
use agentic_replay::{HashedRecord, SessionId};

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
    /// The long values that they name.
    pub objects: Vec<Vec<u8>>,
}

/// Seals records into the notes of an agent, in the form that all sessions have. The same bytes again
/// change nothing. Returns how many are sealed then.
///
/// # Errors
/// Fails when other bytes are sealed at one of the positions, when records between are missing, and when
/// they cannot be written.
pub fn seal_hosted(
    space: &SessionSpace,
    agent: &AgentName,
    hosted: &HostedRecords,
) -> Result<usize> {
    let id = &hosted.session;
    let (folder, _lock) = Folder::lock(space, id)?;
    for bytes in &hosted.objects {
        folder.keep_object(&Cid::of(bytes), bytes)?;
    }
    let segments = Segments::of(space, agent)?;
    let n_sealed = segments.n_records(id);
    if hosted.from > n_sealed {
        let reason = format!("records {n_sealed} to {} are not sealed", hosted.from);
        return Err(damaged(id, &reason));
    }
    let n_known = (n_sealed - hosted.from).min(hosted.records.len());
    let sealed = if n_known == 0 { Vec::new() } else { segments.frames(id)? };
    let known = sealed.iter().skip(hosted.from);
    if let Some(at) = hosted.records.iter().zip(known).position(|(new, old)| new != old) {
        let reason = format!("record {} is not the one that was sealed", hosted.from + at);
        return Err(damaged(id, &reason));
    }
    let fresh: Vec<HashedRecord> =
        hosted.records[n_known..].iter().cloned().map(HashedRecord::new).collect();
    let parts = record_parts(id, n_sealed, &fresh)?;
    let mut objects: Vec<_> = parts.into_iter().map(|part| part.object).collect();
    let kept = space.repository().notes(&agent.notes_ref())?.objects(None)?;
    let values = value_objects(&folder)?.into_iter();
    objects.extend(values.filter(|object| kept.binary_search(&object.cid()).is_err()));
    if !objects.is_empty() {
        keep(space, agent, "seal", &objects)?;
        segments.remember(&objects);
    }
    Ok(n_sealed + fresh.len())
}
