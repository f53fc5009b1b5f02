//! Tests of the crate as its users see it.

mod cancel;
mod configuration;
mod credential;
mod endpoint;
mod exchange;
mod executable;
mod found;
mod host;
mod loopback;
mod mcp;
mod memory;
mod model;
mod process;
mod secret;
mod server;
mod tool;
mod web;
