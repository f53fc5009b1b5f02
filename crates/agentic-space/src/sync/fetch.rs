//! What comes from a remote: notes and registries are united, branches that have not diverged move on.

use agentic_git::{ARCHIVE_REF, RefMove};
use agentic_model::{AgentName, LibraryName, Oid};
use agentic_store::journal::{BranchMove, Transaction};
use agentic_store::{Stream, Writer};

use super::purged::keep_purged;
use super::{check_remote, init};
use crate::archive::archive_stream;
use crate::capture::note_fetched;
use crate::error::AgentError;
use crate::following::{FollowingWorktree, reserve};
use crate::kind::REGISTRY_REF;
use crate::library::{Library, unite};
use crate::write::LockedStream;
use crate::{Error, Result, Space};

/// What a fetch did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchOutcome {
    /// The remote.
    pub remote: String,
    /// Agents whose branches moved forward.
    pub fast_forwarded: Vec<AgentName>,
    /// Agents whose notes took something in.
    pub notes_united: Vec<AgentName>,
    /// Agents whose branches have gone different ways.
    pub diverged: Vec<AgentName>,
    /// Agents that have a branch here from now on.
    pub adopted: Vec<AgentName>,
    /// Names of libraries that moved here and there. Here they mean what they did.
    pub contested: Vec<(Library, LibraryName)>,
    /// Names of behaviours that moved there, and that are in force here as they were.
    pub offered: Vec<LibraryName>,
    /// What was left out of libraries because it is damaged there, and why.
    pub left_out: Vec<String>,
}

/// Where somebody else has an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheirAgent {
    /// The agent.
    pub agent: AgentName,
    /// Its head.
    pub head: Oid,
    /// The tip of its notes, if it has any.
    pub notes: Option<Oid>,
}

/// Fetches, unites notes, the registry and libraries, and moves agents forward that have not diverged.
///
/// # Errors
/// Fails when git does, or an agent to adopt is not on the remote.
pub fn fetch(space: &Space, remote: &str, adopt: &[AgentName]) -> Result<FetchOutcome> {
    fetch_to_look_at(space, remote)?;
    let mut fetched = FetchOutcome { remote: remote.to_owned(), ..FetchOutcome::default() };
    let registry = format!("refs/agentic/remotes/{remote}/registry");
    if let Some(theirs) = space.repository().find_ref(&registry)? {
        let transaction = unite_transaction(space)?;
        let mut writer = Writer::open(space.repository(), &Stream::Space, space.now())?;
        writer.with_refs(&[REGISTRY_REF], || {
            space.repository().unite_notes(REGISTRY_REF, theirs, &transaction)
        })?;
    }
    if space.home_remote().is_some_and(|home| home == remote) {
        for library in Library::ALL {
            let united = unite(space, library, remote)?;
            fetched.contested.extend(united.contested.into_iter().map(|name| (library, name)));
            fetched.left_out.extend(united.left_out);
        }
        let names = space.behaviours_in_force()?.names.into_iter();
        let offered = names.filter(|name| name.offered.is_some());
        fetched.offered = offered.map(|name| name.shared.name).collect();
    }
    unite_archive(space, remote, &mut fetched)?;
    for agent in adopt {
        if space.archived_agent(agent)?.is_some() {
            return Err(Error::Agent(AgentError::NameArchived { name: agent.clone() }));
        }
    }
    let prefix = format!("refs/remotes/{remote}/agents/");
    for found in space.repository().list_refs(&prefix)? {
        let name = found.name.strip_prefix(&prefix).and_then(|name| AgentName::parse(name).ok());
        let Some(agent) = name else { continue };
        let ours = space.repository().find_ref(&agent.branch_ref())?;
        if ours.is_none() && !adopt.contains(&agent) {
            continue;
        }
        let notes = format!("refs/agentic/remotes/{remote}/notes/{agent}");
        let notes = space.repository().find_ref(&notes)?;
        let theirs = TheirAgent { agent, head: found.target, notes };
        take_in(space, &theirs, &mut fetched)?;
    }
    for agent in adopt {
        space.head(agent)?;
    }
    // No journal holds what was fetched, so what is printed as done must be on the disk.
    space.repository().sync_filesystem()?;
    Ok(fetched)
}

/// Fetches what can be looked at as of the remote. Nothing here moves, and nothing is united.
///
/// # Errors
/// Fails when git does, and when there is no such remote.
pub fn fetch_to_look_at(space: &Space, remote: &str) -> Result<()> {
    check_remote(space, remote)?;
    init(space, &[remote.to_owned()])?;
    let arguments = ["fetch", remote, "--progress"];
    space.repository().git_at_remote(&arguments)?.checked(&arguments)?;
    space.repository().sync_filesystem()?;
    keep_purged(space, remote)?;
    Ok(())
}

