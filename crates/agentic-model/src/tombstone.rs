//! Tombstones: what was purged, and what stands in its place. Never what it was.
//!
//! Other clones have the objects under the ids that they had; without these ids a fetch would bring
//! them back. No value, length or hash of one is in it.

use std::collections::BTreeMap;

use crate::object::{ObjectError, ObjectFields};
use crate::{Instant, Map, Object, Value};

/// How many ids one tombstone names; of more there are several.
pub const TOMBSTONE_IDS_MAX: usize = 4096;

/// What a purge took out of the notes of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The ids that are gone: of typed objects their content ids, of other files those of git.
    pub purged: Vec<String>,
    /// What stands in the place of those of them that have something in their place.
    pub replaced: BTreeMap<String, String>,
    /// The entries of traces that lack something now, by their own ids.
    pub entries: Vec<String>,
    /// The rule that found the values, if one did.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// Who did it.
    pub by: String,
    /// When.
    pub at: Instant,
}

impl Tombstone {
    /// Turns the tombstone into its object.
    ///
    /// # Errors
    /// Fails when it names nothing, or more than [`TOMBSTONE_IDS_MAX`] ids.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let fields = ObjectFields { kind: "tombstone", map: &Map::new() };
        if self.purged.is_empty() || self.purged.len() > TOMBSTONE_IDS_MAX {
            return Err(fields.wrong("purged", "a list of 1 to 4096 ids"));
        }
        let texts = |list: &[String]| Value::List(list.iter().map(Value::text).collect());
        let mut map = Map::from([
            ("type".to_owned(), Value::text("tombstone")),
            ("purged".to_owned(), texts(&self.purged)),
            ("entries".to_owned(), texts(&self.entries)),
            ("reason".to_owned(), Value::text(&*self.reason)),
            ("by".to_owned(), Value::text(&*self.by)),
            ("at".to_owned(), Value::Int(self.at.millis())),
        ]);
        if !self.replaced.is_empty() {
            let replaced = self.replaced.iter().map(|(old, new)| (old.clone(), Value::text(new)));
            map.insert("replaced".to_owned(), Value::Map(replaced.collect()));
        }
        if let Some(rule) = &self.rule {
            map.insert("rule".to_owned(), Value::text(&**rule));
        }
        Object::new(map)
    }

    /// Reads the tombstone from its object.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn from_object(object: &Object) -> Result<Tombstone, ObjectError> {
        let fields = ObjectFields { kind: "tombstone", map: object.map() };
        let texts = |field: &'static str| {
            let list = fields.list(field)?.iter();
            let texts = list.map(|item| item.as_text().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>().ok_or(fields.wrong(field, "a list of texts"))
        };
        let replaced = match object.map().get("replaced") {
            None => BTreeMap::new(),
            Some(Value::Map(map)) => {
                let pair =
                    |(old, new): (&String, &Value)| Some((old.clone(), new.as_text()?.to_owned()));
                let pairs: Option<BTreeMap<_, _>> = map.iter().map(pair).collect();
                pairs.ok_or(fields.wrong("replaced", "a map of texts"))?
            }
            Some(_) => return Err(fields.wrong("replaced", "a map of texts")),
        };
        Ok(Tombstone {
            purged: texts("purged")?,
            replaced,
            entries: texts("entries")?,
            rule: fields.optional_text("rule")?.map(str::to_owned),
            reason: fields.text("reason")?.to_owned(),
            by: fields.text("by")?.to_owned(),
            at: Instant::from_millis(fields.int("at")?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tombstone() -> Tombstone {
        Tombstone {
            purged: vec!["one".to_owned(), "two".to_owned()],
            replaced: BTreeMap::from([("one".to_owned(), "three".to_owned())]),
            entries: vec!["e1".to_owned()],
            rule: None,
            reason: "it was a password".to_owned(),
            by: "user:ada".to_owned(),
            at: Instant::from_millis(1_700_000_000_000),
        }
    }

    #[test]
    fn a_tombstone_reads_back() {
        for tombstone in [tombstone(), Tombstone { rule: Some("jwt".to_owned()), ..tombstone() }] {
            let object = tombstone.to_object().expect("valid");
            assert_eq!(Tombstone::from_object(&object).expect("what we write"), tombstone);
        }
    }

    #[test]
    fn a_tombstone_of_nothing_or_of_too_much_is_none() {
        let many = vec!["x".to_owned(); TOMBSTONE_IDS_MAX + 1];
        for purged in [Vec::new(), many] {
            assert!(Tombstone { purged, ..tombstone() }.to_object().is_err());
        }
    }
}
