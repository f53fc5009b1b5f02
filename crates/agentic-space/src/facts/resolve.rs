//! What the beginning of an id stands for.

use std::collections::BTreeSet;

use agentic_query::{IdMatch, QueryType};

use super::SpaceFacts;
use super::cache::PackedReader;
use crate::Result;
use crate::object::PREFIX_CHARS_MIN;

impl SpaceFacts<'_> {
    /// Finds the id of a type that begins like a text. What cannot be read has no ids.
    pub(super) fn id_beginning(&self, kind: QueryType, text: &str) -> IdMatch {
        let found = match kind {
            QueryType::Commit => self.commits_beginning(text),
            QueryType::Cid if text.len() >= PREFIX_CHARS_MIN => self.objects_beginning(text),
            QueryType::Cid | QueryType::Session | QueryType::Request => Ok(BTreeSet::new()),
            QueryType::Text | QueryType::Int | QueryType::Float => Ok(BTreeSet::new()),
            QueryType::Bool | QueryType::Instant | QueryType::Duration => Ok(BTreeSet::new()),
        };
        let mut found = found.unwrap_or_default();
        match (found.pop_first(), found.is_empty()) {
            (None, _) => IdMatch::Unknown,
            (Some(one), true) => IdMatch::Found(one),
            (Some(_), false) => IdMatch::Ambiguous,
        }
    }

    fn commits_beginning(&self, text: &str) -> Result<BTreeSet<String>> {
        let found = self.space.repository().commits_beginning(text)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    fn objects_beginning(&self, text: &str) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let agents = self.agents(None)?;
        for list in self.object_lists(&agents).into_iter().flatten() {
            let mut reader = PackedReader::new(&list);
            while let (Some(_), Some(cid)) = (reader.text(), reader.text()) {
                if cid.starts_with(text) {
                    found.insert(cid.to_owned());
                }
            }
        }
        let shared = self.shared_objects()?.into_iter().map(|(_, cid)| cid.to_string());
        found.extend(shared.filter(|cid| cid.starts_with(text)));
        Ok(found)
    }
}
