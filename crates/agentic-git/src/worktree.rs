//! Worktrees: which branch each has checked out, and bringing them along when a branch moves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::command::{by_command_line, run_git_at, run_git_holding, run_git_on_paths, run_hook};
use super::occupied::occupied_branches;
use super::repository::{absolute, leads_to};
use super::{GitEnd, Repository};
use agentic_store::error::{CheckoutError, RefError, RepositoryError};
use agentic_store::file::{self, Persistence};
use agentic_store::ground::Occupation;
use agentic_store::lock::Lock;
use agentic_store::{Error, Result};

/// The file in a worktree's git directory that names the commit it was last brought to.
const BASE_FILE: &str = "agentic-base";

/// The files that git keeps while it is in the middle of something, and what git calls that.
const UNDER_WAY: [(&str, &str); 3] =
    [("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert")];

/// A folder in which a branch is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder.
    pub path: PathBuf,
    /// Its own git directory.
    pub git_dir: PathBuf,
    /// The full name of the branch; nothing if none is checked out.
    pub branch: Option<String>,
}

/// Where a branch is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    /// Nowhere.
    Nowhere,
    /// In this worktree.
    Here(Worktree),
    /// In one whose folder is gone: git still keeps the branch for it.
    Gone(PathBuf),
    /// In one whose folder does not lead back to this repository, as after the repository was moved.
    Unlinked(PathBuf),
    /// In none, but git is about to move it in this one.
    Occupied(PathBuf, Occupation),
}

impl Repository {
    /// Tells whether the worktree that a git directory is of was made for an agent.
    pub fn is_made_for_agent(git_dir: &Path) -> bool {
        git_dir.join(BASE_FILE).exists()
    }

    /// Lists the full names of the branches that the worktree with this git directory keeps from others: the
    /// one that it is on, else those that git is about to move there by itself.
    pub fn branches_kept(git_dir: &Path) -> Vec<String> {
        let Some(head) = read_head(git_dir) else { return Vec::new() };
        match branch_of(&head) {
            Some(branch) => vec![branch],
            None => occupied_branches(git_dir).into_iter().map(|(branch, _)| branch).collect(),
        }
    }

    /// Opens the same repository from another of its worktrees.
    ///
    /// # Errors
    /// Fails when the worktree is gone.
    pub fn at_worktree(&self, worktree: &Worktree) -> Result<Repository> {
        if self.work_dir() == Some(&worktree.path) {
            let (cache, common_dir) = (self.cache.clone(), self.common_dir().to_owned());
            return Ok(Repository::with_cache(self.inner.clone(), common_dir, cache));
        }
        let opening = || format!("open `{}`", worktree.path.display());
        // What the environment says is about the current one.
        let inner = match worktree.git_dir.file_name() {
            Some(name) if absolute(&worktree.git_dir)? != self.common_dir() => {
                let name = gix::path::os_str_into_bstr(name).map_err(Error::git_with(opening))?;
                let linked = self.inner.worktree_proxy_by_id(name);
                let linked = linked.map_err(Error::git_with(opening))?;
                let linked = linked.ok_or_else(|| {
                    Error::Repository(RepositoryError::NotFound {
                        directory: worktree.path.clone(),
                    })
                })?;
                linked.into_repo_with_possibly_inaccessible_worktree()
            }
            _ => self.inner.main_repo(),
        };
        let mut inner = inner.map_err(Error::git_with(opening))?;
        inner.set_workdir(worktree.path.clone()).map_err(Error::git_with(opening))?;
        Repository::checked(inner, None)
    }

    /// Lists all worktrees whose folders exist and lead back here, the main one first.
    ///
    /// # Errors
    /// Fails when their list cannot be read.
    pub fn worktrees(&self) -> Result<Vec<Worktree>> {
        let mut found = Vec::new();
        found.extend(self.main_worktree());
        for proxy in self.inner.worktrees().map_err(Error::git("list the worktrees"))? {
            if let Ok(path) = proxy.base()
                && let Checkout::Here(linked) = linked(path, proxy.git_dir())
            {
                found.push(linked);
            }
        }
        Ok(found)
    }

