//! Records of what was accepted that reach what is purged: they begin anew.
//!
//! A record keeps all that was ever accepted of its space. Where the newest announcement reaches nothing that goes, the
//! record begins anew with it. Where it does, nothing of the space is believed before its peer has purged, too,
//! and cut its chain: what a signature is missing for cannot be kept.

use std::collections::BTreeSet;

use agentic_git::RefMove;
use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_store::fault;

use super::purged::ReachedObjects;
use super::{MadeRecord, peer_lock};
use crate::acceptance::AcceptanceOutline;
use crate::accepted::{ACCEPTED_REFS, accepted_ref};
use crate::caps::CAPS_LOCK;
use crate::durable::{NextState, lock, mover, remove};
use crate::id::{PeerId, SpaceId};
use crate::tracking::{TrackedSpace, erase, settle_all, tracked_spaces};
use crate::{Error, Result};

/// A record that reaches what is purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachingRecord {
    /// Whose space it is of.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// Its commit.
    pub record: Oid,
    /// What it reaches of it.
    pub reached: BTreeSet<String>,
}

/// Finds the records that reach some objects, which are named as tombstones name them.
///
/// # Errors
/// Fails when a record, or what it reaches, cannot be read.
pub fn reaching_records(
    space: &SessionSpace,
    ids: &BTreeSet<String>,
) -> Result<Vec<ReachingRecord>> {
    let repository = space.repository();
    let mut reaching = Vec::new();
    for found in repository.list_refs(ACCEPTED_REFS)? {
        let Some((peer, of)) = space_of(&found.name) else { continue };
        let record = found.target;
        let reached = ReachedObjects { tip: record, known: None }.among(ids, repository)?;
        if !reached.is_empty() {
            reaching.push(ReachingRecord { peer, space: of, record, reached });
        }
    }
    Ok(reaching)
}

/// Begins the records anew that reach what tombstones of this space name, and draws their refs again. Returns whose
/// they are, as refs name them. Safe to repeat.
///
/// # Errors
/// Fails when a record, or what it reaches, cannot be read, and when a ref cannot be moved.
pub fn begin_records_anew(space: &SessionSpace) -> Result<Vec<String>> {
    let ids: BTreeSet<String> =
        space.tombstones()?.into_iter().flat_map(|one| one.purged).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut anew = Vec::new();
    for reaching in reaching_records(space, &ids)? {
        let is_of = |tracked: &TrackedSpace| {
            tracked.peer == reaching.peer && tracked.space == reaching.space
        };
        // Their logs lead to what goes. First, since nobody knows whose they are once the record is gone.
        if let Some(tracked) = tracked_spaces(space)?.iter().find(|tracked| is_of(tracked)) {
            erase(space, &tracked.label)?;
        }
        begin_anew(space, &reaching, &ids)?;
        fault::point("purge-record-anew")?;
        anew.push(format!("{}/{}", reaching.peer, reaching.space));
    }
    settle_all(space)?;
    Ok(anew)
}

/// Begins one anew, or takes it away.
fn begin_anew(
    space: &SessionSpace,
    reaching: &ReachingRecord,
    ids: &BTreeSet<String>,
) -> Result<()> {
    let repository = space.repository();
    let name = accepted_ref(reaching.peer, reaching.space);
    let _caps = lock(repository, CAPS_LOCK)?;
    let _peer = lock(repository, &peer_lock(reaching.peer))?;
    let moved = || Error::conflict("a peer was received meanwhile", "purge again");
    if repository.find_ref(&name)? != Some(reaching.record) {
        return Err(moved());
    }
    let acceptance = AcceptanceOutline::read_outline(repository, reaching.record)?;
    let newest = ReachedObjects { tip: acceptance.announced, known: None };
    if !newest.among(ids, repository)?.is_empty() {
        return remove(repository, name, reaching.record);
    }
    // The one that the space would have if its newest announcement had been the first.
    let first =
        MadeRecord { name: &name, before: None, changes: &[] }.next(repository, &acceptance)?;
    let next = NextState { expect: Some(reaching.record), ..first };
    match next.publish(repository, &mover(repository, space.now())?)? {
        RefMove::Moved => Ok(()),
        RefMove::Lost { .. } => Err(moved()),
    }
}

/// Reads of which space a record is.
fn space_of(name: &str) -> Option<(PeerId, SpaceId)> {
    let (peer, space) = name.strip_prefix(ACCEPTED_REFS)?.split_once('/')?;
    Some((PeerId::parse(peer)?, SpaceId::parse(space)?))
}
