//! What segments hold together where clones went on with one session, and each in its own way.
//!
//! Every clone seals what it did, and a fetch brings what another one sealed. Where both went on from
//! the same record, what is sealed splits there into lines. None of them is damage: each is chained
//! whole. Which one counts is told by the log of a clone; where there is none, the line counts that went
//! on first.

use std::cmp::Ordering;

use agentic_model::Instant;
use agentic_replay::{Record, RecordHash, SessionId};

use crate::Result;
use crate::folder::damaged;

/// How many lines are told apart.
const LINES_MAX: usize = 64;

/// The records of one segment, and the position of the first.
pub(super) type PlacedRecords = (usize, Vec<Vec<u8>>);

/// The records of a session as they are sealed: one line of them, or several that split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealedLines(Vec<Vec<Vec<u8>>>);

impl SealedLines {
    /// Joins what segments hold. Two clones may have sealed the same records in different portions.
    ///
    /// # Errors
    /// Fails when records are missing among them, and when some follow none of the others.
    pub(super) fn join(id: &SessionId, mut segments: Vec<PlacedRecords>) -> Result<SealedLines> {
        segments.sort();
        let mut lines = SealedLines::default();
        for (from, records) in segments {
            lines.take(id, from, records)?;
        }
        lines.0.sort_by(|one, other| compare(one, other));
        Ok(lines)
    }

    fn take(&mut self, id: &SessionId, from: usize, records: Vec<Vec<u8>>) -> Result<()> {
        let Some(n_most) = self.0.iter().map(Vec::len).max() else {
            if from > 0 {
                return Err(damaged(id, "its sealed record 0 is missing"));
            }
            self.0.push(records);
            return Ok(());
        };
        if from > n_most {
            return Err(damaged(id, &format!("its sealed record {n_most} is missing")));
        }
        let is_alone = self.0.len() == 1;
        let n_common = |line: &Vec<Vec<u8>>| n_same(line.get(from..).unwrap_or_default(), &records);
        let fits = |line: &&mut Vec<Vec<u8>>| {
            let n_known = line.len().saturating_sub(from).min(records.len());
            line.len() >= from
                && n_common(line) == n_known
                && (is_alone || n_known > 0 || follows(line, from, &records))
        };
        if let Some(line) = self.0.iter_mut().find(fits) {
            let n_known = line.len() - from;
            line.extend(records.into_iter().skip(n_known));
            return Ok(());
        }
        let parent = self.0.iter().filter(|line| line.len() >= from);
        let parent =
            parent.filter(|line| follows(line, from, &records)).max_by_key(|line| n_common(line));
        let Some(parent) = parent.filter(|_| self.0.len() < LINES_MAX) else {
            return Err(damaged(id, "what is sealed of it contradicts itself"));
        };
        let line = parent[..from].iter().cloned().chain(records).collect();
        self.0.push(line);
        Ok(())
    }

    /// Returns the line that counts where nothing else tells; none of a session that is not sealed.
    pub fn into_first(self) -> Vec<Vec<u8>> {
        self.0.into_iter().next().unwrap_or_default()
    }

    /// Finds the line that is the beginning of these records, or that they are the beginning of. Where
    /// nothing is sealed, that is none of them.
    pub fn of(&self, records: &[Vec<u8>]) -> Option<&[Vec<u8>]> {
        let is_own = |line: &&Vec<Vec<u8>>| n_same(line, records) == line.len().min(records.len());
        match self.0.as_slice() {
            [] => Some(&[]),
            lines => lines.iter().find(is_own).map(Vec::as_slice),
        }
    }

    /// Lists the lines that leave these records, each with the position where it does.
    pub fn beside<'l>(
        &'l self,
        records: &'l [Vec<u8>],
    ) -> impl Iterator<Item = (usize, &'l [Vec<u8>])> {
        let lines = self.0.iter().map(|line| (n_same(line, records), line.as_slice()));
        lines.filter(|(n_common, line)| *n_common < line.len().min(records.len()))
    }

    /// Returns the position of the first record that these have otherwise than the first line.
    pub(crate) fn first_difference(&self, records: &[Vec<u8>]) -> usize {
        self.0.first().map_or(0, |line| n_same(line, records))
    }
}

/// Counts the records that two lists have in common at their beginning.
fn n_same(one: &[Vec<u8>], other: &[Vec<u8>]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Tells whether records are chained to the one of a line before a position.
fn follows(line: &[Vec<u8>], from: usize, records: &[Vec<u8>]) -> bool {
    let Some(before) = from.checked_sub(1) else { return true };
    let before = line.get(before).map(|record| RecordHash::of_record(record));
    let first = records.first().and_then(|bytes| Record::from_bytes(bytes).ok());
    first.is_some_and(|record| before == Some(record.prev))
}

/// Orders lines by when they left each other, then by their bytes.
fn compare(one: &[Vec<u8>], other: &[Vec<u8>]) -> Ordering {
    let n_common = n_same(one, other);
    let (one, other) = (one.get(n_common), other.get(n_common));
    let at = |record: Option<&Vec<u8>>| -> Option<Instant> {
        Some(Record::from_bytes(record?).ok()?.at)
    };
    at(one).cmp(&at(other)).then_with(|| one.cmp(&other))
}
