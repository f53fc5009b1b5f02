//! What belongs to an agent: its texts have a term that names it.

use std::collections::{BTreeMap, BTreeSet};

use super::numbers::BlockNumbers;
use super::posting::read_terms;
use super::record::EntryRow;
use super::tail::agent_term;
use super::{BLOCK, GONE, TextIndex, number_of};
use crate::document::DocumentSource;
use crate::error::Result;
use crate::tables::{IndexTable, TableBatch};

impl TextIndex {
    /// Lists what holds texts of an agent.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn sources(&self, agent: &str) -> Result<BTreeSet<DocumentSource>> {
        let mut rows = BTreeMap::new();
        self.read_own_rows(agent, &mut rows)?;
        let rows = rows.into_values();
        let groups = rows.flat_map(|row| row.groups.into_values());
        Ok(groups.filter(|group| group.agent == agent).map(|group| group.source).collect())
    }

    /// Says whether some of an agent was written whose end was not.
    pub fn is_partial(&self, agent: &str) -> bool {
        self.partial.contains(agent)
    }

    /// Reads the rows that have texts of an agent, by their numbers, but for those that were read.
    fn read_own_rows(&self, agent: &str, rows: &mut BTreeMap<u32, EntryRow>) -> Result<()> {
        for block in 0..self.n_blocks_all() {
            let places = self.having(block, &[&agent_term(agent)])?;
            for place in places.iter().flat_map(BlockNumbers::places) {
                let number = block * BLOCK + u32::from(place);
                let is_in = |(first, row): (&u32, &EntryRow)| row.text(number - first).is_some();
                if rows.range(..=number).next_back().is_some_and(is_in) {
                    continue;
                }
                // What is gone is in no row.
                if let Some((first, row)) = self.row_of(number)? {
                    rows.insert(first, row);
                }
            }
        }
        Ok(())
    }

    /// Finds the row that may have a text.
    pub(super) fn row_of(&self, number: u32) -> Result<Option<(u32, EntryRow)>> {
        let found = self.tables.last_up_to(IndexTable::Entry, &number.to_be_bytes())?;
        found.map(|(key, value)| Ok((number_of(&key)?, EntryRow::read(&value)?))).transpose()
    }

    /// Returns how many blocks there are, full or not.
    pub(super) fn n_blocks_all(&self) -> u32 {
        (self.stamps.len() as u32).div_ceil(BLOCK)
    }

    /// Returns the texts of a block that have one of these terms, which are sorted.
    pub(super) fn having(&self, block: u32, terms: &[&str]) -> Result<Vec<BlockNumbers>> {
        match block < self.n_blocks {
            true => read_terms(self.tables.as_ref(), block, terms),
            false => Ok(self.open.numbers(block, terms)),
        }
    }

    /// Forgets texts of agents: those of some sources, or all.
    pub(super) fn forget(
        &mut self,
        gone: &[(&str, Option<&[DocumentSource]>)],
        batch: &mut TableBatch,
    ) -> Result<()> {
        // Several may stand in one row, which is written once.
        let mut rows = BTreeMap::new();
        for (agent, _) in gone {
            self.read_own_rows(agent, &mut rows)?;
        }
        for (first, mut row) in rows {
            let mut lost = Vec::new();
            row.groups.retain(|number, group| {
                let is_gone = gone.iter().any(|(agent, sources)| {
                    group.agent == *agent
                        && sources.is_none_or(|sources| sources.contains(&group.source))
                });
                if is_gone {
                    lost.push((first + number, group.texts.len()));
                }
                !is_gone
            });
            for (number, n_texts) in &lost {
                let end = (*number as usize + n_texts).min(self.stamps.len());
                self.stamps[*number as usize..end].fill(GONE);
            }
            match (lost.is_empty(), row.groups.is_empty()) {
                (true, _) => {}
                (false, true) => batch.remove(IndexTable::Entry, &first.to_be_bytes()),
                (false, false) => batch.put(IndexTable::Entry, &first.to_be_bytes(), row.sealed()),
            }
        }
        Ok(())
    }
}
