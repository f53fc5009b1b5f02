//! The handle on one repository with its journals.

use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use agentic_git::{CommitInfo, Repository, SharedRepository, leads_to, local_zone};
use agentic_model::{AgentName, Instant, Oid, Person, Signature, Zone};
use agentic_store::{Durability, Patience, Stream, journal};
use agentic_store::{StreamRecovery, recovery};
use thread_local::ThreadLocal;

use crate::error::{AgentError, CommitError};
use crate::group::Queues;
use crate::guide::NotesGuide;
use crate::mutex::locked;
use crate::signatures::Signatures;
use crate::{Clock, Error, Result};

/// How a space is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Where the time comes from.
    pub clock: Clock,
    /// How durable writes are; without one, what `agentic.durability` in git's configuration says.
    pub durability: Option<Durability>,
}

/// One repository, open. Threads share a handle by reference: each sees git with its own eyes, and
/// those that write to one agent at the same time share one write.
pub struct Space {
    /// What threads open their views of the repository from.
    shared: SharedRepository,
    /// The views that threads have opened.
    views: ThreadLocal<Repository>,
    /// The agents that threads are writing to.
    queues: Queues,
    clock: Clock,
    durability: Durability,
    recovered: Vec<StreamRecovery>,
    /// What verbs found unfinished when they began to write, until somebody asks.
    found: Mutex<Vec<StreamRecovery>>,
    /// What verbs mended on their way, until somebody asks.
    mended: Mutex<Vec<String>>,
    /// The local time zone, once it was asked for.
    zone: OnceLock<Option<Zone>>,
    /// Who knows which notes keep what.
    guide: Mutex<Option<NotesGuide>>,
    /// How long locks of streams are waited for, where somebody said so.
    lock_wait: Mutex<Option<Duration>>,
}

impl Space {
    /// Finds the repository that `directory` is inside of, and finishes what an earlier crash left.
    ///
    /// # Errors
    /// Fails when there is none, when it cannot be kept safely, and when a journal is damaged.
    pub fn open(directory: &Path, options: Options) -> Result<Space> {
        let mut space = Space::open_as_is(directory, options)?;
        space.recovered = recovery::recover(space.repository(), space.now())?;
        Ok(space)
    }

    /// Opens a repository without looking for unfinished work; for `doctor`, which reports it.
    ///
    /// # Errors
    /// Fails when there is no repository, or it cannot be kept safely, and when its configuration asks
    /// for a durability that there is none of.
    pub fn open_as_is(directory: &Path, options: Options) -> Result<Space> {
        let repository = Repository::discover(directory)?;
        let durability = match options.durability {
            Some(durability) => durability,
            None => configured_durability(&repository)?,
        };
        let (shared, views) = (repository.share(), ThreadLocal::new());
        views.get_or(|| repository);
        Ok(Space {
            shared,
            views,
            queues: Queues::default(),
            clock: options.clock,
            durability,
            recovered: Vec::new(),
            found: Default::default(),
            mended: Default::default(),
            zone: OnceLock::new(),
            guide: Mutex::default(),
            lock_wait: Mutex::default(),
        })
    }

    /// Returns the git repository, as the calling thread sees it.
    pub fn repository(&self) -> &Repository {
        self.views.get_or(|| self.shared.open())
    }

    /// Takes whom to ask which notes may keep something, before all are looked at. The last who offers is
    /// asked.
    pub fn be_guided(&self, guide: NotesGuide) {
        *locked(&self.guide) = Some(guide);
    }

    /// Has verbs fail where others hold the lock of a stream for longer than that. Without it they wait as
    /// long as it is held.
    pub fn wait_at_most(&self, time: Duration) {
        *locked(&self.lock_wait) = Some(time);
    }

    /// Returns how long the lock of a stream is waited for from now on.
    pub(crate) fn patience(&self) -> Patience {
        locked(&self.lock_wait).map_or(Patience::Endless, Patience::of)
    }

    /// Returns who knows which notes keep what, if somebody does.
    pub(crate) fn guide(&self) -> Option<NotesGuide> {
        locked(&self.guide).clone()
    }

    /// Returns the agents that threads are writing to.
    pub(crate) fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Returns what opening the space had to mend.
    pub fn recovered(&self) -> &[StreamRecovery] {
        &self.recovered
    }

    /// Notes what had to be mended before a write.
    pub(crate) fn note_found(&self, found: Vec<StreamRecovery>) {
        locked(&self.found).extend(found);
    }

    /// Takes what had to be mended before writes since the last call.
    pub fn take_found(&self) -> Vec<StreamRecovery> {
        std::mem::take(&mut *locked(&self.found))
    }

