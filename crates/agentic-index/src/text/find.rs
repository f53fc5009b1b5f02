//! Which texts could fit a query, newest first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::numbers::BlockNumbers;
use super::posting::visit_terms;
use super::record::EntryRow;
use super::tail::{agent_term, by_term, kind_term, place_term};
use super::{BLOCK, GONE, TextIndex};
use crate::document::{DocumentOrder, DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::search::{SearchScope, SearchTerm};

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

/// What the texts of a block have to have.
#[derive(Debug, Default)]
struct TermDemand {
    /// One of each list; the terms of a list are sorted.
    wanted: Vec<Vec<String>>,
    /// None of these, which are sorted.
    unwanted: Vec<String>,
    /// Whether a prefix stands for more terms than it may.
    is_short: bool,
}

/// The newest of the texts that were found.
struct NewestTexts {
    most: usize,
    /// When each was said, and its number.
    found: Vec<(i64, u32)>,
    has_more: bool,
}

impl TextIndex {
    /// Finds the newest texts that could fit, at most so many.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn find(&self, scope: &SearchScope, most: usize) -> Result<FoundTexts> {
        let demand = self.demand(scope)?;
        let mut newest = NewestTexts { most, found: Vec::new(), has_more: false };
        let mut blocks: Vec<u32> = (0..self.n_blocks_all()).collect();
        // Those first whose texts are newest: soon the others have none that is wanted.
        blocks.sort_by_key(|block| std::cmp::Reverse((self.newest_of(*block), *block)));
        for block in blocks {
            if newest.is_settled(self.newest_of(block)) {
                newest.has_more = true;
                break;
            }
            let places = self.fitting(block, &demand)?;
            newest.take(
                places
                    .into_iter()
                    .filter_map(|place| self.stamped(scope, block * BLOCK + u32::from(place))),
            );
        }
        let fits = |document: &&SearchDocument| scope.fits(document);
        let in_flight = self.in_flight.values().flatten().filter(fits).cloned().collect();
        let has_more = demand.is_short || newest.has_more || newest.found.len() > most;
        Ok(FoundTexts { texts: self.in_order(newest)?, in_flight, has_more })
    }

    fn newest_of(&self, block: u32) -> i64 {
        self.newest.get(block as usize).copied().unwrap_or(GONE)
    }

    /// Finds the terms that a query stands for.
    fn demand(&self, scope: &SearchScope) -> Result<TermDemand> {
        let mut demand = TermDemand::default();
        for term in &scope.query.wanted {
            match term {
                SearchTerm::Word(word) => demand.wanted.push(vec![word.clone()]),
                SearchTerm::Phrase { words, .. } => {
                    demand.wanted.extend(words.iter().map(|word| vec![word.clone()]));
                }
                SearchTerm::Prefix(prefix) => {
                    let terms = self.beginning(prefix)?;
                    demand.is_short |= terms.len() > PREFIX_TERMS_MAX;
                    demand.wanted.push(terms.into_iter().take(PREFIX_TERMS_MAX).collect());
                }
            }
        }
        demand.wanted.extend(filter_terms(scope));
        for term in &scope.query.unwanted {
            match term {
                SearchTerm::Word(word) => demand.unwanted.push(word.clone()),
                SearchTerm::Prefix(prefix) => demand.unwanted.extend(self.beginning(prefix)?),
                // Only the text tells.
                SearchTerm::Phrase { .. } => {}
            }
        }
        demand.wanted.iter_mut().chain([&mut demand.unwanted]).for_each(|terms| terms.sort());
        Ok(demand)
    }

    /// Lists the terms that begin so, one more than a prefix may stand for.
    fn beginning(&self, prefix: &str) -> Result<BTreeSet<String>> {
        let mut terms: BTreeSet<String> = BTreeSet::new();
        let mut take = |term: &str| {
            let is_wanted = terms.len() <= PREFIX_TERMS_MAX
                || terms.last().is_some_and(|last| term < last.as_str());
            if is_wanted && terms.insert(term.to_owned()) && terms.len() > PREFIX_TERMS_MAX + 1 {
                terms.pop_last();
            }
            is_wanted
        };
        for term in self.open.beginning(prefix) {
            take(term);
        }
        for block in 0..self.n_blocks {
            visit_terms(self.tables.as_ref(), block, prefix.as_bytes(), &mut |term, _| {
                let text = std::str::from_utf8(term).map_err(|_| IndexError::damaged("a term"))?;
                // They come in order: behind one that is too many all are.
                match text.starts_with(prefix) && take(text) {
                    true => Ok(ControlFlow::Continue(())),
                    false => Ok(ControlFlow::Break(())),
                }
            })?;
        }
        Ok(terms)
    }

    /// Finds the places in a block that have one of each wanted terms, and none that is unwanted.
    fn fitting(&self, block: u32, demand: &TermDemand) -> Result<Vec<u16>> {
        let mut all = Vec::with_capacity(demand.wanted.len());
        for terms in &demand.wanted {
            let lists = self.having(block, &texts_of(terms))?;
            if lists.is_empty() {
                return Ok(Vec::new());
            }
            all.push(one_of(lists));
        }
        // The rarest first: what it has not need not be looked for.
        all.sort_by_key(BlockNumbers::n);
        let both = all.into_iter().reduce(|both, next| both.in_both(&next));
        let places = both.map_or_else(|| self.all_of(block), |both| both.places());
        if demand.unwanted.is_empty() || places.is_empty() {
            return Ok(places);
        }
        let unwanted = self.having(block, &texts_of(&demand.unwanted))?;
        let is_fine = |place: &u16| !unwanted.iter().any(|list| list.has(*place));
        Ok(places.into_iter().filter(is_fine).collect())
    }

    fn all_of(&self, block: u32) -> Vec<u16> {
        let n = (self.stamps.len() - (block * BLOCK) as usize).min(BLOCK as usize);
        (0..n).map(|place| place as u16).collect()
    }

    /// Adds the instant of a text; nothing where it is gone or was said at another time.
    fn stamped(&self, scope: &SearchScope, number: u32) -> Option<(i64, u32)> {
        let filters = &scope.query.filters;
        let at = *self.stamps.get(number as usize)?;
        let is_then = filters.after.is_none_or(|after| at >= after.millis())
            && filters.before.is_none_or(|before| at < before.millis());
        (at != GONE && is_then).then_some((at, number))
    }

    /// Puts the newest in the order of hits.
    fn in_order(&self, newest: NewestTexts) -> Result<Vec<TextPlace>> {
        let most = newest.most;
        let mut numbers: Vec<u32> = newest.ended().into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        let mut ordered: BTreeMap<DocumentOrder, TextPlace> = BTreeMap::new();
        let mut last: Option<(u32, EntryRow)> = None;
        for number in numbers {
            let is_in = |(first, row): &(u32, EntryRow)| row.text(number - first).is_some();
            if !last.as_ref().is_some_and(is_in) {
                last = self.row_of(number)?;
            }
            let found = last.as_ref().and_then(|(first, row)| row.text(number - first));
            let Some((group, position, at)) = found else { continue };
            let (agent, source) = (group.agent.clone(), group.source.clone());
            let order = DocumentOrder::new(at, &agent, &source, position);
            ordered.insert(order, TextPlace { agent, source, position });
        }
        Ok(ordered.into_values().take(most).collect())
    }
}

