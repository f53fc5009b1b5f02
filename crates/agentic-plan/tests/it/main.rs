//! Plans, fragments and registries from outside.

#![allow(clippy::disallowed_methods, reason = "cases are read from files")]

mod credential;
mod fragment;
mod message;
mod plan;
mod registry;
