//! The log of a process that stays in the background: what it says on standard error goes to a file,
//! which is set aside when it is long.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use agentic_store::file::{open_regular, read_whole};

/// A log that is longer than this is set aside, in bytes.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// The longest log in which is looked for what was said last, in bytes.
const SAID_BYTES_MAX: u64 = 8 * LOG_BYTES_MAX;
/// How a line begins that says why the process ended.
const ERROR: &str = "error: ";

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
    /// Fails when it cannot be opened, and when it is no regular file.
    pub fn open(&self) -> std::io::Result<File> {
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
            // One that cannot be set aside grows on.
            let _ = std::fs::rename(&self.path, self.path.with_extension("old"));
        }
        open_regular(&self.path, OpenOptions::new().append(true).create(true).mode(0o600))
    }

    /// Returns the last error that was said in it, if there is one.
    pub fn last_error(&self) -> Option<String> {
        let said = read_whole(&self.path, SAID_BYTES_MAX).ok()?;
        let said = String::from_utf8_lossy(&said);
        said.lines().rev().find_map(|line| line.strip_prefix(ERROR)).map(str::to_owned)
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

#[cfg(test)]
mod tests {
    use super::ServeLog;

    #[test]
    fn a_log_is_a_file_and_no_pipe_is_waited_for() {
        let sandbox = agentic_testkit::Sandbox::in_memory(agentic_testkit::Setup::NoRepository);
        let sandbox = sandbox.expect("a folder");
        let log = ServeLog::of(sandbox.root());
        assert_eq!(log.last_error(), None);
        drop(log.open().expect("writable"));
        std::fs::write(log.path(), "error: first\nerror: second\nhint: x\n").expect("writable");
        assert_eq!(log.last_error().as_deref(), Some("second"));
        std::fs::remove_file(log.path()).expect("it is there");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkfifoat(rustix::fs::CWD, log.path(), mode).expect("writable");
        log.open().expect_err("it is a pipe");
        assert_eq!(log.last_error(), None);
    }
}
