//! The room that is kept behind the end of a log, for what will have to be appended whatever becomes
//! of the disk.

use std::fs::File;
use std::io::Result;

use crate::os;

/// The room behind the end of the segment that is appended to.
#[derive(Debug, Default)]
pub(super) struct LogRoom {
    /// How many bytes are kept.
    n_bytes: u64,
    /// Whether the file has room behind its end, even if none of it is kept any more.
    is_reserved: bool,
}

impl LogRoom {
    /// Tells whether room stands in this segment, so that it cannot be left.
    pub(super) fn is_kept(&self) -> bool {
        self.is_reserved
    }

    /// Keeps so many bytes more behind an end.
    pub(super) fn keep(&mut self, file: &File, end: u64, n_bytes: u64) -> Result<()> {
        let n_bytes = self.n_bytes.saturating_add(n_bytes);
        os::reserve(file, end, n_bytes)?;
        (self.n_bytes, self.is_reserved) = (n_bytes, true);
        Ok(())
    }

    /// Lets what is appended next have so many bytes of it.
    pub(super) fn give(&mut self, n_bytes: u64) {
        self.n_bytes = self.n_bytes.saturating_sub(n_bytes);
    }

    /// Gives all of it back.
    pub(super) fn give_back(&mut self, file: &File, end: u64) {
        self.n_bytes = 0;
        if std::mem::take(&mut self.is_reserved) {
            // Room that stays is used by what is appended later.
            let _ = file.set_len(end);
        }
    }

    /// Makes room for what is appended now, before what is kept.
    pub(super) fn reserve_before(&self, file: &File, end: u64, n_bytes: u64) -> Result<()> {
        match os::reserve(file, end, n_bytes.saturating_add(self.n_bytes)) {
            // What is there now comes before what may come.
            Err(_) if self.n_bytes > 0 => os::reserve(file, end, n_bytes),
            reserved => reserved,
        }
    }
}
