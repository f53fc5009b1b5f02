//! What a writer leaves open for the next one of the same stream.
//!
//! Who writes again and again needs not find, open and read the same lock file and journal each
//! time. Nothing of it is trusted: the next writer takes the lock first, and then looks whether the
//! journal is still the one that everybody appends to, and what others have appended.

use crate::journal::Journal;
use crate::layout::Stream;
use crate::lock::LockFile;

/// What the last writer of a repository has left open.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Whose lock and journal it is.
    pub stream: Stream,
    /// The lock, which is not held.
    pub lock: LockFile,
    /// The journal, which others may have written to since.
    pub journal: Option<Journal>,
}
