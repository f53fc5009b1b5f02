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
//! | entry | number of the first of a few texts that stand together | agent, source, positions, instants |
//! | own | agent · 0 · source · number | nothing |
//! | post | term · 0 · block | numbers, as differences |

mod find;
mod posting;
mod record;
mod tail;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use agentic_model::Value;

pub use self::find::{FoundTexts, TextPlace};
pub use self::record::SeenAgent;
use self::record::{EntryRecord, own_key, own_prefix, source_of_key};
use self::tail::OpenBlock;
use crate::document::{DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::identity::{TableAge, identify};
use crate::tables::{IndexTable, TableBatch, Tables};
use crate::value::{seal, unseal};

/// The version of the tables' form.
const FORMAT: i64 = 1;
/// How many texts a block has.
pub(crate) const BLOCK: u32 = 1 << 16;
/// How many terms are written at once.
const TERMS_AT_ONCE: usize = 4_096;
const BLOCKS: &[u8] = b"blocks";

/// An index of texts.
pub struct TextIndex {
    tables: Box<dyn Tables>,
    /// When each text was said, by its number; nothing where it is gone.
    stamps: Vec<Option<i64>>,
    /// How many blocks are full.
    n_blocks: u32,
    open: OpenBlock,
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
            n_blocks: 0,
            open: OpenBlock::default(),
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
        let (mut stamps, mut damage) = (Vec::new(), None);
        self.tables.visit(IndexTable::Entry, b"", &mut |key, value| match place_stamps(
            &mut stamps,
            key,
            value,
        ) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                damage = Some(error);
                ControlFlow::Break(())
            }
        })?;
        self.stamps = stamps;
        // Texts that went away may have been the last ones of a full block.
        let n_full = (self.n_blocks * BLOCK) as usize;
        self.stamps.resize(self.stamps.len().max(n_full), None);
        self.is_reading_again = self.stamps.len() > n_full;
        damage.map_or(Ok(()), Err)
    }

    /// Returns how many texts there are.
    pub fn n_texts(&self) -> usize {
        self.stamps.iter().filter(|stamp| stamp.is_some()).count()
    }

    /// Lists the texts whose terms have to be read again since the index was opened.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn unread(&self) -> Result<Vec<UnreadTexts>> {
        let first = self.n_blocks * BLOCK;
        // A few texts may stand on both sides of the border.
        let from = self.tables.last_up_to(IndexTable::Entry, &first.to_be_bytes())?;
        let from = from.map_or_else(|| first.to_be_bytes().to_vec(), |(key, _)| key);
        let (mut found, mut damage) = (Vec::new(), None);
        self.tables.visit(IndexTable::Entry, &from, &mut |key, value| {
            match read_unread(key, value, first) {
                Ok(unread) => found.extend((!unread.numbers.is_empty()).then_some(unread)),
                Err(error) => damage = Some(error),
            }
            if damage.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        damage.map_or(Ok(found), Err)
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
                None => self.stamps[*number as usize] = None,
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

    fn seal_full_blocks(&mut self) -> Result<()> {
        // A block is written once all its texts are in it.
        while !self.is_reading_again && self.stamps.len() >= ((self.n_blocks + 1) * BLOCK) as usize
        {
            self.seal_block()?;
        }
        Ok(())
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
        let mut found = Vec::new();
        self.tables.visit(IndexTable::Seen, b"a", &mut |key, _| {
            let [b'a', name @ ..] = key else { return ControlFlow::Break(()) };
            found.push(String::from_utf8_lossy(name).into_owned());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Lists what holds texts of an agent.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn sources(&self, agent: &str) -> Result<Vec<DocumentSource>> {
        let prefix = own_prefix(agent);
        let (mut found, mut damage) = (Vec::new(), None);
        self.tables.visit(IndexTable::Own, &prefix, &mut |key, _| {
            let Some(rest) = key.strip_prefix(prefix.as_slice()) else {
                return ControlFlow::Break(());
            };
            match source_of_key(rest) {
                Ok(source) if found.last() == Some(&source) => {}
                Ok(source) => found.push(source),
                Err(error) => damage = Some(error),
            }
            if damage.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        damage.map_or(Ok(found), Err)
    }

    /// Says whether the texts of something are here.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn has_source(&self, agent: &str, source: &DocumentSource) -> Result<bool> {
        let key = own_key(agent, source, 0);
        let prefix = &key[..key.len() - 4];
        let mut is_found = false;
        self.tables.visit(IndexTable::Own, prefix, &mut |key, _| {
            is_found = key.starts_with(prefix) && key.len() == prefix.len() + 4;
            ControlFlow::Break(())
        })?;
        Ok(is_found)
    }

    /// Takes a change of an agent or a session.
    ///
    /// # Errors
    /// Fails when the database does; it may be half there then, and is of no use any more.
    pub fn apply(&mut self, change: &TextChange) -> Result<()> {
        let mut batch = TableBatch::default();
        for source in &change.gone {
            self.forget(&change.agent, source, &mut batch)?;
        }
        let mut number = self.next();
        let mut added = Vec::new();
        for texts in change.new.chunk_by(|one, next| one.source == next.source) {
            let record = EntryRecord::of(&change.agent, texts);
            batch.put(IndexTable::Entry, &number.to_be_bytes(), record.sealed());
            let own = own_key(&change.agent, &texts[0].source, number);
            batch.put(IndexTable::Own, &own, Vec::new());
            added.extend((number..).zip(texts));
            number += u32::try_from(texts.len()).expect("a change is bounded");
        }
        if let Some(seen) = &change.seen {
            batch.put(IndexTable::Seen, &seen_key(b'a', &change.agent), seen.sealed());
        }
        if let Some((session, n_records)) = &change.seen_session {
            let count = Value::Int(i64::try_from(*n_records).unwrap_or(i64::MAX));
            batch.put(IndexTable::Seen, &seen_key(b's', session), seal(&count));
        }
        self.tables.apply(batch)?;
        for (number, document) in added {
            self.stamps.push(Some(document.at.millis()));
            self.open.add(number, document);
        }
        self.seal_full_blocks()
    }

    /// Forgets all that belongs to an agent.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn forget_agent(&mut self, agent: &str) -> Result<()> {
        let mut batch = TableBatch::default();
        for source in self.sources(agent)? {
            self.forget(agent, &source, &mut batch)?;
        }
        batch.remove(IndexTable::Seen, &seen_key(b'a', agent));
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

    fn forget(
        &mut self,
        agent: &str,
        source: &DocumentSource,
        batch: &mut TableBatch,
    ) -> Result<()> {
        let prefix = own_key(agent, source, 0);
        let prefix = &prefix[..prefix.len() - 4];
        let mut numbers = Vec::new();
        self.tables.visit(IndexTable::Own, prefix, &mut |key, _| {
            match key.strip_prefix(prefix).map(<[u8; 4]>::try_from) {
                Some(Ok(number)) => numbers.push(u32::from_be_bytes(number)),
                Some(Err(_)) | None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        for number in numbers {
            let key = number.to_be_bytes();
            if let Some(value) = self.tables.get(IndexTable::Entry, &key)? {
                let n_texts = EntryRecord::read(&value)?.positions.len();
                let gone = number as usize..(number as usize + n_texts).min(self.stamps.len());
                self.stamps[gone].fill(None);
            }
            batch.remove(IndexTable::Entry, &key);
            batch.remove(IndexTable::Own, &own_key(agent, source, number));
        }
        Ok(())
    }

    /// Writes the terms of the block that is full, then that it is written.
    fn seal_block(&mut self) -> Result<()> {
        let block = self.n_blocks;
        let end = (block + 1) * BLOCK;
        let lists = self.open.take_until(end);
        let lists: Vec<_> = lists.into_iter().collect();
        for part in lists.chunks(TERMS_AT_ONCE) {
            let mut batch = TableBatch::default();
            for (term, numbers) in part {
                let (key, value) = (posting::key(term, block), posting::sealed(numbers, block));
                batch.put(IndexTable::Post, &key, value);
            }
            self.tables.apply(batch)?;
        }
        self.n_blocks += 1;
        let mut batch = TableBatch::default();
        batch.put(IndexTable::Meta, BLOCKS, seal(&Value::Int(i64::from(self.n_blocks))));
        self.tables.apply(batch)
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

fn place_stamps(stamps: &mut Vec<Option<i64>>, key: &[u8], value: &[u8]) -> Result<()> {
    let number = number_of(key)? as usize;
    if number < stamps.len() {
        return Err(IndexError::damaged("two texts have one number"));
    }
    stamps.resize(number, None);
    stamps.extend(EntryRecord::read(value)?.stamps.into_iter().map(Some));
    Ok(())
}

fn read_unread(key: &[u8], value: &[u8], first: u32) -> Result<UnreadTexts> {
    let record = EntryRecord::read(value)?;
    let numbers = record.positions.iter().copied().zip(number_of(key)?..);
    let numbers = numbers.filter(|(_, number)| *number >= first).collect();
    Ok(UnreadTexts { agent: record.agent, source: record.source, numbers })
}
