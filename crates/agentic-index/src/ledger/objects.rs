//! Whose notes keep which objects and the notes of which commits, as far as four bytes of an id tell:
//! whoever is told of some looks there.
//!
//! A million objects are four megabytes, and looking through all of them takes a millisecond: less than a
//! row for each would cost to be kept.

use agentic_model::{Cid, Oid};

use crate::error::{IndexError, Result};
use crate::name_table::{NameTable, NamedBytes};
use crate::tables::{IndexTable, TableBatch};
use crate::value::{seal_bytes, unseal_bytes};

/// How many objects stand in a row.
const OBJECTS_A_ROW: usize = 256;
/// How many are named of those who keep an object.
const KEEPERS_MAX: usize = 4;
/// How much of an id is kept, in bytes.
const MARK_BYTES: usize = 4;
/// How long a row is that has all that it may.
const ROW_BYTES: usize = OBJECTS_A_ROW * MARK_BYTES;

/// An id of which four bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptMark(u32);

/// Whose notes keep which objects, and the notes of which commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptObjects {
    marks: NameTable,
    /// Whether what an earlier process knew was read.
    pub is_whole: bool,
}

impl KeptMark {
    /// Marks an object.
    pub fn of_object(object: &Cid) -> KeptMark {
        KeptMark::of(object.digest())
    }

    /// Marks the note of a commit.
    pub fn of_note(commit: &Oid) -> KeptMark {
        KeptMark::of(commit.as_bytes())
    }

    fn of(bytes: &[u8]) -> KeptMark {
        let (parts, _) = bytes.as_chunks::<MARK_BYTES>();
        KeptMark(parts.first().map_or(0, |part| u32::from_be_bytes(*part)))
    }
}

impl KeptObjects {
    /// Names agents whose notes may keep something. Some may keep it no more, or something else.
    pub fn keepers(&self, wanted: KeptMark) -> Vec<String> {
        let keepers = self.marks.iter().filter(|marks| has(marks, wanted));
        keepers.take(KEEPERS_MAX).map(|marks| marks.name().to_owned()).collect()
    }

    /// Tells whether the notes of an agent may keep something, as they were when they were read.
    pub fn may_keep(&self, agent: &str, wanted: KeptMark) -> bool {
        !self.is_whole || self.marks.get(agent).is_some_and(|marks| has(marks, wanted))
    }

    /// Writes down what else an agent keeps.
    pub(super) fn write(&self, agent: &str, kept: &[KeptMark], batch: &mut TableBatch) {
        if kept.is_empty() {
            return;
        }
        let known = self.of(agent);
        let first = known.len() / ROW_BYTES;
        let mut bytes = known[first * ROW_BYTES..].to_vec();
        push_marks(&mut bytes, kept);
        for (number, part) in (first..).zip(bytes.chunks(ROW_BYTES)) {
            batch.put(IndexTable::Cid, &key(agent, number), seal_bytes(part));
        }
    }

    /// Takes all that is written down of an agent away.
    pub(super) fn erase(&self, agent: &str, batch: &mut TableBatch) {
        let n_rows = self.of(agent).len().div_ceil(ROW_BYTES);
        (0..n_rows).for_each(|number| batch.remove(IndexTable::Cid, &key(agent, number)));
    }

    /// Takes what else an agent keeps.
    pub(super) fn take(&mut self, agent: &str, kept: &[KeptMark]) {
        if !kept.is_empty() {
            self.append(agent, |bytes| push_marks(bytes, kept));
        }
    }

    /// Forgets what an agent keeps.
    pub(super) fn forget(&mut self, agent: &str) {
        self.marks.remove(agent);
    }

    /// Reads a row; those of one agent come in order.
    pub(super) fn read(&mut self, row: &[u8], sealed: &[u8]) -> Result<()> {
        let damaged = || IndexError::damaged("the objects of an agent");
        let (agent, number) =
            row.split_at_checked(row.len().wrapping_sub(5)).ok_or_else(damaged)?;
        let agent = std::str::from_utf8(agent).map_err(|_| damaged())?;
        let bytes = unseal_bytes(sealed)?;
        // A row that is missing would have others written over what is there.
        let next = place(self.of(agent).len() / ROW_BYTES);
        if number != next || bytes.len() % MARK_BYTES != 0 {
            return Err(damaged());
        }
        self.append(agent, |marks| marks.extend(bytes));
        Ok(())
    }

    /// Returns the marks of an agent, one behind the other.
    fn of(&self, agent: &str) -> &[u8] {
        self.marks.get(agent).map_or(&[], NamedBytes::value)
    }

    fn append(&mut self, agent: &str, append: impl FnOnce(&mut Vec<u8>)) {
        let marks = NamedBytes::new(agent, |bytes| {
            bytes.extend(self.of(agent));
            append(bytes);
        });
        self.marks.put(marks);
    }
}

fn has(marks: &NamedBytes, wanted: KeptMark) -> bool {
    marks.value().as_chunks::<MARK_BYTES>().0.contains(&wanted.0.to_be_bytes())
}

fn push_marks(bytes: &mut Vec<u8>, marks: &[KeptMark]) {
    marks.iter().for_each(|mark| bytes.extend(mark.0.to_be_bytes()));
}

fn key(agent: &str, number: usize) -> Vec<u8> {
    [agent.as_bytes(), &place(number)].concat()
}

/// Behind the name of an agent, which row it is.
fn place(number: usize) -> [u8; 5] {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let [a, b, c, d] = number.to_be_bytes();
    [0, a, b, c, d]
}
