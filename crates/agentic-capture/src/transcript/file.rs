//! A transcript's file that is read from a place of its own.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt as _;

/// A file that is read on from a place that nobody else moves: copies of an open file share the
/// place at which the system reads on.
#[derive(Debug)]
pub struct PlacedFile {
    file: File,
    at: u64,
}

impl PlacedFile {
    /// Begins at a place.
    pub fn at(file: File, at: u64) -> PlacedFile {
        PlacedFile { file, at }
    }
}

impl Read for PlacedFile {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = self.file.read_at(into, self.at)?;
        self.at += n_bytes as u64;
        Ok(n_bytes)
    }
}
