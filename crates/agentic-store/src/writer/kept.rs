//! What a writer leaves for the next one.
//!
//! Who writes again and again needs not find, open and read the same lock file and journal each
//! time. Nothing of it is trusted: the next writer takes the lock first, and then looks whether the
//! journal is still the one that everybody appends to, and what others have appended.

use std::cell::{Cell, RefCell};

use crate::journal::Journal;
use crate::layout::Stream;
use crate::lock::LockFile;

/// What the last writer of a repository has left open.
#[derive(Debug)]
pub(crate) struct KeptWriter {
    /// Whose lock and journal it is.
    pub stream: Stream,
    /// The lock, which is not held.
    pub lock: LockFile,
    /// The journal, which others may have written to since.
    pub journal: Option<Journal>,
}

/// Where writers of one repository leave something for each other.
#[derive(Debug, Default)]
pub struct WriterSlot {
    /// What the last writer has left open.
    kept: RefCell<Option<KeptWriter>>,
    /// Whether a write has asked for a round of checkpoints.
    is_rest_due: Cell<bool>,
}

impl WriterSlot {
    /// Keeps what a writer has left open, instead of what the one before has.
    pub(crate) fn keep(&self, kept: KeptWriter) {
        self.kept.replace(Some(kept));
    }

    /// Takes what the last writer has left open, if it wrote to this stream and its lock still is
    /// where others look for it.
    pub(crate) fn take_kept(&self, stream: &Stream) -> Option<KeptWriter> {
        let kept = self.kept.borrow_mut().take_if(|kept| kept.stream == *stream)?;
        kept.lock.is_in_place().then_some(kept)
    }

    /// Tells whether the last writer of a stream had to wait for others, so that the next will too.
    pub fn is_contended(&self, stream: &Stream) -> bool {
        let kept = self.kept.borrow();
        kept.as_ref().is_some_and(|kept| kept.stream == *stream && kept.lock.has_waited())
    }

    /// Notes that a round of checkpoints would be in place.
    pub(crate) fn ask_for_rest(&self) {
        self.is_rest_due.set(true);
    }

    /// Tells whether a write since the last call has asked for a round of checkpoints.
    pub fn take_rest_due(&self) -> bool {
        self.is_rest_due.take()
    }
}
