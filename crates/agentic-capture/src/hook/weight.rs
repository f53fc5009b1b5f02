//! How much of an agent is pending: weighed rarely, for whoever weighs reads all of it.
//!
//! What a journal has grown by is the most that can have been added since, so that what was weighed
//! counts until that could matter. A journal has as many segments as it is long; only those that came
//! since are looked at.

use std::path::PathBuf;
use std::{fs, iter};

use agentic_model::AgentName;
use agentic_space::capture::PendingWriter;
use agentic_store::file::{self, Persistence};
use agentic_store::journal::{self, Segment};
use agentic_store::{Layout, Stream};

use crate::CaptureError;

/// How much may be pending before it is bound although nobody commits, in bytes: 16 MiB.
const PENDING_BYTES_MAX: u64 = 16 << 20;
/// The longest note that is read, in bytes: three numbers.
const WEIGHT_BYTES_MAX: u64 = 64;

/// What was weighed, and where the journal ended then.
#[derive(Default)]
struct PendingWeight {
    /// The number of its newest segment.
    segment: u64,
    /// How long that was, in bytes.
    length: u64,
    /// How long the texts of what was pending were, in bytes.
    pending: u64,
}

/// Tells whether so much is pending that it should be bound.
pub(super) fn is_too_long(
    layout: &Layout,
    agent: &AgentName,
    writer: &PendingWriter<'_>,
) -> Result<bool, CaptureError> {
    if writer.n_pending() == 0 {
        return Ok(false);
    }
    let stream = Stream::Agent(agent.clone());
    let mut segments = journal::newest_segments(layout, &stream)?;
    let Some(newest) = segments.next().transpose()? else { return Ok(false) };
    let weight = PendingWeight::load(layout, agent).filter(|weight| weight.is_of(newest));
    if weight.unwrap_or_default().is_surely_light(iter::once(Ok(newest)).chain(segments))? {
        return Ok(false);
    }
    let pending: usize = writer.pending_entries()?.iter().map(|entry| entry.body_length()).sum();
    let weight =
        PendingWeight { segment: newest.number, length: newest.length, pending: pending as u64 };
    weight.save(layout, agent)?;
    Ok(weight.pending > PENDING_BYTES_MAX)
}

impl PendingWeight {
    /// Tells whether it is of this journal: another may have taken its place.
    fn is_of(&self, newest: Segment) -> bool {
        (self.segment, self.length) <= (newest.number, newest.length)
    }

    /// Tells whether too little came since for it to matter, of the segments from the newest on. No more
    /// of them are taken than it needs to tell.
    fn is_surely_light(
        &self,
        segments: impl IntoIterator<Item = agentic_store::Result<Segment>>,
    ) -> Result<bool, CaptureError> {
        let (mut heaviest, mut segments) = (self.pending, segments.into_iter());
        while heaviest <= PENDING_BYTES_MAX {
            let Some(segment) = segments.next().transpose()? else { break };
            let known = if segment.number == self.segment { self.length } else { 0 };
            heaviest = heaviest.saturating_add(segment.length.saturating_sub(known));
            if segment.number <= self.segment {
                break;
            }
        }
        Ok(heaviest <= PENDING_BYTES_MAX)
    }

    fn load(layout: &Layout, agent: &AgentName) -> Option<PendingWeight> {
        let text = file::read_text(&place(layout, agent), WEIGHT_BYTES_MAX).ok()?;
        let numbers: Vec<u64> =
            text.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [segment, length, pending] = numbers[..] else { return None };
        Some(PendingWeight { segment, length, pending })
    }

    fn save(&self, layout: &Layout, agent: &AgentName) -> Result<(), CaptureError> {
        let path = place(layout, agent);
        fs::create_dir_all(path.parent().expect("in a folder"))
            .map_err(|source| CaptureError::Io { source })?;
        let text = format!("{} {} {}", self.segment, self.length, self.pending);
        Ok(file::replace(&path, text.as_bytes(), Persistence::Lazy)?)
    }
}

fn place(layout: &Layout, agent: &AgentName) -> PathBuf {
    layout.capture().join("weight").join(agent.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Tells whether it is light, and how many segments were looked at for that.
    fn told(weight: &PendingWeight, lengths: &[u64]) -> (bool, u64) {
        let mut n_looked = 0;
        let segments = (0..).zip(lengths).collect::<Vec<_>>();
        let segments = segments.into_iter().rev().map(|(number, length)| {
            n_looked += 1;
            Ok(Segment { number, length: *length })
        });
        let is_light = weight.is_surely_light(segments).expect("segments are there");
        (is_light, n_looked)
    }

    #[test]
    fn only_segments_that_came_since_are_looked_at() {
        let lengths = [2 * MIB; 300];
        assert_eq!(told(&PendingWeight::default(), &lengths), (false, 9));
        let weighed = PendingWeight { segment: 298, length: MIB, pending: 8 * MIB };
        assert_eq!(told(&weighed, &lengths), (true, 2));
        let heavy = PendingWeight { pending: 14 * MIB, ..weighed };
        assert_eq!(told(&heavy, &lengths), (false, 2));
        assert_eq!(told(&PendingWeight::default(), &[2 * MIB, MIB]), (true, 2));
    }

    #[test]
    fn what_was_weighed_of_a_longer_journal_says_nothing() {
        let weighed = PendingWeight { segment: 3, length: MIB, pending: 0 };
        assert!(weighed.is_of(Segment { number: 3, length: MIB }));
        assert!(weighed.is_of(Segment { number: 4, length: 1 }));
        assert!(!weighed.is_of(Segment { number: 3, length: MIB - 1 }));
        assert!(!weighed.is_of(Segment { number: 2, length: 2 * MIB }));
    }
}
