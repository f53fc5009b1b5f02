//! Entries that were made a little while ago, in case their lines come once more.
//!
//! A vendor may write a line twice into one file; the first makes entries, as a copy in another file makes
//! none. The ids of the last entries are kept beside the cursor, and how old what was forgotten may be: a
//! line that old is looked up, and no other. Where it proves to be new, time goes on from it.

use std::collections::{BTreeSet, VecDeque};

use agentic_model::Value;

use crate::entry::{CapturedEntry, EntryName};

/// How many entries are kept beside the cursor.
const ENTRIES_MAX: usize = 256;
/// How many bytes of an id tell it from others.
const ID_BYTES: usize = 8;

/// Entries that were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentEntries {
    /// The last of before and now.
    last: VecDeque<u64>,
    /// When the youngest was said that is forgotten.
    forgotten: Option<i64>,
    /// When each of them was said.
    at: VecDeque<i64>,
    /// All that were made since this was read from the cursor.
    now: BTreeSet<u64>,
}

/// What is known of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryNews {
    /// Nobody has made it.
    New,
    /// It was made.
    Repeated,
    /// It is so old that it has to be looked up.
    Old,
}

impl RecentEntries {
    /// Tells of an entry whether it was made. What its vendor has not named its place names.
    pub fn news_of(&self, entry: &CapturedEntry) -> EntryNews {
        if entry.named_by != EntryName::Vendor {
            return EntryNews::New;
        }
        let Some(id) = number(entry.id()) else { return EntryNews::New };
        if self.now.contains(&id) || self.last.contains(&id) {
            return EntryNews::Repeated;
        }
        let is_old = self.forgotten.is_some_and(|forgotten| entry.at.millis() <= forgotten);
        if is_old { EntryNews::Old } else { EntryNews::New }
    }

    /// Takes it that what was forgotten is older than an entry that is old, was looked up, and is new all the same:
    /// clocks are set back, and some vendors' stand still. Each event would look up everything again.
    pub fn is_new(&mut self, entry: &CapturedEntry) {
        let before = entry.at.millis().saturating_sub(1);
        self.forgotten = self.forgotten.map(|forgotten| forgotten.min(before));
        for at in &mut self.at {
            *at = before.min(*at);
        }
    }

    /// Remembers an entry.
    pub fn made(&mut self, entry: &CapturedEntry) {
        let Some(id) = number(entry.id()).filter(|_| entry.named_by == EntryName::Vendor) else {
            return;
        };
        self.now.insert(id);
        self.last.push_back(id);
        self.at.push_back(entry.at.millis());
        if self.last.len() > ENTRIES_MAX {
            self.last.pop_front();
            self.forgotten = self.forgotten.max(self.at.pop_front());
        }
    }

    /// Returns what a cursor keeps.
    pub fn kept(&self) -> RecentEntries {
        let RecentEntries { last, forgotten, at, now: _ } = self;
        let (last, at, now) = (last.clone(), at.clone(), BTreeSet::new());
        RecentEntries { last, forgotten: *forgotten, at, now }
    }

    /// What a cursor keeps, as a value.
    pub fn to_value(&self) -> Value {
        let forgotten = self.forgotten.map_or(Value::Null, Value::Int);
        let ids = self.last.iter().flat_map(|id| id.to_le_bytes()).collect();
        let at = self.at.iter().copied().map(Value::Int).collect();
        Value::map([("forgotten", forgotten), ("ids", Value::Bytes(ids)), ("at", Value::List(at))])
    }

    /// Reads it; nothing is known where that is none.
    pub fn from_value(value: &Value) -> RecentEntries {
        let bytes = value.get("ids").and_then(Value::as_bytes).unwrap_or_default();
        let at = value.get("at").and_then(Value::as_list).unwrap_or_default();
        RecentEntries {
            last: bytes
                .as_chunks::<ID_BYTES>()
                .0
                .iter()
                .map(|id| u64::from_le_bytes(*id))
                .collect(),
            forgotten: value.get("forgotten").and_then(Value::as_int),
            at: at.iter().filter_map(Value::as_int).collect(),
            now: BTreeSet::new(),
        }
    }
}

fn number(id: &str) -> Option<u64> {
    u64::from_str_radix(id.get(..2 * ID_BYTES)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;

    use super::*;
    use crate::entry::{CapturedKind, EntryPlace};
    use crate::{ConversationId, Source};

    fn entry(number: i64, at: i64) -> CapturedEntry {
        let id = ConversationId { source: Source::Claude, native: "c".to_owned() };
        let (native, at) = (format!("m-{number}"), Instant::from_millis(at));
        let place = EntryPlace { kind: CapturedKind::Prompt, at, native: &native, part: 0 };
        CapturedEntry::new(&id, place, "word".to_owned())
    }

    #[test]
    fn after_a_clock_was_set_back_one_line_is_looked_up_and_no_other() {
        let mut recent = RecentEntries::default();
        for number in 0..600 {
            let said = entry(number, 1_000 * number);
            assert_eq!(recent.news_of(&said), EntryNews::New);
            recent.made(&said);
        }
        let mut recent = recent.kept();
        assert_eq!(recent.news_of(&entry(1, 1_000)), EntryNews::Old);
        assert_eq!(recent.news_of(&entry(599, 599_000)), EntryNews::Repeated);
        let mut n_old = 0;
        for number in 600..1_200 {
            let said = entry(number, 1_000 * (number - 500));
            if recent.news_of(&said) == EntryNews::Old {
                n_old += 1;
                recent.is_new(&said);
            }
            recent.made(&said);
        }
        assert_eq!(n_old, 1);
        let recent = recent.kept();
        assert_eq!(recent.news_of(&entry(1, 1_000)), EntryNews::Old);
    }
}
