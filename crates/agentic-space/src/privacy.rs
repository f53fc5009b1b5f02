//! Private agents: pushes that name nobody, and the archive that is pushed, leave them out.

use agentic_git::{ARCHIVE_REF, ArchiveEntry, PRIVATE_REF, PrivacyChange};
use agentic_model::AgentName;
use agentic_store::Stream;
use agentic_store::journal::Transaction;

use crate::archive::archive_stream;
use crate::write::LockedStream;
use crate::{Result, Space};

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
    let signatures = space.own_signatures()?;
    let mut locked = LockedStream::stream(space, &Stream::of_branch(PRIVATE_REF))?;
    let signed = (&signatures.author, &signatures.committer);
    let Some(draft) = repository.draft_privacy(agents, change, signed)? else { return Ok(()) };
    locked.begin(None, repository.find_ref(PRIVATE_REF)?)?;
    let (objects, branch) = (draft.objects, Some(draft.step));
    let transaction = Transaction { objects, branch, ..signatures.transaction("agent privacy") };
    let _written = locked.decide(transaction, None, space.durability())?.follow().written;
    Ok(())
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
