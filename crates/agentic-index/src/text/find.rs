//! Which texts could fit a query, newest first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::record::EntryRecord;
use super::tail::{agent_term, by_term, kind_term, place_term};
use super::{BLOCK, TextIndex, number_of, posting};
use crate::document::{DocumentOrder, DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::search::{SearchScope, SearchTerm};
use crate::tables::IndexTable;

/// How many terms a prefix may stand for.
const PREFIX_TERMS_MAX: usize = 1_000;
/// How many texts of one instant are put in order.
const TIES_MAX: usize = 1 << 16;

/// A text that could fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPlace {
    /// The agent.
    pub agent: String,
    /// What holds it.
    pub source: DocumentSource,
    /// Its place there.
    pub position: u64,
}

/// Texts that could fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundTexts {
    /// Newest first.
    pub texts: Vec<TextPlace>,
    /// Those that are still in flight, and fit.
    pub in_flight: Vec<SearchDocument>,
    /// Whether there are more.
    pub has_more: bool,
}

impl TextIndex {
    /// Finds the newest texts that could fit, at most so many.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn find(&self, scope: &SearchScope, most: usize) -> Result<FoundTexts> {
        let (mut wanted, mut is_short) = (Vec::new(), false);
        for term in &scope.query.wanted {
            match term {
                SearchTerm::Word(word) => wanted.push(vec![word.clone()]),
                SearchTerm::Phrase { words, .. } => {
                    wanted.extend(words.iter().map(|word| vec![word.clone()]));
                }
                SearchTerm::Prefix(prefix) => {
                    let terms = self.beginning(prefix)?;
                    is_short |= terms.len() > PREFIX_TERMS_MAX;
                    wanted.push(terms.into_iter().take(PREFIX_TERMS_MAX).collect());
                }
            }
        }
        wanted.extend(filter_terms(scope));
        let mut unwanted = Vec::new();
        for term in &scope.query.unwanted {
            match term {
                SearchTerm::Word(word) => unwanted.push(word.clone()),
                SearchTerm::Prefix(prefix) => unwanted.extend(self.beginning(prefix)?),
                // Only the text tells.
                SearchTerm::Phrase { .. } => {}
            }
        }
        let mut newest = Vec::new();
        let n_texts = u32::try_from(self.stamps.len()).unwrap_or(u32::MAX);
        for block in (0..=self.n_blocks.max(n_texts / BLOCK)).rev() {
            let numbers = self.fitting(block, &wanted, &unwanted)?;
            newest.extend(self.stamped(scope, numbers));
        }
        let fits = |document: &&SearchDocument| scope.fits(document);
        let in_flight = self.in_flight.values().flatten().filter(fits).cloned().collect();
        let has_more = is_short || newest.len() > most;
        Ok(FoundTexts { texts: self.in_order(newest, most)?, in_flight, has_more })
    }

    /// Lists the terms that begin so, one more than a prefix may stand for.
    fn beginning(&self, prefix: &str) -> Result<BTreeSet<String>> {
        let open = self.open.beginning(prefix).map(|(term, _)| term.clone());
        let mut terms: BTreeSet<String> = open.take(PREFIX_TERMS_MAX + 1).collect();
        let mut damage = None;
        self.tables.visit(IndexTable::Post, prefix.as_bytes(), &mut |key, _| {
            if !key.starts_with(prefix.as_bytes()) || terms.len() > PREFIX_TERMS_MAX {
                return ControlFlow::Break(());
            }
            let term = posting::parts(key).and_then(|(term, _)| {
                let term = std::str::from_utf8(term);
                term.map_err(|_| IndexError::damaged("a term")).map(str::to_owned)
            });
            match term {
                Ok(term) => drop(terms.insert(term)),
                Err(error) => damage = Some(error),
            }
            if damage.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        damage.map_or(Ok(terms), Err)
    }

    /// Finds the numbers in a block that have one of each wanted terms, and none that is unwanted.
    fn fitting(&self, block: u32, wanted: &[Vec<String>], unwanted: &[String]) -> Result<Vec<u32>> {
        let mut found: Option<Vec<u32>> = None;
        for terms in wanted {
            let having = self.having(block, terms)?;
            let both = match found {
                Some(found) => intersection(&found, &having),
                None => having,
            };
            if both.is_empty() {
                return Ok(both);
            }
            found = Some(both);
        }
        let found = found.unwrap_or_else(|| self.all_of(block));
        if unwanted.is_empty() || found.is_empty() {
            return Ok(found);
        }
        let having = self.having(block, unwanted)?;
        Ok(found.into_iter().filter(|number| having.binary_search(number).is_err()).collect())
    }

    /// Finds the numbers in a block that have one of these terms.
    fn having(&self, block: u32, terms: &[String]) -> Result<Vec<u32>> {
        let mut found = Vec::new();
        for term in terms {
            if block >= self.n_blocks {
                let numbers = self.open.numbers(term).iter().copied();
                found.extend(numbers.filter(|number| number / BLOCK == block));
            } else if let Some(list) =
                self.tables.get(IndexTable::Post, &posting::key(term, block))?
            {
                found.extend(posting::read(&list, block)?);
            }
        }
        if terms.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    fn all_of(&self, block: u32) -> Vec<u32> {
        let end = u32::try_from(self.stamps.len()).unwrap_or(u32::MAX);
        (block * BLOCK..((block + 1) * BLOCK).min(end)).collect()
    }

    /// Adds instants, and leaves out what is gone and what was said at another time.
    fn stamped(&self, scope: &SearchScope, numbers: Vec<u32>) -> Vec<(i64, u32)> {
        let filters = &scope.query.filters;
        let (after, before) =
            (filters.after.map(|at| at.millis()), filters.before.map(|at| at.millis()));
        let stamp = |number: u32| {
            let at = (*self.stamps.get(number as usize)?)?;
            let is_then =
                after.is_none_or(|after| at >= after) && before.is_none_or(|before| at < before);
            is_then.then_some((at, number))
        };
        numbers.into_iter().filter_map(stamp).collect()
    }

    /// Puts the newest in the order of hits.
    fn in_order(&self, mut found: Vec<(i64, u32)>, most: usize) -> Result<Vec<TextPlace>> {
        if found.len() > most && most > 0 {
            let (_, last, _) = found.select_nth_unstable_by(most - 1, |one, other| other.cmp(one));
            // All of the last one's instant belong to them until they are in order.
            let oldest = last.0;
            found.retain(|(at, _)| *at >= oldest);
            found.sort_unstable_by(|one, other| other.cmp(one));
            found.truncate(most + TIES_MAX);
        }
        let mut ordered: BTreeMap<DocumentOrder, TextPlace> = BTreeMap::new();
        let mut numbers: Vec<u32> = found.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        let mut last: Option<(u32, EntryRecord)> = None;
        for number in numbers {
            let is_in = |(first, record): &(u32, EntryRecord)| {
                ((number - first) as usize) < record.positions.len()
            };
            if !last.as_ref().is_some_and(is_in) {
                last = self.record_of(number)?;
            }
            let Some((first, record)) = last.as_ref().filter(|last| is_in(last)) else { continue };
            let (at, position) = {
                let place = (number - first) as usize;
                (record.stamps[place], record.positions[place])
            };
            let (agent, source) = (record.agent.clone(), record.source.clone());
            let order = DocumentOrder::new(at, &agent, &source, position);
            ordered.insert(order, TextPlace { agent, source, position });
        }
        Ok(ordered.into_values().take(most).collect())
    }

    fn record_of(&self, number: u32) -> Result<Option<(u32, EntryRecord)>> {
        let found = self.tables.last_up_to(IndexTable::Entry, &number.to_be_bytes())?;
        found.map(|(key, value)| Ok((number_of(&key)?, EntryRecord::read(&value)?))).transpose()
    }
}

/// Returns the terms that stand for filters: one of each list has to be there.
fn filter_terms(scope: &SearchScope) -> Vec<Vec<String>> {
    let filters = &scope.query.filters;
    let mut terms = Vec::new();
    terms.extend(scope.agents.as_ref().map(|all| all.iter().map(|it| agent_term(it)).collect()));
    terms.extend(scope.kinds.as_ref().map(|all| all.iter().map(|it| kind_term(it)).collect()));
    if !filters.places.is_empty() {
        terms.push(filters.places.iter().map(|place| place_term(*place)).collect());
    }
    if !filters.by.is_empty() {
        terms.push(filters.by.iter().map(|by| by_term(by)).collect());
    }
    terms
}

fn intersection(one: &[u32], other: &[u32]) -> Vec<u32> {
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if few.len() * 16 < many.len() {
        return few.iter().copied().filter(|it| many.binary_search(it).is_ok()).collect();
    }
    let mut found = Vec::with_capacity(few.len());
    let mut rest = many.iter().copied().peekable();
    for number in few {
        while rest.next_if(|it| it < number).is_some() {}
        found.extend(rest.next_if_eq(number));
    }
    found
}
