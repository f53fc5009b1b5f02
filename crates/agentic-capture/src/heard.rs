//! When a hook of each coding agent last told something: a small file each, which may be deleted.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentic_model::Instant;
use agentic_store::Layout;
use agentic_store::file::{open_regular, read_whole, write_over};

use crate::{CaptureError, Source};

/// The longest time that is read, in bytes.
const HEARD_BYTES_MAX: u64 = 64;

/// Notes that a hook of a coding agent has told something.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn hear(layout: &Layout, source: Source, now: Instant) -> Result<(), CaptureError> {
    let write = |file: File| match file.try_lock() {
        Ok(()) => write_over(&file, now.to_string().as_bytes()),
        // Somebody says the same at this moment: nobody waits to say it again.
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    };
    open(&heard(layout, source)).and_then(write).map_err(|source| CaptureError::Io { source })
}

/// Opens the file that all hooks of a coding agent write over. Whoever would make it waits for all who
/// change its folder, so that it is made only if it is missing.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    match (open_regular(path, &mut options), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(folder)?;
            open_regular(path, options.create(true).truncate(false))
        }
        (opened, _) => opened,
    }
}

/// Says when a hook last told something; nothing if nobody knows.
pub fn last_heard(layout: &Layout, source: Source) -> Option<Instant> {
    let text = read_small(&heard(layout, source), HEARD_BYTES_MAX)?;
    Instant::parse(text.trim())
}

/// Reads a small file of ours as text; nothing if it is none, or longer.
pub(crate) fn read_small(path: &Path, bytes_max: u64) -> Option<String> {
    let bytes = read_whole(path, bytes_max).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn heard(layout: &Layout, source: Source) -> PathBuf {
    layout.capture().join("heard").join(source.as_str())
}

#[cfg(test)]
mod tests;
