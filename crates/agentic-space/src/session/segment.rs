//! Sealed segments, and which session each belongs to.
//!
//! A segment is a typed object in the notes of an agent; whose it is stands inside. A cache by
//! content id spares the reading of all others: what it says of an id can never become wrong, and
//! what it lacks is read. Only whoever seals writes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_model::{AgentName, Cid, Object, Value, canonical};
use agentic_replay::SessionId;
use agentic_store::file::{self, Persistence};
use agentic_store::git::Notes;

use super::folder::segment_kind;
use crate::{Result, Space};

/// The prefix of the refs of notes.
const NOTES: &str = "refs/notes/agentic/";

/// The segments that one notes ref holds.
pub struct Segments<'a> {
    notes: Notes<'a>,
    cache: PathBuf,
    owners: BTreeMap<Cid, SessionId>,
}

impl<'a> Segments<'a> {
    /// Finds the segments in the notes of one agent.
    ///
    /// # Errors
    /// Fails when the notes, or a segment that is not known yet, cannot be read.
    pub fn of(space: &'a Space, agent: &AgentName) -> Result<Segments<'a>> {
        Segments::at(space, &agent.notes_ref())
    }

    /// Finds those in the notes of every agent.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_all(space: &'a Space) -> Result<Vec<Segments<'a>>> {
        let refs = space.repository().list_refs(NOTES)?;
        refs.iter().map(|found| Segments::at(space, &found.name)).collect()
    }

    fn at(space: &'a Space, name: &str) -> Result<Segments<'a>> {
        let folder = space.repository().layout().cache().join("segments");
        // Any ref has a file name this way.
        let cache = folder.join(Cid::of(name.as_bytes()).to_string());
        let notes = space.repository().notes(name)?;
        let listed = notes.objects(Some(&segment_kind()))?;
        let mut owners = match listed.is_empty() {
            true => BTreeMap::new(),
            false => read_cache(&cache).unwrap_or_default(),
        };
        owners.retain(|cid, _| listed.binary_search(cid).is_ok());
        if owners.len() < listed.len() {
            let is_new = |cid: &Cid| !owners.contains_key(cid);
            let new = notes.read_wanted_objects(&segment_kind(), &is_new)?;
            let new = new.iter().filter_map(|(cid, bytes)| {
                let object = Object::decode(bytes).ok()?;
                Some((*cid, owner(&object)?))
            });
            owners.extend(new);
        }
        Ok(Segments { notes, cache, owners })
    }

    /// Lists the sessions that have a segment here.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.owners.values().copied()
    }

    /// Reads the segments of one session.
    ///
    /// # Errors
    /// Fails when one of them is damaged.
    pub fn read(&self, id: &SessionId) -> Result<Vec<Object>> {
        if !self.owners.values().any(|owner| owner == id) {
            return Ok(Vec::new());
        }
        let is_own = |cid: &Cid| self.owners.get(cid) == Some(id);
        let found = self.notes.read_wanted_objects(&segment_kind(), &is_own)?;
        Ok(found.iter().filter_map(|(_, bytes)| Object::decode(bytes).ok()).collect())
    }

    /// Remembers whose these segments are, beside those that are in the notes.
    pub fn remember(mut self, new: &[Object]) {
        self.owners.extend(new.iter().filter_map(|object| Some((object.cid(), owner(object)?))));
        let lines = self.owners.iter().map(|(cid, id)| (cid.to_string(), id.to_string()));
        let map = lines.map(|(cid, id)| (cid, Value::Text(id))).collect();
        let Ok(bytes) = canonical::encode(&Value::Map(map)) else { return };
        let content = [Cid::of(&bytes).to_string().as_bytes(), b"\n", &bytes].concat();
        let folder = self.cache.parent().expect("caches stand in a folder");
        let _ = std::fs::create_dir_all(folder);
        // It is only a cache.
        let _ = file::replace(&self.cache, &content, Persistence::Lazy);
    }
}

/// Reads whose a segment is.
fn owner(object: &Object) -> Option<SessionId> {
    SessionId::parse(object.map().get("session")?.as_text()?)
}

/// Reads the cache, if it is as it was written. A damaged cache is no cache.
fn read_cache(path: &std::path::Path) -> Option<BTreeMap<Cid, SessionId>> {
    let content = std::fs::read(path).ok()?;
    let at = content.iter().position(|byte| *byte == b'\n')?;
    let (sum, bytes) = (&content[..at], &content[at + 1..]);
    if Cid::of(bytes).to_string().as_bytes() != sum {
        return None;
    }
    let value = canonical::decode(bytes).ok()?;
    let entry = |(cid, id): (&String, &Value)| {
        Some((Cid::parse(cid).ok()?, SessionId::parse(id.as_text()?)?))
    };
    value.as_map()?.iter().map(entry).collect()
}
