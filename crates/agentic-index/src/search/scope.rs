//! What a query means in one repository, and which documents fit it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{SearchQuery, SearchTerm};
use crate::document::SearchDocument;
use crate::word::{folded_character, is_blankless, is_word_character, terms};

/// A query whose filters were looked up: which agents came from which, which kinds specialise which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchScope {
    /// What is asked.
    pub query: SearchQuery,
    /// The agents that may have said it; nothing if all may.
    pub agents: Option<BTreeSet<String>>,
    /// The kinds that it may have; nothing if all may.
    pub kinds: Option<BTreeSet<String>>,
}

impl SearchScope {
    /// Looks filters up: `under` gives the agents that came from one, `kinds` the kinds that specialise
    /// one, the named ones among them.
    pub fn new(
        query: SearchQuery,
        under: impl Fn(&str) -> BTreeSet<String>,
        kinds: impl Fn(&str) -> BTreeSet<String>,
    ) -> SearchScope {
        let filters = &query.filters;
        let named: BTreeSet<String> = filters.agents.iter().cloned().collect();
        let below: BTreeSet<String> = filters.under.iter().flat_map(|agent| under(agent)).collect();
        let agents = match (filters.agents.is_empty(), filters.under.is_empty()) {
            (true, true) => None,
            (false, true) => Some(named),
            (true, false) => Some(below),
            (false, false) => Some(named.intersection(&below).cloned().collect()),
        };
        let specialised = || filters.kinds.iter().flat_map(|kind| kinds(kind)).collect();
        let kinds = (!filters.kinds.is_empty()).then(specialised);
        SearchScope { query, agents, kinds }
    }

    /// Says whether a document fits.
    pub fn fits(&self, document: &SearchDocument) -> bool {
        self.admits(document) && self.fits_text(&document.text)
    }

    /// Says whether a document stands where the filters want it.
    pub fn admits(&self, document: &SearchDocument) -> bool {
        let filters = &self.query.filters;
        let may = |set: &Option<BTreeSet<String>>, value: &str| {
            set.as_ref().is_none_or(|set| set.contains(value))
        };
        may(&self.agents, &document.agent)
            && may(&self.kinds, &document.kind)
            && (filters.places.is_empty() || filters.places.contains(&document.place))
            && (filters.by.is_empty() || filters.by.iter().any(|by| is_said_by(&document.by, by)))
            && filters.after.is_none_or(|after| document.at >= after)
            && filters.before.is_none_or(|before| document.at < before)
    }

    /// Says whether a text has what is wanted, and nothing else.
    fn fits_text(&self, text: &str) -> bool {
        let (wanted, unwanted) = (&self.query.wanted, &self.query.unwanted);
        if wanted.is_empty() && unwanted.is_empty() {
            return true;
        }
        // Most texts lack one of the words, and to look for that is fast.
        let lower = lower(text);
        if !wanted.iter().all(|term| may_have(&lower, term)) {
            return false;
        }
        let (mut known, mut flat) = (None, None);
        let mut has = |term: &SearchTerm| match term {
            SearchTerm::Word(word) => known.get_or_insert_with(|| terms(text)).contains(word),
            SearchTerm::Prefix(start) => {
                let known = known.get_or_insert_with(|| terms(text));
                let first = known.range(start.clone()..).next();
                first.is_some_and(|first| first.starts_with(start.as_str()))
            }
            SearchTerm::Phrase { text: phrase, .. } => {
                has_phrase(flat.get_or_insert_with(|| folded(text)), phrase)
            }
        };
        wanted.iter().all(&mut has)
            && !unwanted.iter().any(|term| may_have(&lower, term) && has(term))
    }
}

/// Says whether `by` names who said something: a principal, or the part of one after its kind.
fn is_said_by(who: &str, by: &str) -> bool {
    who == by || who.split_once(':').is_some_and(|(_, name)| name == by)
}

fn lower(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Owned(text.chars().flat_map(folded_character).collect()),
    }
}

/// Says whether a text in lower case could have something.
fn may_have(lower: &str, term: &SearchTerm) -> bool {
    match term {
        SearchTerm::Word(term) | SearchTerm::Prefix(term) => lower.contains(term.as_str()),
        SearchTerm::Phrase { words, .. } => words.iter().all(|word| lower.contains(word.as_str())),
    }
}

/// Puts a text in lower case, and makes one blank of many.
pub fn folded(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut is_blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            is_blank = true;
            continue;
        }
        if std::mem::take(&mut is_blank) {
            flat.push(' ');
        }
        flat.extend(folded_character(c));
    }
    flat
}

/// Looks for a phrase that begins and ends at the edges of words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    find_phrase(text, phrase, 0).is_some()
}

/// Finds where a phrase begins at or after a byte.
pub fn find_phrase(text: &str, phrase: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text[at..].find(phrase) {
        let (start, end) = (at + found, at + found + phrase.len());
        if is_edge(text, start) && is_edge(text, end) {
            return Some(start);
        }
        // To the next character.
        at = start + phrase.chars().next()?.len_utf8();
    }
    None
}

/// Says whether a word ends or begins at a byte.
fn is_edge(text: &str, at: usize) -> bool {
    let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
    let is_inside = |c: Option<char>| c.is_some_and(|c| is_word_character(c) && !is_blankless(c));
    !(is_inside(before) && is_inside(after))
}
