//! The order of writes: decide by one durable record, then make it visible.
//!
//! A [`Writer`] holds the lock of one stream. Opening it finishes what an earlier crash left.
//! [`Writer::carry_out`] is the only way in which anything is written: the record is the commit
//! point, everything after it can be redone.

mod kept;
mod mark;
mod notes;
mod opening;
mod spill;
mod succession;
mod unfinished;
mod visibility;

use std::cell::RefCell;
use std::path::Path;

use agentic_model::{Entry, Instant, Oid};

use crate::bell::{self, GroundChange};
use crate::ground::{GroundStore, RefMove};
use crate::journal::{
    self, ComparedNotes, Durability, Follow, Journal, StreamPin, StreamStanding, Transaction,
};
use crate::layout::Stream;
use crate::lock::Lock;
use crate::recovery::sync_stamp;
use crate::report::{Finding, RecoveryAct, StreamRecovery};
use crate::{Error, Result, fault, fold};

use self::kept::KeptWriter;
pub use self::kept::WriterSlot;
pub(crate) use self::mark::make_mark;
use self::mark::remove_mark;
pub use self::succession::{PendingAside, PendingOutcome, pending_aside};

/// The right to write to one stream, with its journal.
pub struct Writer<'a, G: GroundStore> {
    repository: &'a G,
    stream: Stream,
    /// Held until the writer is dropped.
    lock: Option<Lock>,
    journal: Option<Journal>,
    found: Vec<Finding>,
    /// Whether the stream had been at rest, or is new: a moment to look at what else is at rest.
    is_rare: bool,
    /// What the last write's own move of its notes ref left, until `done` says so.
    compared: RefCell<Option<ComparedNotes>>,
    /// What the next write has of blobs that are packed already.
    brought: Vec<G::Packed>,
    /// The refs that have a place, as was looked before the next write.
    placed: Vec<String>,
    /// Whether anything was recorded, so that those who stay are to hear of it.
    has_written: bool,
}

/// What became of a write.
#[derive(Debug)]
#[must_use = "a lost race must be handled"]
pub enum WriterOutcome {
    /// It is decided and visible.
    Done,
    /// It is decided, but could not be made visible; the next command will.
    Deferred {
        /// What stood in the way.
        why: Error,
    },
    /// Someone moved the branch first; nothing happened.
    Lost {
        /// Where the branch is.
        found: Option<Oid>,
    },
}

