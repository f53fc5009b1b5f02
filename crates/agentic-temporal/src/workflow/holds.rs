//! Holds: what is put before people, and what decisions make of it.

use std::collections::VecDeque;

use agentic_model::Instant;
use agentic_replay::record::{EscalateRecord, PermitScope, VoteRecord};
use agentic_replay::{AnswerSource, EffectClass, Hold, Note, Performance, WithdrawnRequest};
use agentic_session::decide::Policy;

use crate::activity::{ExpireActivity, WithdrawActivity};
use crate::decision::{ExpireAsk, HoldNote, SettledHold, WireFate, WithdrawAsk};
use crate::error::whole;
use crate::wire::{EffectAsk, WireValue};
use crate::workflow::desk::DecidedHold;
use crate::workflow::event::Event;
use crate::workflow::hosting::{Hosting, WorkflowFault};
use crate::workflow::launch::of_upkeep;

impl Hosting<'_> {
    pub(super) fn put_before_people(&mut self, hold: &Hold, n_records: usize) {
        let (note, position) = (HoldNote::of(hold), n_records.saturating_sub(1));
        self.unsealed.asks_people(position, note.id.clone());
        self.ctx.state_mut(|run| run.desk.put_before_people(note, position));
        self.want_seal();
        self.wait_for_deadline(hold);
    }

    pub(super) fn take_decision(&mut self, decided: DecidedHold) -> Result<(), WorkflowFault> {
        let DecidedHold { request, settled, vote, principal, action } = decided;
        if let Some(settled) = settled {
            return self.apply(&request, settled);
        }
        let (Some(hold), Some(decision)) = (self.hold(&request), vote) else { return Ok(()) };
        let vote = VoteRecord { path: hold.request.path.clone(), decision, principal, action };
        let progress = self.session.note(Note::Vote(vote), self.now())?;
        self.want_seal();
        self.take_in(progress)
    }

    /// Does to a hold what a decision makes of it, unless it is closed.
    pub(super) fn apply(
        &mut self,
        request: &str,
        settled: SettledHold,
    ) -> Result<(), WorkflowFault> {
        let Some(hold) = self.hold(request) else { return Ok(()) };
        let (path, at) = (hold.request.path.clone(), self.now());
        self.close_hold(request, &path);
        let SettledHold { commit, fate } = settled;
        let progress = match fate {
            WireFate::Answer(answer) => {
                let by = AnswerSource::Decision(commit);
                self.session.answered(&path, answer.answer()?, by, at)?
            }
            WireFate::Permit { edited, is_wide } => {
                let edited = edited.map(WireValue::value).transpose()?;
                let scope = if is_wide { PermitScope::RestOfSession } else { PermitScope::Once };
                self.session.permit(&path, &commit, edited, scope, at)?
            }
        };
        self.take_in(progress)
    }

    /// Takes a hold from before people.
    pub(super) fn close_hold(&mut self, request: &str, path: &agentic_replay::Path) {
        self.ctx.state_mut(|run| run.desk.holds.remove(request));
        self.n_escalations.remove(path);
        self.overdue.remove(request);
        if let Some(token) = self.tokens.remove(path) {
            token.cancel_with_reason("decided");
        }
    }

    fn hold(&self, request: &str) -> Option<Hold> {
        self.session.pending().into_iter().find(|hold| hold.id.to_string() == request)
    }

    /// Waits for the next deadline of a hold, if it has one: by then it goes on to other people, or
    /// expires.
    fn wait_for_deadline(&mut self, hold: &Hold) {
        let path = hold.request.path.clone();
        let Some(deadline) = self.next_deadline(hold) else { return };
        let request = hold.id.to_string();
        self.wait_until(deadline, path, move |_| Event::Overdue(request));
    }

    fn next_deadline(&self, hold: &Hold) -> Option<Instant> {
        let n_escalations = self.n_escalations.get(&hold.request.path).copied().unwrap_or_default();
        let policy = Policy::of(hold.reason, &hold.request);
        let last = policy.escalations.iter().take(n_escalations).last();
        last.map_or(policy.deadline, |step| step.deadline)
    }

    /// Has a hold go on to other people whose deadline has come, or expire.
    pub(super) fn hold_overdue(&mut self, request: &str) -> Result<(), WorkflowFault> {
        let Some(hold) = self.hold(request) else { return Ok(()) };
        self.next_deadline(&hold).into_iter().for_each(|deadline| self.pass_time(deadline));
        let (path, now) = (hold.request.path.clone(), self.now());
        self.tokens.remove(&path);
        let n_before = self.n_escalations.get(&path).copied().unwrap_or_default();
        let policy = Policy::of(hold.reason, &hold.request).at(n_before, now);
        for step in policy.escalations.iter().take(policy.level).skip(n_before) {
            let why = "nobody decided in time".to_owned();
            let escalate = EscalateRecord { path: path.clone(), to: step.to.clone(), why };
            let progress = self.session.note(Note::Escalate(escalate), now)?;
            self.take_in(progress)?;
            self.want_seal();
        }
        self.n_escalations.insert(path, policy.level);
        if policy.is_overdue(now) {
            self.overdue.insert(request.to_owned());
            self.expire_overdue();
        } else {
            self.wait_for_deadline(&hold);
        }
        Ok(())
    }

    /// Has those holds expire whose deadline has come and whose question is sealed.
    pub(super) fn expire_overdue(&mut self) {
        let is_sealed = |request: &String| self.ctx.state(|run| run.desk.is_sealed(request));
        let due: Vec<String> = self.overdue.iter().filter(|one| is_sealed(one)).cloned().collect();
        for request in due {
            self.overdue.remove(&request);
            self.expire(request);
        }
    }

    fn expire(&mut self, request: String) {
        let session = self.input.start.session.clone();
        let options = of_upkeep(format!("expire-{request}"));
        let at = self.now().millis();
        let ask = ExpireAsk { session, request: request.clone(), at };
        let done = self.ctx.execute_activity(ExpireActivity, ask, options);
        self.n_activities += 1;
        self.flight.begin(async move {
            match done.await {
                Ok(settled) => Event::Expired(request, settled),
                Err(error) => Event::Broken(whole(&error)),
            }
        });
    }

    /// Closes the withdrawn holds whose questions are sealed.
    pub(super) fn close_withdrawn(&mut self) {
        let is_sealed = |closed: &WithdrawnRequest| {
            self.ctx.state(|run| run.desk.is_sealed(&closed.id.to_string()))
        };
        let (sealed, later): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.closing).into_iter().partition(is_sealed);
        if !later.is_empty() {
            self.want_seal();
        }
        self.closing = later;
        for closed in sealed {
            let path = closed.request.path.clone();
            let performance = Performance {
                request: closed.request,
                id: closed.id,
                class: EffectClass::Idempotent,
                attempt: 1,
                not_before: None,
                found: None,
            };
            let n_sealed = self.unsealed.n_sealed();
            let ask = EffectAsk::of(&self.input.start, &performance, self.now(), n_sealed);
            let options = of_upkeep(format!("withdraw-{}", ask.id));
            let asked = WithdrawAsk { withdrawn: ask };
            let done = self.ctx.execute_activity(WithdrawActivity, asked, options);
            self.n_activities += 1;
            self.flight.begin(async move {
                match done.await {
                    Ok(commit) => Event::Withdrawn(path, commit),
                    Err(error) => Event::Broken(whole(&error)),
                }
            });
        }
    }

    /// Returns what a timer that is due gives: a failure where its request names no instant.
    pub(super) fn timer_answer(
        &self,
        path: &agentic_replay::Path,
    ) -> (agentic_replay::RequestAnswer, AnswerSource) {
        let mut waiting = self.session.unanswered();
        let request = waiting.find(|request| request.path == *path);
        agentic_session::hosted::timer_answer(request.and_then(|request| request.sleeps_until()))
    }
}
