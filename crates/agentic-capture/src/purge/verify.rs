//! The proof: every object of the database and every file is read, and what was read is counted.

use std::collections::BTreeSet;

use agentic_git::DatabaseCount;
use agentic_model::{Cid, Instant};
use agentic_space::Space;

use super::hit::PurgeHit;
use super::scan::{attribute, scan};
use super::seam::seams;
use super::{PurgeAim, PurgeError};

/// How often all is read again because others wrote meanwhile.
pub const VERIFY_TRIES: usize = 3;

/// What was read, and where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeProof {
    /// How git counts the objects, which is how many were read.
    pub count: DatabaseCount,
    /// How many bytes were read.
    pub n_bytes: u64,
    /// How many files were read.
    pub n_files: u64,
    /// Where it was found.
    pub hits: Vec<PurgeHit>,
    /// When.
    pub at: Instant,
}

/// Finds what stands in two objects of a trace together.
pub(super) fn across_seams(space: &Space, aim: &PurgeAim) -> Result<Vec<PurgeHit>, PurgeError> {
    let history = space.purge_history()?;
    let found = seams(space, &history, aim, "")?;
    let hit = |cid: Cid| PurgeHit { object: Some(cid.to_string()), ..PurgeHit::default() };
    Ok(found.into_keys().map(hit).collect())
}

/// Reads all there is.
///
/// # Errors
/// Fails with [`PurgeError::Busy`] when git counts other objects each time, and when something cannot
/// be read.
pub fn verify(space: &Space, aim: &PurgeAim) -> Result<PurgeProof, PurgeError> {
    let repository = space.repository();
    for _ in 0..VERIFY_TRIES {
        let count = repository.count_objects()?;
        let scanned = scan(space, aim)?;
        let (loose, packed) = repository.list_objects()?;
        let listed = DatabaseCount { loose: loose.len() as u64, packed: packed.len() as u64 };
        let each: BTreeSet<_> = loose.into_iter().chain(packed).collect();
        // Objects of another repository that this one borrows were read too.
        let is_whole = scanned.n_objects >= each.len() as u64;
        if count != listed || !is_whole || repository.count_objects()? != count {
            continue;
        }
        let mut hits = attribute(space, &scanned.objects)?;
        hits.extend(scanned.files);
        hits.extend(across_seams(space, aim)?);
        hits.sort();
        let (n_bytes, n_files) = (scanned.n_bytes, scanned.n_files);
        return Ok(PurgeProof { count, n_bytes, n_files, hits, at: space.now() });
    }
    Err(PurgeError::Busy)
}