impl<G: GroundStore> Writer<'_, G> {
    /// Returns what opening found and mended.
    pub fn findings(&self) -> &[Finding] {
        &self.found
    }

    /// Tells the same as part of what recovery did.
    pub fn report(&self) -> Vec<StreamRecovery> {
        let recovered = |finding: &Finding| StreamRecovery {
            stream: self.stream.clone(),
            mended: RecoveryAct::Opened(finding.clone()),
        };
        self.found.iter().map(recovered).collect()
    }

    /// Returns the stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns where the journal stands, if there is one.
    pub fn standing(&self) -> Option<&StreamStanding> {
        self.journal.as_ref().map(Journal::standing)
    }

    /// Begins the journal of this stream unless it has one for the same genesis. A journal for
    /// another genesis is set aside: it belongs to an earlier branch of this name.
    ///
    /// # Errors
    /// Fails when the journal cannot be made.
    pub fn begin(&mut self, genesis: Option<Oid>, head: Option<Oid>, now: Instant) -> Result<()> {
        if let Some(journal) = &self.journal {
            if journal.standing().genesis == genesis {
                return Ok(());
            }
            return self.succeed(genesis, head, now);
        } else if head.is_some() {
            // Somebody else made that commit, and may not have synced it.
            let repository = self.repository;
            sync_stamp::shared(repository.layout(), || repository.sync_filesystem())?;
        }
        self.create_journal(genesis, head, now)
    }

    fn create_journal(
        &mut self,
        genesis: Option<Oid>,
        head: Option<Oid>,
        now: Instant,
    ) -> Result<()> {
        let standing = StreamStanding {
            genesis,
            head,
            taken_before: 0,
            n_pending: 0,
            notes: None,
            compared: None,
            pin: StreamPin::Unknown,
        };
        let layout = self.repository.layout();
        crate::boot::record(layout)?;
        self.journal = Some(Journal::create(layout, &self.stream, standing, now)?);
        self.is_rare = true;
        Ok(())
    }

    /// Appends trace entries.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; the journal is then as before.
    pub fn append_entries(
        &mut self,
        entries: Vec<Entry>,
        now: Instant,
        durability: Durability,
    ) -> Result<()> {
        if durability == Durability::Git {
            // Only a replay looks at every record.
            let (layout, stream) = (self.repository.layout(), self.stream.clone());
            self.journal().mark_dirty(layout, &stream)?;
        }
        self.journal().append_entries(entries, now, durability)?;
        self.has_written = true;
        self.note_work();
        Ok(())
    }

    /// Asks for a round of checkpoints now and then: when a log grew by a segment, and when a stream
    /// is new or had been at rest.
    fn note_work(&self) {
        if self.is_rare || self.journal.as_ref().is_some_and(Journal::has_rolled) {
            self.repository.slot().ask_for_rest();
        }
    }

    /// Reads the entries that are bound to no commit yet.
    ///
    /// # Errors
    /// Fails when the journal is damaged.
    pub fn pending_entries(&self) -> Result<Vec<Entry>> {
        let Some(journal) = &self.journal else { return Ok(Vec::new()) };
        match journal.pending_here()? {
            Some(entries) => Ok(entries),
            None => journal::pending_entries(self.repository.layout(), &self.stream),
        }
    }

    /// Checks that nothing keeps a ref from being made or moved by the next write, before anything is
    /// done for it. It is not looked for again then.
    ///
    /// # Errors
    /// Fails as [`crate::ground::Refs::check_place_of_ref`] does.
    pub fn check_place(&mut self, name: &str) -> Result<()> {
        if !self.placed.iter().any(|placed| placed == name) {
            self.repository.check_place_of_ref(name)?;
            self.placed.push(name.to_owned());
        }
        Ok(())
    }

    /// Decides a write and carries it out: one durable record, then objects, branch and notes. A
    /// write that names the index of a worktree is finished by [`Writer::follow`] and
    /// [`Writer::settle`]; if the process dies before, the next one lets it follow. One that names
    /// the files is announced before, and they follow when this writer is gone.
    ///
    /// # Errors
    /// Fails only while nothing is decided: when a ref cannot be made, when another program holds the
    /// branch's lock, and when the record cannot be written.
    pub fn carry_out(
        &mut self,
        transaction: Transaction,
        durability: Durability,
        now: Instant,
    ) -> Result<WriterOutcome> {
        for name in names_of(&transaction) {
            self.check_place(&name)?;
        }
        self.placed.clear();
        self.keep_brought()?;
        let transaction = self.spill(transaction)?;
        self.wait_for_foreign_locks(&transaction)?;
        let layout = self.repository.layout();
        let notes = match &transaction.notes {
            Some(edit) => self.repository.find_ref(&edit.name)?,
            None => self.journal().standing().notes,
        };
        let stream = self.stream.clone();
        self.journal().mark_dirty(layout, &stream)?;
        let mark = layout.open_mark(&self.stream);
        make_mark(&mark, &layout.lock(&self.stream))?;
        fault::point("before-record")?;
        let record = transaction.clone();
        if let Err(error) = self.journal().append_transaction(record, notes, durability) {
            remove_mark(&mark);
            return Err(error);
        }
        self.has_written = true;
        self.note_work();
        let (stream, verb) = (&self.stream, &transaction.verb);
        tracing::debug!(%stream, verb, objects = transaction.objects.len(), "decided a write");
        // From here on the write is decided: whatever fails is done by the next command.
        if let Err(why) = fault::point("after-record") {
            return Ok(WriterOutcome::Deferred { why });
        }
        match self.make_visible(&transaction) {
            Ok(RefMove::Moved) => {
                if !matches!(transaction.follow, Some(Follow::Index(_))) {
                    self.settle(now);
                }
                Ok(WriterOutcome::Done)
            }
            Ok(RefMove::Lost { found }) => {
                self.journal().append_abort(found, now)?;
                remove_mark(&mark);
                Ok(WriterOutcome::Lost { found })
            }
            Err(why) => {
                tracing::debug!(%stream, %why, "a write is decided and not visible yet");
                Ok(WriterOutcome::Deferred { why })
            }
        }
    }

    /// Brings the index of a worktree, given its git directory, to where its branch is now. No program may run meanwhile. If the
    /// process dies, the next one removes the lock that git would find on that index.
    ///
    /// # Errors
    /// Fails when another program holds that lock, and as `bring` does.
    pub fn follow(&mut self, git_dir: &Path, bring: impl FnOnce() -> Result<()>) -> Result<()> {
        fault::point("before-follow")?;
        let folders = (self.repository.common_dir(), git_dir);
        self.lock().announced_index(folders, bring)?;
        fault::point("after-follow")
    }

    /// Moves a ref that no transaction moves, under the protection of this writer's lock.
    ///
    /// # Errors
    /// Fails as `change` does.
    pub fn with_refs<T>(
        &mut self,
        names: &[&str],
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        for name in names {
            self.repository.wait_for_ref_lock(name)?;
        }
        // Without the mark nobody would look at this stream before it is written to again.
        let layout = self.repository.layout();
        let mark = layout.open_mark(&self.stream);
        make_mark(&mark, &layout.lock(&self.stream))?;
        let outcome = self.lock().announced(names, change);
        self.has_written |= outcome.is_ok();
        remove_mark(&mark);
        outcome
    }

    /// Notes that the last write is visible in every place. Without that note the next command looks
    /// again, which is harmless.
    pub fn settle(&mut self, now: Instant) {
        let is_open =
            self.journal.as_ref().is_some_and(|journal| journal.last().transaction().is_some());
        if !is_open || fault::point("before-done").is_err() {
            return;
        }
        if self.append_done(now).is_ok() {
            remove_mark(&self.repository.layout().open_mark(&self.stream));
        }
    }

    /// Waits for other programs' locks on the refs that will move, before anything is decided.
    fn wait_for_foreign_locks(&self, transaction: &Transaction) -> Result<()> {
        for name in names_of(transaction) {
            self.repository.wait_for_ref_lock(&name)?;
        }
        Ok(())
    }

    fn lock(&self) -> &Lock {
        self.lock.as_ref().expect("BUG: a writer holds its lock until it is dropped")
    }

    pub(crate) fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("BUG: a stream's journal is begun before it is written")
    }
}

impl<G: GroundStore> Drop for Writer<'_, G> {
    /// Gives the lock back, keeps open what the next write of this stream begins with, and tells those
    /// who stay that something was written.
    fn drop(&mut self) {
        self.repository.release(&self.stream);
        let (lock, mut journal) = (self.lock.take(), self.journal.take());
        if lock.is_some() && journal.take_if(|journal| journal.is_unused()).is_some() {
            // What it was begun for failed, and nobody was told of anything.
            journal::remove_begun(self.repository.layout(), &self.stream);
        }
        if let Some(lock) = lock.and_then(Lock::give_back) {
            self.repository.slot().keep(KeptWriter { stream: self.stream.clone(), lock, journal });
        }
        if self.has_written {
            bell::ring(self.repository.layout(), &GroundChange::Stream(self.stream.clone()));
        }
    }
}

/// Names the refs that a write moves.
fn names_of(transaction: &Transaction) -> Vec<String> {
    let branch = transaction.branch.iter().map(|branch| branch.name.clone());
    let notes = transaction.notes.iter().map(|notes| notes.name.clone());
    branch.chain(notes).chain(transaction.fold.iter().flat_map(fold::names)).collect()
}
