//! Which texts have which words.
//!
//! Texts are numbered as they come. A term has the numbers of the texts that have it, 65,536 to a block;
//! those of the last block, which is not full, stay in memory and are made again from the texts at
//! the start. Positions are not kept: whoever finds a text reads it, and looks whether it fits.
//!
//! | table | key | value |
//! | --- | --- | --- |
//! | meta | `identity` | what the index is of, and its form |
//! | meta | `blocks` | how many blocks are full |
//! | seen | `a` agent, or `s` session | how far it was read |
//! | seen | `p` agent | that some of it was written, and more is to come |
//! | entry | number of the first of some texts | agents, sources, positions, instants |
//! | post | block · first term of some | terms in order, each with its texts |

mod block;
mod find;
mod numbers;
mod own;
mod posting;
mod record;
mod tail;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use agentic_model::Value;

pub use self::find::{FoundTexts, TextPlace};
pub use self::record::SeenAgent;
use self::record::{EntryGroup, EntryRow};
use self::tail::OpenBlocks;
use crate::document::{DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::identity::{TableAge, identify};
use crate::tables::{IndexTable, TableBatch, Tables};
use crate::value::{seal, unseal};

/// The version of the tables' form, and of how words become terms (`word.rs`).
const FORMAT: i64 = 4;
/// How many texts a block has.
pub(crate) const BLOCK: u32 = 1 << 16;
/// How many texts a row has at most.
const ROW: u32 = 256;
/// Stands for the instant of a text that is gone.
const GONE: i64 = i64::MIN;
/// How many rows are read before something is done with them.
const ROWS_AT_ONCE: usize = 64;
const BLOCKS: &[u8] = b"blocks";

/// An index of texts.
pub struct TextIndex {
    tables: Box<dyn Tables>,
    /// When each text was said, by its number; [`GONE`] where it is.
    stamps: Vec<i64>,
    /// The latest instant of each block, or a later one.
    newest: Vec<i64>,
    /// How many blocks are full.
    n_blocks: u32,
    open: OpenBlocks,
    /// The agents of which some was written, and more is to come.
    partial: BTreeSet<String>,
    /// Whether texts of the open block have not been read again yet.
    is_reading_again: bool,
    in_flight: BTreeMap<String, Vec<SearchDocument>>,
}

/// What changed of an agent or a session.
#[derive(Debug, Default)]
pub struct TextChange {
    /// The agent.
    pub agent: String,
    /// What holds texts no more.
    pub gone: Vec<DocumentSource>,
    /// The texts that are new; those that one thing holds stand together.
    pub new: Vec<SearchDocument>,
    /// How far the agent was read now.
    pub seen: Option<SeenAgent>,
    /// How many records of which session were read now.
    pub seen_session: Option<(String, u64)>,
}

/// A few texts that were numbered, and are not among the terms of this process yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadTexts {
    /// The agent.
    pub agent: String,
    /// What holds them.
    pub source: DocumentSource,
    /// The number of the first, and the position of each.
    pub numbers: Vec<(u64, u32)>,
}

impl TextIndex {
    /// Opens an index, or begins one; `identity` says what it is of.
    ///
    /// # Errors
    /// Fails when it is of something else or of another version, and when it is damaged.
    pub fn open(tables: Box<dyn Tables>, identity: &str) -> Result<TextIndex> {
        let mut index = TextIndex {
            tables,
            stamps: Vec::new(),
            newest: Vec::new(),
            n_blocks: 0,
            open: OpenBlocks::default(),
            partial: BTreeSet::new(),
            is_reading_again: false,
            in_flight: BTreeMap::new(),
        };
        match identify(index.tables.as_mut(), FORMAT, identity)? {
            TableAge::Old => index.load()?,
            TableAge::New => {}
        }
        Ok(index)
    }

