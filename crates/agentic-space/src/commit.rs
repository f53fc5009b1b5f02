//! Committing: what an agent did, as a typed commit on its branch, maybe with its trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{AgentName, Cid, ConsoleTrace, Kind, Map, Oid};
pub use agentic_store::git::FileMode;
use agentic_store::git::{IndexUpdate, SnapshotSource, TreeChange, TreeEdit, Worktree, check_path};
use agentic_store::journal::{
    BranchMove, Follow, GitKind, GitObject, KeptObject, NotesEdit, Taken, Transaction,
};
use agentic_store::recovery::Mended;
use agentic_store::{Finding, Writer};

use crate::space::Written;
use crate::{Error, Result, Space};

/// How often edits are applied again to a head that somebody else moved meanwhile.
const RACES_MAX: usize = 1000;

/// What is to be committed.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The message, without trailers of ours.
    pub message: String,
    /// The kind; `agent-commit` without one.
    pub kind: Option<Kind>,
    /// Open fields.
    pub fields: Map,
    /// Where the new tree comes from.
    pub source: Source,
    /// Whether the pending trace is bound to the commit.
    pub capture: Capture,
    /// The head that the caller has seen; another one is a conflict.
    pub expect: Option<Oid>,
    /// Whether a commit without changes is made.
    pub emptiness: Emptiness,
    /// The request of a session that asks for the commit, if one does.
    pub asker: Option<Asker>,
}

/// Who asks for an effect: written into commits, so that one that happened before a crash is
/// recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The id of the session.
    pub session: String,
    /// The id of the request.
    pub request: String,
}

/// Where the tree of a commit comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Everything in a worktree of the agent.
    Worktree(Worktree),
    /// Everything in a folder.
    Folder(PathBuf),
    /// Some paths of a folder, on top of the head.
    Paths {
        /// The folder that the paths are relative to.
        root: PathBuf,
        /// The paths.
        paths: Vec<Vec<u8>>,
    },
    /// Changes to files, on top of the head.
    Edits(BTreeMap<String, Edit>),
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// It has this content.
    Write {
        /// The content; of a link, its target.
        content: Vec<u8>,
        /// What sort of file.
        mode: FileMode,
    },
    /// It is gone.
    Delete,
}

/// Whether the pending trace is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Capture {
    /// The trace stays pending.
    #[default]
    Nothing,
    /// All pending entries are bound to the commit.
    WithTrace,
}

/// Whether a commit may leave the tree as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emptiness {
    /// No: there is nothing to commit then.
    #[default]
    Refused,
    /// Yes.
    Allowed,
}

/// What became of a commit.
#[derive(Debug)]
pub struct Committed {
    /// The commit.
    pub commit: Oid,
    /// The agent.
    pub agent: AgentName,
    /// Its kind.
    pub kind: Kind,
    /// Its tree.
    pub tree: Oid,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// The paths that it changes.
    pub changed: Vec<String>,
    /// The trace that is bound to it.
    pub trace: Option<Cid>,
    /// Whether everything is visible.
    pub written: Written,
    /// Why a worktree could not follow, if one could not.
    pub worktree_left_behind: Option<agentic_store::Error>,
}

/// Commits what an agent did. The order is that of `docs/` and DESIGN § 6: trees are built outside
/// any lock; under the agent's lock everything is checked again; one durable record decides; then
/// objects, branch and notes become visible, and the worktree follows.
///
/// # Errors
/// Fails when there is nothing to commit, when the head is not where the draft expects it, and as
/// the store does; nothing is written then.
pub fn commit(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    for _ in 0..RACES_MAX {
        match attempt(space, agent, draft) {
            Err(Error::HeadMoved { .. }) if may_retry(draft) => {}
            outcome => return outcome,
        }
    }
    attempt(space, agent, draft)
}

/// Edits mean the same on any head; a snapshot of an older head would revert others.
fn may_retry(draft: &Draft) -> bool {
    draft.expect.is_none() && matches!(draft.source, Source::Edits(_) | Source::Paths { .. })
}

