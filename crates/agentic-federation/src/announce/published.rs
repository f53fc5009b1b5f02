//! What a snapshot has: agents, tips, and how they differ from those of the snapshot before.

use std::collections::BTreeMap;

use agentic_git::{ARCHIVE_REF, Repository};
use agentic_model::{AgentName, Oid};
use agentic_session::SessionSpace;
use agentic_space::kind::REGISTRY_REF;

use super::{AnnounceRequest, ArchiveChoice};
use crate::adoption::adoptions;
use crate::announcement::{Removal, RemovalReason, Rewind, RewoundTip};
use crate::folder::{FolderDraft, TreeFolder, read_subfolder};
use crate::policy::matches_pattern;
use crate::shard::{HeadChange, HeadEntry, Heads, changed_folder, changed_since};
use crate::steps::read_tip;
use crate::{Error, Result};

/// The setting that says which agents are announced.
const PUBLISH: &str = "agentic.publish";
/// The tips that a snapshot names, and their refs.
const TIPS: [(&str, &str); 3] = [
    ("behaviours", "refs/agentic/behaviours"),
    ("kinds", REGISTRY_REF),
    ("rules", "refs/agentic/rules"),
];

/// Lists the agents that are announced: those that match `agentic.publish` and are not private.
pub(super) fn published_heads(space: &SessionSpace) -> Result<Heads> {
    let repository = space.repository();
    let patterns = repository.config(PUBLISH);
    let patterns: Option<Vec<String>> =
        patterns.map(|patterns| patterns.split_whitespace().map(str::to_owned).collect());
    let private = repository.private_agents()?;
    let prefix = AgentName::NOTES_REFS;
    let notes = repository
        .list_refs_as(prefix, |name, oid| Some((AgentName::from_notes_ref(name)?, oid)))?;
    let notes: BTreeMap<AgentName, Oid> = notes.into_iter().collect();
    let adopted = adoptions(repository)?;
    let mut heads = Heads::new();
    for (agent, head) in space.agent_names()? {
        let fits = |pattern: &String| matches_pattern(pattern, agent.as_str());
        let is_published = patterns.as_ref().is_none_or(|all| all.iter().any(fits));
        if is_published && !private.contains(&agent) {
            let notes = notes.get(&agent).copied();
            let from = adopted.get(&agent).map(|adoption| adoption.from.clone());
            heads.insert(agent, HeadEntry { head, notes, from });
        }
    }
    Ok(heads)
}

/// Puts the tips into a snapshot that are beside its agents. None is set back, unless the chain begins anew.
pub(super) fn put_tips(
    repository: &Repository,
    request: &AnnounceRequest,
    old: &TreeFolder,
    folder: &mut FolderDraft,
) -> Result<Vec<(&'static str, Oid)>> {
    let mut named = Vec::new();
    let goes = request.archive == ArchiveChoice::Goes || old.contains_key("archive");
    let archive = goes.then_some(("archive", ARCHIVE_REF));
    for (name, reference) in TIPS.into_iter().chain(archive) {
        let before = read_tip(repository, old, name)?;
        // What was announced once does not vanish, even if its ref does.
        let Some(tip) = repository.find_ref(reference)?.or(before) else { continue };
        if request.cut.is_none()
            && let Some(announced) = before
            && !repository.is_ancestor(announced, tip)?
        {
            return Err(Error::conflict(
                format!("`{name}` was set back since it was announced at {announced}"),
                format!(
                    "put it back with `git update-ref {reference} {announced}`, or begin the chain \
                     anew with `agentic announce --cut -m WHY`"
                ),
            ));
        }
        folder.put(name, format!("{tip}\n").into_bytes());
        named.push((name, tip));
    }
    Ok(named)
}

pub(super) fn changes_of(
    repository: &Repository,
    old: &TreeFolder,
    heads: &Heads,
) -> Result<Vec<HeadChange>> {
    let old_heads = read_subfolder(repository, old, "heads")?;
    changed_since(repository, &old_heads, heads)
}

/// Makes the folder of agents from that of the snapshot before.
pub(super) fn heads_after(
    repository: &Repository,
    old: &TreeFolder,
    changes: &[HeadChange],
) -> Result<FolderDraft> {
    changed_folder(repository, &read_subfolder(repository, old, "heads")?, changes)
}

pub(super) fn new_tips_of(old: Option<&HeadEntry>, new: &HeadEntry) -> Vec<Oid> {
    let head = (old.map(|old| old.head) != Some(new.head)).then_some(new.head);
    let notes = new.notes.filter(|notes| old.and_then(|old| old.notes) != Some(*notes));
    head.into_iter().chain(notes).collect()
}

pub(super) fn removal(space: &SessionSpace, agent: &AgentName, old: &HeadEntry) -> Result<Removal> {
    let is_archived = space.repository().archive_entry(agent)?.is_some();
    let why = if is_archived { RemovalReason::Archived } else { RemovalReason::Deleted };
    Ok(Removal { agent: agent.clone(), head: old.head, notes: old.notes, why })
}

pub(super) fn rewinds_of(
    repository: &Repository,
    change: &HeadChange,
    request: &AnnounceRequest,
) -> Result<Vec<Rewind>> {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return Ok(Vec::new()) };
    let mut rewinds = Vec::new();
    let moved = [
        (RewoundTip::Head, Some(old.head), Some(new.head)),
        (RewoundTip::Notes, old.notes, new.notes),
    ];
    for (of, from, to) in moved {
        let Some(from) = from else { continue };
        let Some(to) = to else {
            let agent = &change.agent;
            return Err(Error::conflict(
                format!("the notes of `{agent}` are gone since they were announced at {from}"),
                format!("put them back: `git update-ref {} {from}`", agent.notes_ref()),
            ));
        };
        if repository.is_ancestor(from, to)? {
            continue;
        }
        let Some(why) = &request.rewind else {
            return Err(Error::conflict(
                format!(
                    "the {} of `{}` was set back since it was announced at {from}",
                    of.as_str(),
                    change.agent
                ),
                "announce that with `--rewind -m WHY`, or put it back",
            ));
        };
        rewinds.push(Rewind { agent: change.agent.clone(), of, from, to, why: why.clone() });
    }
    Ok(rewinds)
}
