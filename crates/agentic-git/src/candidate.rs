//! Candidates: the paths at which a folder may differ from a tree.
//!
//! A candidate costs a read, a missed difference costs work that is not committed; so whatever the
//! index cannot vouch for is a candidate. Everything runs on the calling thread: most worktrees
//! are small, and to start threads takes longer than to look at them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use agentic_model::Oid;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::entry::{Kind, Status};
use gix::dir::walk::EmissionMode;
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::index::{Entry, State};
use gix::status::plumbing::SymlinkCheck;

use super::cached_tree::is_just_like;
use super::repository::absolute;
use super::snapshot::head_of;
use super::{Scratch, SnapshotSource, to_id, to_oid};
use agentic_store::error::CheckoutError;
use agentic_store::{Error, Result};

/// Entries of the index that somebody asked git not to look at.
const LEFT_ALONE: Flags = Flags::ASSUME_VALID.union(Flags::FSMONITOR_VALID);

/// Where a folder may differ from a tree.
#[derive(Default)]
pub(super) struct Candidates {
    /// The paths at which it may, and what the index has there.
    pub paths: BTreeMap<BString, Option<Mode>>,
    /// The git repositories in it that are no submodules.
    pub repositories: Vec<BString>,
}

impl Scratch {
    /// Finds the paths at which the folder, or its index, may differ from `base`.
    ///
    /// # Errors
    /// Fails on entries of an unfinished merge.
    pub(super) fn candidates(&self, base: Oid, source: SnapshotSource<'_>) -> Result<Candidates> {
        let mut candidates = Candidates::default();
        match source {
            SnapshotSource::Worktree => {
                let index = self.inner.index_or_empty().map_err(Error::git("read the index"))?;
                self.staged(base, &index, &mut candidates)?;
                let scope = CandidateScope { index: &index, paths: &[] };
                self.changed(&scope, &mut candidates)?;
                self.untracked(&scope, &mut candidates)?;
            }
            SnapshotSource::Checkout => {
                let index = self.index_of(base)?;
                let scope = CandidateScope { index: &index, paths: &[] };
                self.changed(&scope, &mut candidates)?;
                self.untracked(&scope, &mut candidates)?;
                self.leave_out(&mut candidates)?;
            }
            SnapshotSource::Folder { paths } => {
                // An index made from a tree vouches for no file: all of them are candidates.
                let index = self.index_of(base)?;
                let scope = CandidateScope { index: &index, paths };
                self.changed(&scope, &mut candidates)?;
                self.untracked(&scope, &mut candidates)?;
            }
        }
        Ok(candidates)
    }

    /// Takes away the paths that the index of the worktree leaves out of the checkout, and that are
    /// not there.
    fn leave_out(&self, candidates: &mut Candidates) -> Result<()> {
        let index = self.inner.index_or_empty().map_err(Error::git("read the index"))?;
        for entry in index.entries() {
            let path = entry.path(&index);
            let full = self.folder().join(OsStr::from_bytes(path));
            if entry.flags.contains(Flags::SKIP_WORKTREE) && full.symlink_metadata().is_err() {
                candidates.paths.remove(path);
            }
        }
        Ok(())
    }

    fn index_of(&self, tree: Oid) -> Result<gix::index::File> {
        self.inner.index_from_tree(&to_id(tree)).map_err(Error::git("read the tree"))
    }

    /// Adds the paths at which the index differs from the tree.
    fn staged(&self, base: Oid, index: &State, candidates: &mut Candidates) -> Result<()> {
        if is_just_like(index, base) {
            return Ok(());
        }
        let tree = self.index_of(base)?;
        let (mut ours, mut theirs) = (tracked(&tree).peekable(), tracked(index).peekable());
        loop {
            let (path, is_same) = match (ours.peek(), theirs.peek()) {
                (None, None) => return Ok(()),
                (Some(one), Some(other)) if one.0 == other.0 => (one.0, one == other),
                (Some(one), Some(other)) => (one.0.min(other.0), false),
                (Some(one), None) | (None, Some(one)) => (one.0, false),
            };
            ours.next_if(|next| next.0 == path);
            let mode = theirs.next_if(|next| next.0 == path);
            let mode = mode.map(|(_, _, bits)| Mode::from_bits_retain(bits));
            if !is_same {
                candidates.paths.insert(path.to_owned(), mode);
            }
        }
    }

    /// Adds the paths of the index whose files are not known to be as the index has them.
    fn changed(&self, scope: &CandidateScope<'_>, candidates: &mut Candidates) -> Result<()> {
        let CandidateScope { index, paths } = *scope;
        let mut files = TrackedFiles {
            index,
            options: self.inner.stat_options().map_err(Error::git("read the configuration"))?,
            capabilities: self.capabilities()?,
            root: SymlinkCheck::new(self.folder()),
        };
        let looks_outside = self.looks_outside_sparse_checkout();
        for entry in index.entries() {
            let path = entry.path(index);
            if !is_within(path, paths) || entry.flags.intersects(LEFT_ALONE) {
                continue;
            }
            // As git has it, a file outside the sparse checkout counts as soon as it is there.
            if entry.flags.contains(Flags::SKIP_WORKTREE)
                && !(looks_outside && files.is_there(entry))
            {
                continue;
            }
            if entry.stage() != Stage::Unconflicted {
                return Err(Error::Checkout(CheckoutError::Unmerged {
                    path: path.to_str_lossy().into_owned(),
                }));
            }
            let is_same = match entry.mode.is_submodule() {
                true => files.has_submodule(entry),
                false => files.has(entry)?,
            };
            if !is_same {
                candidates.paths.insert(path.to_owned(), Some(entry.mode));
            }
        }
        Ok(())
    }

