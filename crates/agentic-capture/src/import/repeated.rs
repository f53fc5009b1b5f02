//! What conversations repeat of others, for a run that writes nothing: it cannot look that up.

use std::collections::BTreeSet;

use agentic_model::{Entry, Value};

use super::order::ConversationTask;
use crate::ConversationId;

/// Entries that are known although nobody has written them.
pub(super) struct RepeatedEntries {
    /// Conversations from which others go on.
    earlier: BTreeSet<ConversationId>,
    /// The ids of what they say.
    ids: BTreeSet<String>,
}

impl RepeatedEntries {
    pub fn of(tasks: &[ConversationTask]) -> RepeatedEntries {
        let earlier = tasks.iter().flat_map(ConversationTask::earlier).collect();
        RepeatedEntries { earlier, ids: BTreeSet::new() }
    }

    /// Counts the entries of a conversation that are new, and knows them from now on if others may
    /// repeat them.
    pub fn count(&mut self, conversation: &ConversationId, entries: &[Entry]) -> u64 {
        let is_earlier = self.earlier.contains(conversation);
        let mut n_new = 0;
        for entry in entries.iter().filter(|entry| !entry.continues) {
            let id = entry.meta.get("id").and_then(Value::as_text).unwrap_or_default();
            if !self.ids.contains(id) {
                n_new += 1;
                if is_earlier {
                    self.ids.insert(id.to_owned());
                }
            }
        }
        n_new
    }
}