fn attempt(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    let repository = space.repository();
    let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
    space.check_kind(&kind, agentic_model::kind::AGENT_COMMIT)?;

    // Outside any lock: what is there, and what it becomes.
    let base = base_of(space, agent, draft)?;
    let base_tree = space.read_commit(base)?.tree;
    let built = build(space, base_tree, &draft.source)?;
    let changed = built.changed;
    let follow = follow_plan(space, agent, &draft.source, &changed)?;

    // Under the agent's lock: the same again.
    let (mut writer, head) = space.writer(agent)?;
    if (head != base || built.tree == base_tree)
        && let Some(done) = same_as_rolled_forward(space, &writer, head, draft, built.tree)?
    {
        return Ok(done);
    }
    if head != base {
        return Err(moved(agent, draft, base, head));
    }
    let bound = match draft.capture {
        Capture::Nothing => None,
        Capture::WithTrace => take_trace(&writer, agent)?,
    };
    if built.tree == base_tree && draft.emptiness == Emptiness::Refused && bound.is_none() {
        return Err(Error::NothingToCommit { agent: agent.clone() });
    }
    if writer.standing().and_then(|standing| standing.head) != Some(head) {
        // Somebody else made the parent, and may not have synced it.
        repository.sync_filesystem()?;
    }

    let trace = bound.as_ref().map(|bound| bound.cid);
    let (tree, index) = (built.tree, built.index);
    let making = Making { kind: &kind, tree, objects: built.objects, head, bound };
    let mut transaction = transaction(space, agent, draft, making)?;
    transaction.follow = follow.as_ref().map(|(_, follow)| follow.clone());
    let new = transaction.branch.as_ref().map_or(head, |branch| branch.new);

    // The record decides; the rest follows.
    let outcome = writer.carry_out(transaction, space.durability(), space.now())?;
    let written = Written::from_outcome(outcome, agent.as_str(), Some(head))?;
    let left_behind = match follow {
        Some((worktree, follow)) if written.deferred.is_none() => {
            let bring = || bring_along(space, &worktree, &follow, &index, head, new);
            let left_behind = writer.follow(&worktree, bring).err();
            if left_behind.is_none() {
                // Otherwise the next command tries once more.
                writer.settle(space.now());
            }
            left_behind
        }
        _ => None,
    };
    Ok(Committed {
        commit: new,
        agent: agent.clone(),
        kind,
        tree,
        parents: vec![head],
        changed,
        trace,
        written,
        worktree_left_behind: left_behind,
    })
}

/// Everything that goes into the transaction of a commit.
struct Making<'a> {
    kind: &'a Kind,
    tree: Oid,
    objects: Vec<GitObject>,
    head: Oid,
    bound: Option<Bound>,
}

/// Makes the commit itself, with everything that it brings.
fn transaction(
    space: &Space,
    agent: &AgentName,
    draft: &Draft,
    making: Making<'_>,
) -> Result<Transaction> {
    let signatures = space.signatures(agent)?;
    let (fields, fields_object) = OpenFields::place(draft.fields.clone())?;
    let claims = Claims {
        kind: Some(making.kind.clone()),
        agent: Some(agent.clone()),
        session: draft.asker.as_ref().map(|asker| asker.session.clone()),
        request: draft.asker.as_ref().map(|asker| asker.request.clone()),
        fields,
        ..Claims::default()
    };
    let data = CommitData {
        tree: making.tree,
        parents: vec![making.head],
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: claims.write(&draft.message)?,
    };
    let object = GitObject { kind: GitKind::Commit, bytes: data.to_bytes() };
    let new = space.repository().name_object(&object);
    let mut objects = making.objects;
    objects.push(object);
    let mut edit = NotesEdit {
        name: agent.notes_ref(),
        notes: Vec::new(),
        objects: fields_object.iter().map(KeptObject::from).collect(),
    };
    let mut taken = Taken::default();
    if let Some(bound) = making.bound {
        edit.objects.extend(bound.objects);
        edit.notes.push((new, bound.note));
        taken = bound.taken;
    }
    let has_edit = !edit.notes.is_empty() || !edit.objects.is_empty();
    Ok(Transaction {
        verb: "commit".to_owned(),
        objects,
        branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(making.head), new }),
        notes: has_edit.then_some(edit),
        taken,
        follow: None,
        author: signatures.author,
        committer: signatures.committer,
    })
}

/// What a source gives on top of a tree.
struct Built {
    tree: Oid,
    objects: Vec<GitObject>,
    index: Vec<IndexUpdate>,
    changed: Vec<String>,
}

