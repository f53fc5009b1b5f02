//! Temporal as a host of programs, for those who outgrow one machine.
//!
//! One generic workflow hosts every program, by the same
//! [`Session`](agentic_replay::Session) as the embedded engine: so what it records is what that would
//! record. Effects are activities, holds are decided by updates, and the records are sealed into the notes
//! of the agent: git stays the truth, and once a run is over the server may be thrown away.
//!
//! A long run goes on as a new execution, which begins from what is sealed: when the server suggests it, or
//! after 8,000 events. `AGENTIC_TEMPORAL_EVENTS_MAX` in the environment of whoever starts a run names
//! another number, for tests, and `AGENTIC_TEMPORAL_SEAL_MS` after how many milliseconds it seals what has
//! happened, in place of five minutes.

mod activity;
mod address;
mod attempt;
mod client;
mod connection;
mod decision;
mod engine;
mod error;
mod golden;
mod ground;
mod listing;
mod mask;
mod obstacle;
mod outside;
mod performer;
mod route;
mod seal;
mod search;
mod session;
mod settings;
mod wire;
mod words;
mod worker;
mod workflow;

pub use self::address::ServerAddress;
pub use self::decision::HoldNote;
pub use self::engine::TemporalEngine;
pub use self::error::{Error, Result};
pub use self::golden::{read_history, replay_history};
pub use self::listing::{ServedHold, waiting};
pub use self::search::set_up;
pub use self::settings::{QueueMap, ServerSettings};
pub use self::worker::{WorkerWish, work};

/// What the first record of a run names as its host.
pub const HOST: &str = "temporal";
