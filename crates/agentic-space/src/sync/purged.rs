//! What a remote still has of what was purged here does not come back.
//!
//! Git brings it into the refs that follow the remote. Before anything is united, these are made again
//! as ours were: a history of ours that the remote has from before becomes ours of now, byte for byte.
//! Then what nothing names any more is taken out of the database.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{HistoryLeaf, HistoryRoot, RefMove};
use agentic_model::{AgentName, Cid, Oid};
use agentic_store::journal::BranchMove;

use crate::error::RemoteError;
use crate::purging::tombstone::replacements;
use crate::purging::{leaf_rewrites, sort_of};
use crate::{Error, Result, Space};

/// Takes what tombstones of this space name out of what was just fetched. Returns how many refs that
/// concerned.
///
/// # Errors
/// Fails when what stands in the place of something is not here, and when the disk does.
pub(super) fn keep_purged(space: &Space, remote: &str) -> Result<usize> {
    let repository = space.repository();
    let buried = replacements(&space.tombstones()?);
    if buried.is_empty() {
        return Ok(0);
    }
    let mut roots = Vec::new();
    for found in repository.list_refs(&format!("refs/agentic/remotes/{remote}/"))? {
        let sort = sort_of(&found.name);
        let root = |sort| HistoryRoot { name: found.name, tip: found.target, sort };
        roots.extend(sort.map(root));
    }
    let fetched = space.history_of(roots)?;
    if !fetched.leaves.iter().any(|leaf| buried.contains_key(&id_of(leaf))) {
        return Ok(0);
    }
    let rewrites = leaf_rewrites(repository, &fetched.leaves, &mut |leaf, _| match buried
        .get(&id_of(leaf))
    {
        Some(new) => replacement(space, leaf, new.as_deref()).map(Some),
        None => Ok(None),
    })?;
    let commits = space.rewrite_purged(&fetched, &rewrites, BTreeMap::new())?;
    repository.sync_filesystem()?;
    let committer = space.own_signatures()?.committer;
    let mut old = BTreeSet::new();
    for root in &fetched.roots {
        let Some(new) = commits.get(&root.tip) else { continue };
        old.insert(root.tip);
        let step = BranchMove { name: root.name.clone(), expect: Some(root.tip), new: *new };
        if repository.move_ref(&step, &committer, "agentic: purge")? != RefMove::Moved {
            return Err(Error::Remote(RemoteError::Purged { name: root.name.clone() }));
        }
    }
    let going = repository.reached_only_by(&old)?;
    repository.forget_objects(&going)?;
    Ok(old.len())
}

/// Refuses to push an agent whose notes have what a tombstone from elsewhere names: it would come back
/// where it was purged.
///
/// # Errors
/// Fails with [`RemoteError::Tombstone`].
pub(super) fn check_tombstones(space: &Space, agent: &AgentName) -> Result<()> {
    match space.foreign_tombstones(agent)?.pop() {
        None => Ok(()),
        Some(found) => Err(Error::Remote(RemoteError::Tombstone {
            agent: agent.clone(),
            tombstone: found.cid.to_string(),
        })),
    }
}

fn id_of(leaf: &HistoryLeaf) -> String {
    leaf.object.map_or(leaf.blob.to_string(), |cid| cid.to_string())
}

/// Reads what stands in the place of a leaf here.
fn replacement(space: &Space, leaf: &HistoryLeaf, new: Option<&str>) -> Result<Vec<u8>> {
    let missing = || Error::Remote(RemoteError::Purged { name: leaf.path.clone() });
    let new = new.ok_or_else(missing)?;
    match (leaf.object, Cid::parse(new), Oid::parse(new)) {
        (Some(_), Ok(cid), _) => {
            let object = space.object(cid).map_err(|_| missing())?;
            Ok(object.bytes().to_vec())
        }
        (None, _, Ok(oid)) => space.repository().read_blob(oid).map_err(|_| missing()),
        _ => Err(missing()),
    }
}
