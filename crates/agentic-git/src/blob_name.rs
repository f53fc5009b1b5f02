//! The name of a blob whose bytes come one part after the other.

use gix::hash::{Hasher, Kind, ObjectId};

use agentic_store::{Error, Result};

/// Hashes a blob part by part. Its size stands before its bytes in what is hashed, so it must be
/// known at the beginning.
pub(super) struct BlobName {
    hasher: Hasher,
    /// How many bytes are still to come; nothing once there were more than were announced.
    n_left: Option<u64>,
}

impl BlobName {
    /// Begins the name of a blob of so many bytes.
    pub fn of_size(kind: Kind, size: u64) -> BlobName {
        let mut hasher = gix::hash::hasher(kind);
        hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, size));
        BlobName { hasher, n_left: Some(size) }
    }

    /// Takes in a part. Returns its length; none of one with which there are too many bytes, since
    /// there is no use in going on.
    pub fn update(&mut self, part: &[u8]) -> usize {
        self.n_left = self.n_left.and_then(|left| left.checked_sub(part.len() as u64));
        if self.n_left.is_none() {
            return 0;
        }
        self.hasher.update(part);
        part.len()
    }

    /// Returns the name; nothing if there were more bytes than were announced, or fewer.
    ///
    /// # Errors
    /// Fails when the bytes are an attack on the hash.
    pub fn finish(self) -> Result<Option<ObjectId>> {
        if self.n_left != Some(0) {
            return Ok(None);
        }
        self.hasher.try_finalize().map(Some).map_err(Error::git("hash a blob"))
    }
}
