//! Publishing holds: on which head of its agent's branch a hold is put before people.
//!
//! Decisions of a hold stand behind that head. Where the branch has left it, because somebody moved
//! it back, the hold is published anew on the head that there is now: what may have been decided on
//! the other line is no answer on this one.

use std::collections::BTreeSet;

use agentic_model::Oid;
use agentic_replay::record::PublishRecord;
use agentic_replay::{Hold, Note, Path, RecordLink, SessionProgress};

use super::drive::Driver;
use super::folder::damaged;
use crate::Result;
use crate::trust::Look;

impl Driver<'_> {
    /// Publishes the holds that are not, or whose head the branch has left, with the records of
    /// this progress.
    pub(super) fn publish(&mut self, progress: &mut SessionProgress) -> Result<()> {
        if progress.holds.is_empty() {
            return Ok(());
        }
        let agent = self.session.started().agent.clone();
        let Ok(head) = self.space.head(&agent) else { return Ok(()) };
        let fresh: BTreeSet<&Path> = progress.links.iter().filter_map(asked_in).collect();
        let mut notes = Vec::new();
        for hold in self.session.pending() {
            let path = hold.request.path.clone();
            let before = self.session.published(&path).and_then(|head| Oid::parse(head).ok());
            if let Some(before) = before
                && self.space.repository().is_ancestor(before, head)?
            {
                continue;
            }
            // What stands below the head on which a hold is published decides nothing. A decision
            // that was made since it was asked has to be taken in first.
            if !fresh.contains(&path) && self.is_decided(&hold)? {
                continue;
            }
            if before.is_some() {
                // The trace is told once more.
                self.told.remove(&hold.id);
            }
            notes.push((path, head));
        }
        for (path, head) in notes {
            let note = Note::Publish(PublishRecord { path, head: head.to_string() });
            let noted = self.session.note(note, self.space.now());
            let noted = noted.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
            progress.links.extend(noted.links);
        }
        Ok(())
    }

    /// Tells whether the branch has a decision of a hold, or what may be one.
    fn is_decided(&self, hold: &Hold) -> Result<bool> {
        let found = self.deciding(hold, Look::Locked)?;
        Ok(!found.counted.is_empty() || !found.unseen.is_empty())
    }
}

/// Returns where the request is that a record asks, if it asks one.
fn asked_in(link: &RecordLink) -> Option<&Path> {
    link.record.body.as_ask().map(|ask| &ask.path)
}
