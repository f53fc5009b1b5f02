//! One writer at a time for each stream.
//!
//! The lock is the kernel's (`flock`): it is freed when its holder dies, however it dies. What the
//! kernel cannot free are git's own `<ref>.lock` files. So before a holder lets git take some, it
//! writes their names into its lock file; whoever finds that note after taking the lock knows that
//! the earlier holder died in between, and removes exactly those.
//!
//! The kernel wakes all who wait and gives the lock to whoever comes first, which is mostly the one
//! that just gave it back. So whoever has to wait does so behind a turnstile: a second lock that is
//! held while waiting for the first. Where there is a turnstile, nobody passes by it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The right to write to one stream; given back when dropped.
#[derive(Debug)]
#[must_use = "the lock is given back at once when it is not kept"]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes a lock, waiting for its holder.
    ///
    /// # Errors
    /// Fails when the lock file cannot be made, for example in a read-only repository.
    pub fn take(path: &Path, git_dir: &Path) -> Result<Lock> {
        let mut lock = Lock::open(path)?;
        let turnstile = turnstile(path);
        let is_free = !turnstile.exists() && lock.file.try_lock().is_ok();
        if !is_free {
            let turn = open(&turnstile)?;
            turn.lock().map_err(Error::io("lock", &turnstile))?;
            lock.file.lock().map_err(Error::io("lock", path))?;
        }
        lock.clean_up_after_dead_holder(git_dir)?;
        Ok(lock)
    }

    /// Takes a lock if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`Lock::take`] does.
    pub fn try_take(path: &Path, git_dir: &Path) -> Result<Option<Lock>> {
        let mut lock = Lock::open(path)?;
        match lock.file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(source)) => {
                return Err(Error::Io { doing: "lock", path: path.to_owned(), source });
            }
        }
        lock.clean_up_after_dead_holder(git_dir)?;
        Ok(Some(lock))
    }

    /// Notes which refs git is about to lock for this holder.
    ///
    /// # Errors
    /// Fails when the lock file cannot be written.
    pub fn announce(&mut self, refs: &[&str]) -> Result<()> {
        let mut text = format!("pid {}\n", std::process::id());
        for name in refs {
            text.push_str(&format!("ref {name}\n"));
        }
        self.overwrite(text.as_bytes())
    }

    /// Notes that git is about to lock the index of a worktree for this holder.
    ///
    /// # Errors
    /// Fails with [`Error::RefLocked`] when another program holds it, and when the lock file cannot
    /// be written.
    pub fn announce_index(&mut self, common_dir: &Path, git_dir: &Path) -> Result<()> {
        let index = git_dir.join("index");
        if git_dir.join("index.lock").exists() {
            return Err(Error::RefLocked { name: index.display().to_string() });
        }
        let inside = git_dir.canonicalize().map_err(Error::io("read", git_dir))?;
        match inside.join("index").strip_prefix(common_dir) {
            Ok(name) => self.announce(&[&name.to_string_lossy()]),
            Err(_) => Ok(()),
        }
    }

    /// Removes the note: git holds none of these locks any more.
    ///
    /// # Errors
    /// Fails when the lock file cannot be written.
    pub fn retract(&mut self) -> Result<()> {
        self.overwrite(b"")
    }

    fn open(path: &Path) -> Result<Lock> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        Ok(Lock { file: open(path)?, path: path.to_owned() })
    }

    fn overwrite(&mut self, bytes: &[u8]) -> Result<()> {
        let failed = Error::io("write", &self.path);
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(bytes)
        };
        write().map_err(failed)
    }

    fn clean_up_after_dead_holder(&mut self, git_dir: &Path) -> Result<()> {
        let mut note = String::new();
        // A note that is not text was never finished, so its locks were never taken.
        if self.file.read_to_string(&mut note).is_err() || note.is_empty() {
            return Ok(());
        }
        for name in note.lines().filter_map(|line| line.strip_prefix("ref ")) {
            if !name.split('/').any(|part| part.is_empty() || part == "..") {
                let stale = git_dir.join(format!("{name}.lock"));
                match std::fs::remove_file(&stale) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::io("remove", &stale)(error));
                    }
                    _ => {}
                }
            }
        }
        self.retract()
    }
}

/// Names the lock that is held while waiting for another. No stream is called like this.
fn turnstile(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("_next-{name}"))
}

fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path);
    file.map_err(Error::io("open", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_holders_ref_locks_are_removed_and_no_others() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let git_dir = dir.path().join("git");
        std::fs::create_dir_all(git_dir.join("refs/heads")).expect("writable");
        for name in ["ours", "foreign"] {
            std::fs::write(git_dir.join(format!("refs/heads/{name}.lock")), "").expect("writable");
        }
        let path = dir.path().join("lock/alice");
        let mut dead = Lock::take(&path, &git_dir).expect("free");
        dead.announce(&["refs/heads/ours"]).expect("writable");
        drop(dead);
        let _next = Lock::take(&path, &git_dir).expect("free");
        assert!(!git_dir.join("refs/heads/ours.lock").exists());
        assert!(git_dir.join("refs/heads/foreign.lock").exists());
    }

    #[test]
    fn a_held_lock_is_not_given_twice() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        let held = Lock::take(&path, dir.path()).expect("free");
        assert!(Lock::try_take(&path, dir.path()).expect("readable").is_none());
        drop(held);
        assert!(Lock::try_take(&path, dir.path()).expect("readable").is_some());
    }

    #[test]
    fn whoever_waits_comes_before_the_holder_comes_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        let turns = std::sync::Mutex::new(Vec::new());
        let take = |who: &'static str| {
            let lock = Lock::take(&path, dir.path()).expect("free in the end");
            turns.lock().expect("nobody panics").push(who);
            lock
        };
        let held = take("holder");
        std::thread::scope(|scope| {
            scope.spawn(|| drop(take("waiter")));
            let turnstile = open(&turnstile(&path)).expect("writable");
            while turnstile.try_lock().is_ok() {
                turnstile.unlock().expect("held");
                std::thread::yield_now();
            }
            drop(held);
            drop(take("holder again"));
        });
        let turns = turns.into_inner().expect("nobody panicked");
        assert_eq!(turns, ["holder", "waiter", "holder again"]);
    }
}
