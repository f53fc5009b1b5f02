//! Archiving: agents that are done leave their refs for one ref that keeps them all.
//!
//! An archived agent costs nothing in listings, pushes and lookups of refs. Its branch and notes
//! are parents of the archive's commits, so git keeps, checks and carries them; restoring puts the
//! same two refs back. Its name stays taken.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{ARCHIVE_REF, ArchiveEntry, ArchivedBy, PACKED_REFS, PRIVATE_REF, archive_order};
use agentic_model::AgentName;
use agentic_store::error::RefError;
use agentic_store::journal::{ArchivedAgent, BranchMove, RefFold, Transaction};
use agentic_store::recovery::keep_notes;
use agentic_store::{Lock, Stream, Writer, drop_journal};

use crate::agent::SoundAgents;
use crate::error::{AgentError, BranchError, WorktreeError};
use crate::signatures::Signatures;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// The most agents that one write archives. Each write makes git write all packed refs again, so the
/// fewer the better; but of each agent two files are open meanwhile, and the commit names them all.
pub const ARCHIVE_AGENTS_MAX: usize = 4096;
/// How many agents one write archives however few files may be open.
const ARCHIVE_AGENTS_MIN: usize = 16;
/// How many files of each agent are open while it is archived: its lock and its journal.
const FILES_EACH: usize = 2;

/// Which agents are archived, and who found that they are done.
#[derive(Debug, Clone, Copy)]
pub struct ArchiveWish<'a> {
    /// The agents, in any order.
    pub agents: &'a [AgentName],
    /// Who found it.
    pub by: ArchivedBy,
}

