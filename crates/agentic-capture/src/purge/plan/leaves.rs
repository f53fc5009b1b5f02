//! What becomes of the leaves of notes and archives, and which sessions are made again.

use std::collections::BTreeMap;

use agentic_git::{HistoryLeaf, HistorySort};
use agentic_model::{Object, Oid, Value};
use agentic_session::SessionSpace;
use agentic_session::purge::{PurgedSession, SealedSessions, purged_sessions};
use agentic_space::Space;
use agentic_space::purging::tombstone::replacements;
use agentic_space::purging::{PurgeHistory, PurgeRewrites, leaf_rewrites, sort_of};

use crate::purge::aim::{PurgeScrub, SessionAim};
use crate::purge::branches::renamed_leaf;
use crate::purge::hit::{PurgeHit, PurgePlace};
use crate::purge::scan::holds;
use crate::purge::unfinished::UnfinishedPurge;
use crate::purge::{PurgeAim, PurgeError};

/// Where the sealed parts of sessions stand in notes.
const SEGMENTS: &str = "objects/session-segment/";

/// What leaves go along with.
pub(super) struct PurgeCompanions<'k> {
    /// The sessions that are made again.
    pub(super) sessions: &'k [PurgedSession],
    /// Commits of branches that become others.
    pub(super) commits: &'k BTreeMap<Oid, Oid>,
}

/// Decides what becomes of leaves, and finds the sessions that hold it.
pub(super) fn leaves_of(
    space: &Space,
    history: &PurgeHistory,
    scrub: &mut PurgeScrub<'_>,
    known: &PurgeCompanions<'_>,
) -> Result<PurgeRewrites, PurgeError> {
    let buried = if let PurgeAim::Tombstones(tombstones) = scrub.aim {
        replacements(tombstones)
    } else {
        BTreeMap::new()
    };
    let mut failed = None;
    let rewrites = leaf_rewrites(space.repository(), &history.leaves, &mut |leaf, bytes| {
        let n_hits = scrub.hits.len();
        let clean = match buried.is_empty() {
            true => clean_leaf(scrub, leaf, bytes, known.sessions),
            false => buried_leaf(space, &buried, leaf, &history.leaves),
        };
        let clean = clean.unwrap_or_else(|error| {
            failed.get_or_insert(error);
            None
        });
        let renamed = renamed_leaf(leaf, clean.as_deref().unwrap_or(bytes), known.commits);
        if clean.is_some() && scrub.hits.len() == n_hits {
            scrub.hits.push(PurgeHit::default());
        }
        for hit in &mut scrub.hits[n_hits..] {
            if sort_of(&leaf.reference) == Some(HistorySort::Archive) {
                hit.place = PurgePlace::Archive;
            }
            hit.reference = Some(leaf.reference.clone());
            hit.commit = Some(leaf.commit.to_string());
            hit.path = Some(leaf.path.clone());
            hit.object = Some(leaf.object.map_or(leaf.blob.to_string(), |cid| cid.to_string()));
        }
        Ok(renamed.or(clean))
    })?;
    failed.map_or(Ok(rewrites), Err)
}

fn clean_leaf(
    scrub: &mut PurgeScrub<'_>,
    leaf: &HistoryLeaf,
    bytes: &[u8],
    sessions: &[PurgedSession],
) -> Result<Option<Vec<u8>>, PurgeError> {
    if leaf.path.starts_with(SEGMENTS) {
        return clean_segment(scrub, bytes, sessions);
    }
    match leaf.object {
        Some(cid) if agentic_model::Cid::of(bytes) == cid => scrub.object(cid, bytes),
        Some(_) | None => Ok(scrub.text(bytes)),
    }
}

/// Returns what a sealed part of a session becomes.
fn clean_segment(
    scrub: &PurgeScrub<'_>,
    bytes: &[u8],
    sessions: &[PurgedSession],
) -> Result<Option<Vec<u8>>, PurgeError> {
    let object = Object::decode(bytes).map_err(PurgeError::object)?;
    let id = object.map().get("session").and_then(Value::as_text).unwrap_or_default();
    let session = sessions.iter().find(|session| session.id.to_string() == id);
    let clean = session.map(|session| session.segment(&object, scrub.id)).transpose()?.flatten();
    let left = clean.as_ref().map_or(bytes, Object::bytes);
    match holds(scrub.aim, left) {
        true => Err(PurgeError::Stuck { what: format!("a sealed part of session {id}") }),
        false => Ok(clean.map(|object| object.bytes().to_vec())),
    }
}

/// Finds the sessions that are made again.
pub(super) fn sessions_of(
    space: &SessionSpace,
    scrub: &SessionAim<'_>,
    unfinished: &UnfinishedPurge,
    history: &PurgeHistory,
) -> Result<Vec<PurgedSession>, PurgeError> {
    match scrub.aim {
        PurgeAim::Value(_) | PurgeAim::Rule { .. } => {}
        PurgeAim::Conversation(_)
        | PurgeAim::Agent { .. }
        | PurgeAim::Object(_)
        | PurgeAim::Tombstones(_)
            if scrub.commits.is_empty() =>
        {
            return Ok(Vec::new());
        }
        PurgeAim::Conversation(_)
        | PurgeAim::Agent { .. }
        | PurgeAim::Object(_)
        | PurgeAim::Tombstones(_) => {}
    }
    let mut sealed = SealedSessions::default();
    for leaf in history.leaves.iter().filter(|leaf| leaf.path.starts_with(SEGMENTS)) {
        let bytes = space.repository().read_blob(leaf.blob).map_err(agentic_space::Error::from)?;
        if let Ok(object) = Object::decode(&bytes) {
            sealed.take(&object)?;
        }
    }
    Ok(purged_sessions(space, &sealed, scrub, unfinished.progress())?)
}

/// Returns what tombstones say that stands in the place of a leaf.
fn buried_leaf(
    space: &Space,
    buried: &BTreeMap<String, Option<String>>,
    leaf: &HistoryLeaf,
    leaves: &[HistoryLeaf],
) -> Result<Option<Vec<u8>>, PurgeError> {
    let id = leaf.object.map_or(leaf.blob.to_string(), |cid| cid.to_string());
    let Some(new) = buried.get(&id) else { return Ok(None) };
    let missing = || PurgeError::NoReplacement { id: id.clone() };
    let new = new.as_ref().ok_or_else(missing)?;
    let blob = match leaf.object {
        Some(_) => {
            let cid = agentic_model::Cid::parse(new).ok();
            leaves.iter().find(|leaf| leaf.object.is_some() && leaf.object == cid).map(|it| it.blob)
        }
        None => Oid::parse(new).ok(),
    };
    let blob = blob.ok_or_else(missing)?;
    let bytes = space.repository().read_blob(blob).map_err(|_| missing())?;
    Ok(Some(bytes))
}
