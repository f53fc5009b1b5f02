//! The right to change the files of a worktree.
//!
//! Git runs programs of the user's when it writes files: filters and hooks. They may take long, and
//! may write to the space themselves, so the lock of a branch is never held meanwhile. The lock of
//! the one worktree is, as git holds its own on the worktree's index: only those wait for it who
//! would change the same files.
//!
//! Whoever has both takes this one first.

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::file;
use crate::follow::{Attempt, Trail};
use crate::git::{HELD_LOCK, Repository, Worktree, by_command_line};
use crate::lock::Lock;
use crate::recovery::{Mended, Recovered, findings};
use crate::writer::Writer;
use crate::{Error, Result, fault};

/// The right to change the files of one worktree; given back when dropped. Programs that it has
/// started hold it as long as they run, even if this process dies.
#[derive(Debug)]
#[must_use = "the lock is given back at once when it is not kept"]
pub struct WorktreeLock {
    worktree: Worktree,
    lock: Lock,
    common_dir: PathBuf,
    /// Where it is noted what the worktree has still to do.
    note: PathBuf,
}

impl WorktreeLock {
    /// Takes the lock, waiting for its holder.
    ///
    /// # Errors
    /// Fails when the lock file cannot be made, and for a filter or hook of the user's that git runs
    /// for the holder: it would wait for itself.
    pub fn take(repository: &Repository, worktree: Worktree) -> Result<WorktreeLock> {
        let path = repository.layout().worktree_lock(&worktree.key());
        if std::env::var_os(HELD_LOCK).is_some_and(|held| path == held) {
            return Err(Error::WorktreeHeld { path: worktree.path });
        }
        let subject = format!("the worktree `{}`", worktree.path.display());
        let lock = Lock::take_of(&path, subject, repository.common_dir())?;
        Ok(WorktreeLock::with(repository, worktree, lock))
    }

    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`WorktreeLock::take`] does.
    pub fn try_take(repository: &Repository, worktree: Worktree) -> Result<Option<WorktreeLock>> {
        let path = repository.layout().worktree_lock(&worktree.key());
        let lock = Lock::try_take(&path, repository.common_dir())?;
        Ok(lock.map(|lock| WorktreeLock::with(repository, worktree, lock)))
    }

    fn with(repository: &Repository, worktree: Worktree, lock: Lock) -> WorktreeLock {
        let note = repository.layout().trail(&worktree.key());
        let common_dir = repository.common_dir().to_owned();
        WorktreeLock { worktree, lock, common_dir, note }
    }

    /// Returns the worktree.
    pub fn worktree(&self) -> &Worktree {
        &self.worktree
    }

    /// Notes that the files, which are at one commit, will have to go to another: before the branch
    /// does. If this process dies, the next one sees to it.
    ///
    /// # Errors
    /// Fails when the note cannot be written.
    pub fn announce(&self, branch: &str, (from, to): (Oid, Oid)) -> Result<()> {
        let branch = branch.to_owned();
        Trail { branch, files_from: Some(from), to, attempt: Attempt::Due }.write(&self.note)
    }

    /// Fills a worktree that git has made without files, at the commit of its branch. If this process
    /// dies meanwhile, whoever needs the worktree next does the rest.
    ///
    /// # Errors
    /// Fails when git does; files may then be there in part.
    pub fn fill(&self, repository: &Repository, head: Oid) -> Result<()> {
        if let Some(branch) = &self.worktree.branch {
            self.announce(branch, (repository.empty_tree(), head))?;
        }
        // From here on it counts as one that has still to follow its branch.
        file::remove(&self.worktree.git_dir.join(Worktree::LOCKED))?;
        fault::point("before-checkout")?;
        self.with_index(|| self.git(&["reset", "--hard", "--quiet", "--no-recurse-submodules"]))?;
        fault::point("after-checkout")?;
        self.worktree.set_base(head)?;
        self.retract()
    }

    /// Takes that back: the branch did not move, or the worktree is where it has to be.
    ///
    /// # Errors
    /// Fails when the note cannot be removed.
    pub fn retract(&self) -> Result<()> {
        file::remove(&self.note)
    }

    /// Brings files and index from one commit to another, without touching what differs locally.
    ///
    /// # Errors
    /// Fails when a local change or an untracked file is in the way; nothing is changed then.
    pub fn bring_along(&self, from: Oid, to: Oid) -> Result<()> {
        fault::point("before-follow")?;
        let (from, into) = (from.to_string(), to.to_string());
        self.with_index(|| {
            // An entry of a file that was just written does not count as seen before.
            self.refresh_index()?;
            self.git(&["read-tree", "-m", "-u", &from, &into])
        })?;
        self.worktree.set_base(to)?;
        fault::point("after-follow")?;
        self.retract()
    }

    /// Replaces the content of the folder, which is the tree `from`, by the tree `to`, and leaves
    /// the index at `head`, so that what differs shows as uncommitted.
    ///
    /// # Errors
    /// Fails when a file changed meanwhile; files may then be replaced in part, none is lost.
    pub fn replace_content(&self, from: Oid, to: Oid, head: Oid) -> Result<()> {
        let (from, to) = (from.to_string(), to.to_string());
        self.with_index(|| {
            self.git(&["read-tree", &from])?;
            self.refresh_index()?;
            self.git(&["read-tree", "-m", "-u", &from, &to])?;
            self.git(&["reset", "--mixed", "--quiet"])
        })?;
        self.worktree.set_base(head)?;
        self.retract()
    }

    /// Lets the worktree follow, if whoever had it before died or failed before it had.
    ///
    /// # Errors
    /// Fails when the branch's own writes cannot be finished, and with [`Error::LeftBehind`] when
    /// something is in the way; the next who needs this worktree tries again.
    pub fn catch_up(&self, repository: &Repository, now: Instant) -> Result<Vec<Recovered>> {
        let Some(trail) = Trail::read(&self.note)? else { return Ok(Vec::new()) };
        let stream = trail.stream();
        let mut report = Vec::new();
        if repository.layout().open_mark(&stream).exists() {
            // The branch is first; what opening finds to do for this worktree is noted anew.
            report.extend(findings(&Writer::open(repository, &stream, now)?));
        }
        let trail = Trail::read(&self.note)?.unwrap_or(trail);
        if repository.find_ref(&trail.branch)? != Some(trail.to) {
            // It never moved, or somebody has moved it on and knows what became of the files.
            self.retract()?;
            return Ok(report);
        }
        if let Err(error) = self.with_index(|| self.follow_again(repository, &trail)) {
            Trail { attempt: Attempt::Failed, ..trail }.write(&self.note)?;
            let (path, why) = (self.worktree.path.clone(), error.to_string());
            return Err(Error::LeftBehind { path, why });
        }
        self.worktree.set_base(trail.to)?;
        self.retract()?;
        report.push(Recovered { stream, mended: Mended::Worktree(self.worktree.path.clone()) });
        Ok(report)
    }

    /// Makes the index anew, whatever state it is in, and brings the files that are not there yet.
    fn follow_again(&self, repository: &Repository, trail: &Trail) -> Result<()> {
        file::remove(&self.worktree.git_dir.join("index"))?;
        self.git(&["reset", "--mixed", "--quiet"])?;
        match trail.files_from {
            Some(from) => self.bring_files(repository, from, trail.to),
            None => Ok(()),
        }
    }

    /// Brings the files that still are as `from` has them to `to`, where the index stands already.
    /// Nobody knows how far that was done, and a person may have changed files since: what is
    /// neither the one nor the other is left alone and shows as uncommitted.
    fn bring_files(&self, repository: &Repository, from: Oid, to: Oid) -> Result<()> {
        let (from, into) = (from.to_string(), to.to_string());
        let listed = self.git(&["diff-tree", "-r", "-z", "--no-renames", &from, &into])?;
        let changes = changes(&listed);
        let paths: Vec<&str> = changes.iter().map(|change| change.path).collect();
        let on_disk = repository.name_files(&self.worktree, &paths)?;
        let mut stale = Vec::new();
        for Change { path, old, new } in changes {
            let found = on_disk.get(path).copied();
            let is_old = found == old || found.is_none();
            if found == new || !(is_old || self.is_part_of(repository, path, new)?) {
                continue;
            }
            match new {
                Some(_) => stale.push(path),
                None => file::remove(&self.worktree.path.join(path))?,
            }
        }
        for part in by_command_line(&stale) {
            self.git(&[&["checkout-index", "--force", "--quiet", "--"], part].concat())?;
        }
        // The index learns what the files look like on the disk.
        self.refresh_index()
    }

    /// Tells whether a file is the beginning of what git was about to write: git removes the old
    /// file and writes the new one, and may have been killed in between.
    fn is_part_of(&self, repository: &Repository, path: &str, new: Option<Oid>) -> Result<bool> {
        let Some(new) = new else { return Ok(false) };
        let there = std::fs::read(self.worktree.path.join(path)).unwrap_or_default();
        Ok(repository.read_blob(new)?.starts_with(&there))
    }

    /// Lets git take its own lock on the index. If this process dies meanwhile, the next one
    /// removes it.
    fn with_index<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.lock.announced_index((&self.common_dir, &self.worktree.git_dir), change)
    }

    fn refresh_index(&self) -> Result<()> {
        let arguments = ["update-index", "-q", "--refresh"];
        // It says with its exit code that something differs.
        self.worktree.git_holding(&self.lock, &arguments).map(|_| ())
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        self.worktree.git_holding(&self.lock, arguments)?.checked(arguments)
    }
}

/// What a file was and becomes.
struct Change<'a> {
    path: &'a str,
    old: Option<Oid>,
    new: Option<Oid>,
}

/// Reads what `git diff-tree -r -z` prints.
fn changes(listed: &str) -> Vec<Change<'_>> {
    let mut parts = listed.split('\0');
    let mut changes = Vec::new();
    while let (Some(change), Some(path)) = (parts.next(), parts.next()) {
        let [_, _, old, new, _] = change.split(' ').collect::<Vec<_>>()[..] else { continue };
        let oid = |name| Oid::parse(name).ok().filter(|oid| !oid.is_null());
        changes.push(Change { path, old: oid(old), new: oid(new) });
    }
    changes
}
