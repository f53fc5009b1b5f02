//! What becomes of leaves, and of everything that names them.
//!
//! An object is named by its bytes, so one that changes has another id, and whatever names it changes
//! too: traces by `previous` and `parts`, edges, note texts. Names lead from newer to older, so there is
//! an order in which each is made after all that it names.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{HistoryLeaf, LeafRewrites, Repository};
use agentic_model::{Cid, ConsoleTrace, Object, Oid, Value, canonical, trace};
use agentic_store::journal::{GitKind, GitObject};

use crate::error::LookupError;
use crate::{Error, Result};

/// How many characters an id has when it is printed.
const CID_CHARS: usize = 59;
/// How the bytes of an id begin, before its hash.
const CID_BYTES_BEGIN: [u8; 4] = [0x01, 0x71, 0x1e, 0x20];
/// Where tombstones stand: they name what is gone, and go on naming it.
const TOMBSTONES: &str = "objects/tombstone/";

/// What becomes of leaves, and which ids that changes.
#[derive(Debug, Default)]
pub struct PurgeRewrites {
    /// The new leaves.
    pub leaves: LeafRewrites,
    /// The ids that are gone, with what stands in their place: content ids of typed objects, ids of
    /// git of other files.
    pub replaced: BTreeMap<String, String>,
}

/// A leaf that may change.
struct KnownLeaf {
    object: Option<Cid>,
    blob: Oid,
    /// What it becomes apart from ids.
    scrubbed: Option<Vec<u8>>,
    names: BTreeSet<Cid>,
}

/// Gives other bytes for those of a leaf that changes.
pub type LeafScrub<'s> = dyn FnMut(&HistoryLeaf, &[u8]) -> Result<Option<Vec<u8>>> + 's;

/// Decides what becomes of leaves. `scrub` is asked for each, and answers with other bytes where it
/// changes.
///
/// # Errors
/// Fails when a leaf cannot be read, as `scrub` does, and when what it gives is no object any more.
pub fn leaf_rewrites(
    repository: &Repository,
    leaves: &[HistoryLeaf],
    scrub: &mut LeafScrub<'_>,
) -> Result<PurgeRewrites> {
    let mut known = Vec::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.path.starts_with(TOMBSTONES)) {
        let bytes = repository.read_blob(leaf.blob)?;
        let is_it = leaf.object.is_some_and(|cid| Cid::of(&bytes) == cid);
        let scrubbed = scrub(leaf, &bytes)?;
        let names = ids_in(&bytes);
        if scrubbed.is_some() || !names.is_empty() {
            let object = leaf.object.filter(|_| is_it);
            known.push(KnownLeaf { object, blob: leaf.blob, scrubbed, names });
        }
    }
    let changing = changing(&known);
    let mut rewrites = PurgeRewrites::default();
    make_objects(repository, &known, &changing, &mut rewrites)?;
    // What names a changed object where nobody reads names stays as it is.
    rewrites.leaves.objects.retain(|old, new| *old != new.cid());
    rewrites.replaced.retain(|old, new| old != new);
    let blobs = leaves.iter().filter_map(|leaf| Some((leaf.object?, leaf.blob))).collect();
    for leaf in known.iter().filter(|leaf| leaf.object.is_none()) {
        if leaf.scrubbed.is_none() && leaf.names.is_disjoint(&changing) {
            continue;
        }
        let objects = &rewrites.leaves.objects;
        let before = leaf.bytes(repository)?;
        let bytes = match retold(repository, &before, &blobs, objects)? {
            Some(text) => text,
            None => with_new_ids_in_text(before, &leaf.names, objects),
        };
        let blob = GitObject { kind: GitKind::Blob, bytes };
        let new = repository.name_object(&blob);
        if new == leaf.blob {
            continue;
        }
        rewrites.replaced.insert(leaf.blob.to_string(), new.to_string());
        rewrites.leaves.blobs.insert(leaf.blob, blob.bytes);
    }
    Ok(rewrites)
}

/// Tells the trace of a note anew, which shows the beginnings of entries; nothing of a note whose trace
/// stays. What people wrote around it stays too.
fn retold(
    repository: &Repository,
    note: &[u8],
    blobs: &BTreeMap<Cid, Oid>,
    new: &BTreeMap<Cid, Object>,
) -> Result<Option<Vec<u8>>> {
    let part = |cid: Cid| -> Result<Object> {
        if let Some(object) = new.values().find(|object| object.cid() == cid) {
            return Ok(object.clone());
        }
        let unknown = || Error::Lookup(LookupError::Unknown { id: cid.to_string() });
        let blob = blobs.get(&cid).ok_or_else(unknown)?;
        Ok(Object::decode(&repository.read_blob(*blob)?)?)
    };
    let text = String::from_utf8_lossy(note);
    let retold = trace::retell_in_note(&text, |old| -> Result<Option<(Cid, String)>> {
        let Some(object) = new.get(&old) else { return Ok(None) };
        let told = ConsoleTrace::from_object(object, part)?.note_text(object.cid());
        Ok(Some((object.cid(), told)))
    })?;
    let Some(text) = retold else { return Ok(None) };
    let names = ids_in(text.as_bytes());
    Ok(Some(with_new_ids_in_text(text.into_bytes(), &names, new)))
}

