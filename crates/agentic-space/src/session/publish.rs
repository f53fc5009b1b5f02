//! Publishing holds: on which head of its agent's branch a hold is put before people.
//!
//! Decisions of a hold stand behind that head. Where the branch has left it, because somebody moved
//! it back, the hold is published anew on the head that there is now: what may have been decided on
//! the other line is no answer on this one.

use agentic_model::Oid;
use agentic_replay::record::PublishRecord;
use agentic_replay::{Note, Progress};

use super::drive::Driver;
use super::folder::damaged;
use crate::{Result, Space};

impl Driver<'_> {
    /// Publishes the holds that are not, or whose head the branch has left, with the records of
    /// this progress.
    pub(super) fn publish(&mut self, progress: &mut Progress) -> Result<()> {
        if progress.holds.is_empty() {
            return Ok(());
        }
        let agent = self.session.started().agent.clone();
        let Ok(head) = self.space.head(&agent) else { return Ok(()) };
        for hold in self.session.pending() {
            let path = hold.request.path.clone();
            if let Some(before) =
                self.session.published(&path).and_then(|head| Oid::parse(head).ok())
            {
                if self.space.repository().is_ancestor(before, head)? {
                    continue;
                }
                // The trace is told once more.
                self.told.remove(&hold.id);
            }
            let note = Note::Publish(PublishRecord { path, head: head.to_string() });
            let noted = self.session.note(note, self.space.now());
            let noted = noted.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
            progress.links.extend(noted.links);
        }
        Ok(())
    }
}

/// Returns the head on which a decision finds a hold: that on which it was published, or the head
/// of the branch where that has left it.
pub fn standing_head(space: &Space, published: Option<&str>, head: Oid) -> Result<Oid> {
    match published.and_then(|published| Oid::parse(published).ok()) {
        Some(published) if space.repository().is_ancestor(published, head)? => Ok(published),
        Some(_) | None => Ok(head),
    }
}
