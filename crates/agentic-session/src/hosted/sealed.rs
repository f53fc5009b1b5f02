//! What is sealed of a run of another host, beside what that host makes anew.

use agentic_replay::record::{AnswerRecord, Record};
use agentic_replay::{Body, Divergence, Path, SessionId};

use super::HostedStart;
use crate::error::SessionError;
use crate::folder::damaged;
use crate::segment::{self, Segments};
use crate::{Result, SessionSpace};

/// The sealed records of a session.
#[derive(Debug, Clone)]
pub struct SealedRun {
    id: SessionId,
    frames: Vec<Vec<u8>>,
}

impl SealedRun {
    /// Reads what is sealed of a session by now.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn of(space: &SessionSpace, id: &SessionId) -> Result<SealedRun> {
        Ok(SealedRun { id: *id, frames: segment::frames(space, id)? })
    }

    /// Says whether a record that was made anew is the one that is sealed at its position, if one is.
    ///
    /// # Errors
    /// Fails with [`SessionError::Diverged`] when another one is.
    pub fn check(&self, position: usize, made: &[u8]) -> Result<()> {
        let Some(sealed) = self.frames.get(position).filter(|sealed| *sealed != made) else {
            return Ok(());
        };
        let recorded = self.decoded(sealed)?;
        // What was purged is proved by the record behind it, which names its hash.
        if recorded.body.values().iter().any(|value| value.purged().is_some()) {
            return Ok(());
        }
        let divergence = Box::new(Divergence::of_records(&recorded, &self.decoded(made)?));
        Err(SessionError::Diverged { id: self.id.short(), divergence }.into())
    }

    /// Says whether one of the records from a position on answers a request.
    ///
    /// # Errors
    /// Fails when one of them is damaged.
    pub fn answers(&self, from: usize, path: &Path) -> Result<bool> {
        for frame in self.frames.iter().skip(from) {
            let record = self.decoded(frame)?;
            if matches!(&record.body, Body::Answer(AnswerRecord { path: at, .. }) if at == path) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn decoded(&self, bytes: &[u8]) -> Result<Record> {
        Record::from_bytes(bytes).map_err(|_| damaged(&self.id, "a record cannot be read"))
    }
}

/// Returns how many records of a session are sealed.
///
/// # Errors
/// Fails when the notes cannot be read.
pub fn n_sealed(space: &SessionSpace, start: &HostedStart) -> Result<usize> {
    Ok(Segments::of(space, &start.agent)?.n_records(&start.session))
}