impl<'a> ArchiveWish<'a> {
    /// Those that a person found done.
    pub fn by_person(agents: &'a [AgentName]) -> ArchiveWish<'a> {
        ArchiveWish { agents, by: ArchivedBy::Person }
    }

    /// Those that an agent, or a program that tidies up, found done.
    pub fn by_program(agents: &'a [AgentName]) -> ArchiveWish<'a> {
        ArchiveWish { agents, by: ArchivedBy::Program }
    }
}

/// What became of archiving or restoring.
#[derive(Debug, Default)]
pub struct ArchiveOutcome {
    /// The agents with their refs, by name.
    pub entries: Vec<ArchiveEntry>,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

impl Space {
    /// Lists the agents that only an archive has, by name.
    ///
    /// # Errors
    /// Fails when refs or the archive cannot be read.
    pub fn archived_agents(&self) -> Result<Vec<ArchiveEntry>> {
        let SoundAgents { agents, damaged } = self.sound_agents()?;
        // One whose branch is damaged has one all the same.
        let open = agents.into_iter().map(|(name, _)| name);
        let open: BTreeSet<AgentName> = open.chain(damaged.into_iter().map(|it| it.name)).collect();
        let mut entries = self.repository().all_archive_entries()?;
        entries.retain(|entry| !open.contains(&entry.archived.agent));
        Ok(entries)
    }

    /// Finds an agent that only the archive has.
    ///
    /// # Errors
    /// Fails when refs or the archive cannot be read.
    pub fn archived_agent(&self, name: &AgentName) -> Result<Option<ArchiveEntry>> {
        match self.repository().find_ref(&name.branch_ref())? {
            Some(_) => Ok(None),
            None => Ok(self.repository().archive_entry(name)?),
        }
    }
}

/// Who knows which agents have sessions that are not over: a space knows nothing of sessions.
pub trait SessionUsers {
    /// Finds a session of one of these agents that is not over: the agent, and what people call the
    /// session.
    ///
    /// # Errors
    /// Fails when sessions cannot be listed.
    fn open_session(&self, agents: &BTreeSet<&AgentName>) -> Result<Option<(AgentName, String)>>;
}

/// Archives agents: up to [`ARCHIVE_AGENTS_MAX`] of them by one write, if so many files may be open.
///
/// # Errors
/// Fails when one of them does not exist, is checked out, or has a session that is not over or
/// trace entries that are bound to no commit; none is archived then.
pub fn archive(
    space: &Space,
    wish: ArchiveWish<'_>,
    users: &impl SessionUsers,
) -> Result<ArchiveOutcome> {
    let mut agents: Vec<AgentName> = wish.agents.to_vec();
    agents.sort_by_cached_key(archive_order);
    agents.dedup();
    check_closed(space, &agents, users)?;
    for agent in &agents {
        check_pending(space, agent)?;
    }
    let mut moved = ArchiveOutcome::default();
    let n_wanted = agents.len().min(ARCHIVE_AGENTS_MAX);
    let n_at_once = agentic_store::open_files::make_room(n_wanted * FILES_EACH) / FILES_EACH;
    let private = space.repository().private_agents()?;
    let (private, public): (Vec<AgentName>, Vec<AgentName>) =
        agents.into_iter().partition(|agent| private.contains(agent));
    for (archive, agents) in [(ARCHIVE_REF, public), (PRIVATE_REF, private)] {
        for part in agents.chunks(n_at_once.max(ARCHIVE_AGENTS_MIN)) {
            let part = ArchiveWish { agents: part, by: wish.by };
            let (entries, written) = archive_part(space, archive, part, users)?;
            moved.entries.extend(entries);
            moved.written.deferred = moved.written.deferred.or(written.deferred);
        }
    }
    moved.entries.sort_by(|left, right| left.archived.agent.cmp(&right.archived.agent));
    Ok(moved)
}

/// Archives agents by one write, in the archive of this ref.
fn archive_part(
    space: &Space,
    archive_ref: &str,
    wish: ArchiveWish<'_>,
    users: &impl SessionUsers,
) -> Result<(Vec<ArchiveEntry>, WriteNotices)> {
    let agents = wish.agents;
    let repository = space.repository();
    let signatures = space.own_signatures()?;

    // The archive's lock comes before those of agents, here and where agents are restored.
    let mut archive = LockedStream::stream(space, &Stream::of_branch(archive_ref))?;
    let mut writers = BTreeMap::new();
    for agent in agents.iter().collect::<BTreeSet<_>>() {
        let stream = Stream::Agent(agent.clone());
        writers.insert(agent, Writer::open(repository, &stream, space.now())?);
    }
    let worktrees = repository.layout().space_lock("worktree");
    let _no_worktree_is_added = Lock::take(&worktrees, repository.common_dir())?;
    check_closed(space, agents, users)?;
    let mut entries = Vec::new();
    for (agent, writer) in &writers {
        if writer.standing().is_some_and(|standing| standing.n_pending > 0) {
            return Err(Error::Agent(AgentError::TracePending { agent: (*agent).clone() }));
        }
        // After this its notes ref is not made again.
        keep_notes(repository, writer.stream(), space.now())?;
        entries.push(entry_of(space, agent, wish.by)?);
    }

    repository.wait_for_ref_lock(PACKED_REFS)?;
    archive.begin(None, repository.find_ref(archive_ref)?)?;
    // What the archive names must not be younger on the disk than the archive, nor its journal than
    // the record in it.
    repository.sync_filesystem()?;
    let transaction = folding_away(space, archive_ref, &entries, signatures)?;
    let decided = archive.decide(transaction, None, space.durability())?;
    if decided.is_visible() {
        for entry in &entries {
            check_gone(space, &entry.archived)?;
        }
        for agent in writers.keys() {
            // A journal that stays costs room and nothing else; the doctor removes it.
            let _kept = drop_journal(repository, &Stream::Agent((*agent).clone()), space.now());
        }
    }
    Ok((entries, decided.follow().written))
}

/// Restores agents: each with the branch and the notes that it had.
///
/// # Errors
/// Fails when one of them is not archived; none is restored then.
pub fn restore(space: &Space, agents: &[AgentName]) -> Result<ArchiveOutcome> {
    let agents: BTreeSet<&AgentName> = agents.iter().collect();
    for agent in &agents {
        check_archived(space, agent)?;
    }
    let mut moved = ArchiveOutcome::default();
    for agent in agents {
        let (entry, written) = restore_one(space, agent)?;
        moved.entries.push(entry);
        moved.written.deferred = moved.written.deferred.or(written.deferred);
    }
    Ok(moved)
}

fn restore_one(space: &Space, agent: &AgentName) -> Result<(ArchiveEntry, WriteNotices)> {
    // Whoever archived it and died may not have been done with its refs.
    let archive = match space.repository().is_private(agent)? {
        true => Stream::of_branch(PRIVATE_REF),
        false => archive_stream(),
    };
    let _archive = LockedStream::stream(space, &archive)?;
    let mut locked = LockedStream::stream(space, &Stream::Agent(agent.clone()))?;
    let entry = check_archived(space, agent)?;
    let head = entry.archived.head;
    let genesis = space.find_genesis(agent, head)?;
    let signatures = space.own_signatures()?;
    locked.begin(genesis, Some(head))?;
    space.repository().sync_filesystem()?;
    let transaction = Transaction {
        branch: Some(BranchMove { name: agent.branch_ref(), expect: None, new: head }),
        fold: Some(RefFold::Back(entry.archived.clone())),
        ..signatures.transaction("restore")
    };
    let written = match locked.decide(transaction, None, space.durability()) {
        Err(Error::Branch(BranchError::HeadMoved { .. })) => {
            return Err(Error::Agent(AgentError::Exists { name: agent.clone() }));
        }
        decided => decided?.follow().written,
    };
    Ok((entry, written))
}

pub(crate) fn archive_stream() -> Stream {
    Stream::of_branch(ARCHIVE_REF)
}

fn entry_of(space: &Space, agent: &AgentName, by: ArchivedBy) -> Result<ArchiveEntry> {
    let head = space.head(agent)?;
    let notes = space.repository().find_ref(&agent.notes_ref())?;
    Ok(ArchiveEntry {
        archived: ArchivedAgent { agent: agent.clone(), head, notes },
        at: space.now(),
        by,
    })
}

fn folding_away(
    space: &Space,
    archive: &str,
    entries: &[ArchiveEntry],
    signatures: Signatures,
) -> Result<Transaction> {
    let signed = (&signatures.author, &signatures.committer);
    let draft = space.repository().draft_archive(archive, entries, None, signed)?;
    let away = entries.iter().map(|entry| entry.archived.clone()).collect();
    Ok(Transaction {
        objects: draft.objects,
        branch: Some(draft.step),
        fold: Some(RefFold::Away(away)),
        ..signatures.transaction("archive")
    })
}

/// Checks that nobody works on these agents: they exist, have no worktree and no open session.
fn check_closed(space: &Space, agents: &[AgentName], users: &impl SessionUsers) -> Result<()> {
    for agent in agents {
        space.head(agent)?;
    }
    let wanted: BTreeSet<&AgentName> = agents.iter().collect();
    for worktree in space.repository().worktrees()? {
        let agent = worktree.branch.as_deref().and_then(AgentName::from_branch_ref);
        if let Some(agent) = agent.filter(|agent| wanted.contains(agent)) {
            return Err(Error::Worktree(WorktreeError::CheckedOut { agent, path: worktree.path }));
        }
        let occupied = worktree.occupied_branches().into_iter();
        let is_wanted = |branch: &str| {
            AgentName::from_branch_ref(branch).is_some_and(|agent| wanted.contains(&agent))
        };
        if let Some((branch, occupation)) = occupied.into_iter().find(|(name, _)| is_wanted(name)) {
            let path = worktree.path;
            return Err(
                agentic_store::Error::Ref(RefError::Occupied { branch, occupation, path }).into()
            );
        }
    }
    match users.open_session(&wanted)? {
        Some((agent, session)) => Err(Error::Agent(AgentError::SessionOpen { agent, session })),
        None => Ok(()),
    }
}

fn check_pending(space: &Space, agent: &AgentName) -> Result<()> {
    let stream = Stream::Agent(agent.clone());
    let tail = agentic_store::journal::tail(space.repository().layout(), &stream)?;
    match tail.is_some_and(|record| record.standing.n_pending > 0) {
        true => Err(Error::Agent(AgentError::TracePending { agent: agent.clone() })),
        false => Ok(()),
    }
}

/// A branch that git moved at the last moment stays.
fn check_gone(space: &Space, archived: &ArchivedAgent) -> Result<()> {
    match space.repository().find_ref(&archived.agent.branch_ref())? {
        None => Ok(()),
        found => Err(Error::Branch(BranchError::HeadMoved {
            branch: archived.agent.to_string(),
            expected: archived.head.to_string(),
            found,
        })),
    }
}

fn check_archived(space: &Space, agent: &AgentName) -> Result<ArchiveEntry> {
    let entry = space.archived_agent(agent)?;
    entry.ok_or_else(|| Error::Agent(AgentError::NotArchived { agent: agent.clone() }))
}
