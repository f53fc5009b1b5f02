//! Blocks that became full: their terms are written, and their texts packed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use agentic_model::Value;

use super::posting::RowPacker;
use super::record::EntryRow;
use super::{BLOCK, BLOCKS, GONE, ROW, TextIndex, number_of};
use crate::error::Result;
use crate::tables::{IndexTable, TableBatch};
use crate::value::seal;

/// How many bytes of rows are written at once.
const BYTES_AT_ONCE: usize = 256 << 10;

impl TextIndex {
    /// Takes when the next text was said.
    pub(super) fn push_stamp(&mut self, at: i64) {
        let block = self.stamps.len() / BLOCK as usize;
        if self.stamps.len() == self.stamps.capacity() {
            self.stamps.reserve_exact(BLOCK as usize);
        }
        self.stamps.push(at.max(GONE + 1));
        if self.newest.len() <= block {
            self.newest.resize(block + 1, GONE);
        }
        self.newest[block] = self.newest[block].max(at);
    }

    /// Writes the blocks that are full.
    pub(super) fn seal_full_blocks(&mut self) -> Result<()> {
        // A block is written once all its texts are in it.
        while !self.is_reading_again && self.stamps.len() >= ((self.n_blocks + 1) * BLOCK) as usize
        {
            self.seal_block()?;
        }
        Ok(())
    }

    /// Writes the terms of the block that is full, then that it is written.
    fn seal_block(&mut self) -> Result<()> {
        let block = self.n_blocks;
        self.remove_terms(block)?;
        let mut packer = RowPacker::new(block);
        let (mut batch, mut n_bytes) = (TableBatch::default(), 0);
        for (term, places) in self.open.take(block) {
            let Some((key, row)) = packer.take(term.as_bytes(), &places) else { continue };
            n_bytes += row.len();
            batch.put(IndexTable::Post, &key, row);
            if n_bytes >= BYTES_AT_ONCE {
                self.tables.apply(std::mem::take(&mut batch))?;
                n_bytes = 0;
            }
        }
        if let Some((key, row)) = packer.end() {
            batch.put(IndexTable::Post, &key, row);
        }
        self.tables.apply(batch)?;
        self.n_blocks += 1;
        let mut batch = TableBatch::default();
        batch.put(IndexTable::Meta, BLOCKS, seal(&Value::Int(i64::from(self.n_blocks))));
        self.pack_texts(block, &mut batch)?;
        self.tables.apply(batch)
    }

    /// Removes what a process that ended too early wrote of a block: its rows may begin elsewhere.
    fn remove_terms(&mut self, block: u32) -> Result<()> {
        let (prefix, mut batch) = (block.to_be_bytes(), TableBatch::default());
        self.tables.visit(IndexTable::Post, &prefix, &mut |key, _| {
            if !key.starts_with(&prefix) {
                return ControlFlow::Break(());
            }
            batch.remove(IndexTable::Post, key);
            ControlFlow::Continue(())
        })?;
        self.tables.apply(batch)
    }

    /// Packs the rows of a block whose texts came a few at a time.
    fn pack_texts(&mut self, block: u32, batch: &mut TableBatch) -> Result<()> {
        let (first, end) = (block * BLOCK, (block + 1) * BLOCK);
        let mut keys = Vec::new();
        self.tables.visit(IndexTable::Entry, &first.to_be_bytes(), &mut |key, _| {
            match number_of(key) {
                Ok(number) if number < end => keys.push(number),
                Ok(_) | Err(_) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        if keys.len() <= (BLOCK / ROW * 2) as usize {
            return Ok(());
        }
        let mut packed: BTreeMap<u32, EntryRow> = BTreeMap::new();
        for key in keys {
            batch.remove(IndexTable::Entry, &key.to_be_bytes());
            let Some(row) = self.tables.get(IndexTable::Entry, &key.to_be_bytes())? else {
                continue;
            };
            for (number, group) in EntryRow::read(&row)?.groups {
                let number = key + number;
                // A group may reach into the next row: a row is found by its first text.
                match packed.last_entry().filter(|last| number - last.key() < ROW) {
                    Some(mut last) => {
                        let first = *last.key();
                        last.get_mut().groups.insert(number - first, group);
                    }
                    None => {
                        packed.insert(number, EntryRow { groups: [(0, group)].into() });
                    }
                }
            }
        }
        for (first, row) in packed {
            batch.put(IndexTable::Entry, &first.to_be_bytes(), row.sealed());
        }
        Ok(())
    }
}
