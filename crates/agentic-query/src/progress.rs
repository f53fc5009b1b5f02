//! How reading facts goes on: told while it lasts, and summed up for whoever asks afterwards.

use std::ops::ControlFlow;

/// How far the reading of one sort of things is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress<'a> {
    /// What is read, as people call it.
    pub what: &'a str,
    /// How many are read.
    pub n_done: usize,
    /// How many there are to read.
    pub n_all: usize,
}

/// Is told now and then how far reading is. `Break` ends it: what is unread stays so, and the
/// evaluation says why it ended.
pub type ReadTeller<'a> = dyn Fn(ReadProgress<'_>) -> ControlFlow<()> + 'a;

/// What a cache of a source was good for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedCache {
    /// What it keeps.
    pub name: String,
    /// How many ids facts were read from.
    pub n_ids: usize,
    /// How many of them no cache had.
    pub n_new: usize,
}

impl ExplainedCache {
    /// Prints it as a line.
    pub(crate) fn line(&self) -> String {
        let ExplainedCache { name, n_ids, n_new } = self;
        match n_new {
            0 => format!("   {name}: {n_ids} ids, none of them new"),
            new if new == n_ids => format!("   {name}: {n_ids} ids, all of them new"),
            new => format!("   {name}: {n_ids} ids, {new} of them new"),
        }
    }
}
