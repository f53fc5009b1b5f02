//! What becomes of requests: commands in path order, as many as the server takes.

use std::time::Duration;

use agentic_host::performer::Carrier;
use agentic_model::{Instant, canonical};
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, HOSTED_VALUE_BYTES_MAX, Handling, Path, Performance,
    RequestAnswer, WithdrawnRequest, too_large,
};
use temporalio_common::RetryPolicy;
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, TimerOptions,
    WorkflowCancellationToken,
};

use crate::activity::{EffectActivity, ProbeActivity};
use crate::error::{divergence, whole};
use crate::outside::WireProgram;
use crate::route::{called, outside};
use crate::wire::{EffectAsk, EffectCall, EffectReply, LostReply, source_of};
use crate::workflow::event::{Event, LostPlace};
use crate::workflow::hosting::{Hosting, withdrawn};

/// The most activities of a run that are under way.
const ACTIVITIES_MAX: usize = 1000;
/// The longest that inputs of one task are together, in bytes: of more than four megabytes the server
/// ends the run.
const TASK_BYTES_MAX: usize = 1 << 20;
/// The longest that an effect may take by itself; its own time limit is kept by its activity.
const EFFECT_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long an activity may take that only writes into the repository.
const UPKEEP_WITHIN: Duration = Duration::from_secs(600);
/// Without a beat for so long whoever performs is lost.
const BEAT_WITHIN: Duration = Duration::from_secs(10);
/// The same of what may happen only once: no gap in the network becomes a question to a human.
const BEAT_WITHIN_ONCE: Duration = Duration::from_secs(60);
/// After how long somebody is asked again who could not answer, in milliseconds.
pub const AGAIN_AFTER_MS: i64 = 30_000;

/// How an activity is begun that only writes into the repository: it is tried again until it works, and
/// nobody stops it.
pub fn of_upkeep(id: String) -> ActivityOptions {
    ActivityOptions::with_start_to_close_timeout(UPKEEP_WITHIN)
        .activity_id(id)
        .heartbeat_timeout(BEAT_WITHIN)
        .cancellation_token(WorkflowCancellationToken::new())
        .retry_policy(retries())
        .build()
}

/// How what fails in our own hands is tried again: until it works.
fn retries() -> RetryPolicy {
    RetryPolicy::builder()
        .initial_interval(Duration::from_secs(1))
        .backoff_coefficient(2.0)
        .maximum_interval(Duration::from_secs(30))
        .build()
}

/// A call, and the queue whose workers take it; that of the space without.
struct RoutedCall {
    queue: Option<String>,
    call: EffectCall,
}

