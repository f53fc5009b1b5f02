//! Tests of the crate as its users see it.

mod cancel;
mod configuration;
mod exchange;
mod executable;
mod host;
mod mcp;
mod memory;
mod model;
mod secret;
mod server;
mod tool;
