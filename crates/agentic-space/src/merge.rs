//! Merging an agent's work into another agent or into a plain branch.

use std::path::{Path, PathBuf};

use agentic_git::GitWriter;
use agentic_git::{Conflict, PackedBlobs, Scratch, Snapshot, SnapshotSource};
use agentic_model::commit::{Claims, CommitData};
use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Cid, Edge, Kind, Map, Oid};
use agentic_store::Stream;
use agentic_store::journal::{
    BranchMove, GitObject, KeptObject, NotesEdit, TakenEntries, Transaction,
};

use crate::commit::{BoundTrace, RACES_MAX, TraceBinding};
use crate::error::{BranchError, RemoteError};
use crate::signatures::Signatures;
use crate::signing::SigningChoice;
use crate::write::{LockedStream, ReservedBranch};
use crate::written::WriteNotices;
use crate::{AgentBranch, Error, Result, Space};

/// What work is merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An agent.
    Agent(AgentName),
    /// A branch that no agent owns, by its full ref name.
    Branch(String),
}

/// How a merge is to be made.
#[derive(Debug, Clone, Default)]
pub struct MergePlan {
    /// The message; a plain one without.
    pub message: Option<String>,
    /// A folder that holds the resolved tree.
    pub resolved: Option<PathBuf>,
    /// An empty folder to fill with the merged tree, markers included, if there are conflicts.
    pub write_conflicts: Option<PathBuf>,
    /// Whether the target agent's pending trace is bound to the merge.
    pub capture: TraceBinding,
    /// The behaviour that makes it, where no person does.
    pub behaviour: Option<Cid>,
    /// What is believed of the source, if it is an agent of a peer; its refs are not looked at then.
    pub believed: Option<BelievedWork>,
}

/// The work of a peer's agent, as a record says what is believed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BelievedWork {
    /// The head.
    pub head: Oid,
    /// What the commit says of where it came from: `PEER/SPACE/AGENT ANNOUNCEMENT`.
    pub from: String,
}

/// What became of a merge.
#[derive(Debug)]
pub enum MergedWork {
    /// A commit with two parents was made.
    Commit {
        /// The commit.
        commit: Oid,
        /// Its parents: the target's head, then the merged agent's.
        parents: [Oid; 2],
        /// The trace that is bound to it.
        trace: Option<Cid>,
        /// Whether everything is visible.
        written: WriteNotices,
        /// Why a worktree could not follow, if one could not.
        worktree_left_behind: Option<Box<agentic_store::Error>>,
    },
    /// The target has all of it already.
    UpToDate {
        /// The target's head.
        head: Oid,
    },
    /// Both sides disagree; nothing was written.
    Conflict {
        /// Where.
        conflicts: Vec<Conflict>,
    },
}

impl Target {
    /// Returns the full name of the target's ref.
    pub fn branch_ref(&self) -> String {
        match self {
            Target::Agent(agent) => agent.branch_ref(),
            Target::Branch(name) => name.clone(),
        }
    }

    /// Returns where it is.
    ///
    /// # Errors
    /// Fails when it is gone.
    pub fn head(&self, space: &Space) -> Result<Oid> {
        match self {
            Target::Agent(agent) => space.head(agent),
            Target::Branch(name) => {
                let head = space.repository().find_ref(name)?;
                head.ok_or_else(|| Error::Branch(BranchError::Unknown { name: self.name() }))
            }
        }
    }

    /// Returns the name that people use.
    pub fn name(&self) -> String {
        match self {
            Target::Agent(agent) => agent.to_string(),
            Target::Branch(name) => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
        }
    }
}

impl Space {
    /// Finds the target that a name means: an agent, else a branch.
    ///
    /// # Errors
    /// Fails when neither exists, and when both do.
    pub fn merge_target(&self, name: &str) -> Result<Target> {
        let exists = |full_name: &str| matches!(self.repository().find_ref(full_name), Ok(Some(_)));
        let agent = AgentName::parse(name).ok().filter(|agent| exists(&agent.branch_ref()));
        let short = name.strip_prefix("refs/heads/").or(name.strip_prefix("heads/"));
        let branch = format!("refs/heads/{}", short.unwrap_or(name));
        match (agent, exists(&branch)) {
            (Some(_), true) => Err(Error::Branch(BranchError::Ambiguous { name: name.to_owned() })),
            (Some(agent), false) => Ok(Target::Agent(agent)),
            (None, true) => Ok(match AgentName::from_branch_ref(&branch) {
                Some(agent) => Target::Agent(agent),
                None => Target::Branch(branch),
            }),
            (None, false) => Err(Error::Branch(BranchError::Unknown { name: name.to_owned() })),
        }
    }
}

