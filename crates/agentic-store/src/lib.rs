//! Where bytes live: git objects and refs through gix, and the journals beside them.
//!
//! This crate owns every write to disk and the order in which writes become visible. It knows
//! nothing of verbs. Ground state is git's objects and refs and the journals; everything else under
//! `agentic/` may be deleted.

pub mod boot;
pub mod error;
pub mod failing;
pub mod fault;
pub mod file;
mod fold;
pub mod follow;
pub mod git;
pub mod ground;
pub mod journal;
mod layout;
mod lock;
pub mod memory;
pub mod open_files;
pub mod recovery;
mod report;
pub mod secret;
mod trail;
mod user;
mod worktree_lock;
mod writer;

pub use crate::error::{Error, Result};
pub use crate::journal::{Durability, Journal};
pub use crate::layout::{Layout, Stream};
pub use crate::lock::Lock;
pub use crate::recovery::drop_journal;
pub use crate::report::{Finding, Mended, Recovered};
pub use crate::user::user_id;
pub use crate::worktree_lock::WorktreeLock;
pub use crate::writer::{Fate, Outcome, PendingAside, Writer, WriterSlot, pending_aside};

/// Hashes bytes for names that are neither git's nor an object's.
pub(crate) fn hash_hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
