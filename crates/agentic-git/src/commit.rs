//! Reading commits and walking history.

use agentic_model::{Instant, Oid};
use gix::objs::CommitRefIter;

use super::{Repository, to_id, to_oid};
use agentic_store::error::RevisionError;
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::{Error, Result};

/// How many commits are looked at to find one that is not there, before giving up.
const WALK_COMMITS_MAX: usize = 10_000_000;

/// How the header of a signature is called, by the hash of the repository.
const SIGNATURE_HEADERS: [&str; 2] = ["gpgsig", "gpgsig-sha256"];

/// What a commit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its id.
    pub oid: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its parents, first parent first.
    pub parents: Vec<Oid>,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub author_email: String,
    /// When it was committed.
    pub at: Instant,
    /// The message; bytes that are not UTF-8 are replaced.
    pub message: String,
}

/// Who committed a commit, as its header has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitterLine {
    /// The name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// The address.
    pub email: String,
}

/// Whether what is read of a commit is compared with its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HashCheck {
    /// It is what the object database says.
    Trusting,
    /// It is hashed first.
    Always,
}

/// Commits along first parents, newest first.
pub struct FirstParents<'a> {
    repository: &'a Repository,
    next: Option<Oid>,
    n_seen: usize,
}

impl Repository {
    /// Reads a commit.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    pub fn read_commit(&self, oid: Oid) -> Result<CommitInfo> {
        self.read_hashed(oid, HashCheck::Trusting)
    }

    /// Reads a commit that decides something: its bytes are hashed before anything is taken from
    /// them.
    ///
    /// # Errors
    /// Fails when it is missing, not a commit, or not what its id names.
    pub fn read_sound_commit(&self, oid: Oid) -> Result<CommitInfo> {
        self.read_hashed(oid, HashCheck::Always)
    }

    /// Reads a commit and who committed it.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    pub fn read_commit_and_committer(&self, oid: Oid) -> Result<(CommitInfo, CommitterLine)> {
        let committer = |decoded: &gix::objs::CommitRef<'_>| {
            let found = decoded.committer().ok();
            let text = |of: fn(&gix::actor::SignatureRef<'_>) -> String| {
                found.as_ref().map_or_else(String::new, of)
            };
            CommitterLine {
                name: text(|found| found.name.to_string()),
                email: text(|found| found.email.to_string()),
            }
        };
        self.read_decoded(oid, HashCheck::Trusting, committer)
    }

    /// Reads a commit, and tells whether it carries a signature, whoever made that.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    pub fn read_commit_and_signing(&self, oid: Oid) -> Result<(CommitInfo, bool)> {
        let is_signed = |decoded: &gix::objs::CommitRef<'_>| {
            SIGNATURE_HEADERS.iter().any(|name| decoded.extra_headers().find(name).is_some())
        };
        self.read_decoded(oid, HashCheck::Trusting, is_signed)
    }

    fn read_hashed(&self, oid: Oid, hashing: HashCheck) -> Result<CommitInfo> {
        self.read_decoded(oid, hashing, |_| ()).map(|(info, ())| info)
    }

    fn read_decoded<T>(
        &self,
        oid: Oid,
        hashing: HashCheck,
        also: impl FnOnce(&gix::objs::CommitRef<'_>) -> T,
    ) -> Result<(CommitInfo, T)> {
        let doing = || format!("read commit {oid}");
        let damaged = |error: String| Error::corrupt(format!("commit {oid}"), error);
        let find = || self.inner.find_commit(to_id(oid)).map_err(Error::git_with(doing));
        let commit = self.again(find).map_err(|error| self.damaged_or(oid, error))?;
        if hashing == HashCheck::Always {
            let object = GitObject { kind: GitKind::Commit, bytes: commit.data.clone() };
            if self.name_object(&object) != oid {
                return Err(damaged("its bytes do not match its id".to_owned()));
            }
        }
        let decoded = commit.decode().map_err(|error| damaged(error.to_string()))?;
        let author = decoded.author().map_err(Error::git_with(doing))?;
        let committer = decoded.committer().map_err(Error::git_with(doing))?;
        let besides = also(&decoded);
        let info = CommitInfo {
            oid,
            tree: to_oid(&decoded.tree()),
            parents: decoded.parents().map(|id| to_oid(&id)).collect(),
            author: author.name.to_string(),
            author_email: author.email.to_string(),
            at: Instant::from_millis(committer.seconds().saturating_mul(1000)),
            message: String::from_utf8_lossy(decoded.message).into_owned(),
        };
        Ok((info, besides))
    }

    /// Reads when a commit was written, which git keeps when it is made again upon another parent.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    pub fn authored_at(&self, oid: Oid) -> Result<Instant> {
        let doing = || format!("read commit {oid}");
        let commit = self.inner.find_commit(to_id(oid)).map_err(Error::git_with(doing))?;
        let author = commit.author().map_err(Error::git_with(doing))?;
        Ok(Instant::from_millis(author.seconds().saturating_mul(1000)))
    }

    /// Reads which tree a commit has, and of the commit no more than that takes where it can: one
    /// that keeps others may name thousands.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    pub fn tree_of(&self, oid: Oid) -> Result<Oid> {
        let begin = self.cache.read_begin(&to_id(oid)).unwrap_or_default();
        match CommitRefIter::from_bytes(&begin, self.inner.object_hash()).tree_id() {
            Ok(tree) => Ok(to_oid(&tree)),
            Err(_) => Ok(self.read_commit(oid)?.tree),
        }
    }

    /// Finds the commit that a revision names, as git understands revisions.
    ///
    /// # Errors
    /// Fails when it names no commit, or several.
    pub fn resolve_commit(&self, revision: &str) -> Result<Oid> {
        self.again(|| self.look_up_commit(revision))
    }

    fn look_up_commit(&self, revision: &str) -> Result<Oid> {
        let unknown = || Error::Revision(RevisionError::Unknown { revision: revision.to_owned() });
        let id = self.inner.rev_parse_single(revision).map_err(|error| {
            let text = format!("{error:?}");
            match text.contains("mbiguous") {
                true => Error::Revision(RevisionError::Ambiguous {
                    prefix: revision.to_owned(),
                    candidates: Vec::new(),
                }),
                false => unknown(),
            }
        })?;
        let object = id.object().map_err(|_| unknown())?;
        let commit = object.peel_to_commit().map_err(|_| unknown())?;
        Ok(to_oid(&commit.id))
    }

    /// Finds the commit that the current worktree has checked out; nothing on a branch that has no
    /// commit yet.
    ///
    /// # Errors
    /// Fails when `HEAD` or its branch cannot be read.
    pub fn head_commit(&self) -> Result<Option<Oid>> {
        match self.current_branch() {
            Some(branch) => self.find_ref(&branch),
            None => self.resolve_commit("HEAD").map(Some),
        }
    }

    /// Walks first parents from a commit on, itself first.
    pub fn first_parents(&self, from: Oid) -> FirstParents<'_> {
        FirstParents { repository: self, next: Some(from), n_seen: 0 }
    }

    /// Finds the best common ancestor of two commits, if they have one.
    ///
    /// # Errors
    /// Fails when history cannot be read.
    pub fn fork_point(&self, left: Oid, right: Oid) -> Result<Option<Oid>> {
        if left == right {
            return Ok(Some(left));
        }
        // It only saves time: one that cannot be read, such as while git replaces it, is done without.
        let cache = self.inner.commit_graph_if_enabled().ok().flatten();
        self.again(|| {
            let mut graph = self.inner.revision_graph(cache.as_ref());
            let bases = self
                .inner
                .merge_bases_many_with_graph(to_id(left), &[to_id(right)], &mut graph)
                .map_err(Error::git("find the common ancestor"))?;
            Ok(bases.first().map(|id| to_oid(id)))
        })
    }

    /// Tells whether `old` is `new` or one of its ancestors.
    ///
    /// # Errors
    /// Fails when history cannot be read.
    pub fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        if old == new {
            return Ok(true);
        }
        // One that a prune took may be in a journal still, and is written again by being read.
        if !self.has_object(old) && self.read_commit(old).is_err() {
            return Ok(false);
        }
        let base = self.fork_point(old, new);
        let base = base.map_err(|error| Error::corrupt(format!("the history of {new}"), error))?;
        Ok(base == Some(old))
    }
}

impl FirstParents<'_> {
    /// Names the commit that comes next, which was not read yet; nothing behind the first of a history.
    pub fn next_oid(&self) -> Option<Oid> {
        self.next
    }
}

impl Iterator for FirstParents<'_> {
    type Item = Result<CommitInfo>;

    fn next(&mut self) -> Option<Result<CommitInfo>> {
        let oid = self.next.take()?;
        self.n_seen += 1;
        if self.n_seen > WALK_COMMITS_MAX {
            return None;
        }
        let commit = self.repository.read_commit(oid);
        if let Ok(commit) = &commit {
            self.next = commit.parents.first().copied();
        }
        Some(commit)
    }
}
