//! What is to be committed, and what became of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agentic_git::{FileMode, SpooledContent, Worktree};
use agentic_model::{AgentName, Cid, Kind, Map, Oid};

use crate::written::WriteNotices;

/// What is to be committed.
#[derive(Debug, Clone)]
pub struct CommitDraft {
    /// The message, without trailers of ours.
    pub message: String,
    /// The kind; `agent-commit` without one.
    pub kind: Option<Kind>,
    /// Open fields.
    pub fields: Map,
    /// Where the new tree comes from.
    pub source: TreeSource,
    /// Whether the pending trace is bound to the commit.
    pub capture: TraceBinding,
    /// The head that the caller has seen; another one is a conflict.
    pub expect: Option<Oid>,
    /// Whether a commit without changes is made.
    pub emptiness: Emptiness,
    /// The request of a session that asks for the commit, if one does.
    pub asker: Option<Asker>,
    /// The behaviour that the agent has from this commit on, which is one that changes it.
    pub behaviour: Option<Cid>,
}

impl CommitDraft {
    /// Returns the changes, if that is all that it is made of: it can then be committed on any head,
    /// and together with others.
    pub(crate) fn edits(&self) -> Option<&BTreeMap<String, Edit>> {
        match &self.source {
            TreeSource::Edits(edits) if self.expect.is_none() => Some(edits),
            TreeSource::Edits(_)
            | TreeSource::Worktree(_)
            | TreeSource::Folder(_)
            | TreeSource::Paths { .. } => None,
        }
    }
}

/// Who asks for an effect: written into commits, so that one that happened before a crash is
/// recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The id of the session.
    pub session: String,
    /// The id of the request; none for what a session needs before it asks anything.
    pub request: Option<String>,
    /// The program that asks, where its commits name it.
    pub behaviour: Option<Cid>,
}

/// Whether the pending trace is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TraceBinding {
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
pub struct CommitOutcome {
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
    pub written: WriteNotices,
    /// Git repositories in the folder that are no submodules, so that no commit holds them.
    pub left_out: Vec<String>,
    /// Why a worktree could not follow, if one could not.
    pub worktree_left_behind: Option<agentic_store::Error>,
}

/// Where the tree of a commit comes from.
#[derive(Debug, Clone)]
pub enum TreeSource {
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
    /// It has this content, which is too long to be kept in memory.
    WriteSpooled {
        /// The content.
        content: Arc<SpooledContent>,
        /// What sort of file.
        mode: FileMode,
    },
    /// It is gone.
    Delete,
}
