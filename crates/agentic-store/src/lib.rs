//! Journals, locks, recovery, and the order in which writes become visible.
//!
//! It knows nothing of verbs, and of git only what the traits of [`ground`] say: `agentic-git` answers
//! them, and so does [`memory`]. Ground state is objects, refs and the journals; everything else under
//! `agentic/` may be deleted.

pub mod bell;
pub mod boot;
#[cfg(any(test, feature = "cases"))]
pub mod cases;
pub mod error;
pub mod failing;
pub mod fault;
pub mod file;
mod fold;
pub mod ground;
pub mod journal;
pub mod layout;
pub mod lock;
pub mod memory;
pub mod open_files;
pub mod os;
pub mod recovery;
pub mod report;
pub mod secret;
pub mod spent;
pub mod watch;
pub mod writer;

pub use crate::error::{Error, Result};
pub use crate::journal::{Durability, Journal};
pub use crate::layout::{Layout, Stream};
pub use crate::lock::{Lock, Patience};
pub use crate::os::user_id;
pub use crate::recovery::drop_journal;
pub use crate::report::{Finding, RecoveryAct, StreamRecovery};
pub use crate::writer::{
    PendingAside, PendingOutcome, Writer, WriterOutcome, WriterSlot, pending_aside,
};

/// Hashes bytes for names that are neither git's nor an object's.
pub fn hash_hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Sums bytes up, so that a cache whose bytes changed on the disk is none.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}
