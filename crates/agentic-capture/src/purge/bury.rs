//! Tombstones of a purge: one or more for each agent, in what its notes have become.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{HistoryRoot, HistorySort};
use agentic_model::tombstone::TOMBSTONE_IDS_MAX;
use agentic_model::{AgentName, Object, Oid, Tombstone};
use agentic_space::{Signatures, Space};

use super::accepted::AcceptedReach;
use super::apply::PurgeRequest;
use super::plan::{PurgeFindings, object_that_stays};
use super::{BranchFate, PurgeError};

/// Who hears which ids are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TombstoneScope {
    /// Whoever fetches the notes.
    Everybody,
    /// This space alone: an id can confirm a guess where all else in an object is known.
    ThisSpace,
}

/// What was buried.
pub(super) struct BuriedPurge {
    /// The tombstones.
    pub tombstones: Vec<Object>,
    /// Which states of notes become which.
    pub moved: BTreeMap<Oid, Oid>,
    /// The records of what was accepted of peers that reach what goes.
    pub records: Vec<Oid>,
}

/// Makes the tombstones of every agent, and adds them to what its notes have become; and those of what peers
/// brought.
pub(super) fn bury(
    space: &Space,
    request: &PurgeRequest<'_>,
    found: &PurgeFindings,
    commits: &BTreeMap<Oid, Oid>,
    signatures: &Signatures,
) -> Result<BuriedPurge, PurgeError> {
    let (mut all, mut moved) = (Vec::new(), BTreeMap::new());
    let heads = heads(space, found)?;
    for tip in space.notes_tips(&found.history)? {
        let head = heads.get(&tip).into_iter().flatten();
        let branches: BTreeMap<String, String> =
            head.flat_map(|head| found.branches.buried_below(*head)).collect();
        if !commits.contains_key(&tip) && branches.is_empty() {
            continue;
        }
        let new = commits.get(&tip).unwrap_or(&tip);
        let mut replaced = replaced_in(space, found, tip)?;
        replaced.extend(branches);
        let objects = tombstones_of(request, found, &replaced, signatures)?;
        if request.scope == TombstoneScope::Everybody && !objects.is_empty() {
            moved.insert(tip, space.add_to_state(Some(*new), &objects, signatures)?);
        }
        for object in objects {
            if !all.iter().any(|known: &Object| known.cid() == object.cid()) {
                all.push(object);
            }
        }
    }
    let reaching = bury_accepted(request, found, signatures, &mut all)?;
    let records = reaching.iter().map(|one| one.record).collect();
    Ok(BuriedPurge { tombstones: all, moved, records })
}

/// Tells where branches are whose notes are in some state.
fn heads(space: &Space, found: &PurgeFindings) -> Result<BTreeMap<Oid, Vec<Oid>>, PurgeError> {
    let mut heads: BTreeMap<Oid, Vec<Oid>> = BTreeMap::new();
    if found.branches.rewritten.commits.is_empty() {
        return Ok(heads);
    }
    let repository = space.repository();
    for (name, tip) in &found.branches.branches.roots {
        let Some(agent) = AgentName::from_branch_ref(name) else { continue };
        if let Some(notes) = repository.find_ref(&agent.notes_ref())? {
            heads.entry(notes).or_default().push(*tip);
        }
    }
    for entry in repository.all_archive_entries()? {
        if let Some(notes) = entry.archived.notes {
            heads.entry(notes).or_default().push(entry.archived.head);
        }
    }
    Ok(heads)
}

/// Tells what the objects of one state of notes become, by their ids.
fn replaced_in(
    space: &Space,
    found: &PurgeFindings,
    tip: Oid,
) -> Result<BTreeMap<String, String>, PurgeError> {
    let root = HistoryRoot { name: String::new(), tip, sort: HistorySort::Notes };
    let own = space.history_of(vec![root])?;
    let id = |leaf: &agentic_git::HistoryLeaf| match leaf.object {
        Some(cid) => cid.to_string(),
        None => leaf.blob.to_string(),
    };
    let replaced = own
        .leaves
        .iter()
        .map(id)
        .filter_map(|id| Some((id.clone(), found.rewrites.replaced.get(&id)?.clone())));
    Ok(replaced.collect())
}

/// Finds the records of what was accepted of peers that reach what goes, and makes the tombstones of that.
fn bury_accepted(
    request: &PurgeRequest<'_>,
    found: &PurgeFindings,
    signatures: &Signatures,
    tombstones: &mut Vec<Object>,
) -> Result<Vec<AcceptedReach>, PurgeError> {
    let staying: BTreeSet<String> = found.left.iter().filter_map(object_that_stays).collect();
    let mut ids: BTreeSet<String> = found.rewrites.replaced.keys().cloned().collect();
    if found.branches.fate() == BranchFate::MadeAgain {
        ids.extend(found.objects.iter().map(Oid::to_string));
    }
    ids.retain(|id| !staying.contains(id));
    let reaching = request.accepted.reaching(&ids);
    let reached: BTreeSet<&String> = reaching.iter().flat_map(|one| &one.reached).collect();
    // What has something in its place has a tombstone by now.
    let is_named = |id: &String| found.rewrites.replaced.contains_key(id);
    let reached: Vec<String> = reached.into_iter().filter(|id| !is_named(id)).cloned().collect();
    for ids in reached.chunks(TOMBSTONE_IDS_MAX) {
        let tombstone = Tombstone { purged: ids.to_vec(), ..bare(request, signatures) };
        tombstones.push(tombstone.to_object().map_err(PurgeError::object)?);
    }
    Ok(reaching)
}

fn tombstones_of(
    request: &PurgeRequest<'_>,
    found: &PurgeFindings,
    replaced: &BTreeMap<String, String>,
    signatures: &Signatures,
) -> Result<Vec<Object>, PurgeError> {
    let is_own =
        |object: &Option<String>| object.as_ref().is_some_and(|it| replaced.contains_key(it));
    let entries: BTreeSet<String> = found
        .hits
        .iter()
        .filter(|it| is_own(&it.object))
        .filter_map(|it| it.entry.clone())
        .collect();
    let ids: Vec<String> = replaced.keys().cloned().collect();
    let mut objects = Vec::new();
    for ids in ids.chunks(TOMBSTONE_IDS_MAX) {
        let tombstone = Tombstone {
            purged: ids.to_vec(),
            replaced: ids.iter().map(|id| (id.clone(), replaced[id].clone())).collect(),
            entries: entries.iter().cloned().collect(),
            ..bare(request, signatures)
        };
        objects.push(tombstone.to_object().map_err(PurgeError::object)?);
    }
    Ok(objects)
}

/// Returns a tombstone of nothing yet: who purges, when and why.
fn bare(request: &PurgeRequest<'_>, signatures: &Signatures) -> Tombstone {
    Tombstone {
        purged: Vec::new(),
        replaced: BTreeMap::new(),
        entries: Vec::new(),
        rule: request.rule.map(str::to_owned),
        reason: request.reason.to_owned(),
        by: request.by.to_owned(),
        at: signatures.committer.at,
    }
}