impl Hosting<'_> {
    /// Computes what is only computed; lets the rest wait for its turn.
    pub(super) fn take_up(&mut self, performance: Performance) {
        if let Some(at) = performance.not_before.filter(|at| *at > self.now()) {
            let path = performance.request.path.clone();
            let again = Box::new(performance);
            self.pausing.insert(path.clone());
            return self.wait_until(at, path, move |_| Event::Again(again));
        }
        let request = &performance.request;
        let length = canonical::encode(&request.payload).map_or(0, |bytes| bytes.len());
        if length > HOSTED_VALUE_BYTES_MAX {
            let answer = RequestAnswer::Failed(too_large("the payload", length));
            return self.computed.push_back((request.path.clone(), answer, AnswerSource::Executor));
        }
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

    /// Begins as many effects as there is room for, in this task and at all.
    pub(super) fn launch(&mut self) {
        while self.n_activities + self.children.n_open() < ACTIVITIES_MAX {
            let Some(performance) = self.backlog.front() else { return };
            let n_sealed = self.unsealed.n_sealed();
            let effect = EffectAsk::of(&self.input.start, performance, self.now(), n_sealed);
            let (queue, program) = self.outside(performance).unzip();
            let call = EffectCall { effect, program };
            let n_bytes = serde_json::to_string(&call).map_or(0, |text| text.len());
            if !self.has_room(n_bytes) {
                return;
            }
            if let Some(performance) = self.backlog.pop_front() {
                self.perform(RoutedCall { queue, call }, performance);
            }
        }
    }

    /// Says whether this task takes inputs of so many bytes more; else the next one is asked for.
    pub(super) fn has_room(&mut self, n_bytes: usize) -> bool {
        let length = self.ctx.history_length();
        if self.task.0 != length {
            self.task = (length, 0);
        }
        if self.task.1 == usize::MAX {
            return false;
        }
        if self.task.1 > 0 && self.task.1 + n_bytes > TASK_BYTES_MAX {
            self.task.1 = usize::MAX;
            let next_task = self.ctx.timer(Duration::from_millis(1));
            self.flight.begin(async move {
                next_task.await;
                Event::NextTask
            });
            return false;
        }
        self.task.1 += n_bytes;
        true
    }

    fn perform(&mut self, routed: RoutedCall, performance: Performance) {
        let RoutedCall { queue, call } = routed;
        let (path, token) = (performance.request.path.clone(), WorkflowCancellationToken::new());
        self.tokens.insert(path.clone(), token.clone());
        self.n_activities += 1;
        let is_once = performance.class == EffectClass::Once;
        let policy = match is_once {
            true => RetryPolicy::builder().maximum_attempts(1).build(),
            false => retries(),
        };
        let place = if queue.is_some() { LostPlace::Elsewhere } else { LostPlace::Space };
        let options = ActivityOptions::with_start_to_close_timeout(EFFECT_WITHIN)
            .maybe_task_queue(queue)
            .activity_id(call.effect.id.clone())
            .heartbeat_timeout(if is_once { BEAT_WITHIN_ONCE } else { BEAT_WITHIN })
            .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
            .cancellation_token(token)
            .retry_policy(policy)
            .summary(format!("{path} {}", call.effect.kind))
            .build();
        let activity = EffectActivity(called(&performance.request));
        // The command is made here, in path order, and not when it is first waited for.
        let done = self.ctx.execute_activity(activity, call, options);
        let arrived = async move {
            match done.await {
                Ok(EffectReply::Answered { answer, child }) => match answer.answer() {
                    Ok(answer) => Event::Answered(path, answer, source_of(child.as_deref())),
                    Err(error) => Event::Broken(error.to_string()),
                },
                Ok(EffectReply::Unanswered { answer, why }) => match answer.answer() {
                    Ok(answer) => Event::Unanswered(path, answer, why),
                    Err(error) => Event::Broken(error.to_string()),
                },
                Ok(EffectReply::Faulted { answer, why }) => match answer.answer() {
                    Ok(answer) => Event::Faulted(Box::new(performance), answer, why),
                    Err(error) => Event::Broken(error.to_string()),
                },
                Ok(EffectReply::Child(ask)) => Event::Spawned(path, ask),
                // What has begun tells what became of it: this has not.
                Err(ActivityExecutionError::Cancelled(_)) => {
                    let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
                    Event::Answered(path, answer, withdrawn())
                }
                Err(error) if divergence(&error).is_some() => Event::Broken(whole(&error)),
                Err(_) if is_once => Event::Lost(Box::new(performance), place),
                Err(error) => {
                    Event::Broken(format!("`{path}` cannot be performed: {}", whole(&error)))
                }
            }
        };
        self.flight.begin(arrived);
    }

    /// Has it found out what is known of an effect whose worker was lost.
    pub(super) fn probe(&mut self, performance: Performance) {
        let (path, token) = (performance.request.path.clone(), WorkflowCancellationToken::new());
        self.tokens.insert(path.clone(), token.clone());
        let n_sealed = self.unsealed.n_sealed();
        let ask = EffectAsk::of(&self.input.start, &performance, self.now(), n_sealed);
        let options = ActivityOptions::with_start_to_close_timeout(EFFECT_WITHIN)
            .activity_id(format!("probe-{}", ask.id))
            .heartbeat_timeout(BEAT_WITHIN)
            .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
            .cancellation_token(token)
            .retry_policy(retries())
            .summary(format!("{path} what became of it"))
            .build();
        let done = self.ctx.execute_activity(ProbeActivity, ask, options);
        self.flight.begin(async move {
            match done.await {
                Ok(known) => Event::Probed(path, known),
                Err(ActivityExecutionError::Cancelled(_)) => {
                    Event::Probed(path, LostReply::Unknown)
                }
                Err(error) => Event::Broken(whole(&error)),
            }
        });
    }

    /// Returns the queue of an effect that needs no repository, and the program that goes along.
    fn outside(&self, performance: &Performance) -> Option<(String, WireProgram)> {
        let queue = outside(&self.executor, &performance.request, &self.input.queues)?;
        Some((queue, self.carried.clone()?))
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
        if self.withdraw_child(&request) {
            return;
        }
        let is_hold = self.executor.kinds().rule(&request.request).handling == Handling::Decision;
        if is_hold {
            self.close_hold(&request.id.to_string(), &path);
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
                let is_under_way = !is_timer && !is_waiting;
                self.unanswered.remove(&path);
                if is_under_way && !self.pausing.remove(&path) {
                    // What becomes of it is told by whoever performs it.
                    self.withdrawn.insert(path);
                    return;
                }
                self.tokens.remove(&path);
                self.sleeping.remove(&path);
            }
            None if is_waiting => {}
            // A hold of an effect that had not begun.
            None => self.close_hold(&request.id.to_string(), &path),
        }
        let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
        self.computed.push_back((path, answer, withdrawn()));
    }
}
