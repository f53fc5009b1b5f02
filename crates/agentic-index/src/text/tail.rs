//! The terms of the block that is not full, in memory; and what stands among the terms of a text besides
//! its words: agent, kind, place and who said it.

use std::collections::BTreeMap;

use crate::document::{DocumentPlace, SearchDocument};
use crate::word::terms;

/// What a term begins with that is no word.
const MARK: char = '\u{1}';

/// The numbers of the newest texts, by term.
#[derive(Debug, Default)]
pub struct OpenBlock {
    lists: BTreeMap<String, Vec<u32>>,
}

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

impl OpenBlock {
    /// Takes the terms of a text. Numbers ascend, but for those that are read again.
    pub fn add(&mut self, number: u32, document: &SearchDocument) {
        let mut all = terms(&document.text);
        all.insert(agent_term(&document.agent));
        all.insert(kind_term(&document.kind));
        all.insert(place_term(document.place));
        all.insert(by_term(&document.by));
        all.extend(document.by.split_once(':').map(|(_, name)| by_term(name)));
        for term in all {
            let list = self.lists.entry(term).or_default();
            match list.last() {
                Some(last) if *last > number => {
                    list.insert(list.partition_point(|other| *other < number), number);
                }
                Some(_) | None => list.push(number),
            }
        }
    }

    /// Returns the numbers of the texts that have a term.
    pub fn numbers(&self, term: &str) -> &[u32] {
        self.lists.get(term).map_or(&[], Vec::as_slice)
    }

    /// Returns the terms that begin so.
    pub fn beginning(&self, prefix: &str) -> impl Iterator<Item = (&String, &Vec<u32>)> {
        let from = self.lists.range(prefix.to_owned()..);
        from.take_while(move |(term, _)| term.starts_with(prefix))
    }

    /// Takes out the numbers below one.
    pub fn take_until(&mut self, end: u32) -> BTreeMap<String, Vec<u32>> {
        let mut taken = BTreeMap::new();
        let mut left = BTreeMap::new();
        for (term, mut numbers) in std::mem::take(&mut self.lists) {
            let rest = numbers.split_off(numbers.partition_point(|number| *number < end));
            if !rest.is_empty() {
                left.insert(term.clone(), rest);
            }
            if !numbers.is_empty() {
                taken.insert(term, numbers);
            }
        }
        self.lists = left;
        taken
    }
}
