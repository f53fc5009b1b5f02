//! Tests of the crate as its users see it.

mod credential;
mod endpoint;
mod executable;
mod host;
mod server;
