//! Ground state behind traits: what the order of writes asks of git, and nothing else of it.
//!
//! There are two implementations. `Repository` of `agentic-git` keeps everything as git does;
//! [`MemoryRepository`](crate::memory::MemoryRepository) keeps it in maps. The same cases run on both
//! (`cases.rs`). [`FailingAt`](crate::failing::FailingAt) makes any of them fail at a step.
//! Calls are dispatched statically: a write costs what it did without the traits.

mod notes;
mod objects;
mod packs;
mod refs;

use std::path::Path;

use agentic_model::{AgentName, Instant, Person};

pub use self::notes::{Notes, NotesGap, Upkeep, unite_lines};
pub use self::objects::{AuthoredMessage, ObjectStore, WrittenObjects};
pub use self::packs::Packs;
pub use self::refs::{Occupation, PACKED_REFS, RefMove, RefName, RefState, Refs};
use crate::Result;
use crate::journal::{ArchivedAgent, Transaction};
use crate::layout::{Layout, Stream};
use crate::report::StreamRecovery;
use crate::writer::WriterSlot;

/// Everything that a writer needs: ground state, and where its journals and locks are.
pub trait GroundStore: Refs + ObjectStore + Notes + Packs {
    /// Returns where journals and locks are kept.
    fn layout(&self) -> &Layout;

    /// Returns the folder below which locks of refs are made.
    fn common_dir(&self) -> &Path;

    /// Returns what writers leave for each other.
    fn slot(&self) -> &WriterSlot;

    /// Notes that a writer holds the lock of a stream.
    fn hold(&self, stream: &Stream);

    /// Notes that it is about to give it back.
    fn release(&self, stream: &Stream);

    /// Makes everything durable that others wrote.
    ///
    /// # Errors
    /// Fails when the disk does.
    fn sync_filesystem(&self) -> Result<()>;

    /// Checks that nobody else is about to move a branch.
    ///
    /// # Errors
    /// Fails with [`RefError::Occupied`](crate::error::RefError::Occupied), and when worktrees cannot be
    /// listed.
    fn check_unoccupied(&self, branch: &str) -> Result<()>;

    /// Notes what the worktree that a write names has still to do, if it still has the branch.
    ///
    /// # Errors
    /// Fails when the note cannot be written.
    fn note_trail(&self, write: &Transaction) -> Result<()>;

    /// Lets all worktrees follow whose processes died before they had.
    ///
    /// # Errors
    /// Fails when the notes cannot be listed; what goes wrong with one worktree is in the report.
    fn catch_up(&self, now: Instant) -> Result<Vec<StreamRecovery>>;

    /// Tells whether logs must not be cut now.
    fn keeps_logs(&self) -> bool;

    /// Returns who writes here.
    ///
    /// # Errors
    /// Fails with [`GitError::NoIdentity`](crate::error::GitError::NoIdentity) when nobody said so.
    fn committer(&self) -> Result<Person>;

    /// Finds an agent in the archive, whether or not it has a branch meanwhile.
    ///
    /// # Errors
    /// Fails when the archive is damaged.
    fn find_archived(&self, agent: &AgentName) -> Result<Option<ArchivedAgent>>;
}