    /// Finds the worktree that has a branch checked out and can be used.
    ///
    /// # Errors
    /// Fails when the worktrees cannot be listed, and with [`RefError::Occupied`] when git is about
    /// to move the branch: whoever asks would do so as well.
    pub fn worktree_of(&self, branch: &str) -> Result<Option<Worktree>> {
        match self.checkout_of(branch)? {
            Checkout::Here(worktree) => Ok(Some(worktree)),
            Checkout::Nowhere | Checkout::Gone(_) | Checkout::Unlinked(_) => Ok(None),
            Checkout::Occupied(path, occupation) => {
                Err(Error::Ref(RefError::Occupied { branch: branch.to_owned(), occupation, path }))
            }
        }
    }

    /// Finds where a branch is checked out; a worktree that can be used, if there is one.
    ///
    /// # Errors
    /// Fails when the worktrees cannot be listed.
    pub fn checkout_of(&self, branch: &str) -> Result<Checkout> {
        let mut found = Checkout::Nowhere;
        match (hold_on(self.common_dir(), branch), self.main_worktree()) {
            (BranchHold::CheckedOut, Some(main)) => return Ok(Checkout::Here(main)),
            (BranchHold::Occupied(what), Some(main)) => found = Checkout::Occupied(main.path, what),
            (BranchHold::CheckedOut | BranchHold::Occupied(_), None) | (BranchHold::Nothing, _) => {
            }
        }
        for proxy in self.inner.worktrees().map_err(Error::git("list the worktrees"))? {
            // Where a worktree stands is asked only of the right one: there may be a thousand.
            let hold = hold_on(proxy.git_dir(), branch);
            if hold == BranchHold::Nothing {
                continue;
            }
            let Ok(path) = proxy.base() else { continue };
            match (linked(path, proxy.git_dir()), hold) {
                (here @ Checkout::Here(_), BranchHold::CheckedOut) => return Ok(here),
                // Nobody can go on with it where the folder is gone.
                (Checkout::Here(there), BranchHold::Occupied(what)) => {
                    found = Checkout::Occupied(there.path, what);
                }
                (other, BranchHold::CheckedOut) if found == Checkout::Nowhere => found = other,
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the worktree that belongs to the common git directory, wherever the configuration or
    /// the environment has it; nothing in a bare repository, and from a linked worktree nothing where
    /// the folder leads to the git directory and not the other way round.
    pub fn main_worktree(&self) -> Option<Worktree> {
        let is_here = self.inner.git_dir() == self.inner.common_dir();
        let folder = match is_here {
            true => self.work_dir()?.to_owned(),
            false => self.inner.main_repo().ok()?.workdir()?.to_owned(),
        };
        worktree(absolute(&folder).ok()?, self.common_dir().to_owned())
    }

    /// Returns the worktree that this handle was opened in.
    pub fn current_worktree(&self) -> Option<Worktree> {
        worktree(self.work_dir()?.to_owned(), self.git_dir().to_owned())
    }
}

impl Worktree {
    /// Runs the `git` program in this worktree.
    ///
    /// # Errors
    /// Fails when there is no such program; how it ended is in the value.
    pub fn git(&self, arguments: &[&str]) -> Result<GitEnd> {
        run_git_at(&self.path, &self.git_dir, arguments)
    }

    /// Does the same with a git that holds a lock as long as it runs, even if this process dies.
    pub(crate) fn git_holding(&self, lock: &Lock, arguments: &[&str]) -> Result<GitEnd> {
        run_git_holding(lock, &self.path, &self.git_dir, arguments)
    }

    /// Runs the `git` program on paths, and returns the bytes that it prints. With a lock, it holds that
    /// as long as it runs, even if this process dies.
    pub(crate) fn git_on_paths(
        &self,
        lock: Option<&Lock>,
        arguments: &[&str],
        paths: &[&[u8]],
    ) -> Result<Vec<u8>> {
        run_git_on_paths(lock, &self.path, &self.git_dir, arguments, paths)
    }

    /// Checks that git is not in the middle of a merge, a cherry-pick or a revert here: only its own
    /// commit concludes that, and one of ours would lose the second parent of a merge.
    ///
    /// # Errors
    /// Fails with [`CheckoutError::UnderWay`] if it is.
    pub fn check_concluded(&self) -> Result<()> {
        match UNDER_WAY.iter().find(|(file, _)| self.git_dir.join(file).exists()) {
            Some((_, what)) => {
                Err(Error::Checkout(CheckoutError::UnderWay { what, path: self.path.clone() }))
            }
            None => Ok(()),
        }
    }

    /// Lists the branches that git is about to move here by itself, with what it is in the middle of.
    pub fn occupied_branches(&self) -> Vec<(String, Occupation)> {
        match self.branch {
            Some(_) => Vec::new(),
            None => occupied_branches(&self.git_dir),
        }
    }

    /// The file in a worktree's git directory by which git locks it.
    pub(crate) const LOCKED: &str = "locked";

    /// Tells whether git has made the worktree and nobody has checked anything out in it: it is locked,
    /// and was never given an index.
    pub fn is_empty(&self) -> bool {
        self.git_dir.join(Worktree::LOCKED).exists() && !self.git_dir.join("index").exists()
    }

    /// Runs a hook of the user's in this worktree, if there is one, as git does.
    ///
    /// # Errors
    /// Fails when the hook does.
    pub fn run_hook(&self, name: &str, arguments: &[&str]) -> Result<()> {
        let place = format!("hooks/{name}");
        let asked = ["rev-parse", "--git-path", &place];
        let path = self.git(&asked)?.checked(&asked)?;
        let hook = self.path.join(path.trim_end_matches('\n'));
        let found = hook.metadata();
        if !found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0) {
            return Ok(());
        }
        run_hook(&self.path, &hook, arguments)?.checked(&["hook", name]).map(drop)
    }

    /// Returns the commit that the folder was last brought to: by one of our verbs, or by git
    /// itself, which logs every commit, reset and checkout that happens in this folder.
    ///
    /// # Errors
    /// Fails when the file that names it is damaged.
    pub fn base(&self, head: Oid) -> Result<Oid> {
        let recorded = self.recorded_base()?;
        let logged = self.last_logged();
        Ok(match (recorded, logged) {
            (Some(recorded), _) if recorded == head => head,
            (_, Some(logged)) if logged == head => head,
            (Some(recorded), _) => recorded,
            (None, logged) => logged.unwrap_or(head),
        })
    }

    /// Names the worktree among those of its repository, for files of ours that are about it.
    pub(crate) fn key(&self) -> String {
        let is_linked = self.git_dir.join("commondir").exists();
        let name = self.git_dir.file_name().filter(|_| is_linked).unwrap_or_default();
        agentic_store::hash_hex(name.as_encoded_bytes())[..16].to_owned()
    }

    fn recorded_base(&self) -> Result<Option<Oid>> {
        let path = self.git_dir.join(BASE_FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Oid::parse(text.trim())
                .map(Some)
                .map_err(|error| Error::corrupt(format!("`{}`", path.display()), error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// Records the commit that the folder was brought to.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn set_base(&self, base: Oid) -> Result<()> {
        let path = self.git_dir.join(BASE_FILE);
        file::replace(&path, format!("{base}\n").as_bytes(), Persistence::Lazy)
    }

    /// Tells whether the folder holds no change to tracked files, staged or not.
    ///
    /// # Errors
    /// Fails when git cannot tell.
    pub fn is_clean(&self) -> Result<bool> {
        let arguments = ["status", "--porcelain", "--untracked-files=no"];
        Ok(self.git(&arguments)?.checked(&arguments)?.is_empty())
    }

    /// Tells whether the folder holds nothing that is not committed, untracked files included.
    ///
    /// # Errors
    /// Fails when git cannot tell.
    pub fn is_pristine(&self) -> Result<bool> {
        let arguments = ["status", "--porcelain", "--untracked-files=normal"];
        Ok(self.git(&arguments)?.checked(&arguments)?.is_empty())
    }

    /// Tells whether any of these paths holds a file that git does not track, or needs a folder where
    /// one is.
    ///
    /// # Errors
    /// Fails when git cannot tell.
    pub fn untracked_among(&self, paths: &[Vec<u8>]) -> Result<bool> {
        let mut on_disk: Vec<&[u8]> =
            paths.iter().filter_map(|path| self.standing_on(path)).collect();
        on_disk.dedup();
        for part in by_command_line(&on_disk) {
            let arguments = ["--literal-pathspecs", "ls-files", "--others", "--"];
            if !self.git_on_paths(None, &arguments, part)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds what stands at a path: itself, or what is no folder although the path leads through it.
    fn standing_on<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends {
            match self.path.join(OsStr::from_bytes(&path[..end])).symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Some(&path[..end]),
                Err(_) => return None,
            }
        }
        self.path.join(OsStr::from_bytes(path)).symlink_metadata().is_ok().then_some(path)
    }

    /// Returns where the last entry of this worktree's own head log leads that moves something: one
    /// that moves nothing, as of a checkout of the same branch, changes no file.
    fn last_logged(&self) -> Option<Oid> {
        let log = std::fs::read(self.git_dir.join("logs/HEAD")).ok()?;
        let step = |line: &[u8]| {
            let mut ids = line.split(|byte| *byte == b' ').map(|id| std::str::from_utf8(id).ok());
            Some((Oid::parse(ids.next()??).ok()?, Oid::parse(ids.next()??).ok()?))
        };
        let steps = log.split(|byte| *byte == b'\n').rev().filter_map(step);
        steps.into_iter().find(|(from, to)| from != to).map(|(_, to)| to)
    }
}

/// How a worktree keeps a branch from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BranchHold {
    /// Not at all.
    Nothing,
    /// It has the branch checked out.
    CheckedOut,
    /// Its head is detached, and git will move the branch.
    Occupied(Occupation),
}

/// Tells how the worktree with this git directory keeps a branch from others.
fn hold_on(git_dir: &Path, branch: &str) -> BranchHold {
    let Some(head) = read_head(git_dir) else { return BranchHold::Nothing };
    match head.strip_prefix("ref: ") {
        Some(name) if name.trim() == branch => BranchHold::CheckedOut,
        Some(_) => BranchHold::Nothing,
        None => {
            let occupied = occupied_branches(git_dir).into_iter();
            let found = occupied.into_iter().find(|(name, _)| name == branch);
            found.map_or(BranchHold::Nothing, |(_, what)| BranchHold::Occupied(what))
        }
    }
}

fn worktree(path: PathBuf, git_dir: PathBuf) -> Option<Worktree> {
    let head = read_head(&git_dir)?;
    let branch = branch_of(&head);
    path.is_dir().then_some(Worktree { path, git_dir, branch })
}

/// Looks at the folder that a linked worktree should stand in: does it lead back?
fn linked(path: PathBuf, git_dir: &Path) -> Checkout {
    if !path.is_dir() {
        return Checkout::Gone(path);
    }
    if !leads_to(&path, git_dir) {
        return Checkout::Unlinked(path);
    }
    worktree(path, git_dir.to_owned()).map_or(Checkout::Nowhere, Checkout::Here)
}

/// Returns the branch that a head is on; nothing if it is detached.
fn branch_of(head: &str) -> Option<String> {
    head.strip_prefix("ref: ").map(|name| name.trim().to_owned())
}

fn read_head(git_dir: &Path) -> Option<String> {
    std::fs::read_to_string(git_dir.join("HEAD")).ok()
}
