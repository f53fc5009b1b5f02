//! The log of a process that stays in the background: what it says on standard error goes to a file,
//! which is set aside when it is long.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A log that is longer than this is set aside, in bytes.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// The log of a process that stays.
#[derive(Debug, Clone)]
pub struct ServeLog {
    path: PathBuf,
}

impl ServeLog {
    /// Names the log in the folder of those who stay.
    pub fn of(folder: &Path) -> ServeLog {
        ServeLog { path: folder.join("log") }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it at its end; one that is long is set aside first, in place of the one before.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub fn open(&self) -> std::io::Result<File> {
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
            // One that cannot be set aside grows on.
            let _ = std::fs::rename(&self.path, self.path.with_extension("old"));
        }
        OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)
    }

    /// Goes on with a new log if standard error goes to one that is long.
    pub(crate) fn rotate(&self) {
        let Ok(stderr) = rustix::fs::fstat(std::io::stderr().as_fd()) else { return };
        let is_long = u64::try_from(stderr.st_size).is_ok_and(|size| size > LOG_BYTES_MAX);
        let is_it = std::fs::metadata(&self.path)
            .is_ok_and(|log| (log.dev(), log.ino()) == (stderr.st_dev, stderr.st_ino));
        if is_long
            && is_it
            && let Ok(fresh) = self.open()
        {
            // Where that fails the old one grows on.
            let _ = rustix::stdio::dup2_stderr(fresh);
        }
    }
}
