//! Tests of the crate as its users see it.

mod fork;
mod hosted;
mod record;
mod run;
mod session;
mod summary;
mod tree;
mod upgrade;