    /// Adds the files that neither the index nor `.gitignore` names.
    fn untracked(&self, scope: &CandidateScope<'_>, candidates: &mut Candidates) -> Result<()> {
        let CandidateScope { index, paths } = *scope;
        let options = self.inner.dirwalk_options().map_err(Error::git("read the configuration"))?;
        let options = options.emit_untracked(EmissionMode::Matching);
        let mut collected = gix::dir::walk::delegate::Collect::default();
        let patterns = paths.iter().map(|path| literal(path));
        let never = AtomicBool::new(false);
        self.inner
            .dirwalk(index, patterns, &never, options, &mut collected)
            .map_err(Error::git("list the folder"))?;
        for (entry, _) in collected.unorded_entries {
            if entry.status != Status::Untracked {
                continue;
            }
            match entry.disk_kind {
                Some(Kind::File | Kind::Symlink) => {
                    candidates.paths.insert(entry.rela_path, None);
                }
                Some(Kind::Repository) if !self.is_own_worktree(&entry.rela_path) => {
                    candidates.repositories.push(entry.rela_path);
                }
                Some(Kind::Repository | Kind::Directory | Kind::Untrackable) | None => {}
            }
        }
        Ok(())
    }

    /// Tells whether another worktree of this repository stands in a folder.
    fn is_own_worktree(&self, path: &BString) -> bool {
        let link = self.folder().join(OsStr::from_bytes(path)).join(".git");
        let text = std::fs::read_to_string(link).ok();
        let named = text.as_deref().and_then(|text| text.strip_prefix("gitdir:"));
        let named = named.and_then(|path| absolute(Path::new(path.trim())).ok());
        let common = absolute(self.inner.common_dir()).ok();
        named.zip(common).is_some_and(|(named, common)| named.starts_with(common.join("worktrees")))
    }

    /// Tells what git was told about the filesystem.
    pub(super) fn capabilities(&self) -> Result<gix::fs::Capabilities> {
        self.inner.filesystem_options().map_err(Error::git("read the configuration"))
    }

    /// Tells whether files count that the sparse checkout leaves out. Without one, entries are skipped
    /// because somebody said so of each.
    fn looks_outside_sparse_checkout(&self) -> bool {
        let config = self.inner.config_snapshot();
        let is_set = |key: &str| config.boolean(key).unwrap_or(false);
        is_set("core.sparseCheckout") && !is_set("sparse.expectFilesOutsideOfPatterns")
    }

    /// Returns the folder that a snapshot is taken of.
    pub(super) fn folder(&self) -> PathBuf {
        self.inner.workdir().expect("a snapshot is taken of a folder").to_owned()
    }
}

/// What is looked at: an index, and the paths that are wanted; none mean all.
struct CandidateScope<'a> {
    index: &'a State,
    paths: &'a [Vec<u8>],
}

/// The files of a folder, as the index remembers them.
struct TrackedFiles<'a> {
    index: &'a State,
    options: gix::index::entry::stat::Options,
    capabilities: gix::fs::Capabilities,
    root: SymlinkCheck,
}

impl TrackedFiles<'_> {
    /// Tells whether the submodule is where the entry has it, or is not checked out.
    fn has_submodule(&mut self, entry: &Entry) -> bool {
        let Ok(full) = self.root.verified_path(entry.path(self.index)) else { return false };
        match full.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                head_of(full).is_none_or(|head| head == to_oid(&entry.id))
            }
            Ok(_) | Err(_) => false,
        }
    }

    /// Tells whether anything is at the path of the entry.
    fn is_there(&mut self, entry: &Entry) -> bool {
        let path = entry.path(self.index);
        self.root.verified_path(path).is_ok_and(|full| full.symlink_metadata().is_ok())
    }

    /// Tells whether the file is surely the one that the entry names. The rules are those of git's
    /// document `racy-git`.
    fn has(&mut self, entry: &Entry) -> Result<bool> {
        let path = entry.path(self.index);
        let Ok(full) = self.root.verified_path(path) else { return Ok(false) };
        let Ok(metadata) = gix::index::fs::Metadata::from_path_no_follow(full) else {
            return Ok(false);
        };
        let gix::fs::Capabilities { symlink, executable_bit, .. } = self.capabilities;
        let is_other_kind = metadata.is_dir()
            || entry.mode.change_to_match_fs(&metadata, symlink, executable_bit).is_some();
        if is_other_kind || entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Ok(false);
        }
        let stat = Stat::from_fs(&metadata).map_err(Error::git("read the time of a file"))?;
        let is_marked = entry.stat.size == 0 && !entry.id.is_empty_blob();
        Ok(!is_marked
            && stat.matches(&entry.stat, self.options)
            && !stat.is_racy(self.index.timestamp(), self.options))
    }
}

/// Lists what the index has.
fn tracked(index: &State) -> impl Iterator<Item = (&BStr, gix::ObjectId, u32)> {
    index.entries().iter().map(|entry| (entry.path(index), entry.id, entry.mode.bits()))
}

/// Tells whether a path is one of `paths` or below one; no paths mean all.
fn is_within(path: &BStr, paths: &[Vec<u8>]) -> bool {
    paths.is_empty()
        || paths.iter().any(|above| {
            let rest = path.strip_prefix(above.as_slice());
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(b"/") || above.ends_with(b"/")
            })
        })
}

/// A pathspec that matches exactly this path and what is below it.
fn literal(path: &[u8]) -> BString {
    let mut spec = BString::from(":(top,literal)");
    spec.extend_from_slice(path);
    spec
}