/// Finds the commit that the new one builds upon.
fn base_of(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Oid> {
    let head = space.head(agent)?;
    if let Some(expected) = draft.expect
        && expected != head
    {
        return Err(Error::HeadMoved {
            branch: agent.to_string(),
            expected: expected.to_string(),
            found: Some(head),
        });
    }
    let Some(worktree) = own_worktree(space, agent, &draft.source)? else { return Ok(head) };
    let base = worktree.base(head)?;
    if base != head {
        let (path, agent) = (worktree.path.clone(), agent.clone());
        return Err(Error::StaleWorktree { path, agent, base, head });
    }
    Ok(head)
}

/// Finds the worktree of the agent that a source is taken from, if it is taken from one.
fn own_worktree(space: &Space, agent: &AgentName, source: &Source) -> Result<Option<Worktree>> {
    match source {
        Source::Worktree(worktree) => Ok(Some(worktree.clone())),
        Source::Paths { root, .. } => {
            let found = space.repository().worktree_of(&agent.branch_ref())?;
            Ok(found.filter(|worktree| worktree.path == *root))
        }
        Source::Folder(_) | Source::Edits(_) => Ok(None),
    }
}

fn build(space: &Space, base_tree: Oid, source: &Source) -> Result<Built> {
    let repository = space.repository();
    let (scratch, tree, index) = match source {
        Source::Worktree(worktree) => {
            let scratch = repository.at_worktree(&worktree.path)?.scratch();
            let snapshot = scratch.snapshot(base_tree, SnapshotSource::Worktree)?;
            (scratch, snapshot.tree, snapshot.index)
        }
        Source::Folder(folder) => {
            let scratch = repository.scratch_at(folder)?;
            let source = SnapshotSource::Folder { paths: &[] };
            let snapshot = scratch.snapshot(base_tree, source)?;
            (scratch, snapshot.tree, Vec::new())
        }
        Source::Paths { root, paths } => {
            for path in paths {
                check_path(path)?;
                check_exists(space, base_tree, root, path)?;
            }
            let scratch = repository.scratch_at(root)?;
            let snapshot = scratch.snapshot(base_tree, SnapshotSource::Folder { paths })?;
            (scratch, snapshot.tree, snapshot.index)
        }
        Source::Edits(edits) => {
            let scratch = repository.scratch();
            let mut edit = TreeEdit::new();
            for (path, change) in edits {
                edit.insert(path.clone().into_bytes(), tree_change(&scratch, change)?);
            }
            let tree = scratch.edit_tree(base_tree, &edit)?;
            (scratch, tree, Vec::new())
        }
    };
    let objects = scratch.difference(base_tree, tree)?;
    let changed = scratch.changed_paths(base_tree, tree)?;
    Ok(Built { tree, objects, index, changed })
}

fn tree_change(scratch: &agentic_store::git::Scratch, change: &Edit) -> Result<TreeChange> {
    Ok(match change {
        Edit::Write { content, mode } => {
            TreeChange::Set { mode: *mode, blob: scratch.write_blob(content)? }
        }
        Edit::Delete => TreeChange::Remove,
    })
}

/// Checks that a path that was named is in the folder or in the tree.
fn check_exists(space: &Space, tree: Oid, root: &Path, path: &[u8]) -> Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let on_disk = root.join(std::ffi::OsStr::from_bytes(path));
    let is_there = on_disk.symlink_metadata().is_ok();
    if is_there || space.repository().is_in_tree(tree, path)? {
        return Ok(());
    }
    Err(Error::NoSuchPath { path: String::from_utf8_lossy(path).into_owned() })
}

fn moved(agent: &AgentName, draft: &Draft, base: Oid, head: Oid) -> Error {
    match &draft.source {
        Source::Worktree(worktree) => {
            Error::StaleWorktree { path: worktree.path.clone(), agent: agent.clone(), base, head }
        }
        Source::Folder(_) | Source::Paths { .. } | Source::Edits(_) => Error::HeadMoved {
            branch: agent.to_string(),
            expected: base.to_string(),
            found: Some(head),
        },
    }
}

