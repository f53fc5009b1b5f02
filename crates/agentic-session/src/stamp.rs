//! How a folder of sessions looked when it was listed.
//!
//! The sessions stand in 256 folders by the first digits of their ids, those that are over in others.
//! Whatever comes into such a folder, whoever puts it there, changes the time of the folder, and
//! nobody can set one of its times by hand. A folder that was changed just now is listed once more:
//! within one tick of the clock it could have changed again.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use agentic_replay::SessionId;
use agentic_store::Layout;

use crate::Result;
use crate::folder::sessions_in;

/// How many folders there are for sessions: for those that are not over, and for those that are.
pub const SHARDS: usize = 2 * 256;
/// How long a folder must have been as it is. Clocks of filesystems tick every two seconds at the
/// slowest.
const SETTLED_AFTER: Duration = Duration::from_secs(3);
/// How many numbers a stamp has.
const WORDS: usize = 6;
/// How long a stamp is, in bytes.
pub const STAMP_BYTES: usize = 8 * WORDS;

/// A folder of sessions whose ids begin alike.
#[derive(Debug, Clone)]
pub struct Shard {
    /// Where it is.
    path: PathBuf,
    /// The first byte of the ids.
    pub first: u8,
}

/// What tells a folder from what it was before anything was put into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderStamp([i64; WORDS]);

impl Shard {
    /// Returns the folders of both kinds, in the order in which they are counted.
    pub fn all(layout: &Layout) -> impl Iterator<Item = Shard> {
        let roots = [layout.open_sessions(), layout.ended_sessions()];
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        roots.into_iter().flat_map(move |root| {
            (0..=u8::MAX).map(move |first| {
                let mut name = String::with_capacity(2);
                name.push(digit(first >> 4));
                name.push(digit(first & 15));
                Shard { path: root.join(name), first }
            })
        })
    }

    /// Lists the sessions in it.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionId>> {
        sessions_in(&self.path)
    }
}

impl FolderStamp {
    /// Reads that of a folder; nothing if there is no such folder.
    ///
    /// # Errors
    /// Fails when it cannot be looked at.
    pub fn of(shard: &Shard) -> Result<Option<FolderStamp>> {
        match std::fs::metadata(&shard.path) {
            Ok(found) => Ok(Some(FolderStamp::from_metadata(&found))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(agentic_store::Error::io("read", &shard.path)(error).into()),
        }
    }

    fn from_metadata(found: &Metadata) -> FolderStamp {
        let (dev, ino) = (found.dev().cast_signed(), found.ino().cast_signed());
        let modified = [found.mtime(), found.mtime_nsec()];
        FolderStamp([modified[0], modified[1], found.ctime(), found.ctime_nsec(), dev, ino])
    }

    /// Says whether the folder has been as it is for long enough.
    pub fn is_settled(&self) -> bool {
        let [modified, _, changed, ..] = self.0;
        let latest = u64::try_from(modified.max(changed)).unwrap_or_default() + 1;
        // Filesystems keep times beyond what the clock can count to.
        let latest = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(latest));
        let since = latest.and_then(|latest| SystemTime::now().duration_since(latest).ok());
        since.is_some_and(|since| since >= SETTLED_AFTER)
    }

    /// Returns it as bytes.
    pub fn to_bytes(self) -> [u8; STAMP_BYTES] {
        let mut bytes = [0; STAMP_BYTES];
        for (at, word) in self.0.into_iter().enumerate() {
            bytes[8 * at..8 * (at + 1)].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads it from bytes.
    pub fn from_bytes(bytes: &[u8; STAMP_BYTES]) -> FolderStamp {
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = i64::from_le_bytes(*bytes);
        }
        FolderStamp(words)
    }
}

#[cfg(test)]
mod tests;
