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
//!
//! To close the file gives the lock back only once nobody has it open any more, and a program that
//! another thread starts has all files of this process for a moment. So the lock is given back by itself,
//! but for one that programs were let in on.

mod look;
mod patience;
mod wait;

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::RefError;
use crate::{Error, Result, file};

pub use self::patience::Patience;

/// How much of a lock file is read at first, in bytes; notes are hardly ever longer.
const NOTE_BYTES: usize = 512;
/// The longest note that is read, in bytes: 4 MiB. One of an archive names thousands of refs.
const NOTE_BYTES_MAX: u64 = 4 << 20;
/// How a note begins as long as it counts.
const NOTE_BEGIN: &[u8] = b"pid ";
/// The line that ends a note; what an earlier, longer one left may follow.
const NOTE_END: &str = "end";

/// The right to write to one stream; given back when dropped.
#[derive(Debug)]
#[must_use = "the lock is given back at once when it is not kept"]
pub struct Lock {
    /// Nothing once it was given back with its file still open.
    opened: Option<LockFile>,
    /// Whether a program may hold it too: then it is free when the last of them has gone.
    is_shared: AtomicBool,
}

/// A lock file that is open and not held, so that the next take is quick.
#[derive(Debug)]
pub(crate) struct LockFile {
    file: File,
    path: PathBuf,
    /// The lock to wait behind, as far as there is one.
    turnstile: Option<File>,
    /// What the lock protects, where its name does not say it.
    subject: Option<String>,
}

impl LockFile {
    fn open(path: &Path) -> Result<LockFile> {
        let file = match open(path) {
            Err(Error::File(error)) if error.is_missing() => {
                let parent = path.parent().expect("locks stand in a folder");
                std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
                open(path)?
            }
            file => file?,
        };
        Ok(LockFile { file, path: path.to_owned(), turnstile: None, subject: None })
    }

    /// Takes the lock, waiting for its holder.
    ///
    /// # Errors
    /// Fails as [`Lock::take`] does.
    pub fn take(mut self, git_dir: &Path) -> Result<Lock> {
        let turnstile = turnstile(&self.path);
        let may_pass = self.turnstile.is_none() && !turnstile.exists();
        // Whoever only looks at the lock is nobody to wait for.
        if !(may_pass && look::try_hold(&self.file).is_ok_and(|is_held| is_held)) {
            let turn = match self.turnstile.take() {
                Some(turn) => turn,
                None => open(&turnstile)?,
            };
            let subject = || self.subject.clone().unwrap_or_else(|| wait::subject(&self.path));
            wait::aloud(subject, &self.file, || {
                turn.lock().map_err(Error::io("lock", &turnstile))?;
                self.file.lock().map_err(Error::io("lock", &self.path))
            })?;
            turn.unlock().map_err(Error::io("unlock", &turnstile))?;
            self.turnstile = Some(turn);
        }
        self.held(git_dir)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`Lock::take`] does.
    pub fn try_take(self, git_dir: &Path) -> Result<Option<Lock>> {
        match look::try_hold(&self.file).map_err(Error::io("lock", &self.path))? {
            true => self.held(git_dir).map(Some),
            false => Ok(None),
        }
    }

    /// Tells whether somebody ever waited for this lock.
    pub fn has_waited(&self) -> bool {
        self.turnstile.is_some()
    }

    /// Tells whether this still is the file that everybody else locks.
    pub fn is_in_place(&self) -> bool {
        self.file.metadata().is_ok_and(|found| found.nlink() > 0)
    }

    fn held(self, git_dir: &Path) -> Result<Lock> {
        let lock = Lock { opened: Some(self), is_shared: AtomicBool::new(false) };
        lock.clean_up_after_dead_holder(git_dir)?;
        Ok(lock)
    }
}

impl Lock {
    /// Takes a lock, waiting for its holder.
    ///
    /// # Errors
    /// Fails when the lock file cannot be made, for example in a read-only repository.
    pub fn take(path: &Path, git_dir: &Path) -> Result<Lock> {
        LockFile::open(path)?.take(git_dir)
    }

