//! The terms of the blocks that are not full, in memory; and what stands among the terms of a text besides
//! its words: agent, kind, place and who said it.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::numbers::BlockNumbers;
use super::{BLOCK, place_in_block};
use crate::document::{DocumentPlace, SearchDocument};
use crate::word::each_term;

/// What a term begins with that is no word.
const MARK: char = '\u{1}';

/// The newest texts, by term. While texts are read again there may be more than one block that is full.
#[derive(Debug, Default)]
pub struct OpenBlocks {
    blocks: BTreeMap<u32, TermLists>,
    /// Room for terms that are put together.
    term: String,
}

/// The places of a block's texts by term, ascending.
type TermLists = HashMap<Box<str>, Vec<u16>>;

/// Makes the term of an agent.
pub fn agent_term(agent: &str) -> String {
    format!("{MARK}a{agent}")
}

/// Makes the term of a kind.
pub fn kind_term(kind: &str) -> String {
    format!("{MARK}k{kind}")
}

/// Makes the term of a place.
pub fn place_term(place: DocumentPlace) -> String {
    format!("{MARK}i{place}")
}

/// Makes the term of who said something.
pub fn by_term(by: &str) -> String {
    format!("{MARK}b{by}")
}

impl OpenBlocks {
    /// Takes the terms of a text. Numbers ascend, but for those that are read again.
    pub fn add(&mut self, number: u32, document: &SearchDocument) {
        let lists = self.blocks.entry(number / BLOCK).or_default();
        let place = place_in_block(number);
        each_term(&document.text, &mut |term, _, _| put(lists, term, place));
        let by = document.by.split_once(':').map(|(_, name)| name);
        let marks = [('a', Some(document.agent.as_str())), ('k', Some(&document.kind))];
        let marks = marks.into_iter().chain([('i', Some(document.place.word()))]);
        for (sort, word) in marks.chain([('b', Some(document.by.as_str())), ('b', by)]) {
            let Some(word) = word else { continue };
            self.term.clear();
            write!(self.term, "{MARK}{sort}{word}").expect("a string takes everything");
            put(lists, &self.term, place);
        }
    }

    /// Takes that a text is an agent's; its other terms are read again later.
    pub fn add_agent(&mut self, number: u32, agent: &str) {
        let lists = self.blocks.entry(number / BLOCK).or_default();
        put(lists, &agent_term(agent), place_in_block(number));
    }

    /// Returns the texts of a block that have one of these terms.
    pub fn numbers(&self, block: u32, terms: &[&str]) -> Vec<BlockNumbers> {
        let Some(lists) = self.blocks.get(&block) else { return Vec::new() };
        let lists = terms.iter().filter_map(|term| lists.get(*term));
        lists.map(|list| BlockNumbers::of(list.clone())).collect()
    }

    /// Returns the terms that begin so, in no order.
    pub fn beginning(&self, prefix: &str) -> impl Iterator<Item = &str> {
        let terms = self.blocks.values().flat_map(HashMap::keys).map(AsRef::as_ref);
        terms.filter(move |term: &&str| term.starts_with(prefix))
    }

    /// Takes a block out: its terms in order.
    pub fn take(&mut self, block: u32) -> Vec<(Box<str>, Vec<u16>)> {
        let lists = self.blocks.remove(&block).unwrap_or_default();
        let mut lists: Vec<_> = lists.into_iter().collect();
        lists.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        lists
    }
}

fn put(lists: &mut TermLists, term: &str, place: u16) {
    let Some(list) = lists.get_mut(term) else {
        lists.insert(term.into(), vec![place]);
        return;
    };
    match list.last() {
        Some(last) if *last == place => {}
        Some(last) if *last > place => {
            if let Err(at) = list.binary_search(&place) {
                list.insert(at, place);
            }
        }
        Some(_) | None => list.push(place),
    }
}
