//! Journals of which something has to go, whatever their age.
//!
//! What counts of a log at rest are its pending entries and the decisions that it carries. So it is
//! written again with these alone, the entries as somebody has changed them, and what stood before is
//! removed.

use std::collections::BTreeMap;
use std::path::Path;

use agentic_model::{Entry, Instant, Oid};

use super::salvage::salvage_in;
use super::{
    CarriedState, EncodedRecords, Journal, StreamStanding, encode_from, segment, sync_directory,
};
use crate::file::{self, Persistence};
use crate::{Error, Result, fault};

/// Says what becomes of entries: as many, in their order.
pub type EntryScrub<'s> = dyn FnMut(Vec<Entry>) -> Result<Vec<Entry>> + 's;

impl Journal {
    /// Begins a new segment with the pending entries as they are given, that knows of no state of the
    /// notes before it: their ref is about to be made again. What stands before can be deleted. Commits
    /// that have `moved` are named as they will be.
    ///
    /// # Errors
    /// Fails when the segment cannot be written; the journal is then as before.
    pub fn restart_apart(
        &mut self,
        pending: Vec<Entry>,
        mut carried: CarriedState,
        moved: &BTreeMap<Oid, Oid>,
        at: Instant,
    ) -> Result<()> {
        let standing = &mut self.last.standing;
        // An older state would be taken for what vanished from the new one.
        standing.compared = None;
        let named = standing.genesis.iter_mut().chain(&mut standing.head);
        for commit in named.chain(&mut carried.decisions) {
            *commit = moved.get(commit).copied().unwrap_or(*commit);
        }
        self.restart(pending, CarriedState { notes: None, ..carried }, at)
    }
}

/// Writes a journal that was set aside again with what counts of it, its pending entries as `scrub`
/// gives them.
///
/// # Errors
/// Fails when it cannot be read or written, and as `scrub` does. Whoever is killed calls this again.
pub fn scrub_aside(folder: &Path, scrub: &mut EntryScrub<'_>, at: Instant) -> Result<()> {
    let numbers = segment::list(folder)?;
    let Some(last) = numbers.last() else { return Ok(()) };
    let found = salvage_in(folder)?;
    let Some((standing, seq)) = found.records.last().map(|it| (it.standing.clone(), it.seq + 1))
    else {
        return Err(Error::corrupt(
            format!("the journal `{}`", folder.display()),
            "nothing of it can be read",
        ));
    };
    let pending = scrub(found.entries_from(standing.taken_before))?;
    let carried = CarriedState::from_records(&found.records, None);
    let stood = StreamStanding { compared: None, ..standing };
    let records = carried.into_records(stood, seq, pending);
    let EncodedRecords { bytes, .. } = encode_from(seq, [0; 32], records, at, 0)?;
    file::replace(&segment::path(folder, last + 1), &bytes, Persistence::Synced)?;
    fault::point("aside-scrubbed")?;
    for number in numbers {
        file::remove(&segment::path(folder, number))?;
    }
    segment::remove_unfinished(folder)?;
    sync_directory(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Durability, pending_in};
    use crate::layout::{Layout, Stream};
    use agentic_model::{Kind, Value};

    fn entry(body: &str) -> Entry {
        let kind = Kind::parse("log").expect("a kind");
        Entry::new(kind, Instant::from_millis(1), Value::text(body))
    }

    /// Takes a word out of entries.
    fn scrubbed(entries: Vec<Entry>) -> Result<Vec<Entry>> {
        let clean = |entry: Entry| match entry.body.as_text() {
            Some(text) => Entry { body: Value::text(text.replace("secret", "-")), ..entry },
            None => entry,
        };
        Ok(entries.into_iter().map(clean).collect())
    }

    #[test]
    fn a_journal_set_aside_keeps_its_pending_entries_without_the_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let layout = Layout::new(folder.path());
        let stream = Stream::parse("alice").expect("a stream");
        let standing = StreamStanding {
            genesis: None,
            head: None,
            taken_before: 0,
            n_pending: 0,
            notes: None,
            compared: None,
            pin: crate::journal::StreamPin::Unknown,
        };
        let now = Instant::from_millis(2);
        let mut journal = Journal::create(&layout, &stream, standing, now).expect("writable");
        let entries = vec![entry("a secret"), entry("plain")];
        journal.append_entries(entries, now, Durability::Full).expect("writable");
        let dir = layout.journal(&stream);
        scrub_aside(&dir, &mut scrubbed, now).expect("sound");
        assert_eq!(pending_in(&dir).expect("sound"), [entry("a -"), entry("plain")]);
        // Once more, as after a kill.
        scrub_aside(&dir, &mut scrubbed, now).expect("sound");
        assert_eq!(pending_in(&dir).expect("sound"), [entry("a -"), entry("plain")]);
        let files: Vec<_> = std::fs::read_dir(&dir).expect("there").flatten().collect();
        assert_eq!(files.len(), 1);
    }
}
