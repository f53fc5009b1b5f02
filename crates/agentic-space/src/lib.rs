//! Every verb of agentic, as functions over a [`Space`].
//!
//! A space is one git repository with what agentic keeps beside it. Each verb stands in the file
//! of its noun and reads top down: what it looks at outside any lock, what it checks under the
//! agent's lock, the one transaction that decides it, and what follows. See `examples/tour.rs`.

mod admission;
pub mod agent;
pub mod archive;
pub mod batch;
mod branch;
mod clock;
pub mod commit;
pub mod decide;
mod decision;
pub mod doctor;
pub mod engine;
mod error;
mod fact;
mod following;
mod group;
pub mod hold;
pub mod kind;
pub mod log;
pub mod merge;
pub mod object;
pub mod outlook;
mod policy;
pub mod relate;
pub mod session;
mod shared;
mod signing;
mod space;
pub mod spawn;
pub mod sync;
pub mod ticket;
pub mod trace;
pub mod tree;
mod trust;
pub mod worktree;

pub use agentic_flow as flow;
pub use agentic_model as model;
pub use agentic_relations as relations;
pub use agentic_replay as replay;
pub use agentic_store::{Durability, fault};

pub use crate::branch::AgentBranch;
pub use crate::clock::Clock;
pub use crate::error::{Error, Result};
pub use crate::space::{Options, Space, Written};
