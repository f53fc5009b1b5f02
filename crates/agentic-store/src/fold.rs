//! Making a fold visible: refs go after the archive has them, or come back from it.
//!
//! Refs are moved without syncing as everywhere, but a fold ends with a sync of the filesystem:
//! the journals of archived agents may then go, and an archived agent does not come back with them.

use agentic_model::Oid;

use crate::ground::{GroundStore, PACKED_REFS};
use crate::journal::{ArchivedAgent, RefFold, Transaction};
use crate::recovery::sync_stamp;
use crate::{Result, fault};

/// Names the refs that a fold moves, and what git locks besides.
pub fn names(fold: &RefFold) -> Vec<String> {
    let refs = |one: &ArchivedAgent| [one.agent.branch_ref(), one.agent.notes_ref()];
    let mut names: Vec<String> = fold.agents().iter().flat_map(refs).collect();
    if matches!(fold, RefFold::Away(_)) {
        names.push(PACKED_REFS.to_owned());
    }
    names
}

/// Makes the fold of a transaction visible. Doing it again changes nothing.
///
/// # Errors
/// Fails when a ref is locked or cannot be written.
pub fn carry<G: GroundStore>(
    repository: &G,
    fold: &RefFold,
    transaction: &Transaction,
) -> Result<()> {
    match fold {
        RefFold::Away(agents) => retire(repository, agents)?,
        RefFold::Back(agent) => {
            if let Some(notes) = agent.notes {
                repository.unite_notes(&agent.agent.notes_ref(), notes, transaction)?;
            }
        }
    }
    sync_stamp::shared(repository.layout(), || repository.sync_filesystem())
}

/// Deletes the refs of agents that are where the archive has them. A branch that somebody moved
/// meanwhile stays, with its notes: its agent is not archived.
fn retire<G: GroundStore>(repository: &G, agents: &[ArchivedAgent]) -> Result<()> {
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
