//! Who performs what programs ask for.
//!
//! [`host`] runs a program in memory: requests are performed concurrently by an
//! [`host::Executor`], answers are delivered one at a time. [`executable`] runs programs,
//! [`endpoint`] calls services, [`credential`] looks up what they ask for.
//! [`provider`] answers requests to models ([`model`]), tools ([`tool`]) and memories
//! ([`memory`]); what they need that nobody may see is a [`secret`], and which there are says the
//! [`configuration`]; [`listing`] shows and probes them. `database` reads those of other programs.

pub mod channel;
pub mod configuration;
pub mod credential;
#[cfg(feature = "sqlite")]
pub mod database;
pub mod endpoint;
pub mod executable;
pub mod host;
pub mod listing;
pub mod memory;
pub mod model;
pub mod process;
pub mod provider;
pub mod secret;
pub mod tool;

mod error;
mod http;
mod ordered;

pub use crate::error::Error;
