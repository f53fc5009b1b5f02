//! Every verb of agentic, as functions over a [`Space`].
//!
//! A space is one git repository with what agentic keeps beside it. Each verb stands in the file
//! of its noun and reads top down: what it looks at outside any lock, what it checks under the
//! agent's lock, the one transaction that decides it, and what follows.

pub mod agent;
pub mod archive;
mod branch;
pub mod capture;
mod clock;
pub mod commit;
mod commit_order;
pub mod difference;
pub mod error;
pub mod facts;
pub mod following;
mod group;
mod guide;
pub mod kind;
pub mod library;
pub mod merge;
mod mutex;
pub mod object;
mod pin;
pub mod privacy;
pub mod purging;
pub mod relate;
pub mod relation;
mod rewrite;
pub mod schema;
mod signatures;
pub mod signing;
mod space;
pub mod spawn;
pub mod sync;
pub mod trace;
pub mod worktree;
pub mod write;
mod written;

pub use agentic_model as model;
pub use agentic_store::{Durability, fault};

pub use crate::branch::{AgentBranch, CommitHome};
pub use crate::clock::Clock;
pub use crate::error::{Error, Result};
pub use crate::guide::NotesGuide;
pub use crate::mutex::locked;
pub use crate::signatures::Signatures;
pub use crate::space::{Options, Space};
pub use crate::written::WriteNotices;
