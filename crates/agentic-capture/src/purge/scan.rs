//! Looking for a value in every object, reachable or not, and in every file.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Object, Oid};
use agentic_session::sealed;
use agentic_space::Space;
use agentic_space::purging::sort_of;
use agentic_store::journal;

use super::files::{all_files, place_of, read_deep};
use super::hit::{PurgeHit, PurgePlace};
use super::{PurgeAim, PurgeError};
use crate::spool;

/// What is read as a log of a session.
const SESSIONS: &str = "agentic/session/";
/// What is read as a journal.
const LOGS: [&str; 3] = ["agentic/journal/", "agentic/begun/", "agentic/aside/"];
/// What waits for agents.
const SPOOL: &str = "agentic/capture/spool/";
/// The type of the objects whose records are compressed.
const SEGMENT: &[u8] = b"session-segment";

/// What was read, and where something was found.
#[derive(Debug, Default)]
pub struct PurgeScan {
    /// How many objects were read, each once.
    pub n_objects: u64,
    /// How many bytes they have.
    pub n_bytes: u64,
    /// How many files were read.
    pub n_files: u64,
    /// The objects that hold it.
    pub objects: BTreeMap<Oid, String>,
    /// The files that hold it.
    pub files: Vec<PurgeHit>,
}

/// Reads all of it.
pub fn scan(space: &Space, aim: &PurgeAim) -> Result<PurgeScan, PurgeError> {
    let mut scanned = PurgeScan::default();
    let (mut n_bytes, mut objects) = (0, BTreeMap::new());
    scanned.n_objects = space.repository().each_object(&mut |object| {
        n_bytes += object.bytes.len() as u64;
        if holds(aim, object.bytes) {
            objects.insert(object.oid, object.kind.to_owned());
        }
        Ok(())
    })?;
    (scanned.n_bytes, scanned.objects) = (n_bytes, objects);
    for file in all_files(space)? {
        let parts = read_deep(&file.path)?;
        scanned.n_files += u64::from(!parts.is_empty());
        scanned.n_bytes += parts.first().map_or(0, |bytes| bytes.len() as u64);
        let mut is_in = aim.is_in(file.name.as_bytes()) || parts.iter().any(|it| holds(aim, it));
        if !is_in && file.name.starts_with(SESSIONS) && file.name.ends_with(".log") {
            let log = file.path.parent().map(sealed::records_of_log);
            // What is damaged was read as it is.
            let records = log.and_then(Result::ok).unwrap_or_default();
            is_in = records.iter().any(|record| aim.is_in(record));
        }
        if !is_in && LOGS.iter().any(|folder| file.name.starts_with(folder)) {
            is_in = parts.first().is_some_and(|bytes| is_in_log(aim, bytes));
        }
        if !is_in && file.name.starts_with(SPOOL) {
            is_in = aim.is_in_pieces(&spool::read(&file.path));
        }
        if is_in {
            let place = place_of(&file.name);
            scanned.files.push(PurgeHit { place, path: Some(file.name), ..PurgeHit::default() });
        }
    }
    Ok(scanned)
}

/// Tells whether a segment of a journal holds it in pieces: those of an entry, or of one in an object.
fn is_in_log(aim: &PurgeAim, bytes: &[u8]) -> bool {
    let found = journal::readable(bytes);
    aim.is_in_pieces(&found.entries) || found.objects.iter().any(|object| holds(aim, object))
}

/// Tells whether bytes hold it, or what is compressed in them.
pub fn holds(aim: &PurgeAim, bytes: &[u8]) -> bool {
    if aim.is_in_object(bytes) {
        return true;
    }
    let may_be_packed = bytes.windows(SEGMENT.len()).take(4096).any(|window| window == SEGMENT);
    let packed = may_be_packed.then(|| Object::decode(bytes).ok()).flatten();
    let records = packed.and_then(|object| sealed::records_of_segment(&object).ok());
    records.unwrap_or_default().iter().any(|record| aim.is_in(record))
}

/// Tells where objects are that hold it: in which refs of the repository's, or nowhere.
pub fn attribute(
    space: &Space,
    objects: &BTreeMap<Oid, String>,
) -> Result<Vec<PurgeHit>, PurgeError> {
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let repository = space.repository();
    let reachable = repository.reachable_objects()?;
    let mut hits = Vec::new();
    let mut attributed = BTreeSet::new();
    for found in repository.list_refs("refs/")? {
        let place = match sort_of(&found.name) {
            Some(agentic_git::HistorySort::Archive) => PurgePlace::Archive,
            Some(agentic_git::HistorySort::Notes) => PurgePlace::Notes,
            None => PurgePlace::Branch,
        };
        let arguments = ["rev-list", "--objects", &found.name];
        let listed = repository.git_untranslated(&arguments)?.checked(&arguments)?;
        for line in listed.lines() {
            let (oid, path) = line.split_once(' ').unwrap_or((line, ""));
            let Some(oid) = Oid::parse(oid).ok().filter(|oid| objects.contains_key(oid)) else {
                continue;
            };
            attributed.insert(oid);
            hits.push(PurgeHit {
                place,
                reference: Some(found.name.clone()),
                path: Some(path.to_owned()).filter(|path| !path.is_empty()),
                object: Some(oid.to_string()),
                ..PurgeHit::default()
            });
        }
    }
    for oid in objects.keys().filter(|oid| !attributed.contains(oid)) {
        let place = match reachable.contains(oid) {
            // Only a log of a ref, an index or the head of a worktree leads there.
            true => PurgePlace::Reflog,
            false => PurgePlace::Unreachable,
        };
        hits.push(PurgeHit { place, object: Some(oid.to_string()), ..PurgeHit::default() });
    }
    Ok(hits)
}
