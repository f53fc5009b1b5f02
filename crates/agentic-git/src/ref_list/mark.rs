//! Marks of refs: whoever sees the same one twice knows that nothing has changed.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use agentic_store::ground::PACKED_REFS;
use agentic_store::{Error, Result};

use super::{LISTINGS_MAX, PAUSE_MILLIS_MAX};
use crate::Repository;

/// How long a file must have been as it is. Clocks of filesystems tick every two seconds at the slowest.
const SETTLED_AFTER_SECONDS: i64 = 4;

/// Tells files of packed refs from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRefsMark([i64; 7]);

impl PackedRefsMark {
    /// Says whether the file is so old that another one would have another time.
    pub fn is_settled(&self) -> bool {
        let [.., changed, _] = self.0;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.is_ok_and(|now| now.as_secs().cast_signed() >= changed + SETTLED_AFTER_SECONDS)
    }

    /// Returns it as numbers.
    pub fn numbers(&self) -> [i64; 7] {
        self.0
    }

    /// Makes it of numbers.
    pub fn of_numbers(numbers: [i64; 7]) -> PackedRefsMark {
        PackedRefsMark(numbers)
    }
}

/// What changes whenever a ref does. Two that are alike were taken of the same refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefsMark([u8; 32]);

impl RefsMark {
    /// Returns it as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Repository {
    /// Marks all refs, without reading those that are packed one by one.
    ///
    /// # Errors
    /// Fails when the refs cannot be read.
    pub fn refs_mark(&self) -> Result<RefsMark> {
        for attempt in 1..LISTINGS_MAX {
            let before = self.packed_refs_mark();
            let marked = self.mark_refs_once(before);
            if marked.is_ok() && self.packed_refs_mark() == before {
                return marked;
            }
            std::thread::sleep(Duration::from_millis(attempt.min(PAUSE_MILLIS_MAX)));
        }
        self.mark_refs_once(self.packed_refs_mark())
    }

    fn mark_refs_once(&self, packed: Option<PackedRefsMark>) -> Result<RefsMark> {
        let mut hasher = blake3::Hasher::new();
        for number in packed.iter().flat_map(PackedRefsMark::numbers) {
            hasher.update(&number.to_le_bytes());
        }
        if packed.is_some_and(|packed| !packed.is_settled()) {
            // Another file may have come in its place that has the same numbers.
            let path = self.common_dir().join(PACKED_REFS);
            hasher.update(&std::fs::read(&path).map_err(Error::io("read", &path))?);
        }
        for name in self.loose_ref_names("refs/")? {
            let content = std::fs::read(self.common_dir().join(&name)).unwrap_or_default();
            for part in [name.as_bytes(), content.as_slice()] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        Ok(RefsMark(*hasher.finalize().as_bytes()))
    }

    /// Returns what changes whenever refs are packed; nothing where none are.
    pub fn packed_refs_mark(&self) -> Option<PackedRefsMark> {
        let found = std::fs::metadata(self.common_dir().join(PACKED_REFS)).ok()?;
        let (dev, ino) = (found.dev().cast_signed(), found.ino().cast_signed());
        let (modified, changed) =
            ([found.mtime(), found.mtime_nsec()], [found.ctime(), found.ctime_nsec()]);
        let length = found.len().cast_signed();
        let [at, nanos] = modified;
        Some(PackedRefsMark([dev, ino, length, at, nanos, changed[0], changed[1]]))
    }
}
