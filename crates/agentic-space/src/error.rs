//! What can go wrong with a verb.

use std::path::PathBuf;
use std::sync::Arc;

use agentic_model::commit::MessageError;
use agentic_model::object::ObjectError;
use agentic_model::{AgentName, Kind, Oid};

use crate::sync::PushRefusal;

/// An error of a verb. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] agentic_store::Error),
    /// The value is not an object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The message cannot be that of an agent-commit.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The name is taken.
    #[error("agent `{name}` already exists")]
    AgentExists {
        /// The name.
        name: AgentName,
    },
    /// The name belongs to an agent in the archive.
    #[error("the name `{name}` belongs to an archived agent")]
    NameArchived {
        /// The name.
        name: AgentName,
    },
    /// The agent is in the archive.
    #[error("agent `{name}` is archived")]
    AgentArchived {
        /// Its name.
        name: AgentName,
    },
    /// The agent is not in the archive.
    #[error("agent `{agent}` is not archived")]
    NotArchived {
        /// Its name.
        agent: AgentName,
    },
    /// The agent has a worktree.
    #[error("agent `{agent}` is checked out in `{}`", path.display())]
    CheckedOut {
        /// The agent.
        agent: AgentName,
        /// The worktree.
        path: PathBuf,
    },
    /// The agent has a session that is not over.
    #[error("session {session} of `{agent}` is not over")]
    SessionOpen {
        /// The agent.
        agent: AgentName,
        /// The session.
        session: String,
    },
    /// The agent has trace entries that are bound to no commit.
    #[error("agent `{agent}` has trace entries that are bound to no commit")]
    TracePending {
        /// The agent.
        agent: AgentName,
    },
    /// There is no such agent.
    #[error("there is no agent `{name}`")]
    UnknownAgent {
        /// The name.
        name: AgentName,
    },
    /// A write is decided, and something keeps it from being visible yet.
    #[error("the write is durable but not visible yet")]
    Deferred {
        /// What stands in the way.
        #[source]
        why: Arc<agentic_store::Error>,
    },
    /// There is no such branch.
    #[error("there is no agent or branch `{name}`")]
    UnknownTarget {
        /// The name as it was given.
        name: String,
    },
    /// An agent and a plain branch have the same name.
    #[error("`{name}` is an agent and a branch")]
    AmbiguousTarget {
        /// The name as it was given.
        name: String,
    },
    /// The kind is not registered, or is no kind of what it is used for.
    #[error("`{kind}` is not a registered kind of `{root}`")]
    UnknownKind {
        /// The kind.
        kind: Kind,
        /// The root below which it must stand.
        root: &'static str,
    },
    /// A kind could not be registered because its name is taken.
    #[error("the kind `{kind}` is already registered")]
    KindTaken {
        /// The kind.
        kind: Kind,
    },
    /// A kind's parent is not registered.
    #[error("the parent kind `{parent}` is not registered")]
    UnknownParent {
        /// The parent.
        parent: Kind,
    },
    /// The branch is not where the caller expected it to be.
    #[error("the head of `{branch}` is not `{expected}`")]
    HeadMoved {
        /// The branch or agent.
        branch: String,
        /// Where it was expected.
        expected: String,
        /// Where it is.
        found: Option<Oid>,
    },
    /// The worktree was last brought to another commit than the head.
    #[error("the worktree `{}` is at `{base}`, but `{agent}` has moved on", path.display())]
    StaleWorktree {
        /// The worktree.
        path: PathBuf,
        /// The agent.
        agent: AgentName,
        /// What the worktree was brought to.
        base: Oid,
        /// Where the agent's branch is.
        head: Oid,
    },
    /// The branch is checked out in a worktree with changes that are in the way.
    #[error("`{branch}` is checked out in `{}`, which has uncommitted work", path.display())]
    WorktreeBusy {
        /// The branch.
        branch: String,
        /// The worktree.
        path: PathBuf,
    },
    /// Somebody who made the agent's worktree died before anything was checked out in it.
    #[error("the worktree of `{agent}` in `{}` was made and never checked out", path.display())]
    WorktreeEmpty {
        /// The agent.
        agent: AgentName,
        /// The worktree.
        path: PathBuf,
    },
    /// The folder of the agent's worktree is gone.
    #[error("the worktree of `{agent}` is gone from `{}`", path.display())]
    WorktreeGone {
        /// The agent.
        agent: AgentName,
        /// Where it was.
        path: PathBuf,
    },
    /// The folder of the agent's worktree does not lead back to this repository.
    #[error("the worktree of `{agent}` at `{}` does not lead to this repository", path.display())]
    WorktreeUnlinked {
        /// The agent.
        agent: AgentName,
        /// Where it is.
        path: PathBuf,
    },
    /// The agent has no worktree.
    #[error("agent `{agent}` has no worktree")]
    NoWorktree {
        /// The agent.
        agent: AgentName,
    },
    /// The repository is bare.
    #[error("a bare repository has no worktrees")]
    Bare,
    /// A worktree cannot be made where something is.
    #[error("`{}` already exists", path.display())]
    PathTaken {
        /// The path.
        path: PathBuf,
    },
    /// There is nothing to commit.
    #[error("there is nothing to commit for `{agent}`")]
    NothingToCommit {
        /// The agent.
        agent: AgentName,
        /// Git repositories in the folder that are no submodules.
        left_out: Vec<String>,
    },
    /// A draft in a batch takes its tree from a folder, or expects a head of its own.
    #[error("a snapshot, or a commit that expects a head, cannot be one of a batch")]
    NotInBatch,
    /// The configuration asks for a durability that there is none of.
    #[error("`agentic.durability` is `{value}`")]
    UnknownDurability {
        /// What the configuration says.
        value: String,
    },
    /// A path that was named is neither in the folder nor in the tree.
    #[error("the path `{path}` matches no file")]
    NoSuchPath {
        /// The path.
        path: String,
    },
    /// The commit does not belong to the agent.
    #[error("commit `{commit}` is not one of `{agent}`")]
    ForeignCommit {
        /// The commit.
        commit: Oid,
        /// The agent.
        agent: AgentName,
    },
    /// There is no trace to show or bind.
    #[error("{what} has no trace")]
    NoTrace {
        /// What was asked about.
        what: String,
    },
    /// The trace is larger than one commit can bind.
    #[error("the pending trace of `{agent}` would hold more than 64 MiB")]
    TraceTooLong {
        /// The agent.
        agent: AgentName,
    },
    /// A person renamed the branch of an agent, whose briefing and traces keep the earlier name.
    #[error("the branch of `{name}` is that of agent `{earlier}`, renamed")]
    BranchRenamed {
        /// What the branch is called now.
        name: AgentName,
        /// What the agent is called.
        earlier: AgentName,
    },
    /// No object has this id.
    #[error("no object `{id}` is stored here")]
    UnknownObject {
        /// The id as it was given.
        id: String,
    },
    /// A prefix names several objects.
    #[error("`{prefix}` is ambiguous")]
    AmbiguousObject {
        /// The prefix.
        prefix: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// The relation follows from commits and cannot be asserted.
    #[error("the relation `{relation}` is derived from commits")]
    DerivedRelation {
        /// The relation.
        relation: Kind,
    },
    /// The edge does not hold.
    #[error("`{edge}` does not hold")]
    NoEdge {
        /// The edge, as text.
        edge: String,
    },
    /// The two have no commit in common.
    #[error("`{left}` and `{right}` have no commit in common")]
    NoForkPoint {
        /// The one.
        left: String,
        /// The other.
        right: String,
    },
    /// An agent cannot be merged into itself.
    #[error("`{name}` cannot be merged into itself")]
    SelfMerge {
        /// The name.
        name: String,
    },
    /// The remote did not take a push.
    #[error("the remote `{remote}` refused the push: {why}")]
    PushRefused {
        /// The remote.
        remote: String,
        /// Why, as far as git tells.
        why: PushRefusal,
        /// What git said.
        message: String,
    },
    /// There is no such remote, or none at all.
    #[error("there is no remote `{remote}`")]
    UnknownRemote {
        /// The remote.
        remote: String,
    },
    /// A folder that must be empty is not.
    #[error("`{}` is not an empty folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The worktree has work that is not committed.
    #[error("the worktree `{}` has uncommitted work", path.display())]
    UncommittedWork {
        /// The worktree.
        path: PathBuf,
    },
    /// Bringing the worktree to the head would lose or garble changes.
    #[error("the changes in `{}` conflict with the head", path.display())]
    SyncConflict {
        /// The worktree.
        path: PathBuf,
        /// The conflicting paths.
        conflicts: Vec<String>,
    },
}

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether the fault is the store's or the machine's: nobody who asked for something can
    /// help it, and asking again later may go better.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Store(error) => error.is_fault(),
            other => matches!(other, Error::Deferred { .. }),
        }
    }
}