/// Merges an agent, here or as a remote had it, into a target, always by an explicit commit with two parents.
///
/// # Errors
/// Fails when either side does not exist, and when a worktree of the target is in the way; nothing
/// is written then. A conflict is an answer, not an error.
pub fn merge(
    space: &Space,
    source: &AgentBranch,
    target: &Target,
    plan: &MergePlan,
) -> Result<MergedWork> {
    if *target == Target::Agent(source.agent.clone()) && source.remote.is_none() {
        return Err(Error::Branch(BranchError::SelfMerge { name: source.to_string() }));
    }
    for _ in 0..RACES_MAX {
        match attempt(space, source, target, plan) {
            // What was resolved by hand was resolved for the head that was there.
            Err(Error::Branch(BranchError::HeadMoved { .. })) if plan.resolved.is_none() => {}
            outcome => return outcome,
        }
    }
    attempt(space, source, target, plan)
}

fn attempt(
    space: &Space,
    source: &AgentBranch,
    target: &Target,
    plan: &MergePlan,
) -> Result<MergedWork> {
    let repository = space.repository();
    let theirs = match &plan.believed {
        Some(believed) => believed.head,
        None => space.branch_head(source)?,
    };

    // Outside the target's lock: what the merge gives.
    let signing = SigningChoice::of_people(space)?;
    let reserved = ReservedBranch::begin(space, target.branch_ref(), signing)?;
    let head = target.head(space)?;
    if repository.is_ancestor(theirs, head)? {
        return Ok(MergedWork::UpToDate { head });
    }
    let ours_tree = space.read_commit(head)?.tree;
    let MergedTree { scratch, tree, packed } =
        match merged_tree(space, head, theirs, source, target, plan)? {
            Ok(merged) => merged,
            Err(conflicts) => return Ok(MergedWork::Conflict { conflicts }),
        };
    let changed = scratch.changed_paths(ours_tree, tree)?;
    // What is theirs is durable before this is (below), and too much to be copied for its own sake.
    let mut beside = scratch.large_blobs(space.read_commit(theirs)?.tree, &changed)?;
    beside.extend(packed.iter().flat_map(PackedBlobs::names));
    let objects = scratch.difference_beside(ours_tree, tree, Some(&beside))?;
    let making = MergeParts { tree, objects, parents: [head, theirs] };
    let made = MergeCommit::of(space, source, target, plan, making, signing)?;
    let following = reserved.prepared(head, &changed)?;

    // Under the target's lock: the same again.
    let mut locked = lock(space, target, head)?;
    let found = target.head(space)?;
    if found != head {
        let (branch, expected) = (target.name(), head.to_string());
        return Err(Error::Branch(BranchError::HeadMoved { branch, expected, found: Some(found) }));
    }
    locked.settle_parents(space.is_journalled(&source.agent, theirs)?)?;
    locked.bring(packed);
    let commit = made.oid;
    let (transaction, trace) = transaction(space, source, target, plan, made, locked.writer())?;
    let moved = locked.decide(transaction, following, space.durability())?.follow();
    Ok(MergedWork::Commit {
        commit,
        parents: [head, theirs],
        trace,
        written: moved.written,
        worktree_left_behind: moved.left_behind.map(Box::new),
    })
}

/// A tree that may be committed.
struct MergedTree {
    /// The view that holds its objects.
    scratch: Scratch,
    tree: Oid,
    /// The blobs that are too large for memory.
    packed: Option<PackedBlobs>,
}

/// Finds the tree of the merge: the resolved one, or what both sides make of it; or the conflicts.
fn merged_tree(
    space: &Space,
    head: Oid,
    theirs: Oid,
    source: &AgentBranch,
    target: &Target,
    plan: &MergePlan,
) -> Result<std::result::Result<MergedTree, Vec<Conflict>>> {
    let repository = space.repository();
    if let Some(folder) = &plan.resolved {
        let scratch = repository.scratch_at(folder)?;
        let base = space.read_commit(head)?.tree;
        let snapshot = scratch.snapshot(base, SnapshotSource::Folder { paths: &[] })?;
        let Snapshot { tree, packed, .. } = snapshot;
        return Ok(Ok(MergedTree { scratch, tree, packed }));
    }
    let scratch = repository.scratch();
    let outcome = scratch.merge_commits(head, theirs, (&target.name(), &source.to_string()))?;
    if outcome.conflicts.is_empty() {
        return Ok(Ok(MergedTree { scratch, tree: outcome.tree, packed: None }));
    }
    if let Some(folder) = &plan.write_conflicts {
        write_conflicts(&scratch, outcome.tree, folder)?;
    }
    Ok(Err(outcome.conflicts))
}

/// What goes into the commit of a merge.
struct MergeParts {
    tree: Oid,
    objects: Vec<GitObject>,
    parents: [Oid; 2],
}

/// The commit of a merge, signed if it is to be, with the objects that it needs; not written yet.
struct MergeCommit {
    oid: Oid,
    objects: Vec<GitObject>,
    head: Oid,
    signatures: Signatures,
}