impl NewestTexts {
    /// Takes texts; sometimes lets go of those that are too old.
    fn take(&mut self, texts: impl Iterator<Item = (i64, u32)>) {
        self.found.extend(texts);
        if self.found.len() > (self.most + TIES_MAX) * 2 {
            self.cut();
        }
    }

    /// Says whether texts that are not newer than an instant are too old.
    fn is_settled(&mut self, newest: i64) -> bool {
        // One more than is wanted tells that there are more.
        if self.found.len() < self.most + usize::from(!self.has_more) {
            return false;
        }
        self.cut();
        self.found.iter().map(|(at, _)| *at).min().is_some_and(|oldest| newest < oldest)
    }

    /// Keeps the newest, and all that were said when the oldest of them was.
    fn cut(&mut self) {
        if self.found.len() <= self.most || self.most == 0 {
            return;
        }
        let (_, last, _) =
            self.found.select_nth_unstable_by(self.most - 1, |one, other| other.cmp(one));
        let oldest = last.0;
        let n_before = self.found.len();
        self.found.retain(|(at, _)| *at >= oldest);
        self.has_more |= self.found.len() < n_before;
    }

    /// Returns those that are put in order.
    fn ended(mut self) -> Vec<(i64, u32)> {
        self.cut();
        if self.found.len() > self.most + TIES_MAX {
            self.found.sort_unstable_by(|one, other| other.cmp(one));
            self.found.truncate(self.most + TIES_MAX);
        }
        self.found
    }
}

fn texts_of(terms: &[String]) -> Vec<&str> {
    terms.iter().map(String::as_str).collect()
}

/// Returns the texts that are in one of the lists.
fn one_of(mut lists: Vec<BlockNumbers>) -> BlockNumbers {
    if lists.len() == 1 {
        return lists.remove(0);
    }
    let mut places: Vec<u16> = lists.iter().flat_map(BlockNumbers::places).collect();
    places.sort_unstable();
    places.dedup();
    BlockNumbers::of(places)
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
