//! How to run a program, and the limits of a run.

use std::collections::BTreeSet;

/// How deep pipelines may call each other.
pub const RECURSION_MAX: usize = 128;
/// How many statements may run between two answers.
pub const STATEMENTS_MAX: u64 = 200_000_000;
/// How many requests a run may open after it was asked to stop.
pub const CLEANUP_REQUESTS_MAX: u64 = 64;
/// How many branches run at once where nothing says otherwise.
pub const WORKERS: i64 = 8;

/// Whether something is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// How to run a program. Part of what a run is: the same options are needed to replay it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// How many branches of a parallel block run at once, unless the block says otherwise.
    pub workers: i64,
    /// Names of tasks that the host has handlers for, beyond the built-in ones.
    pub handlers: BTreeSet<String>,
    /// Whether trace events are made.
    pub trace: Capture,
    /// Whether lines for people are made.
    pub progress: Capture,
    /// How many statements may run between two answers.
    pub statements_max: u64,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            workers: WORKERS,
            handlers: BTreeSet::new(),
            trace: Capture::Off,
            progress: Capture::Off,
            statements_max: STATEMENTS_MAX,
        }
    }
}
