//! Ground state behind traits: what the order of writes asks of git, and nothing else of it.
//!
//! There are two implementations. [`Repository`](crate::git::Repository) keeps everything as git does;
//! [`MemoryRepository`](crate::memory::MemoryRepository) keeps it in maps. The same cases run on both
//! (`ground/tests.rs`). [`FailingAt`](crate::failing::FailingAt) makes any of them fail at a step.

mod objects;
mod refs;

pub use self::objects::{Objects, Written};
pub use self::refs::{RefMove, RefName, Refs};

#[cfg(test)]
mod tests;
