//! Files for another program to read: what it is to sign, the keys that count for it.
//!
//! A program that asks for a passphrase is often interrupted together with whoever started it. What
//! it was handed is then removed by whoever hands out something next.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::Repository;
use agentic_store::lock::Lock;
use agentic_store::{Error, Result, file};

/// How many files are handed out at once at most.
const HANDOUTS_MAX: usize = 10_000;
/// What a program adds to the name of a file that it signs.
const ANSWER: &str = ".sig";

/// A file that only this user may read; it goes when dropped, and the answer beside it too.
pub(super) struct Handout {
    path: PathBuf,
    /// Locked as long as the file is wanted.
    _wanted: File,
}

impl Handout {
    /// Writes a file for another program.
    ///
    /// # Errors
    /// Fails when nothing can be written here.
    pub fn write(repository: &Repository, bytes: &[u8]) -> Result<Handout> {
        let layout = repository.layout();
        // A file that is made and not locked yet looks like one that nobody wants any more.
        let _turn = Lock::take(&layout.space_lock("handout"), repository.common_dir())?;
        let folder = layout.handouts();
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        remove_unwanted(&folder)?;
        let (path, mut file) = create(&folder)?;
        file.lock().map_err(Error::io("lock", &path))?;
        let written = file.write_all(bytes).map_err(Error::io("write", &path));
        let handout = Handout { path, _wanted: file };
        written.map(|()| handout)
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where a program that signs the file leaves the signature.
    pub fn answer(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(ANSWER);
        PathBuf::from(path)
    }
}

impl Drop for Handout {
    fn drop(&mut self) {
        // What cannot be removed is of no use to anybody, and goes with the next one.
        for path in [self.answer(), self.path.clone()] {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn create(folder: &Path) -> Result<(PathBuf, File)> {
    for number in 0..HANDOUTS_MAX {
        let path = folder.join(number.to_string());
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("create", &path)(error)),
        }
    }
    Err(Error::io("create", folder)(ErrorKind::QuotaExceeded.into()))
}

/// Removes what those left behind who were killed.
fn remove_unwanted(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let text = path.to_string_lossy().into_owned();
        let handed_out = File::open(text.strip_suffix(ANSWER).unwrap_or(&text));
        if handed_out.is_ok_and(|file| file.try_lock().is_err()) {
            continue;
        }
        file::remove(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_git;

    #[test]
    fn a_file_is_there_as_long_as_it_is_wanted_and_no_longer() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        run_git(folder.path(), &["init", "-q"]).expect("git works");
        let repository = Repository::open(folder.path()).expect("it is one");
        let handouts = repository.layout().handouts();
        let names = || {
            let entries = std::fs::read_dir(&handouts).expect("it is made").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        let first = Handout::write(&repository, b"first").expect("writable");
        std::fs::write(first.answer(), "signed").expect("writable");
        // What somebody left who was killed: a file that nobody holds, and an answer to one.
        for left in ["7", "7.sig", "8.sig"] {
            std::fs::write(handouts.join(left), "").expect("writable");
        }
        let second = Handout::write(&repository, b"second").expect("writable");
        assert_eq!(names(), ["0", "0.sig", "1"]);
        assert_eq!(std::fs::read(second.path()).expect("readable"), b"second");
        drop(first);
        drop(second);
        assert!(names().is_empty());
    }
}
