//! A repository that fails at a step, so that every step of a write can be seen to fail.
//!
//! It stands before any other one and counts what is asked of it. With the first, second, third step
//! failing in turn, a test walks through a whole write without knowing its steps.

mod notes;
mod objects;
mod packs;
mod refs;

use std::cell::Cell;
use std::path::Path;

use agentic_model::{AgentName, Instant, Person};

use crate::error::InjectedError;
use crate::ground::GroundStore;
use crate::journal::{ArchivedAgent, Transaction};
use crate::layout::{Layout, Stream};
use crate::report::StreamRecovery;
use crate::writer::WriterSlot;
use crate::{Error, Result};

/// Whether a step that fails has done what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureMoment {
    /// Nothing was done.
    Before,
    /// It was done, and nobody is told so: the answer is lost.
    After,
}

/// A repository whose `n`-th step fails, once. Questions that cannot fail are no steps.
#[derive(Debug)]
pub struct FailingAt<G> {
    inner: G,
    moment: FailureMoment,
    /// Which step fails, from 1.
    n: u64,
    n_steps: Cell<u64>,
}

impl<G> FailingAt<G> {
    /// Stands before a repository; the `n`-th step fails, counted from 1.
    pub fn new(inner: G, moment: FailureMoment, n: u64) -> FailingAt<G> {
        FailingAt { inner, moment, n, n_steps: Cell::new(0) }
    }

    /// Tells whether the step that fails was reached.
    pub fn has_failed(&self) -> bool {
        self.n_steps.get() >= self.n
    }

    /// Returns the repository behind.
    pub fn inner(&self) -> &G {
        &self.inner
    }

    /// Gives the repository behind back.
    pub fn into_inner(self) -> G {
        self.inner
    }

    /// Takes a step, or fails at it.
    fn step<T>(&self, point: &'static str, take: impl FnOnce(&G) -> Result<T>) -> Result<T> {
        self.n_steps.set(self.n_steps.get() + 1);
        if self.n_steps.get() != self.n {
            return take(&self.inner);
        }
        if self.moment == FailureMoment::After {
            let _lost = take(&self.inner)?;
        }
        Err(Error::Injected(InjectedError { point }))
    }
}

impl<G: GroundStore> GroundStore for FailingAt<G> {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn common_dir(&self) -> &Path {
        self.inner.common_dir()
    }

    fn slot(&self) -> &WriterSlot {
        self.inner.slot()
    }

    fn hold(&self, stream: &Stream) {
        self.inner.hold(stream);
    }

    fn release(&self, stream: &Stream) {
        self.inner.release(stream);
    }

    fn sync_filesystem(&self) -> Result<()> {
        self.step("sync-filesystem", |inner| inner.sync_filesystem())
    }

    fn check_unoccupied(&self, branch: &str) -> Result<()> {
        self.step("check-unoccupied", |inner| inner.check_unoccupied(branch))
    }

    fn note_trail(&self, write: &Transaction) -> Result<()> {
        self.step("note-trail", |inner| inner.note_trail(write))
    }

    fn catch_up(&self, now: Instant) -> Result<Vec<StreamRecovery>> {
        self.step("catch-up", |inner| inner.catch_up(now))
    }

    fn keeps_logs(&self) -> bool {
        self.inner.keeps_logs()
    }

    fn committer(&self) -> Result<Person> {
        self.step("committer", |inner| inner.committer())
    }

    fn find_archived(&self, agent: &AgentName) -> Result<Option<ArchivedAgent>> {
        self.step("find-archived", |inner| inner.find_archived(agent))
    }
}
