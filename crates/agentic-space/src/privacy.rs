//! Private agents: pushes that name nobody, and the archive that is pushed, leave them out.

use std::path::Path;

use agentic_git::{ARCHIVE_REF, ArchiveEntry, PRIVATE_REF, PrivacyChange};
use agentic_model::AgentName;
use agentic_store::journal::Transaction;
use agentic_store::{Lock, Patience, Stream};

use crate::archive::archive_stream;
use crate::write::LockedStream;
use crate::{Result, Space};

/// Where those who wait say whom they want to be private, below the folder of captures.
const WANTED_FOLDER: &str = "private";
/// How many of these one write takes along.
const WANTED_MAX: usize = 1024;
/// How often somebody waits for others to write for it, before it waits for its turn.
const ROUNDS_MAX: usize = 16;

/// Says of agents that they are private, or no longer. One that need not exist yet may be private.
///
/// # Errors
/// Fails when the list of private agents is damaged or cannot be written.
pub fn change_privacy(space: &Space, agents: &[AgentName], change: PrivacyChange) -> Result<()> {
    let repository = space.repository();
    let mut is_settled = true;
    for agent in agents {
        is_settled &= repository.is_private(agent)? == (change == PrivacyChange::Private);
    }
    if is_settled {
        return Ok(());
    }
    if change == PrivacyChange::Public {
        publish_archived(space, agents)?;
    }
    let locked = LockedStream::stream(space, &Stream::of_branch(PRIVATE_REF))?;
    write(space, locked, agents, change)
}

/// Writes the list anew, if anything is to change.
fn write(
    space: &Space,
    mut locked: LockedStream<'_>,
    agents: &[AgentName],
    change: PrivacyChange,
) -> Result<()> {
    let (repository, signatures) = (space.repository(), space.own_signatures()?);
    let signed = (&signatures.author, &signatures.committer);
    let Some(draft) = repository.draft_privacy(agents, change, signed)? else { return Ok(()) };
    locked.begin(None, repository.find_ref(PRIVATE_REF)?)?;
    let (objects, branch) = (draft.objects, Some(draft.step));
    let transaction = Transaction { objects, branch, ..signatures.transaction("agent privacy") };
    let _written = locked.decide(transaction, None, space.durability())?.follow().written;
    Ok(())
}

/// Makes an agent private that need not exist yet. Of many who ask at once one writes for all: each says
/// whom it asks for before it waits for its turn. Tells whether it is private now, or others wrote for
/// longer than somebody wants to wait: then the next who writes makes it private.
///
/// # Errors
/// Fails as [`change_privacy`] does.
pub fn hide_beside_others(space: &Space, agent: &AgentName, patience: Patience) -> Result<bool> {
    let repository = space.repository();
    if repository.is_private(agent)? {
        return Ok(true);
    }
    let folder = repository.layout().capture().join(WANTED_FOLDER);
    // Whoever cannot say it waits and writes for itself.
    let _is_said = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(agent.as_str()), ""));
    let stream = Stream::of_branch(PRIVATE_REF);
    for _ in 0..ROUNDS_MAX {
        if let Some(locked) = LockedStream::try_stream(space, &stream)? {
            return hide_wanted(space, locked, agent, &folder).map(|()| true);
        }
        // All who are written for go on together: one by one, each would wait for its turn to run as well.
        if !Lock::wait_until_free(&repository.layout().lock(&stream), patience)? {
            return Ok(false);
        }
        if repository.is_private(agent)? {
            let _may_be_gone = std::fs::remove_file(folder.join(agent.as_str()));
            return Ok(true);
        }
    }
    match LockedStream::stream_within(space, &stream, patience)? {
        Some(locked) => hide_wanted(space, locked, agent, &folder).map(|()| true),
        None => Ok(false),
    }
}

/// Makes an agent private, and with it those of whom others say so meanwhile.
fn hide_wanted(
    space: &Space,
    locked: LockedStream<'_>,
    agent: &AgentName,
    folder: &Path,
) -> Result<()> {
    let repository = space.repository();
    let mut said = vec![agent.clone()];
    if !repository.is_private(agent)? {
        said.extend(wanted(folder).filter(|other| other != agent).take(WANTED_MAX));
        let mut agents = Vec::new();
        for other in &said {
            // One that is there is of somebody who died here, and may have been made public since.
            let is_there = repository.find_ref(&other.branch_ref())?.is_some()
                || repository.archive_entry(other)?.is_some();
            if other == agent || !is_there {
                agents.push(other.clone());
            }
        }
        write(space, locked, &agents, PrivacyChange::Private)?;
    }
    for agent in &said {
        let _may_be_gone = std::fs::remove_file(folder.join(agent.as_str()));
    }
    Ok(())
}

/// Lists agents that somebody wants to be private. One that died meanwhile would have made its private.
fn wanted(folder: &Path) -> impl Iterator<Item = AgentName> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| AgentName::parse(file.file_name().to_str()?).ok())
}

/// Gives agents that only the private archive has to the one that is pushed. Whoever dies after this
/// leaves them in both, and they stay private.
fn publish_archived(space: &Space, agents: &[AgentName]) -> Result<()> {
    let repository = space.repository();
    let mut entries: Vec<ArchiveEntry> = Vec::new();
    for agent in agents {
        if repository.is_private(agent)? {
            entries.extend(space.archived_agent(agent)?);
        }
    }
    if entries.is_empty() {
        return Ok(());
    }
    let signatures = space.own_signatures()?;
    let mut archive = LockedStream::stream(space, &archive_stream())?;
    archive.begin(None, repository.find_ref(ARCHIVE_REF)?)?;
    let signed = (&signatures.author, &signatures.committer);
    let draft = repository.draft_archive(ARCHIVE_REF, &entries, None, signed)?;
    let (objects, branch) = (draft.objects, Some(draft.step));
    let transaction = Transaction { objects, branch, ..signatures.transaction("agent public") };
    let _written = archive.decide(transaction, None, space.durability())?.follow().written;
    Ok(())
}
