//! Stopping: a whole session, and what nobody waits for any more.
//!
//! Nothing is left without an answer. Work under way is told to end and its request is answered as
//! cancelled; a hold is closed by a decision of the engine; a child session is stopped before the one
//! that waits for it.

use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{Answer, By, EffectClass, Handling, Request, SessionId, Stopped, Withdrawn};

use super::drive::Driver;
use super::effect::child_of;
use super::folder::damaged;
use super::retry::Backlog;
use crate::decide::{self, Action, Decision};
use crate::{Error, Result};

/// What an effect is recorded with that was asked for and has not begun.
const PUT_OFF: &str = "put off before it began: the process was told to stop";

impl Driver<'_> {
    /// Stops the session, its children first.
    pub fn cancel(&mut self, cancel: CancelRecord) -> Result<()> {
        let children: Vec<SessionId> = self
            .session
            .unanswered()
            .filter_map(|request| child_of(self.space, &self.session, request))
            .collect();
        for child in children {
            if let Some(mut driver) = Driver::try_load(self.space, &child)?
                && driver.session.end().is_none()
            {
                driver.cancel(cancel.clone())?;
            }
        }
        let progress = self.session.cancel(cancel, self.space.now());
        let progress = progress.map_err(|_| Error::SessionOver { id: self.folder.id.short() })?;
        self.ready.clear();
        self.take_in(progress)?;
        self.run()
    }

    /// Leaves what has not begun to whoever drives the session next. Of an effect that may happen
    /// once at most it is recorded that it has not: the next driver need not doubt it.
    pub(super) fn put_off(&mut self) -> Result<()> {
        self.backlog = Backlog::default();
        for performance in std::mem::take(&mut self.ready) {
            if performance.class != EffectClass::Once || performance.not_before.is_some() {
                continue;
            }
            self.flush()?;
            let (path, now) = (&performance.request.path, self.space.now());
            let noted = self.session.attempted(path, PUT_OFF, now, now);
            let progress = noted.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
            self.append(&progress.objects, progress.links)?;
        }
        Ok(())
    }

    /// Stops what nobody waits for any more, and answers it all the same.
    pub(super) fn withdraw(&mut self, withdrawn: &Withdrawn) -> Result<()> {
        let path = &withdrawn.request.path;
        self.ready.retain(|performance| performance.request.path != *path);
        self.timers.remove(path);
        self.backlog.forget(path);
        let mut by = By::System("withdraw".to_owned());
        let stopped = match (self.running.remove(path), self.faulted.remove(path)) {
            (Some(running), _) => running.work.stop(),
            // What the fault stopped may have become durable all the same.
            (None, Some(_)) => Stopped::Unknown,
            (None, None) => withdrawn.stopped,
        };
        if self.executor.kinds().rule(&withdrawn.request).handling == Handling::Decision {
            let decision = Decision::system(Action::Withdrawn, "system:withdrawn", withdrawn);
            let policy = decide::Policy::of(agentic_replay::HoldReason::Asked, &withdrawn.request);
            let start = self.session.started();
            if let Some(commit) = decide::record_system(self.space, start, &decision, &policy)? {
                by = By::Decision(commit.to_string());
            }
        }
        self.stop_child(&withdrawn.request)?;
        self.answer(path, Answer::Cancelled(stopped), by)
    }

    /// Stops the session that a request has begun, if there is one: nobody waits for it any more.
    fn stop_child(&self, request: &Request) -> Result<()> {
        let child = child_of(self.space, &self.session, request);
        let Some(child) = child else { return Ok(()) };
        // One that runs now is waited for: it ends its calls, and then itself.
        let mut driver = Driver::load(self.space, &child)?;
        if driver.session.end().is_some() {
            return Ok(());
        }
        driver.cancel(CancelRecord {
            who: "system:withdrawn".to_owned(),
            why: "nobody waits for the result any more".to_owned(),
            mode: CancelMode::Cooperative,
        })
    }
}
