//! What was accepted of peers. They signed it, so it is not made again: its record begins anew without it.

use std::collections::BTreeSet;

use agentic_model::Oid;
use agentic_space::purging::ACCEPTED_REFS;

/// The records of what was accepted of peers. How they are read is known above.
pub trait AcceptedRecords {
    /// Finds those that reach some objects, named as tombstones name them. None where that cannot be read: then
    /// they stay.
    fn reaching(&self, ids: &BTreeSet<String>) -> Vec<AcceptedReach>;

    /// Begins those anew, durably, that reach what tombstones name. Safe to repeat.
    fn begin_anew(&self) -> RecordsCut;
}

/// A record that reaches what is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedReach {
    /// Its commit.
    pub record: Oid,
    /// What it reaches of it.
    pub reached: BTreeSet<String>,
}

/// What became of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordsCut {
    /// Of these spaces they began anew.
    Done(Vec<String>),
    /// They stay as they are, and go on reaching it.
    Refused(String),
}

/// Tells whether a ref is a record.
pub(super) fn is_record(reference: &str) -> bool {
    reference.starts_with(ACCEPTED_REFS)
}
