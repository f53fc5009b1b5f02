//! What records are asked for.

use serde_json::value::RawValue;

use super::MemoryFault;
use super::record::Envelope;
use crate::ordered::{Document, Members};

/// How many records a query returns unless it says so.
const LIMIT_DEFAULT: usize = 10;

/// A query.
#[derive(Debug)]
pub(super) struct Query {
    kind: Option<Document>,
    /// In lower case.
    text: Option<String>,
    conditions: Vec<(String, Document)>,
    limit: usize,
}

impl Query {
    /// Reads a query.
    pub fn read(argument: &RawValue) -> Result<Query, MemoryFault> {
        let fault = |what: &str| MemoryFault(format!("memory.query {what}"));
        let Ok(Members(members)) = serde_json::from_str(argument.get()) else {
            return Err(fault("expects an object query"));
        };
        let find = |key: &str| {
            let found = members.iter().rev().find(|(name, _)| name == key);
            let read = found.map(|(_, raw)| Document::from_text(raw.get()));
            let read = read.transpose().map_err(|_| fault(&format!("{key} nests too deep")));
            read.map(|value| value.filter(|value| *value != Document::Null))
        };
        let conditions = match find("where")? {
            None => Vec::new(),
            Some(Document::Object(conditions)) => conditions,
            Some(_) => return Err(fault("where must be an object")),
        };
        let limit = match find("limit")? {
            None => LIMIT_DEFAULT,
            Some(Document::Number(number)) if number >= 1.0 && number.fract() == 0.0 => {
                number as usize
            }
            Some(_) => return Err(fault("limit must be a positive integer")),
        };
        let text = match find("text")? {
            Some(Document::Text(text)) => Some(text.to_lowercase()),
            // As before it was typed: what is no text is not looked for.
            Some(_) | None => None,
        };
        Ok(Query { kind: find("kind")?, text, conditions, limit })
    }

    /// Prints the records that fit as a JSON list, from records of which the newest comes first.
    pub fn of_newest_first<'a>(&self, records: impl Iterator<Item = &'a Envelope>) -> String {
        let found = records.filter(|envelope| self.fits(&envelope.record)).take(self.limit);
        list(found.map(Envelope::to_json))
    }

    /// Returns how many records are wanted at most.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Tells whether a record is wanted.
    pub fn fits(&self, record: &RawValue) -> bool {
        if self.kind.is_none() && self.conditions.is_empty() && self.text.is_none() {
            return true;
        }
        // What nests too deep to be compared does not fit.
        let Ok(Document::Object(fields)) = Document::from_text(record.get()) else { return false };
        let find = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let is_kind = self.kind.as_ref().is_none_or(|kind| find("kind") == Some(kind));
        let mut conditions = self.conditions.iter();
        is_kind
            && conditions.all(|(key, wanted)| find(key) == Some(wanted))
            && self.text.as_deref().is_none_or(|needle| has_text(find("text"), record, needle))
    }
}

fn has_text(text: Option<&Document>, record: &RawValue, needle: &str) -> bool {
    let own = match text {
        Some(Document::Text(text)) => text.to_lowercase().contains(needle),
        Some(_) | None => false,
    };
    own || record.get().to_lowercase().contains(needle)
}

/// Joins JSON texts to a list.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<String>>().join(","))
}