    /// Takes a lock whose name does not say what it protects, waiting for its holder.
    ///
    /// # Errors
    /// Fails as [`Lock::take`] does.
    pub fn take_of(path: &Path, subject: String, git_dir: &Path) -> Result<Lock> {
        let opened = LockFile::open(path)?;
        LockFile { subject: Some(subject), ..opened }.take(git_dir)
    }

    /// Takes a lock if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`Lock::take`] does.
    pub fn try_take(path: &Path, git_dir: &Path) -> Result<Option<Lock>> {
        LockFile::open(path)?.try_take(git_dir)
    }

    /// Returns where the lock file is.
    pub fn path(&self) -> &Path {
        &self.opened().path
    }

    /// Returns the lock's file once more: a program that inherits it holds the lock as well.
    ///
    /// # Errors
    /// Fails when the process may open no more files.
    pub fn share(&self) -> Result<File> {
        let LockFile { file, path, .. } = self.opened();
        self.is_shared.store(true, Ordering::Relaxed);
        file.try_clone().map_err(Error::io("open", path))
    }

    /// Gives the lock back and keeps its file open; nothing if it could not be given back but by
    /// closing it.
    pub(crate) fn give_back(mut self) -> Option<LockFile> {
        let opened = self.opened.take()?;
        opened.file.unlock().is_ok().then_some(opened)
    }

    fn opened(&self) -> &LockFile {
        self.opened.as_ref().expect("BUG: what was given back is used no more")
    }

    /// Lets git lock some refs for this holder while `work` runs. The note of their names goes however
    /// the work ends, because the locks are given back by then: whoever finds the note later would
    /// take away the lock of another program.
    ///
    /// # Errors
    /// Fails as `work` does, and when the lock file cannot be written.
    pub fn announced<T>(&self, refs: &[&str], work: impl FnOnce() -> Result<T>) -> Result<T> {
        let _note = Announcement { lock: self };
        self.announce(refs)?;
        work()
    }

    /// Notes which refs git is about to lock for this holder.
    ///
    /// # Errors
    /// Fails when the lock file cannot be written.
    fn announce(&self, refs: &[&str]) -> Result<()> {
        let mut text = format!("pid {}\n", std::process::id());
        for name in refs {
            text.push_str(&format!("ref {name}\n"));
        }
        text.push_str(&format!("{NOTE_END}\n"));
        self.overwrite(text.as_bytes())
    }

    /// Lets git lock the index of a worktree for this holder while `work` runs.
    ///
    /// # Errors
    /// Fails with [`RefError::Locked`] when another program holds it, as `work` does, and when the
    /// lock file cannot be written.
    pub fn announced_index<T>(
        &self,
        (common_dir, git_dir): (&Path, &Path),
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let index = git_dir.join("index");
        if git_dir.join("index.lock").exists() {
            return Err(Error::Ref(RefError::Locked { name: index.display().to_string() }));
        }
        let inside = git_dir.canonicalize().map_err(Error::io("read", git_dir))?;
        match inside.join("index").strip_prefix(common_dir) {
            Ok(name) => self.announced(&[&name.to_string_lossy()], work),
            Err(_) => work(),
        }
    }

    /// Removes the note: git holds none of these locks any more.
    ///
    /// # Errors
    /// Fails when the lock file cannot be written.
    fn retract(&self) -> Result<()> {
        // To cut the file would cost the filesystem more than to spoil how the note begins.
        self.overwrite(b"-")
    }

    fn overwrite(&self, bytes: &[u8]) -> Result<()> {
        let LockFile { file, path, .. } = self.opened();
        file.write_all_at(bytes, 0).map_err(Error::io("write", path))
    }

    fn clean_up_after_dead_holder(&self, git_dir: &Path) -> Result<()> {
        let Some(note) = self.note()? else { return Ok(()) };
        for name in note.lines().filter_map(|line| line.strip_prefix("ref ")) {
            if !name.split('/').any(|part| part.is_empty() || part == "..") {
                let stale = git_dir.join(format!("{name}.lock"));
                file::remove(&stale)?;
            }
        }
        self.retract()
    }

