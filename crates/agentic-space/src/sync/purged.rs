//! What a remote still has of what was purged here does not come back.
//!
//! Git brings it into the refs that follow the remote. Before anything is united, these are made again
//! as ours were: a history of ours that the remote has from before becomes ours of now, byte for byte.
//! Then what nothing names any more is taken out of the database.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{BranchPart, HistoryLeaf, HistoryRoot, RefMove, RewrittenObjects};
use agentic_model::{AgentName, Cid, Oid};
use agentic_store::file;
use agentic_store::journal::BranchMove;

use crate::error::RemoteError;
use crate::purging::branches::buried_in_branches;
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
    let tombstones = space.tombstones()?;
    let buried = replacements(&tombstones);
    if buried.is_empty() {
        return Ok(0);
    }
    let branches = buried_in_branches(space, &tombstones);
    let n_branches = keep_purged_branches(space, remote, &branches)?;
    let mut roots = Vec::new();
    for found in repository.list_refs(&format!("refs/agentic/remotes/{remote}/"))? {
        let sort = sort_of(&found.name);
        let root = |sort| HistoryRoot { name: found.name, tip: found.target, sort };
        roots.extend(sort.map(root));
    }
    let fetched = space.history_of(roots)?;
    let names_one = |leaf: &HistoryLeaf| {
        let commit = Oid::parse(&leaf.path).ok();
        buried.contains_key(&id_of(leaf)) || commit.is_some_and(|it| branches.contains_key(&it))
    };
    if !fetched.leaves.iter().any(names_one) && n_branches == 0 {
        return Ok(0);
    }
    let mut rewrites = leaf_rewrites(repository, &fetched.leaves, &mut |leaf, _| match buried
        .get(&id_of(leaf))
    {
        Some(new) => replacement(space, leaf, new.as_deref()).map(Some),
        None => Ok(None),
    })?;
    rewrites.leaves.commits = branches;
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
    Ok(old.len() + n_branches)
}

/// Makes the refs again that follow branches of a remote which were made again here.
fn keep_purged_branches(space: &Space, remote: &str, buried: &BTreeMap<Oid, Oid>) -> Result<usize> {
    let repository = space.repository();
    let followed = repository.list_refs(&format!("refs/remotes/{remote}/agents/"))?;
    if buried.is_empty() || followed.is_empty() {
        return Ok(0);
    }
    let tips: Vec<Oid> = followed.iter().map(|found| found.target).collect();
    let own: Vec<Oid> =
        repository.list_refs("refs/heads/")?.iter().map(|found| found.target).collect();
    let commits = repository.commits_apart(&tips, &own)?;
    if !commits.iter().any(|commit| buried.contains_key(commit)) {
        return Ok(0);
    }
    let mut scrub = |part: BranchPart, _: &[u8]| match part {
        BranchPart::File(blob) => buried.get(&blob).and_then(|new| repository.read_blob(*new).ok()),
        BranchPart::Name | BranchPart::Message => None,
    };
    let objects = RewrittenObjects::Written;
    let rewritten = repository.rewrite_branches(&commits, buried, objects, &mut scrub)?;
    repository.sync_filesystem()?;
    let committer = space.own_signatures()?.committer;
    let mut old = BTreeSet::new();
    for found in followed {
        let Some(new) = rewritten.commits.get(&found.target) else { continue };
        old.insert(found.target);
        let step = BranchMove { name: found.name, expect: Some(found.target), new: *new };
        if repository.move_ref(&step, &committer, "agentic: purge")? != RefMove::Moved {
            return Err(Error::Remote(RemoteError::Purged { name: step.name }));
        }
        // Its log would go on leading to what is gone.
        file::remove(&repository.common_dir().join("logs").join(&step.name))?;
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
