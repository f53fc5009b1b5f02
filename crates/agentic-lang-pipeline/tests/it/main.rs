//! The pipeline language from outside.

#![allow(clippy::disallowed_methods, reason = "cases are read from files")]

mod corpus;
mod diagnostics;
mod format;
mod kit;
mod laws;
mod loops;
mod native;
mod plans;
mod requests;
mod runs;
mod translate;
