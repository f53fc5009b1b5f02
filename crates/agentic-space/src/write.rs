//! The order of every write, as a chain of values: each step takes the one before it and gives the
//! next. Whoever drops one half-way has written nothing, or what the next command finishes.
//!
//! | value | what holds |
//! | --- | --- |
//! | [`ReservedBranch`] | No lock of a branch is held. The worktree that will come along is kept from everybody else. What is to be written is prepared and signed now: programs of the user's may run. |
//! | [`LockedStream`] | The stream's lock is held. Head and pending trace are read again, and nobody moves them. |
//! | [`DecidedWrite`] | The record is durable. Objects, branch and notes are visible, or the next command makes them so. |
//! | [`MovedBranch`] | The lock is given back, and the worktree has followed its branch. |

use agentic_git::PackedBlobs;
use agentic_git::{GitWriter, WorktreeLock};
use agentic_model::{AgentName, Oid};
use agentic_store::journal::Transaction;
use agentic_store::{Durability, Patience, Stream};

use crate::branch::short;
use crate::error::AgentError;
use crate::following::{FollowingWorktree, reserve};
use crate::signing::SigningChoice;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// A write that will move a branch, before it is prepared.
#[must_use = "a worktree is kept from everybody else until this is dropped"]
pub struct ReservedBranch<'s> {
    space: &'s Space,
    branch: String,
    signing: SigningChoice,
    worktree: Option<WorktreeLock>,
}

impl<'s> ReservedBranch<'s> {
    /// Begins a write to a branch, by its full ref name. Whoever signs reserves no worktree yet:
    /// others would wait for the signature.
    ///
    /// # Errors
    /// Fails when the worktree has to follow an earlier write and cannot.
    pub fn begin(
        space: &'s Space,
        branch: String,
        signing: SigningChoice,
    ) -> Result<ReservedBranch<'s>> {
        let worktree = match signing {
            SigningChoice::Signed => None,
            SigningChoice::Plain => reserve(space, &branch)?,
        };
        Ok(ReservedBranch { space, branch, signing, worktree })
    }

    /// Tells whether nobody signs and no worktree comes along, so that no program of the user's runs
    /// and the write may be prepared under the lock.
    pub fn is_alone(&self) -> bool {
        self.signing == SigningChoice::Plain && self.worktree.is_none()
    }

    /// Says how the worktree comes along once the write is prepared, on top of `head`, and which
    /// paths differ.
    ///
    /// # Errors
    /// Fails when there is work in it that this would touch.
    pub fn prepared(self, head: Oid, changed: &[Vec<u8>]) -> Result<Option<FollowingWorktree>> {
        let worktree = match self.signing {
            SigningChoice::Signed => reserve(self.space, &self.branch)?,
            SigningChoice::Plain => self.worktree,
        };
        FollowingWorktree::of(worktree, &self.branch, head, changed)
    }
}

/// A write whose stream nobody else writes to.
#[must_use = "others wait until this is dropped"]
pub struct LockedStream<'s> {
    space: &'s Space,
    writer: GitWriter<'s>,
    head: Option<Oid>,
}

/// Takes the lock of a stream, as patiently as the space is.
///
/// # Errors
/// Fails when others hold it for too long, and when the journal is damaged.
pub(crate) fn open_writer<'s>(space: &'s Space, stream: &Stream) -> Result<GitWriter<'s>> {
    let opened = open_writer_within(space, stream, space.patience())?;
    opened.ok_or_else(|| Error::Agent(AgentError::Held { stream: stream.to_string() }))
}

/// Takes the lock of a stream; nothing if others hold it for too long.
///
/// # Errors
/// Fails when the journal is damaged.
pub(crate) fn open_writer_within<'s>(
    space: &'s Space,
    stream: &Stream,
    patience: Patience,
) -> Result<Option<GitWriter<'s>>> {
    let (repository, now) = (space.repository(), space.now());
    match patience {
        Patience::Endless => Ok(Some(GitWriter::open(repository, stream, now)?)),
        Patience::Until(_) => {
            Ok(patience.keep_trying(|| GitWriter::try_open(repository, stream, now))?)
        }
    }
}

impl<'s> LockedStream<'s> {
    /// Takes the lock of an agent, finishes what a crash left there, and reads its head, which it
    /// returns too.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when its journal is damaged.
    pub fn agent(space: &'s Space, agent: &AgentName) -> Result<(LockedStream<'s>, Oid)> {
        // What goes wrong with it is found by `doctor`; this write is not about it.
        let _ = space.rest();
        let stream = Stream::Agent(agent.clone());
        let mut writer = open_writer(space, &stream)?;
        let head = space.head(agent)?;
        begin_journal(space, &mut writer, agent, head)?;
        space.note_found(writer.report());
        Ok((LockedStream { space, writer, head: Some(head) }, head))
    }

