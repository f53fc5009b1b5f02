//! Small values by name, of very many names: each stands with its name in one piece of memory.
//!
//! A map from texts to structs takes several times what it holds: of a hundred thousand agents that is
//! more than everything else that a process keeps.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::value::{push_number, take_number};

/// Values by name.
#[derive(Debug, Clone, Default)]
pub struct NameTable(BTreeSet<NamedBytes>);

/// A name, and a value behind it. A clone is the same piece of memory.
#[derive(Debug, Clone)]
pub struct NamedBytes(Arc<[u8]>);

impl NamedBytes {
    /// Puts a name and a value together; the value is what `write` appends.
    pub fn new(name: &str, write: impl FnOnce(&mut Vec<u8>)) -> NamedBytes {
        let mut bytes = Vec::with_capacity(name.len() + 128);
        push_number(&mut bytes, name.len() as u64);
        bytes.extend(name.as_bytes());
        write(&mut bytes);
        NamedBytes(bytes.into())
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        std::str::from_utf8(self.parts().0).expect("BUG: a name is text")
    }

    /// Returns the value.
    pub fn value(&self) -> &[u8] {
        self.parts().1
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        let mut rest = &*self.0;
        let length = take_number(&mut rest).ok().and_then(|length| usize::try_from(length).ok());
        let parts = length.and_then(|length| rest.split_at_checked(length));
        parts.expect("BUG: a name stands before its value")
    }
}

impl Borrow<[u8]> for NamedBytes {
    fn borrow(&self) -> &[u8] {
        self.parts().0
    }
}

impl Ord for NamedBytes {
    /// By name: a table has one value of each.
    fn cmp(&self, other: &NamedBytes) -> Ordering {
        self.parts().0.cmp(other.parts().0)
    }
}

impl PartialOrd for NamedBytes {
    fn partial_cmp(&self, other: &NamedBytes) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NamedBytes {
    fn eq(&self, other: &NamedBytes) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NamedBytes {}

impl NameTable {
    /// Finds what a name has.
    pub fn get(&self, name: &str) -> Option<&NamedBytes> {
        self.0.get(name.as_bytes())
    }

    /// Sets what a name has; returns what it had.
    pub fn put(&mut self, value: NamedBytes) -> Option<NamedBytes> {
        self.0.replace(value)
    }

    /// Takes a name away; returns what it had.
    pub fn remove(&mut self, name: &str) -> Option<NamedBytes> {
        self.0.take(name.as_bytes())
    }

    /// Lists all, by name.
    pub fn iter(&self) -> impl Iterator<Item = &NamedBytes> {
        self.0.iter()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for NameTable {
    /// Two are the same that have the same names with the same values.
    fn eq(&self, other: &NameTable) -> bool {
        let whole = |one: &NamedBytes| Arc::clone(&one.0);
        self.0.iter().map(whole).eq(other.0.iter().map(whole))
    }
}

impl Eq for NameTable {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{NameTable, NamedBytes};

    fn named(name: &str, value: &[u8]) -> NamedBytes {
        NamedBytes::new(name, |bytes| bytes.extend(value))
    }

    #[test]
    fn names_and_values_do_not_run_into_each_other() {
        let long = "n".repeat(300);
        for (name, value) in
            [("", &b""[..]), ("a", b""), ("", b"a"), ("é\0", b"\xff\0"), (&long, b"x")]
        {
            let one = named(name, value);
            assert_eq!((one.name(), one.value()), (name, value));
        }
        let (mut one, mut other) = (NameTable::default(), NameTable::default());
        one.put(named("a", b"bc"));
        other.put(named("a", b"bd"));
        assert_ne!(one, other, "the same name, another value");
        other.put(named("a", b"bc"));
        assert_eq!(one, other);
    }

    proptest! {
        #[test]
        fn a_table_does_what_a_map_does(
            acts in prop::collection::vec(("[ab]{0,3}", prop::option::of(prop::collection::vec(any::<u8>(), 0..4))), 0..40),
        ) {
            let (mut table, mut map) = (NameTable::default(), BTreeMap::new());
            let value = |found: Option<NamedBytes>| found.map(|it| it.value().to_vec());
            for (name, act) in acts {
                match act {
                    Some(bytes) => {
                        let before = table.put(named(&name, &bytes));
                        prop_assert_eq!(value(before), map.insert(name, bytes));
                    }
                    None => prop_assert_eq!(value(table.remove(&name)), map.remove(&name)),
                }
            }
            prop_assert_eq!((table.len(), table.is_empty()), (map.len(), map.is_empty()));
            for (one, (name, bytes)) in table.iter().zip(&map) {
                prop_assert_eq!((one.name(), one.value()), (name.as_str(), bytes.as_slice()));
                prop_assert_eq!(table.get(name).map(NamedBytes::value), Some(bytes.as_slice()));
            }
            prop_assert!(table.get("c").is_none());
        }
    }
}
