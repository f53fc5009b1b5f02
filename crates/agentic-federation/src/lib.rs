//! Federation: peers that follow each other's agents over plain git remotes.
//!
//! A space publishes one ref, whose commit is a pure function of a signed object and its signature. Its
//! tree lists every agent; its parents are everything that is new. What a receiver believes is again
//! one ref, moved by compare-and-swap, from which tracking refs are drawn.
//!
//! Pure parts take values and an object store: [`identity`], [`announcement`], [`wrapping`], [`shard`],
//! [`steps`], [`statement`], [`capability`], [`policy`], [`permission`], [`acceptance`]. The others touch the repository.

pub mod acceptance;
pub mod accepted;
pub mod adoption;
pub mod announce;
pub mod announcement;
pub mod backup;
pub mod bundle;
pub mod capability;
pub mod caps;
pub mod changes;
mod commit_graph;
mod commit_signature;
pub mod contact;
mod durable;
mod error;
pub mod exchange;
mod fact_row;
pub mod facts;
pub mod fetch;
mod fields;
mod folder;
pub mod freshness;
pub mod gate;
mod given;
pub mod id;
pub mod identity;
pub mod in_force;
pub mod key;
pub mod known;
pub mod leaving;
pub mod own;
pub mod peer_agent;
pub mod peer_behaviour;
pub mod peer_kind;
pub mod peer_log;
pub mod permission;
pub mod policy;
pub mod project;
pub mod receive;
pub mod reply;
mod setting;
pub mod shard;
pub mod statement;
pub mod steps;
pub mod tracking;
pub mod unfollowed;
pub mod verify;
pub mod walk;
mod whole;
pub mod witness;
pub mod wrapping;

pub use crate::error::{Error, FederationRefusal, Result};
pub use crate::fields::MalformedInput;