fn unite_archive(space: &Space, remote: &str, fetched: &mut FetchOutcome) -> Result<()> {
    let theirs = format!("refs/agentic/remotes/{remote}/archive");
    let Some(theirs) = space.repository().find_ref(&theirs)? else { return Ok(()) };
    let signed = space.own_signatures()?;
    let mut writer = Writer::open(space.repository(), &archive_stream(), space.now())?;
    note_archived(space, theirs)?;
    fetched.diverged = writer.with_refs(&[ARCHIVE_REF], || {
        space.repository().unite_archive(theirs, &signed.author, &signed.committer)
    })?;
    Ok(())
}

/// Tells whether nothing comes with a state that a remote has.
fn has(space: &Space, ours: Option<Oid>, theirs: Oid) -> Result<bool> {
    ours.map_or(Ok(false), |ours| Ok(space.repository().is_ancestor(theirs, ours)?))
}

/// Notes the agents of which the archive of a remote has something else than the one here.
fn note_archived(space: &Space, theirs: Oid) -> Result<()> {
    let repository = space.repository();
    let ours = repository.find_ref(ARCHIVE_REF)?;
    if has(space, ours, theirs)? {
        return Ok(());
    }
    let ours = match ours {
        Some(tip) => space.read_commit(tip)?.tree,
        None => repository.empty_tree(),
    };
    let changed = repository.scratch().changed_paths(ours, space.read_commit(theirs)?.tree)?;
    let named = changed.iter().filter_map(|path| {
        let path = std::str::from_utf8(path).ok()?;
        AgentName::parse(path.rsplit('/').next()?).ok()
    });
    note_fetched(repository.layout(), &named.collect::<Vec<_>>())
}

/// Takes in what somebody else has of an agent: notes are united, and its branch moves forward if it has not
/// diverged, or is made where there is none.
///
/// # Errors
/// Fails when the disk does, and when a worktree of the agent cannot follow.
pub fn take_in(space: &Space, theirs: &TheirAgent, fetched: &mut FetchOutcome) -> Result<()> {
    let TheirAgent { agent, head: theirs, notes } = theirs;
    let repository = space.repository();
    let transaction = unite_transaction(space)?;
    let mut writer = Writer::open(repository, &Stream::Agent(agent.clone()), space.now())?;
    let (branch_ref, notes_ref) = (agent.branch_ref(), agent.notes_ref());
    let ours = repository.find_ref(&branch_ref)?;
    if let Some(tip) = *notes {
        if !has(space, repository.find_ref(&notes_ref)?, tip)? {
            note_fetched(repository.layout(), std::slice::from_ref(agent))?;
        }
        let unite = || repository.unite_notes(&notes_ref, tip, &transaction);
        if writer.with_refs(&[&notes_ref], unite)? {
            fetched.notes_united.push(agent.clone());
        }
    }
    let Some(ours) = ours else {
        let step = BranchMove { name: branch_ref.clone(), expect: None, new: *theirs };
        let adopt = || repository.move_ref(&step, &transaction.committer, "agentic: adopt");
        if writer.with_refs(&[&branch_ref], adopt)? == RefMove::Moved {
            fetched.adopted.push(agent.clone());
        }
        return Ok(());
    };
    if repository.is_ancestor(*theirs, ours)? {
        return Ok(());
    }
    if !repository.is_ancestor(ours, *theirs)? {
        fetched.diverged.push(agent.clone());
        return Ok(());
    }
    drop(writer);
    forward(space, agent, ours, *theirs, fetched)
}

/// Moves an agent's branch on to where the remote has it, and lets its worktree follow.
fn forward(
    space: &Space,
    agent: &AgentName,
    ours: Oid,
    theirs: Oid,
    fetched: &mut FetchOutcome,
) -> Result<()> {
    let (repository, branch_ref) = (space.repository(), agent.branch_ref());
    let committer = space.own_signatures()?.committer;
    let reserved = reserve(space, &branch_ref)?;
    let trees = (space.read_commit(ours)?.tree, space.read_commit(theirs)?.tree);
    let changed = repository.scratch().changed_paths(trees.0, trees.1)?;
    let following = FollowingWorktree::of(reserved, &branch_ref, ours, &changed)?;
    let (locked, _) = LockedStream::agent(space, agent)?;
    let mut writer = locked.into_writer();
    if let Some(following) = &following {
        following.announce(&branch_ref, (ours, theirs))?;
    }
    let step = BranchMove { name: branch_ref.clone(), expect: Some(ours), new: theirs };
    let forward = || repository.move_ref(&step, &committer, "agentic: fetch");
    let is_moved = writer.with_refs(&[&branch_ref], forward)? == RefMove::Moved;
    if is_moved {
        fetched.fast_forwarded.push(agent.clone());
    }
    match following {
        Some(following) if is_moved => following.bring(space, writer, (ours, theirs))?,
        Some(following) => following.retract(),
        None => {}
    }
    Ok(())
}

/// What a fetch signs its notes commits with.
fn unite_transaction(space: &Space) -> Result<Transaction> {
    Ok(space.own_signatures()?.transaction("fetch"))
}
