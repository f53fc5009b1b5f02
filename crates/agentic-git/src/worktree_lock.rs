//! The right to change the files of a worktree.
//!
//! Git runs programs of the user's when it writes files: filters and hooks. They may take long, and
//! may write to the space themselves, so the lock of a branch is never held meanwhile. The lock of
//! the one worktree is, as git holds its own on the worktree's index: only those wait for it who
//! would change the same files.
//!
//! Whoever has both takes this one first.

mod files;
mod merging;

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::trail::{FollowAttempt, Trail};
use crate::{HELD_LOCK, Repository, Worktree};
use agentic_store::error::CheckoutError;
use agentic_store::file;
use agentic_store::lock::Lock;
use agentic_store::report::{RecoveryAct, StreamRecovery};
use agentic_store::writer::Writer;
use agentic_store::{Error, Result, fault};

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
            return Err(Error::Checkout(CheckoutError::Held { path: worktree.path }));
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
        let (files_from, attempt) = (Some(from), FollowAttempt::Due);
        Trail { branch, files_from, to, attempt, merges: Vec::new() }.write(&self.note)
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
        self.with_index(|| {
            self.set_index(from)?;
            self.refresh_index()?;
            self.git(&["read-tree", "-m", "-u", &from.to_string(), &to.to_string()])?;
            self.set_index(head)?;
            self.refresh_index()
        })?;
        self.worktree.set_base(head)?;
        self.retract()
    }

    /// Lets the worktree follow, if whoever had it before died or failed before it had. Where files
    /// were edited meanwhile and cannot be merged, they are left and reported, and the worktree counts
    /// as one that was never brought.
    ///
    /// # Errors
    /// Fails when the branch's own writes cannot be finished, and with [`CheckoutError::LeftBehind`] when
    /// something is in the way; the next who needs this worktree tries again.
    pub fn finish_following(
        &self,
        repository: &Repository,
        now: Instant,
    ) -> Result<Vec<StreamRecovery>> {
        let Some(trail) = Trail::read(&self.note)? else { return Ok(Vec::new()) };
        let stream = trail.stream();
        let mut report = Vec::new();
        if repository.layout().open_mark(&stream).exists() {
            // The branch is first; what opening finds to do for this worktree is noted anew.
            report.extend(Writer::open(repository, &stream, now)?.report());
        }
        let trail = Trail::read(&self.note)?.unwrap_or(trail);
        if !self.has_to_follow(repository, &trail)? {
            // It never moved, or somebody has moved it on and knows what became of the files.
            self.retract()?;
            return Ok(report);
        }
        let left = match self.with_index(|| self.follow_again(repository, &trail)) {
            Ok(left) => left,
            Err(error) => return Err(self.left_behind(error.to_string())?),
        };
        let path = self.worktree.path.clone();
        if left.is_empty() {
            self.worktree.set_base(trail.to)?;
            fault::point("after-catch-up")?;
            self.retract()?;
            report.push(StreamRecovery { stream, mended: RecoveryAct::Worktree(path) });
            return Ok(report);
        }
        let left: Vec<String> =
            left.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        match trail.files_from.filter(|from| repository.read_commit(*from).is_ok()) {
            // What is left is a matter for `worktree sync`, which merges from there.
            Some(from) => self.worktree.set_base(from)?,
            None => return Err(self.left_behind(in_the_way(&left))?),
        }
        self.retract()?;
        report.push(StreamRecovery { stream, mended: RecoveryAct::WorktreeInPart { path, left } });
        Ok(report)
    }

    /// Tells whether the files have to go where the note says: the branch is there, or has moved on
    /// from there and git has brought the files nowhere since.
    fn has_to_follow(&self, repository: &Repository, trail: &Trail) -> Result<bool> {
        match repository.find_ref(&trail.branch)? {
            Some(head) if head == trail.to => Ok(true),
            Some(head) => Ok(trail.files_from.is_some()
                && repository.is_ancestor(trail.to, head)?
                && self.worktree.base(head)? != head),
            None => Ok(false),
        }
    }

    /// Notes that somebody has tried in vain.
    fn left_behind(&self, why: String) -> Result<Error> {
        // What was merged is noted there too.
        if let Some(trail) = Trail::read(&self.note)? {
            Trail { attempt: FollowAttempt::Failed, ..trail }.write(&self.note)?;
        }
        Ok(Error::Checkout(CheckoutError::LeftBehind { path: self.worktree.path.clone(), why }))
    }

    /// Makes the index anew, whatever state it is in, and brings the files that are not there yet.
    /// Returns those that it could not bring.
    fn follow_again(&self, repository: &Repository, trail: &Trail) -> Result<Vec<Vec<u8>>> {
        fault::point("before-catch-up")?;
        self.set_index(trail.to)?;
        match trail.files_from {
            Some(from) => self.bring_files(repository, trail, from),
            None => self.refresh_index().map(|()| Vec::new()),
        }
    }

    /// Makes the index that of a commit or tree. What it is told to skip stays skipped, and so does
    /// what a sparse checkout leaves out.
    fn set_index(&self, at: Oid) -> Result<()> {
        let at = at.to_string();
        if self.git(&["read-tree", "--reset", &at]).is_err() {
            // A power cut may have spoilt it: git does not sync it.
            file::remove(&self.worktree.git_dir.join("index"))?;
            self.git(&["read-tree", &at])?;
        }
        let asked = ["config", "--type=bool", "core.sparseCheckout"];
        if self.worktree.git(&asked)?.stdout.trim() == "true" {
            self.git(&["read-tree", "-m", "-u", &at])?;
        }
        Ok(())
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

    fn git_raw(&self, arguments: &[&str], paths: &[&[u8]]) -> Result<Vec<u8>> {
        self.worktree.git_on_paths(Some(&self.lock), arguments, paths)
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        self.worktree.git_holding(&self.lock, arguments)?.checked(arguments)
    }
}

/// Says which paths are in the way.
fn in_the_way(paths: &[String]) -> String {
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!("{} is in the way", named.join(", "))
}
