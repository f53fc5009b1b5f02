//! The journals that a question has read, as long as there is room for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_replay::{RecordChain, SessionId, StoredValue};

/// How much of journals is remembered, in bytes: 64 MiB. What is beyond is read again.
const REMEMBERED_BYTES_MAX: usize = 64 << 20;
/// What a record takes besides the values in it, in bytes, about.
const RECORD_BYTES: usize = 256;

/// The journals that were read.
#[derive(Default)]
pub(super) struct JournalMemory {
    journals: BTreeMap<SessionId, Arc<RecordChain>>,
    /// How many records each had when it was read first.
    lengths: BTreeMap<SessionId, u64>,
    n_bytes: usize,
}

impl JournalMemory {
    /// Returns the journal of a session, if it is remembered.
    pub(super) fn journal(&self, id: &SessionId) -> Option<Arc<RecordChain>> {
        self.journals.get(id).map(Arc::clone)
    }

    /// Lists those of some sessions that are not remembered and could be: none when it is full.
    pub(super) fn unread(&self, sessions: &[SessionId]) -> Vec<SessionId> {
        if self.n_bytes >= REMEMBERED_BYTES_MAX {
            return Vec::new();
        }
        sessions.iter().filter(|id| !self.journals.contains_key(*id)).copied().collect()
    }

    /// Keeps a journal as it was when it was read first.
    pub(super) fn keep(&mut self, id: &SessionId, journal: Arc<RecordChain>) -> Arc<RecordChain> {
        let now = journal.records().len() as u64;
        let length = *self.lengths.entry(*id).or_insert(now);
        let journal = if length < now { Arc::new(journal.up_to(length)) } else { journal };
        let n_bytes = bytes_of(&journal);
        if self.n_bytes + n_bytes <= REMEMBERED_BYTES_MAX {
            self.n_bytes += n_bytes;
            self.journals.insert(*id, Arc::clone(&journal));
        }
        journal
    }
}

/// Returns how much memory a journal takes, about.
fn bytes_of(journal: &RecordChain) -> usize {
    let inline = |value: &StoredValue| match value {
        StoredValue::Inline(bytes) => bytes.len(),
        StoredValue::Object(_) | StoredValue::Purged(_) => 0,
    };
    let record = |values: Vec<&StoredValue>| values.into_iter().map(inline).sum::<usize>();
    journal.records().iter().map(|it| RECORD_BYTES + record(it.body.values())).sum()
}