/// Recognises that the write that was just rolled forward is the very one being retried.
fn same_as_rolled_forward(
    space: &Space,
    writer: &Writer<'_>,
    head: Oid,
    draft: &Draft,
    tree: Oid,
) -> Result<Option<Committed>> {
    let earlier = space.recovered().iter().filter(|one| one.stream == *writer.stream());
    let earlier = earlier.filter_map(|one| match &one.mended {
        Mended::Opened(finding) => Some(finding),
        _ => None,
    });
    let commit = writer.findings().iter().chain(earlier).find_map(|finding| match finding {
        Finding::RolledForward { commit } => *commit,
        Finding::CutTail { .. }
        | Finding::GaveUp { .. }
        | Finding::LeftBehind { .. }
        | Finding::SetAside => None,
    });
    let Some(commit) = commit.filter(|commit| *commit == head) else { return Ok(None) };
    let found = space.read_commit(commit)?;
    let said = agentic_model::trailer::strip(&found.message);
    if found.tree != tree || said.trim() != draft.message.trim() {
        return Ok(None);
    }
    let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
    let agent_stream = writer.stream().agent();
    let agent = agent_stream.expect("commits are made on streams of agents").clone();
    let trace = space.bound_cid(&agent.notes_ref(), commit)?;
    let before = found.parents.first().map(|parent| space.read_commit(*parent)).transpose()?;
    let before = before.map_or(space.repository().empty_tree(), |parent| parent.tree);
    let changed = space.repository().scratch().changed_paths(before, tree)?;
    Ok(Some(Committed {
        commit,
        agent,
        kind,
        tree,
        parents: found.parents,
        changed,
        trace,
        written: Written::default(),
        worktree_left_behind: None,
    }))
}

/// The pending trace, ready to be bound.
pub(crate) struct Bound {
    pub cid: Cid,
    pub note: String,
    pub objects: Vec<KeptObject>,
    pub taken: Taken,
}

/// Collects the pending entries of a stream into the objects of a trace.
pub(crate) fn take_trace(writer: &Writer<'_>, agent: &AgentName) -> Result<Option<Bound>> {
    let entries = writer.pending_entries()?;
    if entries.is_empty() {
        return Ok(None);
    }
    let from = writer.standing().map_or(0, |standing| standing.taken_before);
    let taken = Taken { from, count: entries.len() as u64 };
    let trace = ConsoleTrace { agent: agent.clone(), entries };
    let objects = trace.to_objects()?;
    let cid = objects.last().expect("a trace has a naming object").cid();
    let note = trace.note_text(cid);
    let objects = objects.iter().map(KeptObject::from).collect();
    Ok(Some(Bound { cid, note, objects, taken }))
}

/// Decides how the worktree that has the branch checked out will follow.
pub(crate) fn follow_plan(
    space: &Space,
    agent: &AgentName,
    source: &Source,
    changed: &[String],
) -> Result<Option<(Worktree, Follow)>> {
    if let Some(worktree) = own_worktree(space, agent, source)? {
        let path = worktree.path.to_string_lossy().into_owned();
        return Ok(Some((worktree, Follow::Index(path))));
    }
    follow_branch(space, &agent.branch_ref(), changed)
}

/// Finds the worktree that must follow a branch, and refuses if it cannot.
pub(crate) fn follow_branch(
    space: &Space,
    branch: &str,
    changed: &[String],
) -> Result<Option<(Worktree, Follow)>> {
    let Some(worktree) = space.repository().worktree_of(branch)? else { return Ok(None) };
    let path = worktree.path.to_string_lossy().into_owned();
    let busy = || Error::WorktreeBusy { branch: short(branch), path: worktree.path.clone() };
    if !changed.is_empty() {
        let untracked_in_the_way = worktree.untracked_among(changed)?;
        if !worktree.is_clean()? || untracked_in_the_way {
            return Err(busy());
        }
    }
    Ok(Some((worktree, Follow::Files(path))))
}

/// Lets a worktree follow after its branch has moved.
pub(crate) fn bring_along(
    space: &Space,
    worktree: &Worktree,
    follow: &Follow,
    index: &[IndexUpdate],
    from: Oid,
    to: Oid,
) -> agentic_store::Result<()> {
    match follow {
        Follow::Index(_) => {
            let here = space.repository().at_worktree(&worktree.path)?;
            let tree_of = |commit| here.read_commit(commit).map(|commit| commit.tree);
            here.update_index(index, tree_of(from)?, tree_of(to)?)?;
            worktree.set_base(to)
        }
        Follow::Files(_) => worktree.bring_along(from, to),
    }
}

fn short(branch: &str) -> String {
    branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned()
}
