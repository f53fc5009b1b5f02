//! Who performs what programs ask for.
//!
//! [`host`] runs a program in memory: requests are performed concurrently by an
//! [`host::Executor`], answers are delivered one at a time. [`executable`] runs programs,
//! [`endpoint`] calls services, [`credential`] looks up what they ask for.

pub mod credential;
pub mod endpoint;
pub mod executable;
pub mod host;
