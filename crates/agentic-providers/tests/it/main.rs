//! Tests of the crate as its users see it.

mod cancel;
mod exchange;
mod executable;
mod host;
mod model;
mod secret;
mod server;
