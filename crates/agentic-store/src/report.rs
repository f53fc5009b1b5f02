//! What recovery found and mended, as it is told to whoever asked for it.

use std::path::PathBuf;

use agentic_model::Oid;

use crate::layout::Stream;
use crate::writer::PendingOutcome;

/// What recovery did to one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRecovery {
    /// The stream.
    pub stream: Stream,
    /// What was done.
    pub mended: RecoveryAct,
}

/// One thing that recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveryAct {
    /// Opening the stream's writer found something.
    Opened(Finding),
    /// Something unfinished could not be finished now; the next command tries again.
    NotYet(String),
    /// A lost or damaged object was written again.
    Object(Oid),
    /// The journal is damaged, so this stream alone was left out.
    LeftOut(String),
    /// The damaged journal was set aside, and what could be read of it goes on to count.
    Salvaged {
        /// Where the damaged journal is now.
        aside: PathBuf,
        /// How many of its records cannot be read.
        n_lost: u64,
        /// How many entries go on to be pending.
        n_pending: u64,
    },
    /// Notes and objects that had vanished from a notes ref, or could not be read there, are in it again.
    Notes {
        /// The ref.
        name: String,
        /// How many.
        count: usize,
    },
    /// A worktree was brought to where its branch is.
    Worktree(PathBuf),
    /// A worktree was brought to where its branch is, but for some files that were edited meanwhile.
    WorktreeInPart {
        /// The worktree.
        path: PathBuf,
        /// What was left as it is.
        left: Vec<String>,
    },
    /// The branch was moved forward to the newest acknowledged commit.
    Branch(Oid),
    /// The branch was gone and has been made again at the newest acknowledged commit.
    BranchMadeAgain(Oid),
    /// The branch had been moved or deleted on purpose; the newest acknowledged commit is kept aside.
    Rescued {
        /// The commit.
        commit: Oid,
        /// The ref that keeps it.
        name: String,
    },
}

/// Something that opening a writer found and mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The last record was never finished and has been cut off.
    CutTail {
        /// How many bytes.
        bytes: u64,
    },
    /// A write that was decided has been carried out.
    RolledForward {
        /// The commit it made, if any.
        commit: Option<Oid>,
    },
    /// A write that was decided has been given up, because its branch was elsewhere.
    GaveUp {
        /// Where the branch was.
        found: Option<Oid>,
        /// The ref that keeps the commit: somebody may have been told that it was decided.
        kept: Option<String>,
    },
    /// A journal of an earlier branch of the same name was set aside.
    SetAside {
        /// Where it is now.
        aside: PathBuf,
        /// How many of its entries no commit has.
        n_pending: u64,
        /// What became of these.
        fate: PendingOutcome,
    },
}
