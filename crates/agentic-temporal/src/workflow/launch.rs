//! What becomes of requests: commands in path order, as many as the server takes.

use std::time::Duration;

use agentic_host::performer::Carrier;
use agentic_model::Instant;
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, Handling, Hold, Path, Performance, RequestAnswer,
    WithdrawnRequest,
};
use agentic_session::decide::Policy;
use temporalio_common::RetryPolicy;
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, TimerOptions,
    WorkflowCancellationToken,
};

use crate::activity::{EffectActivity, ExpireActivity, WithdrawActivity};
use crate::decision::{ExpireAsk, WithdrawAsk};
use crate::error::whole;
use crate::wire::{EffectAsk, EffectReply, source_of};
use crate::workflow::event::Event;
use crate::workflow::hosting::{Hosting, withdrawn};
use crate::workflow::sealing::SHORT;

/// The most activities of a run that are under way.
const ACTIVITIES_MAX: usize = 1000;
/// The longest that inputs of one task are together, in bytes: of more than four megabytes the server
/// ends the run.
const TASK_BYTES_MAX: usize = 1 << 20;
/// The longest that an effect may take by itself; its own time limit is kept by its activity.
const EFFECT_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Without a beat for so long whoever performs is lost.
pub const BEAT_WITHIN: Duration = Duration::from_secs(10);
/// The same of what may happen only once: no gap in the network becomes a question to a human.
const BEAT_WITHIN_ONCE: Duration = Duration::from_secs(60);
/// After how long somebody is asked again who could not answer, in milliseconds.
pub const AGAIN_AFTER_MS: i64 = 30_000;

/// How what fails in our own hands is tried again: until it works.
pub fn retries() -> RetryPolicy {
    RetryPolicy::builder()
        .initial_interval(Duration::from_secs(1))
        .backoff_coefficient(2.0)
        .maximum_interval(Duration::from_secs(30))
        .build()
}

