//! Room for programs, made before what they are for is recorded.
//!
//! A program begins only after a file tells of it. Were that file made when the program is to begin, a
//! disk that is full by then would leave an effect that is recorded and may have happened, for all
//! that later drivers know. So it is made first: a full disk then refuses the record, and a file that
//! tells of no program shows later drivers that nothing began.
//!
//! The log keeps room for what comes of each program, for the same reason: the program itself may be
//! what fills the disk.

use std::collections::BTreeMap;
use std::path::{Path as FolderPath, PathBuf};

use agentic_providers::process::reserve;
use agentic_replay::{Path, Performance};
use agentic_store::journal::LogFile;

use crate::Result;

/// How much room the log keeps for what comes of a program, in bytes. A longer answer finds room or leaves
/// a doubt.
pub(super) const ANSWER_BYTES: u64 = 64 << 10;
/// For how many programs room is made at most; others get theirs when they begin.
const PROGRAMS_MAX: usize = 64;

/// The files that were made for programs which have not begun.
#[derive(Debug, Default)]
pub(super) struct ProgramRoom(BTreeMap<Path, PathBuf>);

impl ProgramRoom {
    /// Returns the file that was made for a request.
    pub fn of(&self, path: &Path) -> Option<PathBuf> {
        self.0.get(path).cloned()
    }

    /// Makes the file of a program, and room in the log for what comes of it, unless there is one or
    /// there are too many.
    ///
    /// # Errors
    /// Fails when there is no room for it.
    pub fn make(
        &mut self,
        performance: &Performance,
        folder: &FolderPath,
        log: &mut LogFile,
    ) -> Result<()> {
        let path = &performance.request.path;
        if self.0.len() >= PROGRAMS_MAX || self.0.contains_key(path) {
            return Ok(());
        }
        log.keep_room(ANSWER_BYTES)?;
        let made = reserve(folder, &performance.id.to_string());
        let file = made.map_err(agentic_store::Error::io("make room in", folder))?;
        self.0.insert(path.clone(), file);
        Ok(())
    }

    /// Takes a file over that an earlier driver made for a request.
    ///
    /// # Errors
    /// Fails when there is no room for what will come of its program.
    pub fn take_over(&mut self, path: &Path, file: PathBuf, log: &mut LogFile) -> Result<()> {
        log.keep_room(ANSWER_BYTES)?;
        self.0.insert(path.clone(), file);
        Ok(())
    }

    /// Tells whether this driver has a file.
    pub fn has(&self, file: &FolderPath) -> bool {
        self.0.values().any(|own| own == file)
    }

    /// Removes the file of a request, if there is one: nobody will start its program.
    pub fn give_back(&mut self, path: &Path) {
        if let Some(file) = self.0.remove(path) {
            // Where a program began it has removed the file itself.
            let _ = std::fs::remove_file(file);
        }
    }

    /// Removes all files.
    pub fn clear(&mut self) {
        while let Some((path, _)) = self.0.first_key_value() {
            let path = path.clone();
            self.give_back(&path);
        }
    }
}

#[cfg(test)]
mod tests;
