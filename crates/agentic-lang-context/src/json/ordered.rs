//! Maps that keep the order in which their keys came.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Above this many entries keys are looked up in an index.
const LINEAR_MAX: usize = 12;

/// A map from texts that keeps insertion order; setting a key that is there keeps its place.
#[derive(Debug, Clone)]
pub struct OrderedMap<V> {
    entries: Vec<(Arc<str>, V)>,
    /// Where each key stands; empty while there are few.
    index: BTreeMap<Arc<str>, usize>,
}

impl<V> OrderedMap<V> {
    /// Makes an empty map.
    pub fn new() -> OrderedMap<V> {
        OrderedMap { entries: Vec::new(), index: BTreeMap::new() }
    }

    /// Takes entries of which no two have the same key.
    pub(crate) fn from_distinct(entries: Vec<(Arc<str>, V)>) -> OrderedMap<V> {
        let mut map = OrderedMap { entries, index: BTreeMap::new() };
        map.index_entries();
        map
    }

    /// Returns the value under a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.place(key).map(|at| &self.entries[at].1)
    }

    /// Sets the value under a key.
    pub fn set(&mut self, key: Arc<str>, value: V) {
        match self.place(&key) {
            Some(at) => self.entries[at].1 = value,
            None => self.append(key, value),
        }
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// Returns the entries in order, as they stand.
    pub(crate) fn as_slice(&self) -> &[(Arc<str>, V)] {
        &self.entries
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes all values out, leaving the map empty.
    pub(crate) fn drain_values(&mut self) -> impl Iterator<Item = V> + use<'_, V> {
        self.index.clear();
        self.entries.drain(..).map(|(_, value)| value)
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.entries.len() > LINEAR_MAX {
            return self.index.get(key).copied();
        }
        self.entries.iter().position(|(other, _)| &**other == key)
    }

    fn append(&mut self, key: Arc<str>, value: V) {
        self.entries.push((key, value));
        self.index_entries();
    }

    /// Brings the index up to date, once there are enough entries for one.
    fn index_entries(&mut self) {
        if self.entries.len() > LINEAR_MAX {
            let unindexed = self.index.len()..self.entries.len();
            for at in unindexed {
                self.index.insert(self.entries[at].0.clone(), at);
            }
        }
    }
}

impl<V> Default for OrderedMap<V> {
    fn default() -> OrderedMap<V> {
        OrderedMap::new()
    }
}

impl<V: PartialEq> PartialEq for OrderedMap<V> {
    fn eq(&self, other: &OrderedMap<V>) -> bool {
        self.entries == other.entries
    }
}

impl<V> FromIterator<(Arc<str>, V)> for OrderedMap<V> {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, V)>>(pairs: I) -> OrderedMap<V> {
        let mut map = OrderedMap::new();
        for (key, value) in pairs {
            map.set(key, value);
        }
        map
    }
}