impl Hosting<'_> {
    /// Computes what is only computed; lets the rest wait for its turn.
    pub(super) fn take_up(&mut self, performance: Performance) {
        if let Some(at) = performance.not_before.filter(|at| *at > self.now()) {
            let path = performance.request.path.clone();
            let again = Box::new(performance);
            return self.wait_until(at, path, move |_| Event::Again(again));
        }
        let request = &performance.request;
        let is_outside = match self.executor.carrier(request) {
            Carrier::Program(_) | Carrier::Endpoint(_) | Carrier::Provider(_) => true,
            Carrier::Person(_) | Carrier::Script | Carrier::Nobody => {
                request.kind == "exec" && !self.executor.is_scripted(request)
            }
        };
        let computed = if is_outside { None } else { self.executor.compute(request) };
        match computed {
            Some(answer) => {
                let path = request.path.clone();
                self.computed.push_back((path, answer, AnswerSource::Executor));
            }
            None => self.backlog.push_back(performance),
        }
    }

    /// Begins as many effects as there is room for in this task.
    pub(super) fn launch(&mut self) {
        let mut n_bytes = 0;
        while self.n_activities < ACTIVITIES_MAX {
            let Some(performance) = self.backlog.pop_front() else { return };
            let ask = EffectAsk::of(&self.input.start, &performance, self.now());
            n_bytes += serde_json::to_string(&ask).map_or(0, |text| text.len());
            self.perform(ask, &performance);
            if n_bytes > TASK_BYTES_MAX && !self.backlog.is_empty() {
                // The rest goes with the next task.
                let next_task = self.ctx.timer(Duration::from_millis(1));
                self.flight.begin(async move {
                    next_task.await;
                    Event::Looked
                });
                return;
            }
        }
    }

    fn perform(&mut self, ask: EffectAsk, performance: &Performance) {
        let (path, token) = (performance.request.path.clone(), WorkflowCancellationToken::new());
        self.tokens.insert(path.clone(), token.clone());
        self.n_activities += 1;
        let is_once = performance.class == EffectClass::Once;
        let policy = match is_once {
            true => RetryPolicy::builder().maximum_attempts(1).build(),
            false => retries(),
        };
        let options = ActivityOptions::with_start_to_close_timeout(EFFECT_WITHIN)
            .activity_id(ask.id.clone())
            .heartbeat_timeout(if is_once { BEAT_WITHIN_ONCE } else { BEAT_WITHIN })
            .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
            .cancellation_token(token)
            .retry_policy(policy)
            .summary(format!("{path} {}", ask.kind))
            .build();
        // The command is made here, in path order, and not when it is first waited for.
        let done = self.ctx.execute_activity(EffectActivity, ask, options);
        let arrived = async move {
            match done.await {
                Ok(EffectReply::Answered { answer, child }) => match answer.answer() {
                    Ok(answer) => Event::Answered(path, answer, source_of(child.as_deref())),
                    Err(error) => Event::Broken(error.to_string()),
                },
                Ok(EffectReply::Unanswered(why)) => Event::Unanswered(path, why),
                // What has begun tells what became of it: this has not.
                Err(ActivityExecutionError::Cancelled(_)) => {
                    let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
                    Event::Answered(path, answer, withdrawn())
                }
                Err(_) if is_once => Event::Lost(path),
                Err(error) => {
                    Event::Broken(format!("`{path}` cannot be performed: {}", whole(&error)))
                }
            }
        };
        self.flight.begin(arrived);
    }

    /// Tells the run of an instant when it has come.
    pub(super) fn wait_until(
        &mut self,
        until: Instant,
        path: Path,
        event: impl FnOnce(Path) -> Event + 'static,
    ) {
        let pause_ms = until.millis().saturating_sub(self.now().millis()).max(0);
        let pause = Duration::from_millis(u64::try_from(pause_ms).unwrap_or_default());
        let token = WorkflowCancellationToken::new();
        self.tokens.insert(path.clone(), token.clone());
        let options =
            TimerOptions::builder(pause).cancellation_token(token).summary(path.to_string());
        let timer = self.ctx.timer(options.build());
        let waited = async move {
            match timer.await {
                temporalio_sdk::TimerResult::Fired => event(path),
                temporalio_sdk::TimerResult::Cancelled => Event::Looked,
            }
        };
        self.flight.begin(waited);
    }

    /// Stops what nobody waits for any more.
    pub(super) fn withdraw(&mut self, request: WithdrawnRequest) {
        let path = request.request.path.clone();
        let is_hold = self.executor.kinds().rule(&request.request).handling == Handling::Decision;
        if is_hold {
            let id = request.id.to_string();
            self.ctx.state_mut(|run| run.desk.holds.remove(&id));
            if let Some(token) = self.tokens.remove(&path) {
                token.cancel_with_reason("withdrawn");
            }
            self.closing.push_back(request);
            self.want_seal();
            return self.close_withdrawn();
        }
        let n_before = self.backlog.len() + self.computed.len();
        self.backlog.retain(|waiting| waiting.request.path != path);
        self.computed.retain(|(waiting, ..)| *waiting != path);
        let is_waiting = n_before > self.backlog.len() + self.computed.len();
        let is_timer = self.executor.kinds().rule(&request.request).handling == Handling::Timer;
        match self.tokens.get(&path) {
            Some(token) => {
                token.cancel_with_reason("withdrawn");
                if !is_timer {
                    return; // What becomes of it is told by whoever performs it.
                }
                self.tokens.remove(&path);
            }
            None if is_waiting => {}
            // A hold of an effect that had not begun.
            None => {
                let id = request.id.to_string();
                self.ctx.state_mut(|run| run.desk.holds.remove(&id));
            }
        }
        let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
        self.computed.push_back((path, answer, withdrawn()));
    }

    /// Closes the withdrawn holds whose questions are sealed.
    pub(super) fn close_withdrawn(&mut self) {
        if !self.unsealed.is_empty() {
            return;
        }
        while let Some(closed) = self.closing.pop_front() {
            let path = closed.request.path.clone();
            let performance = Performance {
                request: closed.request,
                id: closed.id,
                class: EffectClass::Idempotent,
                attempt: 1,
                not_before: None,
                found: None,
            };
            let ask = EffectAsk::of(&self.input.start, &performance, self.now());
            let options = ActivityOptions::with_start_to_close_timeout(SHORT)
                .activity_id(format!("withdraw-{}", ask.id))
                .heartbeat_timeout(BEAT_WITHIN)
                .cancellation_token(WorkflowCancellationToken::new())
                .retry_policy(retries())
                .build();
            let asked = WithdrawAsk { withdrawn: ask };
            let done = self.ctx.execute_activity(WithdrawActivity, asked, options);
            self.n_activities += 1;
            let closing = async move {
                match done.await {
                    Ok(commit) => Event::Withdrawn(path, commit),
                    Err(error) => Event::Broken(whole(&error)),
                }
            };
            self.flight.begin(closing);
        }
    }

    /// Waits for the deadline of a hold, if it has one.
    pub(super) fn expire_later(&mut self, hold: &Hold) {
        let policy = Policy::of(hold.reason, &hold.request).at(0, self.now());
        let Some(deadline) = policy.deadline else { return };
        let request = hold.id.to_string();
        let path = hold.request.path.clone();
        self.wait_until(deadline, path, move |_| Event::Overdue(request));
    }

    /// Has a hold expire whose deadline has come.
    pub(super) fn expire(&mut self, request: String) {
        let session = self.input.start.session.clone();
        let options = ActivityOptions::with_start_to_close_timeout(SHORT)
            .activity_id(format!("expire-{request}"))
            .heartbeat_timeout(BEAT_WITHIN)
            .cancellation_token(WorkflowCancellationToken::new())
            .retry_policy(retries())
            .build();
        let ask = ExpireAsk { session, request: request.clone() };
        let done = self.ctx.execute_activity(ExpireActivity, ask, options);
        self.n_activities += 1;
        let expired = async move {
            match done.await {
                Ok(settled) => Event::Expired(request, settled),
                Err(error) => Event::Broken(whole(&error)),
            }
        };
        self.flight.begin(expired);
    }
}
