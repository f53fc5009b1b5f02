//! The nouns of agentic, their ids and their canonical bytes.
//!
//! This crate is pure: it takes values and returns values. It knows no clock, no randomness, no
//! environment and no files. Whatever two machines must agree on byte for byte is decided here:
//!
//! - [`Value`], the one value model of objects, requests, plans and answers;
//! - [`canonical`], its only byte form that is ever hashed, and [`Cid`], the id of those bytes;
//! - the typed objects ([`Briefing`], [`ConsoleTrace`], [`Edge`], [`KindEntry`]);
//! - [`AgentName`], [`Oid`], [`Kind`] and the message and bytes of an agent-commit ([`commit`]).

pub mod behaviour;
pub mod briefing;
pub mod canonical;
mod cid;
pub mod commit;
pub mod edge;
pub mod guidance;
pub mod hidden;
pub mod json;
pub mod kind;
pub mod library;
mod name;
pub mod object;
mod oid;
mod person;
mod place;
pub mod rewrite;
pub mod rules;
mod store_verb;
mod time;
pub mod tombstone;
pub mod trace;
pub mod trailer;
pub mod value;

pub use crate::behaviour::{AboutBehaviour, BehaviourForm, StoredBehaviour};
pub use crate::briefing::Briefing;
pub use crate::cid::{Cid, InvalidCid};
pub use crate::edge::Edge;
pub use crate::kind::{Kind, KindEntry, KindTree};
pub use crate::library::{LibraryName, LibraryPointer};
pub use crate::name::{AgentName, InvalidName};
pub use crate::object::Object;
pub use crate::oid::{InvalidOid, Oid};
pub use crate::person::{Person, Signature};
pub use crate::place::Place;
pub use crate::rewrite::Rewrite;
pub use crate::rules::StoredRules;
pub use crate::store_verb::{STORE_ADDRESS, StoreVerb};
pub use crate::time::{Instant, Zone};
pub use crate::tombstone::Tombstone;
pub use crate::trace::{ConsoleTrace, Entry};
pub use crate::value::{Map, Value};
