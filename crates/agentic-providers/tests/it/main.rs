//! Tests of the crate as its users see it.

mod executable;
mod host;
mod model;
mod secret;
