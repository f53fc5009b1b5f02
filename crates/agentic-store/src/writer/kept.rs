//! What a writer leaves open for the next one of the same stream.
//!
//! Who writes again and again needs not find, open and read the same lock file and journal each
//! time. Nothing of it is trusted: the next writer takes the lock first, and then looks whether the
//! journal is still the one that everybody appends to, and what others have appended.

use super::Writer;
use crate::journal::{self, Journal};
use crate::layout::Stream;
use crate::lock::{Lock, LockFile};

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

impl Drop for Writer<'_> {
    /// Gives the lock back, and keeps open what the next write of this stream begins with.
    fn drop(&mut self) {
        self.repository.release(&self.stream);
        let (lock, mut journal) = (self.lock.take(), self.journal.take());
        if lock.is_some() && journal.take_if(|journal| journal.is_unused()).is_some() {
            // What it was begun for failed, and nobody was told of anything.
            journal::remove_begun(self.repository.layout(), &self.stream);
        }
        if let Some(lock) = lock.and_then(Lock::give_back) {
            self.repository.keep(Kept { stream: self.stream.clone(), lock, journal });
        }
    }
}
