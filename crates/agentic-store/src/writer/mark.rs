//! Marks that a writer is at work: what every command looks for first.

use std::io::ErrorKind;
use std::path::Path;

use crate::{Error, Result};

/// Makes a mark: one more name of the lock file, because to make a file and remove it costs the
/// filesystem much more; a file of its own where names cannot be added.
pub(crate) fn make_mark(mark: &Path, lock: &Path) -> Result<()> {
    let make = || match std::fs::hard_link(lock, mark) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        Err(_) => std::fs::write(mark, b""),
        Ok(()) => Ok(()),
    };
    match make() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = mark.parent().expect("marks stand in a folder");
            std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
            make()
        }
        made => made,
    }
    .map_err(Error::io("write", mark))
}

/// Removes a mark, if there is one. One that stays only costs the next command a look at the journal.
pub(super) fn remove_mark(mark: &Path) {
    // To remove what is not there waits for all who change the folder; to look does not.
    if mark.symlink_metadata().is_ok() {
        let _ = std::fs::remove_file(mark);
    }
}
