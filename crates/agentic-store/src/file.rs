//! Replacing small files whole, and removing them.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result, fault};

/// Whether a replaced file is on the disk when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// It is, and so is its name.
    Synced,
    /// The system writes it when it finds the time; it is derived or written again.
    Lazy,
}

/// Returns a number that nobody in this process had before: names of files in the making and of runs
/// differ by it.
pub fn unique_number() -> u64 {
    // process: names must differ whoever in the process makes them; that is the one thing all share.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// Replaces a file, so that readers and later processes see the old content or the new one, never
/// a part. Several processes may do this at once; the last one wins.
///
/// # Errors
/// Fails when the folder is missing or cannot be written.
pub fn replace(path: &Path, content: &[u8], persistence: Persistence) -> Result<()> {
    let number = unique_number();
    let fresh = path.with_added_extension(format!("{}-{number}.new", std::process::id()));
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(content)?;
        if persistence == Persistence::Synced {
            file.sync_all()?;
        }
        fault::point("before-rename").map_err(std::io::Error::other)?;
        std::fs::rename(&fresh, path)
    };
    if let Err(error) = write() {
        let _ = std::fs::remove_file(&fresh);
        return Err(Error::io("write", path)(error));
    }
    match (persistence, path.parent()) {
        (Persistence::Synced, Some(folder)) => {
            File::open(folder).and_then(|dir| dir.sync_all()).map_err(Error::io("sync", folder))?;
            fault::synced(path, content.len() as u64);
            fault::synced(folder, 0);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Removes a file, if it is there.
///
/// # Errors
/// Fails when it is there and cannot be removed.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Makes a folder that only this user may look into. One that is there and lets others in is closed
/// to them.
///
/// # Errors
/// Fails when it cannot be made, or is another user's.
pub fn make_private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let above = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let made = above.and_then(|()| std::fs::DirBuilder::new().mode(0o700).create(path));
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::io("create", path)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, mode).map_err(Error::io("close to others", path))
}
