//! Records that may wait for the next barrier, for which `barrier` says when it is.
//!
//! A pure request that was answered without a record is computed again after a crash, with the same
//! answer, and a timer that was due is due again. So a run of them shares one sync: what they led to
//! is made durable before anything that reaches beyond the process, and before there are too many of
//! them.

use agentic_model::{Cid, Entry};
use agentic_replay::RecordLink;

/// How many records wait at most.
const RECORDS_MAX: usize = 4096;
/// How many bytes of records and values wait at most.
const BYTES_MAX: usize = 4 << 20;

/// Records that are not durable yet, with the values they refer to and what was said meanwhile.
#[derive(Debug, Default)]
pub(super) struct UnsyncedRecords {
    /// Long values, by their id.
    pub objects: Vec<(Cid, Vec<u8>)>,
    /// Records, in order.
    pub links: Vec<RecordLink>,
    /// Entries for the trace of the agent.
    pub entries: Vec<Entry>,
    n_bytes: usize,
}

impl UnsyncedRecords {
    /// Adds what one answer led to.
    pub fn add(
        &mut self,
        objects: Vec<(Cid, Vec<u8>)>,
        links: Vec<RecordLink>,
        entries: Vec<Entry>,
    ) {
        self.n_bytes += objects.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        self.n_bytes += links.iter().map(|link| link.bytes.len()).sum::<usize>();
        self.objects.extend(objects);
        self.links.extend(links);
        self.entries.extend(entries);
    }

    /// Says whether it must not grow any more.
    pub fn is_full(&self) -> bool {
        self.links.len() >= RECORDS_MAX || self.n_bytes >= BYTES_MAX
    }
}

#[cfg(test)]
mod tests;
