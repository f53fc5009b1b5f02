//! The cache of segments: what a command knows of them without reading the notes again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_model::{Cid, Oid, Value, canonical};
use agentic_replay::{RecordHash, SessionId};
use agentic_store::file::{self, Persistence};

use super::{Part, SealedSpan};
use crate::SessionSpace;

/// What a cache holds: the segments, and the state of the notes that has no others.
#[derive(Debug, Default)]
pub(super) struct KnownSegments {
    pub(super) tip: Option<Oid>,
    pub(super) parts: BTreeMap<Cid, Part>,
}

/// Returns the file of the cache of one notes ref. Any ref has a file name this way.
pub(super) fn cache_of(space: &SessionSpace, name: &str) -> PathBuf {
    let folder = space.repository().layout().cache().join("segments");
    folder.join(Cid::of(name.as_bytes()).to_string())
}

impl Part {
    pub(super) fn to_value(self) -> Value {
        let mut items = vec![Value::Bytes(self.session.as_bytes().to_vec())];
        if let Some(SealedSpan { from, end, hash }) = self.records {
            let positions = [from, end].map(|at| Value::Int(i64::try_from(at).unwrap_or(i64::MAX)));
            items.extend(positions);
            items.push(Value::Bytes(hash.as_bytes().to_vec()));
        }
        Value::List(items)
    }

    pub(super) fn from_value(value: &Value) -> Option<Part> {
        let id = |bytes: &Value| <[u8; 32]>::try_from(bytes.as_bytes()?).ok();
        let position = |at: &Value| usize::try_from(at.as_int()?).ok();
        let (session, records) = match value.as_list()? {
            [session] => (session, None),
            [session, from, end, hash] => {
                let (from, end) = (position(from)?, position(end)?);
                let hash = RecordHash::from_bytes(id(hash)?);
                (session, Some(SealedSpan { from, end, hash }))
            }
            _ => return None,
        };
        Some(Part { session: SessionId::from_bytes(id(session)?), records })
    }
}

impl KnownSegments {
    /// Writes the cache of a notes ref. That nobody can is no failure.
    pub(super) fn write(&self, space: &SessionSpace, name: &str) {
        let Ok(bytes) = canonical::encode(&self.to_value()) else { return };
        let content = sealed_content(&bytes);
        let cache = cache_of(space, name);
        let folder = cache.parent().expect("caches stand in a folder");
        let _ = std::fs::create_dir_all(folder);
        let _ = file::replace(&cache, &content, Persistence::Lazy);
    }

    pub(super) fn to_value(&self) -> Value {
        let tip = self.tip.map_or(Value::Null, |tip| Value::Bytes(tip.as_bytes().to_vec()));
        let parts = self.parts.iter().map(|(cid, part)| (cid.to_string(), part.to_value()));
        Value::map([("tip", tip), ("parts", Value::Map(parts.collect()))])
    }

    pub(super) fn from_value(value: &Value) -> Option<KnownSegments> {
        let tip = match value.get("tip")? {
            Value::Null => None,
            tip @ (Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Link(_)) => Some(Oid::from_bytes(tip.as_bytes()?).ok()?),
        };
        let part =
            |(cid, part): (&String, &Value)| Some((Cid::parse(cid).ok()?, Part::from_value(part)?));
        let parts = value.get("parts")?.as_map()?.iter().map(part).collect::<Option<_>>()?;
        Some(KnownSegments { tip, parts })
    }
}

/// Reads the cache, if it is as it was written. A damaged cache is no cache.
pub(super) fn read_cache(path: &Path) -> Option<KnownSegments> {
    KnownSegments::from_value(&canonical::decode(&unsealed_content(path)?).ok()?)
}

/// Puts a sum before what a cache says.
pub(super) fn sealed_content(bytes: &[u8]) -> Vec<u8> {
    [Cid::of(bytes).to_string().as_bytes(), b"\n", bytes].concat()
}

/// Reads what a cache says, if it is as it was written.
pub(super) fn unsealed_content(path: &Path) -> Option<Vec<u8>> {
    let content = std::fs::read(path).ok()?;
    let at = content.iter().position(|byte| *byte == b'\n')?;
    let (sum, bytes) = (&content[..at], &content[at + 1..]);
    (Cid::of(bytes).to_string().as_bytes() == sum).then(|| bytes.to_vec())
}