    /// Goes on with a writer that has the lock of an agent whose head is known.
    pub(crate) fn of_writer(
        space: &'s Space,
        writer: GitWriter<'s>,
        head: Oid,
    ) -> LockedStream<'s> {
        LockedStream { space, writer, head: Some(head) }
    }

    /// Takes the lock of a stream whose journal may have to be begun: see [`LockedStream::begin`].
    ///
    /// # Errors
    /// Fails when the journal is damaged.
    pub fn stream(space: &'s Space, stream: &Stream) -> Result<LockedStream<'s>> {
        let writer = open_writer(space, stream)?;
        Ok(LockedStream { space, writer, head: None })
    }

    /// Takes the lock as [`LockedStream::stream`] does, if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`LockedStream::stream`] does.
    pub fn try_stream(space: &'s Space, stream: &Stream) -> Result<Option<LockedStream<'s>>> {
        let writer = GitWriter::try_open(space.repository(), stream, space.now())?;
        Ok(writer.map(|writer| LockedStream { space, writer, head: None }))
    }

    /// Takes the lock as [`LockedStream::stream`] does; nothing if others hold it for too long.
    ///
    /// # Errors
    /// Fails as [`LockedStream::stream`] does.
    pub fn stream_within(
        space: &'s Space,
        stream: &Stream,
        patience: Patience,
    ) -> Result<Option<LockedStream<'s>>> {
        match patience {
            Patience::Endless => LockedStream::stream(space, stream).map(Some),
            Patience::Until(_) => patience.keep_trying(|| LockedStream::try_stream(space, stream)),
        }
    }

    /// Begins the journal of the stream, if it has none, where the branch is.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn begin(&mut self, genesis: Option<Oid>, head: Option<Oid>) -> Result<()> {
        self.head = head;
        Ok(self.writer.begin(genesis, head, self.space.now())?)
    }

    /// Returns the stream's writer, which has the lock from now on, for what is no move of a branch.
    pub fn into_writer(self) -> GitWriter<'s> {
        self.writer
    }

    /// Returns the stream's writer.
    pub fn writer(&self) -> &GitWriter<'s> {
        &self.writer
    }

    /// Makes sure that the commit which the write builds upon is durable, and what else it names if
    /// that `is_sound` already: somebody without a journal may have made them, and not synced.
    ///
    /// # Errors
    /// Fails when the filesystem cannot be synced.
    pub fn settle_parents(&self, is_sound: bool) -> Result<()> {
        let journalled = self.writer.standing().and_then(|standing| standing.head);
        if !is_sound || journalled != self.head {
            agentic_store::recovery::sync_beside_others(self.space.repository())?;
        }
        Ok(())
    }

    /// Checks that a ref which the write will make can be made, once for all that it does.
    ///
    /// # Errors
    /// Fails when another ref, or a folder, is in its place.
    pub fn check_place(&mut self, name: &str) -> Result<()> {
        Ok(self.writer.check_place(name)?)
    }

    /// Takes blobs along that are too large for the record; they stand in a pack of their own, which
    /// becomes durable before it.
    pub fn bring(&mut self, blobs: impl IntoIterator<Item = PackedBlobs>) {
        for blobs in blobs {
            self.writer.bring(Some(blobs));
        }
    }

    /// Writes the record, with one sync: from here on the write is decided. Then objects, branch and
    /// notes become visible.
    ///
    /// # Errors
    /// Fails when nothing was written, and when the branch is not where the record expects it.
    pub fn decide(
        mut self,
        mut transaction: Transaction,
        following: Option<FollowingWorktree>,
        durability: Durability,
    ) -> Result<DecidedWrite<'s>> {
        transaction.follow = following.as_ref().map(FollowingWorktree::record);
        let step = transaction.branch.as_ref();
        let way = step.and_then(|step| Some((self.head?, step.new)));
        let branch = step.map_or(String::new(), |step| step.name.clone());
        if let (Some(following), Some(way)) = (&following, way) {
            following.announce(&branch, way)?;
        }
        let name = match branch.is_empty() {
            true => self.writer.stream().to_string(),
            false => short(&branch),
        };
        let outcome = self.writer.carry_out(transaction, durability, self.space.now());
        let written = outcome
            .map_err(Error::from)
            .and_then(|outcome| WriteNotices::from_outcome(outcome, &name, self.head));
        if let (Err(_), Some(following)) = (&written, &following) {
            following.retract();
        }
        let following = following.zip(way);
        Ok(DecidedWrite { space: self.space, writer: self.writer, written: written?, following })
    }
}

/// Begins the journal of an agent whose lock is held and whose head is known, if it has none.
pub(crate) fn begin_journal(
    space: &Space,
    writer: &mut GitWriter<'_>,
    agent: &AgentName,
    head: Oid,
) -> Result<()> {
    let known = writer.standing().map(|standing| (standing.genesis, standing.head));
    if known.is_none() {
        // A journal of a branch that cannot be moved would stay behind.
        writer.check_place(&agent.branch_ref())?;
    }
    let genesis = match known {
        Some((genesis, Some(journalled))) if journalled == head => genesis,
        Some((Some(genesis), _)) if space.repository().is_ancestor(genesis, head)? => Some(genesis),
        _ => space.find_genesis(agent, head)?,
    };
    Ok(writer.begin(genesis, Some(head), space.now())?)
}

/// A write whose record is durable.
#[must_use = "a worktree may have to follow"]
pub struct DecidedWrite<'s> {
    space: &'s Space,
    writer: GitWriter<'s>,
    written: WriteNotices,
    /// The worktree that comes along, and from where to where.
    following: Option<(FollowingWorktree, (Oid, Oid))>,
}

impl DecidedWrite<'_> {
    /// Tells whether everything is visible.
    pub fn is_visible(&self) -> bool {
        self.written.deferred.is_none()
    }

    /// Gives the lock of the branch back and lets the worktree follow.
    pub fn follow(self) -> MovedBranch {
        let left_behind = match self.following {
            Some((following, way)) if self.written.deferred.is_none() => {
                following.bring(self.space, self.writer, way).err()
            }
            Some(_) | None => None,
        };
        MovedBranch { written: self.written, left_behind }
    }
}

/// What a write came to.
pub struct MovedBranch {
    /// Whether everything is visible.
    pub written: WriteNotices,
    /// Why the worktree could not follow, if one could not.
    pub left_behind: Option<agentic_store::Error>,
}