impl KnownLeaf {
    fn bytes(&self, repository: &Repository) -> Result<Vec<u8>> {
        match &self.scrubbed {
            Some(bytes) => Ok(bytes.clone()),
            None => Ok(repository.read_blob(self.blob)?),
        }
    }
}

/// Finds the typed objects that change: those whose content does, and all that name one.
fn changing(known: &[KnownLeaf]) -> BTreeSet<Cid> {
    let scrubbed = known.iter().filter(|leaf| leaf.scrubbed.is_some());
    let mut changing: BTreeSet<Cid> = scrubbed.filter_map(|leaf| leaf.object).collect();
    loop {
        let before = changing.len();
        for leaf in known {
            if let Some(cid) = leaf.object
                && !leaf.names.is_disjoint(&changing)
            {
                changing.insert(cid);
            }
        }
        if changing.len() == before {
            return changing;
        }
    }
}

/// Makes the typed objects that change, each after those that it names.
fn make_objects(
    repository: &Repository,
    known: &[KnownLeaf],
    changing: &BTreeSet<Cid>,
    rewrites: &mut PurgeRewrites,
) -> Result<()> {
    let is_changing = |leaf: &&KnownLeaf| leaf.object.is_some_and(|cid| changing.contains(&cid));
    let mut waiting: Vec<&KnownLeaf> = known.iter().filter(is_changing).collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut later = Vec::new();
        for leaf in waiting {
            let Some(cid) = leaf.object else { continue };
            let objects = &mut rewrites.leaves.objects;
            let is_ready = |named: &Cid| {
                *named == cid || !changing.contains(named) || objects.contains_key(named)
            };
            if !leaf.names.iter().all(is_ready) {
                later.push(leaf);
                continue;
            }
            if !objects.contains_key(&cid) {
                let object = relinked(&leaf.bytes(repository)?, objects)?;
                rewrites.replaced.insert(cid.to_string(), object.cid().to_string());
                objects.insert(cid, object);
            }
        }
        assert!(later.len() < before, "BUG: objects that are named by their bytes name each other");
        waiting = later;
    }
    Ok(())
}

/// Reads an object and gives it the new ids of what it names.
fn relinked(bytes: &[u8], new: &BTreeMap<Cid, Object>) -> Result<Object> {
    let value = canonical::decode(bytes).map_err(agentic_model::object::ObjectError::from)?;
    Ok(Object::from_value(with_new_ids(value, new))?)
}

fn with_new_ids(value: Value, new: &BTreeMap<Cid, Object>) -> Value {
    value.map_scalars(&|scalar| {
        if let Value::Link(cid) = scalar {
            return Value::Link(new.get(&cid).map_or(cid, Object::cid));
        }
        let Value::Text(text) = scalar else { return scalar };
        let names = ids_in(text.as_bytes());
        let bytes = with_new_ids_in_text(text.into_bytes(), &names, new);
        Value::text(String::from_utf8_lossy(&bytes))
    })
}

fn with_new_ids_in_text(
    bytes: Vec<u8>,
    names: &BTreeSet<Cid>,
    new: &BTreeMap<Cid, Object>,
) -> Vec<u8> {
    let mut bytes = bytes;
    for (old, object) in names.iter().filter_map(|cid| Some((cid, new.get(cid)?))) {
        let (old, new) = (old.to_string(), object.cid().to_string());
        // Both have one length.
        let mut at = 0;
        while let Some(found) = find(&bytes[at..], old.as_bytes()) {
            bytes[at + found..at + found + old.len()].copy_from_slice(new.as_bytes());
            at += found + old.len();
        }
    }
    bytes
}

/// Lists the ids that stand in bytes, printed or as links.
pub fn ids_in(bytes: &[u8]) -> BTreeSet<Cid> {
    let mut found = BTreeSet::new();
    let mut at = 0;
    while let Some(next) = find(&bytes[at..], Cid::PREFIX.as_bytes()) {
        let printed = bytes.get(at + next..at + next + CID_CHARS);
        let printed = printed.and_then(|text| std::str::from_utf8(text).ok());
        found.extend(printed.and_then(|text| Cid::parse(text).ok()));
        at += next + 1;
    }
    at = 0;
    while let Some(next) = find(&bytes[at..], &CID_BYTES_BEGIN) {
        let hash = bytes.get(at + next + 4..at + next + 36);
        found.extend(hash.and_then(|hash| hash.try_into().ok()).map(Cid::of_digest));
        at += next + 1;
    }
    found
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| byte == first) {
        if bytes[at + next..].starts_with(wanted) {
            return Some(at + next);
        }
        at += next + 1;
    }
    None
}
