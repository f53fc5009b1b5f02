//! A named pipe that nobody has to read.

use std::fs::File;
use std::io::{Read as _, Result, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

/// How much a pipe holds on Linux, in bytes, unless somebody changed it.
const PIPE_BYTES: usize = 64 << 10;
/// How much is read at a time, in bytes.
const PART_BYTES: usize = 4 << 10;

/// Writes a line into a pipe if somebody has it open for reading and it has room. Nothing waits, and
/// nothing fails: a program that writes to a pipe which nobody reads is told by an error alone, since
/// the start of every Rust program has the system ignore the signal.
pub(crate) fn leave_line(path: &Path, line: &str) {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = std::fs::OpenOptions::new().write(true).custom_flags(flags).open(path);
    let Ok(mut pipe) = opened else { return };
    // A file of another sort in this place is not ours to write to.
    if pipe.metadata().is_ok_and(|found| found.file_type().is_fifo()) {
        let _nobody_listens = pipe.write(line.as_bytes());
    }
}

/// The end of a pipe that is read.
#[derive(Debug)]
pub(crate) struct PipeEnd {
    pipe: File,
}

/// What was read from a pipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PipeText {
    /// Whole lines.
    pub text: String,
    /// Whether the pipe was full, so that lines may be missing.
    pub is_full: bool,
}

impl PipeEnd {
    /// Makes the pipe, in place of whatever has the name, readable by this user alone. It is open for
    /// writing too, so that reading it never ends.
    pub fn make(path: &Path) -> Result<PipeEnd> {
        match std::fs::remove_file(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).unwrap_or_default();
        let mut options = std::fs::OpenOptions::new();
        let pipe = options.read(true).write(true).custom_flags(flags).open(path)?;
        Ok(PipeEnd { pipe })
    }

    /// Takes everything that is there, without waiting.
    pub fn take(&mut self) -> PipeText {
        let mut bytes = Vec::new();
        let mut part = [0; PART_BYTES];
        while let Ok(n_read) = self.pipe.read(&mut part) {
            bytes.extend_from_slice(&part[..n_read]);
            if n_read == 0 || bytes.len() >= 2 * PIPE_BYTES {
                break;
            }
        }
        // A line is written whole or not at all, so what is left free is less than one of them.
        let is_full = bytes.len() + LINE_BYTES_MAX >= PIPE_BYTES;
        PipeText { text: String::from_utf8_lossy(&bytes).into_owned(), is_full }
    }

    /// Returns the pipe, to wait for.
    pub fn file(&self) -> &File {
        &self.pipe
    }
}

/// How long a line is at most, in bytes; the system writes as much at once or not at all.
pub(crate) const LINE_BYTES_MAX: usize = 128;
