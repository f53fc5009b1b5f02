//! Refs of ours whose every state is a commit: objects first, durably, then the ref, durably.

use agentic_git::{RefMove, Repository};
use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Signature};
use agentic_store::bell::{self, GroundChange};
use agentic_store::ground::{PACKED_REFS, WrittenObjects};
use agentic_store::journal::{BranchMove, GitKind};
use agentic_store::{Lock, fault};

use crate::folder::{Drafts, FolderDraft, TreeFolder, read_folder};
use crate::wrapping::{author, read_bare_commit};
use crate::{Error, Result};

/// The lock under which refs move. It is the last one that is taken.
const MOVING_LOCK: &str = "federation";
/// How often a write is tried on what a faster one left.
pub const RACES_MAX: usize = 16;

/// A state of a ref that is made and not visible.
#[derive(Debug)]
pub struct NextState {
    /// The ref.
    pub name: String,
    /// Where it must be.
    pub expect: Option<Oid>,
    /// The commit that it goes to.
    pub commit: Oid,
    /// The objects that may be missing.
    pub drafts: Drafts,
    /// What reflogs say.
    pub why: String,
}

impl NextState {
    /// Makes the objects durable, then moves the ref, and makes that durable.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn publish(self, repository: &Repository, who: &Signature) -> Result<RefMove> {
        self.write(repository)?.publish(repository, who)
    }

    /// Makes the objects durable, so that the state can be read before anybody sees it.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn write(self, repository: &Repository) -> Result<WrittenState> {
        let written = repository.write_objects(&self.drafts.objects)?;
        repository.sync_filesystem()?;
        Ok(WrittenState { state: self, written })
    }
}

/// A state of a ref whose objects are durable, and that is not visible. Where it never is, git collects them.
#[derive(Debug)]
#[must_use = "a state that nobody makes visible was written for nothing"]
pub struct WrittenState {
    state: NextState,
    written: WrittenObjects,
}

impl WrittenState {
    /// Moves the ref, and makes that durable.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn publish(self, repository: &Repository, who: &Signature) -> Result<RefMove> {
        let WrittenState { state, written } = self;
        let step = BranchMove { name: state.name, expect: state.expect, new: state.commit };
        if step.expect == Some(step.new) {
            return Ok(RefMove::Moved);
        }
        // Whoever takes this lock next removes git's own lock on the ref, if we die over it.
        let moving = lock(repository, MOVING_LOCK)?;
        let moved =
            moving.announced(&[&step.name], || repository.move_ref(&step, who, &state.why))?;
        drop(moving);
        fault::point("federation-ref-moved")?;
        if moved == RefMove::Moved {
            // A prune may have run before the ref named them.
            repository.confirm_objects(&state.drafts.objects, &written)?;
            repository.sync_filesystem()?;
            tell_of_refs(repository);
        }
        Ok(moved)
    }
}

/// Takes a ref away, and makes that durable.
///
/// # Errors
/// Fails when the disk does, and when the ref is elsewhere by now.
pub fn remove(repository: &Repository, name: String, tip: Oid) -> Result<()> {
    remove_all(repository, &[(name, tip)])
}

/// Takes refs away likewise.
///
/// # Errors
/// Fails as [`remove`] does.
pub fn remove_all(repository: &Repository, gone: &[(String, Oid)]) -> Result<()> {
    let moving = lock(repository, MOVING_LOCK)?;
    let locked: Vec<&str> =
        gone.iter().map(|(name, _)| name.as_str()).chain([PACKED_REFS]).collect();
    moving.announced(&locked, || repository.delete_refs(gone))?;
    repository.sync_filesystem()?;
    tell_of_refs(repository);
    Ok(())
}

/// Tells the process that stays, if there is one, that refs have moved: it watches no folder of a peer.
pub fn tell_of_refs(repository: &Repository) {
    bell::ring(repository.layout(), &GroundChange::Refs);
}

/// Makes the next commit of a ref that nobody signs: its tree, the state before, and further parents.
pub fn next_state(
    repository: &Repository,
    name: &str,
    expect: Option<Oid>,
    content: ChainContent,
) -> NextState {
    let ChainContent { folder, also, at, message } = content;
    let mut drafts = Drafts::default();
    let tree = folder.finish(repository, &mut drafts);
    let commit = CommitData {
        tree,
        parents: expect.into_iter().chain(also).collect(),
        author: author(at),
        committer: author(at),
        message: format!("{message}\n"),
    };
    let commit = drafts.add(repository, GitKind::Commit, commit.to_bytes());
    NextState { name: name.to_owned(), expect, commit, drafts, why: message }
}

/// What the next commit of a ref has.
#[derive(Debug)]
pub struct ChainContent {
    /// Its files.
    pub folder: FolderDraft,
    /// Its parents after the state before.
    pub also: Vec<Oid>,
    /// When.
    pub at: Instant,
    /// What it says.
    pub message: String,
}

/// Reads where a ref is, and the folder of its commit.
///
/// # Errors
/// Fails when the commit cannot be read.
pub fn read_state(repository: &Repository, name: &str) -> Result<Option<(Oid, TreeFolder)>> {
    let Some(tip) = repository.find_ref(name)? else { return Ok(None) };
    let damaged = |error: Error| Error::damaged(format!("`{name}` is damaged: {error}"));
    let bare = read_bare_commit(repository, tip).map_err(damaged)?;
    Ok(Some((tip, read_folder(repository, bare.tree).map_err(damaged)?)))
}

/// Returns who moves refs here.
///
/// # Errors
/// Fails when git does not know who commits.
pub fn mover(repository: &Repository, at: Instant) -> Result<Signature> {
    let person = repository.committer()?;
    Ok(Signature { person, at, offset_minutes: 0 })
}

/// Takes a lock of federation.
///
/// # Errors
/// Fails when it cannot be made.
pub fn lock(repository: &Repository, work: &str) -> Result<Lock> {
    let path = repository.layout().space_lock(work);
    Ok(Lock::take(&path, repository.common_dir())?)
}