    /// Reads the instants of all texts.
    fn load(&mut self) -> Result<()> {
        if let Some(blocks) = self.tables.get(IndexTable::Meta, BLOCKS)? {
            let blocks = unseal(&blocks)?.as_int().and_then(|blocks| u32::try_from(blocks).ok());
            self.n_blocks = blocks.ok_or_else(|| IndexError::damaged("the number of blocks"))?;
        }
        if let Some((last, _)) = self.tables.last_up_to(IndexTable::Entry, &[u8::MAX; 4])? {
            // Of very many, as many again would be room for none.
            self.stamps.reserve_exact(number_of(&last)? as usize + ROW as usize);
        }
        self.each_row(0, |index, first, row| {
            if (first as usize) < index.stamps.len() {
                return Err(IndexError::damaged("two texts have one number"));
            }
            index.stamps.resize(first as usize, GONE);
            for (number, group) in row.groups {
                index.stamps.resize((first + number) as usize, GONE);
                for (text, (_, at)) in group.texts.into_iter().enumerate() {
                    index.push_stamp(at);
                    let number = first + number + text as u32;
                    if number / BLOCK >= index.n_blocks {
                        index.open.add_agent(number, &group.agent);
                    }
                }
            }
            Ok(())
        })?;
        // Texts that went away may have been the last ones of a full block.
        let n_full = (self.n_blocks * BLOCK) as usize;
        self.stamps.resize(self.stamps.len().max(n_full), GONE);
        self.is_reading_again = self.stamps.len() > n_full;
        self.partial = self.seen_names(b'p')?.into_iter().collect();
        Ok(())
    }

    /// Reads rows of texts from a number on, in order.
    fn each_row(
        &mut self,
        from: u32,
        mut take: impl FnMut(&mut TextIndex, u32, EntryRow) -> Result<()>,
    ) -> Result<()> {
        // A few at a time: whoever takes one may change the index.
        let mut from = Some(from);
        while let Some(next) = from.take() {
            let (mut rows, mut damage) = (Vec::new(), Ok(()));
            self.tables.visit(IndexTable::Entry, &next.to_be_bytes(), &mut |key, value| {
                match number_of(key).and_then(|number| Ok((number, EntryRow::read(value)?))) {
                    Ok(row) => rows.push(row),
                    Err(error) => damage = Err(error),
                }
                match rows.len() < ROWS_AT_ONCE && damage.is_ok() {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            damage?;
            if rows.len() == ROWS_AT_ONCE {
                from = rows.last().and_then(|(number, _)| number.checked_add(1));
            }
            for (number, row) in rows {
                take(self, number, row)?;
            }
        }
        Ok(())
    }

    /// Returns how many texts there are.
    pub fn n_texts(&self) -> usize {
        self.stamps.iter().filter(|stamp| **stamp != GONE).count()
    }

    /// Lists the texts whose terms have to be read again since the index was opened.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn unread(&mut self) -> Result<Vec<UnreadTexts>> {
        let mut found = Vec::new();
        self.each_row(self.n_blocks * BLOCK, |_, row_first, row| {
            found.extend(row.groups.into_iter().map(|(first, group)| {
                let positions = group.texts.iter().map(|(position, _)| *position);
                let numbers = positions.zip(row_first + first..).collect();
                UnreadTexts { agent: group.agent, source: group.source, numbers }
            }));
            Ok(())
        })?;
        Ok(found)
    }

    /// Takes the terms of texts that were numbered before. Those that are not there any more go away.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn read_again(
        &mut self,
        unread: &UnreadTexts,
        texts: &BTreeMap<u64, SearchDocument>,
    ) -> Result<()> {
        for (position, number) in &unread.numbers {
            match texts.get(position) {
                Some(document) => self.open.add(*number, document),
                None => self.stamps[*number as usize] = GONE,
            }
        }
        Ok(())
    }

    /// Writes the blocks that were filled before the process ended, once all was read again.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn end_reading_again(&mut self) -> Result<()> {
        self.is_reading_again = false;
        self.seal_full_blocks()
    }