    /// Reads the note of a holder that died. One that was never finished does not count: its locks
    /// were never taken.
    fn note(&self) -> Result<Option<String>> {
        let LockFile { file, path, .. } = self.opened();
        let mut note = vec![0; NOTE_BYTES];
        let n_read = file.read_at(&mut note, 0).map_err(Error::io("read", path))?;
        if !note[..n_read].starts_with(NOTE_BEGIN) {
            return Ok(None);
        }
        note.clear();
        let mut whole = File::open(path).map_err(Error::io("read", path))?.take(NOTE_BYTES_MAX);
        whole.read_to_end(&mut note).map_err(Error::io("read", path))?;
        let Ok(text) = String::from_utf8(note) else { return Ok(None) };
        let end = text.find(&format!("\n{NOTE_END}\n"));
        Ok(end.map(|end| text[..end].to_owned()))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(opened) =
            self.opened.as_ref().filter(|_| !self.is_shared.load(Ordering::Relaxed))
        {
            // Where that fails it is given back when the file is closed.
            let _ = opened.file.unlock();
        }
    }
}

/// A note in a lock file; dropped, it counts no more, also where the work panics.
struct Announcement<'a> {
    lock: &'a Lock,
}

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        let _nothing_else_can_be_done = self.lock.retract();
    }
}

/// Names the lock that is held while waiting for another. No stream is called like this.
fn turnstile(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("_next-{name}"))
}

fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    // Whoever would make a file waits for all who change its folder, though it be there.
    let file = match options.read(true).write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            options.create(true).truncate(false).open(path)
        }
        file => file,
    };
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
        let dead = Lock::take(&path, &git_dir).expect("free");
        dead.announce(&["refs/heads/ours"]).expect("writable");
        drop(dead);
        let _next = Lock::take(&path, &git_dir).expect("free");
        assert!(!git_dir.join("refs/heads/ours.lock").exists());
        assert!(git_dir.join("refs/heads/foreign.lock").exists());
    }

    #[test]
    fn a_note_that_was_retracted_or_never_finished_does_not_count() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let stale = dir.path().join("refs.lock");
        let path = dir.path().join("alice");
        let take = || Lock::take(&path, dir.path()).expect("free");
        let long = "refs/".to_owned() + &"x".repeat(2 * NOTE_BYTES);
        for (note, is_heard) in [
            ("", false),
            ("-id 1\nref refs\nend\n", false),
            ("pid 1\nref refs\n", false),
            ("pid 1\nend\nref refs\nend\n", false),
            ("pid 1\nref refs\nend\nref other\n", true),
            (&format!("pid 1\nref {long}\nref refs\nend\n"), true),
        ] {
            std::fs::write(&stale, "").expect("writable");
            std::fs::write(&path, note).expect("writable");
            drop(take());
            assert_eq!(stale.exists(), !is_heard, "{note}");
            std::fs::write(&stale, "").expect("writable");
            drop(take());
            assert!(stale.exists(), "a note counts once: {note}");
        }
        let lock = take();
        lock.announce(&["refs"]).expect("writable");
        lock.retract().expect("writable");
        drop(lock);
        drop(take());
        assert!(stale.exists());
    }

    #[test]
    fn a_note_goes_however_the_work_ends() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (foreign, path) = (dir.path().join("refs.lock"), dir.path().join("alice"));
        let take = || Lock::take(&path, dir.path()).expect("free");
        let failed: Result<()> = take()
            .announced(&["refs"], || Err(Error::Ref(RefError::Locked { name: "refs".to_owned() })));
        assert!(failed.is_err());
        let work = || take().announced(&["refs"], || -> Result<()> { panic!("in the middle") });
        assert!(std::panic::catch_unwind(work).is_err());
        std::fs::write(&foreign, "").expect("writable");
        drop(take());
        assert!(foreign.exists(), "the lock of another program is left alone");
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
    fn a_lock_is_free_although_a_program_has_its_file_by_accident() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        let held = Lock::take(&path, dir.path()).expect("free");
        // What a program has of us between its fork and its first own step.
        let copied = held.opened().file.try_clone().expect("few files are open");
        drop(held);
        assert!(Lock::try_take(&path, dir.path()).expect("readable").is_some());
        drop(copied);
    }

    #[test]
    fn a_lock_that_a_program_was_let_in_on_is_free_when_that_has_gone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        let held = Lock::take(&path, dir.path()).expect("free");
        let shared = held.share().expect("few files are open");
        drop(held);
        assert!(Lock::try_take(&path, dir.path()).expect("readable").is_none());
        drop(shared);
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
