//! The handle through which sessions, holds and decisions are worked with.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_host::Observer;
use agentic_model::{AgentName, Cid, Instant, LibraryName};
use agentic_providers::host::{CancelFlag, GRACE_DEFAULT};
use agentic_space::Space;

use crate::Result;
use crate::deciding::DecidingLine;
use crate::known::RecentJournals;
use crate::screen::SecretScreen;
use crate::segment::SeenSegments;
use crate::verified::SeenSignatures;

/// The user's setting that names what is adopted without a hold.
const AUTO_ADOPT: &str = "autoAdopt";

/// How a space is opened for sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// How the space itself is opened.
    pub space: agentic_space::Options,
    /// Who watches the runs that go through this handle, if anybody does.
    pub observer: Option<Observer>,
    /// Set when sessions are to be put down: what is under way ends, and nothing more begins.
    pub stop: CancelFlag,
    /// How long a program of a pipeline may take to end once nobody waits for it any more; without
    /// one 5 seconds.
    pub grace: Option<Duration>,
    /// The flows of trials that count, by their ids: that which ships with the program, and those of
    /// earlier releases. Without any no trial speaks for an adoption.
    pub trial_flows: Vec<Cid>,
    /// What looks for secrets in what programs want written; without it nobody does.
    pub screen: Option<SecretScreen>,
}

/// A space with what is known of its sessions. Whatever can be done with the space can be done with
/// this. Threads share it by reference.
pub struct SessionSpace {
    space: Space,
    observer: Option<Observer>,
    stop: CancelFlag,
    grace: Option<Duration>,
    /// The flows of trials that count.
    trial_flows: Vec<Cid>,
    screen: Option<SecretScreen>,
    /// The journals of the sessions that verbs looked at last.
    recent: RecentJournals,
    /// What was seen of the signatures of decisions.
    verified: SeenSignatures,
    /// What was read of commits for what they decide.
    deciding: DecidingLine,
    /// What was seen of sealed segments.
    segments: SeenSegments,
}

impl SessionSpace {
    /// Finds the repository that `directory` is inside of, and finishes what an earlier crash left.
    ///
    /// # Errors
    /// Fails when there is none, when it cannot be kept safely, and when a journal is damaged.
    pub fn open(directory: &Path, options: SessionOptions) -> Result<SessionSpace> {
        Ok(SessionSpace::with(Space::open(directory, options.space)?, options))
    }

    /// Opens a repository without looking for unfinished work; for `doctor`, which reports it.
    ///
    /// # Errors
    /// Fails when there is no repository, or it cannot be kept safely, and when its configuration asks
    /// for a durability that there is none of.
    pub fn open_as_is(directory: &Path, options: SessionOptions) -> Result<SessionSpace> {
        Ok(SessionSpace::with(Space::open_as_is(directory, options.space)?, options))
    }

    fn with(space: Space, options: SessionOptions) -> SessionSpace {
        let SessionOptions { space: _, observer, stop, grace, trial_flows, screen } = options;
        SessionSpace {
            space,
            observer,
            stop,
            grace,
            trial_flows,
            screen,
            recent: RecentJournals::default(),
            verified: SeenSignatures::default(),
            deciding: DecidingLine::default(),
            segments: SeenSegments::default(),
        }
    }

    /// Reads the time by which sessions go, and what peers were granted.
    pub fn now(&self) -> Instant {
        self.space.due_time()
    }

    /// Returns who the person is whom git knows here: `user:` and the local part of the address.
    ///
    /// # Errors
    /// Fails when git knows nobody.
    pub fn principal(&self) -> Result<String> {
        let person = self.repository().committer()?;
        let local = person.email.split('@').next().filter(|local| !local.is_empty());
        Ok(format!("user:{}", local.unwrap_or(&person.name)))
    }

    /// Says whether the user's own configuration lets a name be adopted without a hold. No file of a
    /// repository adds to that.
    pub fn adopts_unasked(&self, name: &LibraryName) -> bool {
        let named = self.repository().values_of_user(AUTO_ADOPT);
        named.iter().any(|it| *it == name.as_str())
    }

    /// Lists the flows of trials that count.
    pub(crate) fn trial_flows(&self) -> &[Cid] {
        &self.trial_flows
    }

    /// Returns what looks for secrets, if anything does.
    pub(crate) fn screen(&self) -> Option<&SecretScreen> {
        self.screen.as_ref()
    }

    /// Returns the journals of sessions that were read already.
    pub(crate) fn recent(&self) -> &RecentJournals {
        &self.recent
    }

    /// Returns what was seen of signatures already.
    pub(crate) fn verified(&self) -> &SeenSignatures {
        &self.verified
    }

    /// Returns what was read of commits for what they decide already.
    pub(crate) fn deciding(&self) -> &DecidingLine {
        &self.deciding
    }

    /// Returns what was seen of sealed segments already.
    pub(crate) fn segments(&self) -> &SeenSegments {
        &self.segments
    }

    /// Returns how long a program may take to end once nobody waits for it any more.
    pub(crate) fn grace(&self) -> Duration {
        self.grace.unwrap_or(GRACE_DEFAULT)
    }

    /// Says whether sessions are to be put down.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_set()
    }

    /// Returns who watches runs.
    pub(crate) fn observer(&self) -> Option<&Observer> {
        self.observer.as_ref()
    }

    /// Returns the folder that an agent's programs run in: its worktree if it has one, else where the
    /// repository is.
    pub(crate) fn work_folder(&self, agent: &AgentName) -> PathBuf {
        let worktree = self.worktree_of(agent).ok();
        let repository = self.repository();
        let top = repository.work_dir().unwrap_or(repository.common_dir());
        worktree.map_or(top.to_owned(), |worktree| worktree.path)
    }

    /// Returns how this space is opened once more, by another thread.
    pub(crate) fn opener(&self) -> (PathBuf, SessionOptions) {
        let (folder, space) = self.space.opener();
        let (observer, stop) = (self.observer.clone(), self.stop.clone());
        let (grace, trial_flows) = (self.grace, self.trial_flows.clone());
        let screen = self.screen.clone();
        (folder, SessionOptions { space, observer, stop, grace, trial_flows, screen })
    }
}

impl Deref for SessionSpace {
    type Target = Space;

    fn deref(&self) -> &Space {
        &self.space
    }
}