    /// Returns how far an agent was read.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn seen(&self, agent: &str) -> Result<Option<SeenAgent>> {
        let found = self.tables.get(IndexTable::Seen, &seen_key(b'a', agent))?;
        found.map(|found| SeenAgent::read(&found)).transpose()
    }

    /// Returns how many records of a session were read.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn seen_session(&self, session: &str) -> Result<Option<u64>> {
        let found = self.tables.get(IndexTable::Seen, &seen_key(b's', session))?;
        let read = |found: Vec<u8>| {
            let count = unseal(&found)?.as_int().and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| IndexError::damaged("how far a session was read"))
        };
        found.map(read).transpose()
    }

    /// Lists the agents that were read.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn agents(&self) -> Result<Vec<String>> {
        self.seen_names(b'a')
    }

    fn seen_names(&self, sort: u8) -> Result<Vec<String>> {
        let mut found = Vec::new();
        self.tables.visit(IndexTable::Seen, &[sort], &mut |key, _| {
            let Some((_, name)) = key.split_first().filter(|(first, _)| **first == sort) else {
                return ControlFlow::Break(());
            };
            found.push(String::from_utf8_lossy(name).into_owned());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Takes changes of agents and sessions, together.
    ///
    /// # Errors
    /// Fails when the database does; it may be half there then, and is of no use any more.
    pub fn apply(&mut self, changes: &[TextChange]) -> Result<()> {
        let mut batch = TableBatch::default();
        let gone = changes.iter().filter(|change| !change.gone.is_empty());
        let gone = gone.map(|change| (change.agent.as_str(), Some(change.gone.as_slice())));
        self.forget(&gone.collect::<Vec<_>>(), &mut batch)?;
        for change in changes {
            self.put_seen(change, &mut batch);
        }
        for (first, row) in self.rows_of(changes) {
            batch.put(IndexTable::Entry, &first.to_be_bytes(), row.sealed());
        }
        self.tables.apply(batch)?;
        for document in changes.iter().flat_map(|change| &change.new) {
            let number = self.next();
            self.push_stamp(document.at.millis());
            self.open.add(number, document);
        }
        self.seal_full_blocks()
    }

    /// Notes how far something was read.
    fn put_seen(&mut self, change: &TextChange, batch: &mut TableBatch) {
        if let Some(seen) = &change.seen {
            batch.put(IndexTable::Seen, &seen_key(b'a', &change.agent), seen.sealed());
            if self.partial.remove(&change.agent) {
                batch.remove(IndexTable::Seen, &seen_key(b'p', &change.agent));
            }
        } else if let Some((session, n_records)) = &change.seen_session {
            let count = Value::Int(i64::try_from(*n_records).unwrap_or(i64::MAX));
            batch.put(IndexTable::Seen, &seen_key(b's', session), seal(&count));
        } else if self.partial.insert(change.agent.clone()) {
            batch.put(IndexTable::Seen, &seen_key(b'p', &change.agent), Vec::new());
        }
    }

    /// Packs new texts into rows, none of which reaches into another block.
    fn rows_of(&self, changes: &[TextChange]) -> BTreeMap<u32, EntryRow> {
        let mut rows: BTreeMap<u32, EntryRow> = BTreeMap::new();
        let (mut number, mut first) = (self.next(), self.next());
        for change in changes {
            for texts in change.new.chunk_by(|one, next| one.source == next.source) {
                let mut rest = texts;
                while !rest.is_empty() {
                    if number - first >= ROW || number % BLOCK == 0 {
                        first = number;
                    }
                    let room = (ROW - (number - first)).min(BLOCK - number % BLOCK);
                    let (part, behind) = rest.split_at(rest.len().min(room as usize));
                    let row = rows.entry(first).or_default();
                    row.groups.insert(number - first, EntryGroup::of(&change.agent, part));
                    number += part.len() as u32;
                    rest = behind;
                }
            }
        }
        rows
    }

    /// Forgets all that belongs to an agent.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn forget_agent(&mut self, agent: &str) -> Result<()> {
        let mut batch = TableBatch::default();
        self.forget(&[(agent, None)], &mut batch)?;
        batch.remove(IndexTable::Seen, &seen_key(b'a', agent));
        if self.partial.remove(agent) {
            batch.remove(IndexTable::Seen, &seen_key(b'p', agent));
        }
        self.in_flight.remove(agent);
        self.tables.apply(batch)
    }

    /// Takes the texts of an agent that are still in flight: they are kept in memory alone.
    pub fn put_in_flight(&mut self, agent: &str, texts: Vec<SearchDocument>) {
        match texts.is_empty() {
            true => drop(self.in_flight.remove(agent)),
            false => drop(self.in_flight.insert(agent.to_owned(), texts)),
        }
    }

    /// Puts on the disk what was changed.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn flush(&mut self) -> Result<()> {
        self.tables.flush()
    }

    fn next(&self) -> u32 {
        u32::try_from(self.stamps.len()).expect("an index is made anew before it is so large")
    }
}

fn seen_key(sort: u8, name: &str) -> Vec<u8> {
    let mut key = vec![sort];
    key.extend(name.as_bytes());
    key
}

fn number_of(key: &[u8]) -> Result<u32> {
    let number = <[u8; 4]>::try_from(key).map_err(|_| IndexError::damaged("a key of a text"))?;
    Ok(u32::from_be_bytes(number))
}

/// Returns the place of a text in its block.
fn place_in_block(number: u32) -> u16 {
    (number % BLOCK) as u16
}
