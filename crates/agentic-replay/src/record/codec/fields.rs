//! Fields of a record: written one by one, and taken out one by one.

use agentic_model::canonical::EntryPart;
use agentic_model::{Cid, Instant, Value};

use super::InvalidRecord;
use crate::Path;
use crate::record::{PurgedValue, StoredValue};

/// The field that keeps the id of what was purged.
const HASH: &str = "hash";
/// The field that names the purge.
const PURGED: &str = "purged";

/// Reads one of a closed set of words.
pub(super) fn choose<T: Copy>(
    fields: &mut MapReader<'_>,
    field: &str,
    among: &[T],
    word: impl Fn(&T) -> &'static str,
) -> Result<T, InvalidRecord> {
    let text = fields.word(field)?;
    among.iter().find(|item| word(item) == text).copied().ok_or_else(|| invalid(field))
}

pub(super) fn invalid(field: &str) -> InvalidRecord {
    InvalidRecord { field: field.to_owned() }
}

/// Counts stay far below the signed range; one that does not is written as its end.
pub(super) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A map being written, entry by entry.
#[derive(Default)]
pub(super) struct MapWriter(pub(super) Vec<(&'static str, Value)>);

impl MapWriter {
    pub(super) fn put(&mut self, field: &'static str, value: Value) -> &mut MapWriter {
        self.0.push((field, value));
        self
    }

    pub(super) fn kind(&mut self, kind: &str) -> &mut MapWriter {
        self.text("kind", kind)
    }

    pub(super) fn path(&mut self, path: &Path) -> &mut MapWriter {
        self.text("path", path.as_str())
    }

    pub(super) fn text(&mut self, field: &'static str, text: &str) -> &mut MapWriter {
        self.put(field, Value::text(text))
    }

    pub(super) fn text_if(&mut self, field: &'static str, text: Option<&str>) -> &mut MapWriter {
        if let Some(text) = text {
            self.text(field, text);
        }
        self
    }

    pub(super) fn texts(&mut self, field: &'static str, texts: &[String]) -> &mut MapWriter {
        self.put(field, Value::List(texts.iter().map(Value::text).collect()))
    }

    pub(super) fn int(&mut self, field: &'static str, number: i64) -> &mut MapWriter {
        self.put(field, Value::Int(number))
    }

    pub(super) fn instant_if(
        &mut self,
        field: &'static str,
        at: Option<Instant>,
    ) -> &mut MapWriter {
        match at {
            Some(at) => self.int(field, at.millis()),
            None => self,
        }
    }

    pub(super) fn bytes(&mut self, field: &'static str, bytes: &[u8]) -> &mut MapWriter {
        self.put(field, Value::Bytes(bytes.to_vec()))
    }

    pub(super) fn link(&mut self, field: &'static str, cid: Cid) -> &mut MapWriter {
        self.put(field, Value::Link(cid))
    }

    pub(super) fn stored(&mut self, field: &'static str, stored: &StoredValue) -> &mut MapWriter {
        match stored {
            StoredValue::Inline(bytes) => self.bytes(field, bytes),
            StoredValue::Object(cid) => self.link(field, *cid),
            StoredValue::Purged(purged) => {
                let left = [(HASH, Value::Link(purged.cid)), (PURGED, Value::text(&purged.by))];
                self.put(field, Value::map(left))
            }
        }
    }

    pub(super) fn stored_if(
        &mut self,
        field: &'static str,
        stored: Option<&StoredValue>,
    ) -> &mut MapWriter {
        match stored {
            Some(stored) => self.stored(field, stored),
            None => self,
        }
    }
}

/// A map being read: what is taken is gone, what stays is superfluous. Records have a dozen fields
/// at most, among which looking beats sorting.
pub(super) struct MapReader<'b>(pub(super) Vec<(&'b str, EntryPart<'b>)>);

impl<'b> MapReader<'b> {
    pub(super) fn has(&self, field: &str) -> bool {
        self.0.iter().any(|(key, _)| *key == field)
    }

    fn take(&mut self, field: &str) -> Result<EntryPart<'b>, InvalidRecord> {
        let at = self.0.iter().position(|(key, _)| *key == field);
        at.map(|at| self.0.swap_remove(at).1).ok_or_else(|| invalid(field))
    }

    /// Takes a text that is only looked at.
    pub(super) fn word(&mut self, field: &str) -> Result<&'b str, InvalidRecord> {
        match self.take(field)? {
            EntryPart::Text(text) => Ok(text),
            EntryPart::Bytes(_) | EntryPart::Other(_) => Err(invalid(field)),
        }
    }

    pub(super) fn text(&mut self, field: &str) -> Result<String, InvalidRecord> {
        self.word(field).map(str::to_owned)
    }

    pub(super) fn text_if(&mut self, field: &str) -> Result<Option<String>, InvalidRecord> {
        if self.has(field) { self.text(field).map(Some) } else { Ok(None) }
    }

    pub(super) fn texts(&mut self, field: &str) -> Result<Vec<String>, InvalidRecord> {
        let EntryPart::Other(Value::List(items)) = self.take(field)? else {
            return Err(invalid(field));
        };
        let text = |item| if let Value::Text(text) = item { Ok(text) } else { Err(invalid(field)) };
        items.into_iter().map(text).collect()
    }

    pub(super) fn path(&mut self) -> Result<Path, InvalidRecord> {
        Path::parse(self.word("path")?).map_err(|_| invalid("path"))
    }

    pub(super) fn int(&mut self, field: &str) -> Result<i64, InvalidRecord> {
        match self.take(field)? {
            EntryPart::Other(Value::Int(number)) => Ok(number),
            EntryPart::Text(_) | EntryPart::Bytes(_) | EntryPart::Other(_) => Err(invalid(field)),
        }
    }

    pub(super) fn count(&mut self, field: &str) -> Result<u64, InvalidRecord> {
        u64::try_from(self.int(field)?).map_err(|_| invalid(field))
    }

    pub(super) fn small(&mut self, field: &str) -> Result<u32, InvalidRecord> {
        u32::try_from(self.int(field)?).map_err(|_| invalid(field))
    }

    pub(super) fn instant(&mut self, field: &str) -> Result<Instant, InvalidRecord> {
        let millis = self.int(field)?;
        let instant = Instant::from_millis(millis);
        if instant.millis() == millis { Ok(instant) } else { Err(invalid(field)) }
    }

    pub(super) fn instant_if(&mut self, field: &str) -> Result<Option<Instant>, InvalidRecord> {
        if self.has(field) { self.instant(field).map(Some) } else { Ok(None) }
    }

    pub(super) fn hash(&mut self, field: &str) -> Result<[u8; 32], InvalidRecord> {
        match self.take(field)? {
            EntryPart::Bytes(bytes) => bytes.try_into().map_err(|_| invalid(field)),
            EntryPart::Text(_) | EntryPart::Other(_) => Err(invalid(field)),
        }
    }

    pub(super) fn link(&mut self, field: &str) -> Result<Cid, InvalidRecord> {
        match self.take(field)? {
            EntryPart::Other(Value::Link(cid)) => Ok(cid),
            EntryPart::Text(_) | EntryPart::Bytes(_) | EntryPart::Other(_) => Err(invalid(field)),
        }
    }

    pub(super) fn stored(&mut self, field: &str) -> Result<StoredValue, InvalidRecord> {
        match self.take(field)? {
            EntryPart::Bytes(bytes) => Ok(StoredValue::Inline(bytes.to_vec())),
            EntryPart::Other(Value::Link(cid)) => Ok(StoredValue::Object(cid)),
            EntryPart::Other(Value::Map(map)) => {
                let cid = map.get(HASH).and_then(Value::as_link);
                let by = map.get(PURGED).and_then(Value::as_text);
                let (Some(cid), Some(by), 2) = (cid, by, map.len()) else {
                    return Err(invalid(field));
                };
                Ok(StoredValue::Purged(PurgedValue { cid, by: by.to_owned() }))
            }
            EntryPart::Text(_) | EntryPart::Other(_) => Err(invalid(field)),
        }
    }

    pub(super) fn stored_if(&mut self, field: &str) -> Result<Option<StoredValue>, InvalidRecord> {
        if self.has(field) { self.stored(field).map(Some) } else { Ok(None) }
    }
}
