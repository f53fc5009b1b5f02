//! Hits in their order, as many as are wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_index::{
    DocumentOrder, DocumentSource, FoundTexts, SearchDocument, SearchScope, TextPlace,
};

use super::{GroundTexts, TextAgent};

/// How many candidates are read for one answer.
pub const CANDIDATES_MAX: usize = 2_000;

/// The newest documents that fit.
#[derive(Debug)]
pub struct HitList {
    limit: usize,
    kept: BTreeMap<DocumentOrder, SearchDocument>,
    /// Whether there are more.
    pub has_more: bool,
    /// Whether not everything that could fit was looked at.
    pub is_partial: bool,
}

/// Finds candidates: at most so many. Nothing means that everything has to be read.
pub type CandidateFinder<'f> = dyn Fn(&SearchScope, usize) -> Option<FoundTexts> + 'f;

impl HitList {
    /// Makes an empty list for at most so many hits.
    pub fn new(limit: usize) -> HitList {
        HitList { limit, kept: BTreeMap::new(), has_more: false, is_partial: false }
    }

    /// Takes a document that fits.
    pub fn take(&mut self, document: SearchDocument) {
        self.kept.insert(document.order(), document);
        if self.kept.len() > self.limit {
            self.kept.pop_last();
            self.has_more = true;
        }
    }

    /// Takes the hits of another list.
    pub fn join(&mut self, other: HitList) {
        self.has_more |= other.has_more;
        self.is_partial |= other.is_partial;
        other.kept.into_values().for_each(|document| self.take(document));
    }

    /// Says whether a document could still be taken.
    pub fn wants(&self, document: &SearchDocument) -> bool {
        let is_full = self.kept.len() >= self.limit && self.has_more;
        let last = self.kept.last_key_value();
        !is_full || last.is_some_and(|(last, _)| document.order() < *last)
    }

    /// Returns the hits, newest first. An entry that was bound while it was read is one hit.
    pub fn into_documents(self) -> Vec<SearchDocument> {
        let mut seen = BTreeSet::new();
        let (pending, rest): (Vec<_>, Vec<_>) =
            self.kept.into_iter().partition(|(_, it)| it.source == DocumentSource::Pending);
        for (_, document) in &rest {
            let trace = matches!(document.source, DocumentSource::Trace { .. });
            if trace {
                seen.insert((document.agent.clone(), document.at, document.text.clone()));
            }
        }
        let is_new = |document: &SearchDocument| {
            !seen.contains(&(document.agent.clone(), document.at, document.text.clone()))
        };
        let pending = pending.into_iter().filter(|(_, document)| is_new(document));
        let all: BTreeMap<DocumentOrder, SearchDocument> = pending.chain(rest).collect();
        all.into_values().collect()
    }
}

/// Reads what an index found, newest first, until there are as many hits as are wanted. A hit whose
/// text is gone is dropped.
pub fn verify(
    ground: &GroundTexts<'_>,
    scope: &SearchScope,
    found: FoundTexts,
    limit: usize,
) -> HitList {
    let mut hits = HitList::new(limit);
    let mut read = ReadSources { ground, agents: BTreeMap::new(), last: BTreeMap::new() };
    found.in_flight.into_iter().filter(|it| scope.fits(it)).for_each(|it| hits.take(it));
    let mut n_read = 0;
    for place in &found.texts {
        if n_read == CANDIDATES_MAX {
            break;
        }
        n_read += 1;
        let Some(document) = read.document(place) else { continue };
        if scope.fits(&document) {
            // The candidates come in the order of hits: what follows one that is not wanted is not.
            if !hits.wants(&document) {
                return hits;
            }
            hits.take(document);
        }
    }
    hits.is_partial = n_read < found.texts.len() || found.has_more;
    hits
}

/// The texts of what was read last: neighbours are often in one trace.
struct ReadSources<'r, 's> {
    ground: &'r GroundTexts<'s>,
    /// Where the agents of the candidates are.
    agents: BTreeMap<String, Option<TextAgent>>,
    last: BTreeMap<(String, DocumentSource), Rc<BTreeMap<u64, SearchDocument>>>,
}

/// How many sources are kept while hits are read.
const SOURCES_KEPT_MAX: usize = 16;

impl ReadSources<'_, '_> {
    fn document(&mut self, place: &TextPlace) -> Option<SearchDocument> {
        let key = (place.agent.clone(), place.source.clone());
        if let Some(known) = self.last.get(&key) {
            return known.get(&place.position).cloned();
        }
        let agent = match self.agents.get(&place.agent) {
            Some(known) => known.clone(),
            None => {
                let found = self.ground.agent(&place.agent).ok()?;
                self.agents.insert(place.agent.clone(), found.clone());
                found
            }
        };
        let agent = agent?;
        let mut texts = BTreeMap::new();
        // What cannot be read is gone.
        let _ = self.ground.of_source(&agent, &place.source, &mut |document| {
            texts.insert(document.position, document);
            ControlFlow::Continue(())
        });
        if self.last.len() == SOURCES_KEPT_MAX {
            self.last.clear();
        }
        let texts = Rc::new(texts);
        self.last.insert(key, Rc::clone(&texts));
        texts.get(&place.position).cloned()
    }
}