impl MergeCommit {
    /// Makes the commit. If it is signed a program of the user's runs: not under a lock.
    fn of(
        space: &Space,
        source: &AgentBranch,
        target: &Target,
        plan: &MergePlan,
        making: MergeParts,
        signing: SigningChoice,
    ) -> Result<MergeCommit> {
        let into = match target {
            Target::Agent(into) => Some(into.clone()),
            Target::Branch(_) => None,
        };
        let signatures = match &into {
            Some(into) => space.signatures(into)?,
            None => space.own_signatures()?,
        };
        let claims = Claims {
            kind: Kind::parse("session-merge").ok(),
            agent: into,
            merged: Some(source.agent.clone()),
            behaviour: plan.behaviour,
            merged_from: plan.believed.as_ref().map(|believed| believed.from.clone()),
            ..Claims::default()
        };
        // The name that a peer has here is nobody else's business.
        let default_message = match &plan.believed {
            Some(_) => format!("Merge {} of a peer into {}", source.agent, target.name()),
            None => format!("Merge {source} into {}", target.name()),
        };
        let data = CommitData {
            tree: making.tree,
            parents: making.parents.to_vec(),
            author: signatures.author.clone(),
            committer: signatures.committer.clone(),
            message: claims.write(plan.message.as_deref().unwrap_or(&default_message))?,
        };
        let (oid, object) = signing.make(space.repository(), &data)?;
        let mut objects = making.objects;
        objects.push(object);
        Ok(MergeCommit { oid, objects, head: making.parents[0], signatures })
    }
}

/// Writes the transaction that brings a merge in, with what it leaves in notes.
fn transaction(
    space: &Space,
    source: &AgentBranch,
    target: &Target,
    plan: &MergePlan,
    made: MergeCommit,
    writer: &GitWriter<'_>,
) -> Result<(Transaction, Option<Cid>)> {
    let MergeCommit { oid: new, objects, head, signatures } = made;
    let (notes, taken, trace) = notes_edit(space, source, target, new, plan, writer)?;
    let transaction = Transaction {
        objects,
        branch: Some(BranchMove { name: target.branch_ref(), expect: Some(head), new }),
        notes,
        taken,
        ..signatures.transaction("merge")
    };
    Ok((transaction, trace))
}

fn lock<'s>(space: &'s Space, target: &Target, head: Oid) -> Result<LockedStream<'s>> {
    match target {
        Target::Agent(agent) => Ok(LockedStream::agent(space, agent)?.0),
        Target::Branch(name) => {
            let mut locked = LockedStream::stream(space, &Stream::of_branch(name))?;
            locked.begin(None, Some(head))?;
            Ok(locked)
        }
    }
}

/// What a merge leaves in notes: the target agent's trace, or, for a branch without notes of its
/// own, an edge with the agent that was merged.
fn notes_edit(
    space: &Space,
    source: &AgentBranch,
    target: &Target,
    commit: Oid,
    plan: &MergePlan,
    writer: &GitWriter<'_>,
) -> Result<(Option<NotesEdit>, TakenEntries, Option<Cid>)> {
    let into = match target {
        Target::Agent(into) => into,
        // Notes of an agent that has no branch here are the remote's.
        Target::Branch(_) if source.remote.is_some() => {
            return Ok((None, TakenEntries::default(), None));
        }
        Target::Branch(_) => {
            let agent = &source.agent;
            let edge = Edge {
                source: Party::Agent(agent.clone()),
                relation: Kind::parse("merged-into").expect("a valid name"),
                target: Party::Branch(target.name()),
                event: EdgeEvent::Assert,
                at: space.now(),
                fields: Map::from([("commit".to_owned(), commit.to_string().into())]),
            };
            let objects = vec![KeptObject::from(&edge.to_object()?)];
            let edit = NotesEdit { name: agent.notes_ref(), notes: Vec::new(), objects };
            return Ok((Some(edit), TakenEntries::default(), None));
        }
    };
    let bound = match plan.capture {
        TraceBinding::Nothing => None,
        TraceBinding::WithTrace => BoundTrace::take(space, writer, into)?,
    };
    let Some(bound) = bound else { return Ok((None, TakenEntries::default(), None)) };
    let edit = NotesEdit {
        name: into.notes_ref(),
        notes: vec![(commit, bound.note)],
        objects: bound.objects,
    };
    Ok((Some(edit), bound.taken, Some(bound.cid)))
}

fn write_conflicts(scratch: &agentic_git::Scratch, tree: Oid, folder: &Path) -> Result<()> {
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty {
        return Err(Error::Remote(RemoteError::NotEmpty { path: folder.to_owned() }));
    }
    Ok(scratch.write_tree_to(tree, folder)?)
}