    /// Notes that a verb mended something on its way.
    pub fn note_mended(&self, what: String) {
        locked(&self.mended).push(what);
    }

    /// Takes what verbs have mended since the last call, as sentences.
    pub fn take_mended(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.mended))
    }

    /// Returns how this space is opened once more, by another thread.
    pub fn opener(&self) -> (std::path::PathBuf, Options) {
        // A worktree elsewhere, as `core.worktree` has it, does not lead back to its repository, and
        // may lead to another.
        let git_dir = self.repository().git_dir();
        let folder = self.repository().work_dir().filter(|folder| leads_to(folder, git_dir));
        let folder = folder.unwrap_or(self.repository().common_dir());
        (folder.to_owned(), Options { clock: self.clock, durability: Some(self.durability) })
    }

    /// Returns how durable writes are.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Tells whether the time is the machine's, so that a write may be made in another space's name.
    pub(crate) fn is_live(&self) -> bool {
        self.clock == Clock::System
    }

    /// Reads the time that writes bear.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Reads the time by which something falls due.
    pub fn due_time(&self) -> Instant {
        self.clock.due_time()
    }

    /// Cuts some logs whose writes git itself holds durably, if a write of this space was a good
    /// moment for it: the logs of agents at rest whole, those in use by their oldest part. A space
    /// does this before its next write and when it is dropped; nobody waits for it with a lock.
    ///
    /// # Errors
    /// Fails when the disk does; the logs are then longer than they need to be.
    pub fn rest(&self) -> Result<()> {
        if self.repository().take_rest_due() {
            recovery::rest(self.repository(), self.now())?;
        }
        Ok(())
    }

    /// Returns the head of an agent.
    ///
    /// # Errors
    /// Fails when there is no such agent.
    pub fn head(&self, agent: &AgentName) -> Result<Oid> {
        let head = self.repository().find_ref(&agent.branch_ref())?;
        match head {
            Some(head) => Ok(head),
            None if self.repository().archive_entry(agent)?.is_some() => {
                Err(Error::Agent(AgentError::Archived { name: agent.clone() }))
            }
            None => {
                // A branch that a person deleted does not come back after a restart.
                recovery::note_missing_agent(self.repository(), agent);
                Err(Error::Agent(AgentError::Unknown { name: agent.clone() }))
            }
        }
    }

    /// Returns the agent whose branch the current worktree has checked out.
    pub fn current_agent(&self) -> Option<AgentName> {
        AgentName::from_branch_ref(&self.repository().current_branch()?)
    }

    /// Tells whether an agent's journal or a checkpoint makes its head durable. A head that was
    /// made without us may not be synced.
    pub(crate) fn is_journalled(&self, agent: &AgentName, head: Oid) -> Result<bool> {
        let stream = Stream::Agent(agent.clone());
        let tail = journal::tail(self.repository().layout(), &stream)?;
        Ok(tail.is_some_and(|record| record.standing.head == Some(head)))
    }

    /// Reads a commit.
    pub fn read_commit(&self, oid: Oid) -> Result<CommitInfo> {
        Ok(self.repository().read_commit(oid)?)
    }

    /// Signs a write: the agent as author, git's identity as committer.
    pub fn signatures(&self, agent: &AgentName) -> Result<Signatures> {
        self.signatures_of(Person::of_agent(agent))
    }

    /// Signs a write that somebody makes who is named.
    ///
    /// # Errors
    /// Fails when git does not know who commits.
    pub fn signatures_of(&self, author: Person) -> Result<Signatures> {
        let person = self.repository().committer()?;
        let at = self.now();
        let offset_minutes =
            self.zone.get_or_init(local_zone).as_ref().map_or(0, |zone| zone.offset_minutes(at));
        let author = Signature { person: author, at, offset_minutes };
        Ok(Signatures { author, committer: Signature { person, at, offset_minutes } })
    }

    /// Signs a write that no agent makes.
    pub(crate) fn own_signatures(&self) -> Result<Signatures> {
        let person = self.repository().committer()?;
        self.signatures_of(person)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let mut is_due = false;
        for view in self.views.iter_mut() {
            is_due |= view.take_rest_due();
        }
        if is_due {
            // What was written is safe; logs that stay long are cut by somebody else.
            let _ = recovery::rest(self.repository(), self.now());
        }
    }
}

fn configured_durability(repository: &Repository) -> Result<Durability> {
    match repository.config("agentic.durability") {
        None => Ok(Durability::Full),
        Some(value) => match value.as_str() {
            "full" => Ok(Durability::Full),
            "git" => Ok(Durability::Git),
            _ => Err(Error::Commit(CommitError::UnknownDurability { value })),
        },
    }
}
