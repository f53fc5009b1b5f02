//! Making a fold visible: refs go after the archive has them, or come back from it.
//!
//! Refs are moved without syncing as everywhere, but a fold ends with a sync of the filesystem:
//! the journals of archived agents may then go, and an archived agent does not come back with them.

use agentic_model::{Instant, Oid};

use crate::git::{PACKED_REFS, Repository};
use crate::journal::{self, Archived, Body, Fold, Transaction};
use crate::layout::{Layout, Stream};
use crate::recovery::{KEEP_MILLIS, lacks};
use crate::{Error, Result, fault, file};

/// Names the refs that a fold moves, and what git locks besides.
pub fn names(fold: &Fold) -> Vec<String> {
    let refs = |one: &Archived| [one.agent.branch_ref(), one.agent.notes_ref()];
    let mut names: Vec<String> = fold.agents().iter().flat_map(refs).collect();
    if matches!(fold, Fold::Away(_)) {
        names.push(PACKED_REFS.to_owned());
    }
    names
}

/// Makes the fold of a transaction visible. Doing it again changes nothing.
///
/// # Errors
/// Fails when a ref is locked or cannot be written.
pub fn carry(repository: &Repository, fold: &Fold, transaction: &Transaction) -> Result<()> {
    match fold {
        Fold::Away(agents) => retire(repository, agents)?,
        Fold::Back(agent) => {
            if let Some(notes) = agent.notes {
                repository.unite_notes(&agent.agent.notes_ref(), notes, transaction)?;
            }
        }
    }
    repository.sync_filesystem()
}

/// Deletes the refs of agents that are where the archive has them. A branch that somebody moved
/// meanwhile stays, with its notes: its agent is not archived.
fn retire(repository: &Repository, agents: &[Archived]) -> Result<()> {
    let at = |name: String, expect: Oid| -> Result<Option<(String, Oid)>> {
        Ok((repository.find_ref(&name)? == Some(expect)).then_some((name, expect)))
    };
    let mut branches = Vec::new();
    for one in agents {
        branches.extend(at(one.agent.branch_ref(), one.head)?);
    }
    fault::point("before-retire")?;
    repository.delete_refs(&branches)?;
    fault::point("branches-retired")?;
    let mut notes = Vec::new();
    for one in agents {
        let is_gone = repository.find_ref(&one.agent.branch_ref())?.is_none();
        if let Some(tip) = one.notes.filter(|_| is_gone) {
            notes.extend(at(one.agent.notes_ref(), tip)?);
        }
    }
    repository.delete_refs(&notes)?;
    fault::point("notes-retired")
}

/// Removes what is kept beside git for an archived agent: its journal, whose records git holds
/// durably since the fold. A journal with young records stays, because a prune that began before
/// them may still be running. The caller holds the agent's lock.
///
/// # Errors
/// Fails when the journal cannot be read or moved.
pub fn drop_journal(repository: &Repository, stream: &Stream, now: Instant) -> Result<()> {
    let layout = repository.layout();
    let is_recent = |at: Instant| now.millis() - at.millis() < KEEP_MILLIS;
    let records = journal::records(layout, stream)?;
    let is_young = records
        .iter()
        .any(|record| matches!(record.body, Body::Transaction(_)) && is_recent(record.at));
    let is_kept = repository.config("agentic.keepLog").is_some_and(|value| value == "true");
    if is_young || is_kept || repository.common_dir().join("gc.pid").exists() {
        return Ok(());
    }
    if !lacks(repository, stream, &records)?.is_empty() {
        // It is the only place that still has it.
        return Ok(());
    }
    repository.release_packs(stream)?;
    file::remove(&layout.dirty(stream))?;
    file::remove(&layout.missing(stream))?;
    journal::discard(layout, stream)?;
    file::remove(&layout.cache().join("facts").join(stream.to_string()))?;
    remove_journal(layout, stream)
}

/// Moves the journal away as a whole first, so that a crash never leaves a part of it.
fn remove_journal(layout: &Layout, stream: &Stream) -> Result<()> {
    let folder = layout.journal(stream);
    if !folder.exists() {
        return Ok(());
    }
    let aside = layout.aside(stream, "archived");
    let above = aside.parent().expect("folders aside stand in a folder");
    std::fs::create_dir_all(above).map_err(Error::io("create", above))?;
    match std::fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &aside)(error));
        }
        _ => {}
    }
    std::fs::rename(&folder, &aside).map_err(Error::io("set aside", &folder))?;
    fault::point("journal-retired")?;
    std::fs::remove_dir_all(&aside).map_err(Error::io("remove", &aside))
}
