//! Stopping: a whole session, and what nobody waits for any more.
//!
//! Nothing is left without an answer. Work under way is told to end and its request is answered as
//! cancelled; a hold is closed by a decision of the engine; a child session is stopped before the one
//! that waits for it.

use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, Handling, Request, RequestAnswer, SessionId,
    WithdrawnRequest, child_key,
};

use super::backlog::Backlog;
use super::children::{Close, begins_a_session, child_of, close_policy};
use super::drive::Driver;
use super::effect::{AskingSession, ended_child};
use super::folder::damaged;
use super::inbox::{self, InboxMessage};
use super::listing::newest_with_key;
use super::own::read_journal;
use crate::decide::{self, Action, Decision};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// What an effect is recorded with that was asked for and has not begun.
const PUT_OFF: &str = "put off before it began: the process was told to stop";

impl Driver<'_> {
    /// Tells the session to stop, its children first; then it has to be run to its end. Decisions that
    /// were made before have their say: they are taken in under the lock under which this is recorded.
    pub fn cancel(&mut self, cancel: &CancelRecord) -> Result<()> {
        if self.session.program_has_ended() {
            return Err(Error::Session(SessionError::Over { id: self.folder.id.short() }));
        }
        let agent = self.session.started().agent.clone();
        let writer = loop {
            // Without the lock of the agent: whoever drives them needs it.
            self.stop_children(cancel)?;
            if self.space.head(&agent).is_err() {
                break None;
            }
            match self.lock_if_settled(&agent)? {
                Some(writer) => break Some(writer),
                // What is applied may begin children, and may end the session.
                None => self.apply_decisions()?,
            }
        };
        let progress = self.session.cancel(cancel.clone(), self.space.now());
        let mut progress = progress
            .map_err(|_| Error::Session(SessionError::Over { id: self.folder.id.short() }))?;
        self.is_cancelled = true;
        self.ready.clear();
        self.flush()?;
        self.persist(&mut progress)?;
        drop(writer);
        self.follow(progress)
    }

    fn stop_children(&self, cancel: &CancelRecord) -> Result<()> {
        let children: Vec<SessionId> = self
            .session
            .unanswered()
            .filter(|request| close_policy(request) == Some(Close::Cancel))
            .filter_map(|request| child_of(self.space, &self.folder.id, request))
            .collect();
        for child in children {
            stop(self.space, &child, cancel.clone())?;
        }
        Ok(())
    }

    /// Ends a program that asks people again although it was told to stop.
    pub(super) fn end_for_good(&mut self) -> Result<()> {
        let cancel = CancelRecord {
            who: "system:cancel".to_owned(),
            why: "it asked for a decision after it was told to stop".to_owned(),
            mode: CancelMode::Kill,
        };
        self.ready.clear();
        let killed = self.session.cancel(cancel, self.space.now());
        match killed {
            Ok(progress) => self.take_in(progress),
            // It came to its end by itself.
            Err(_) => Ok(()),
        }
    }

    /// Takes in what children came to that somebody else has run.
    pub(super) fn take_in_children(&mut self) -> Result<()> {
        let waiting: Vec<_> = self.session.unanswered().cloned().collect();
        for request in waiting.iter().filter(|request| begins_a_session(request)) {
            if self.running.contains_key(&request.path) {
                continue;
            }
            let key = child_key(&self.session.started().session, &request.path);
            let Some(child) = newest_with_key(self.space, &key)? else { continue };
            if let Some((answer, by)) =
                ended_child(self.space, AskingSession::of(&self.session), child)?
            {
                self.answer(&request.path, answer, by)?;
            }
        }
        Ok(())
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
            let noted = self.session.attempted(path, PUT_OFF, Some(now), now);
            let progress = noted.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
            self.append(&progress.objects, progress.links)?;
        }
        Ok(())
    }

    /// Passes on what stopped the driver, after it is recorded of what has not begun that it has not.
    /// Where that cannot be recorded either, the next driver has to doubt it.
    pub(super) fn or_put_off<T>(&mut self, result: Result<T>) -> Result<T> {
        let head = || read_journal(self.space, &self.folder.id).map(|it| it.chain().head());
        // A record that was refused is one that no other may follow.
        if result.is_err() && head().is_ok_and(|head| head == self.session.chain().head()) {
            let _ = self.put_off();
        }
        result
    }

    /// Stops what nobody waits for any more, and answers it all the same.
    pub(super) fn withdraw(&mut self, withdrawn: &WithdrawnRequest) -> Result<()> {
        if self.waits_for_child(&withdrawn.request)? {
            return Ok(());
        }
        let path = &withdrawn.request.path;
        self.ready.retain(|performance| performance.request.path != *path);
        self.timers.remove(path);
        self.backlog.forget(path);
        let mut by = AnswerSource::System("withdraw".to_owned());
        let stopped = match (self.running.remove(path), self.faulted.remove(path)) {
            (Some(running), _) => running.work.stop(),
            // What the fault stopped may have become durable all the same.
            (None, Some(_)) => CancelExtent::Unknown,
            (None, None) => withdrawn.stopped,
        };
        if self.executor.kinds().rule(&withdrawn.request).handling == Handling::Decision {
            let decision = Decision::system(Action::Withdrawn, "system:withdrawn", withdrawn)
                .on(self.session.published(path));
            let policy = decide::Policy::of(agentic_replay::HoldReason::Asked, &withdrawn.request);
            let start = self.session.started();
            if let Some(commit) = decide::record_system(self.space, start, &decision, &policy)? {
                by = AnswerSource::Decision(commit.to_string());
            }
        }
        if close_policy(&withdrawn.request) != Some(Close::Abandon) {
            self.stop_child(&withdrawn.request)?;
        }
        self.answer(path, RequestAnswer::Cancelled(stopped), by)
    }

    /// Tells whether a child that nobody needs any more is left to end by itself before this session
    /// does. Once it is over, what it came to is recorded.
    fn waits_for_child(&mut self, request: &Request) -> Result<bool> {
        if !begins_a_session(request) || close_policy(request) != Some(Close::Wait) {
            return Ok(false);
        }
        if self.running.contains_key(&request.path) {
            return Ok(true);
        }
        let key = child_key(&self.session.started().session, &request.path);
        let Some(child) = newest_with_key(self.space, &key)? else { return Ok(false) };
        if let Some((answer, by)) =
            ended_child(self.space, AskingSession::of(&self.session), child)?
        {
            self.answer(&request.path, answer, by)?;
        }
        Ok(true)
    }

    /// Stops the session that a request has begun, if there is one: nobody waits for it any more.
    fn stop_child(&self, request: &Request) -> Result<()> {
        let child = child_of(self.space, &self.folder.id, request);
        let Some(child) = child else { return Ok(()) };
        let cancel = CancelRecord {
            who: "system:withdrawn".to_owned(),
            why: "nobody waits for the result any more".to_owned(),
            mode: CancelMode::Cooperative,
        };
        stop(self.space, &child, cancel)
    }
}

/// Stops a session, whoever drives it, and waits until it has stopped.
fn stop(space: &SessionSpace, id: &SessionId, cancel: CancelRecord) -> Result<()> {
    match inbox::send(space, id, InboxMessage::Cancel(cancel)) {
        Ok(Some(mut driver)) => driver.run(),
        Ok(None) | Err(Error::Session(SessionError::Over { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}
