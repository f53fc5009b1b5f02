//! Attempts at activities: what is performed was taken from the server, and goes back to it.
//!
//! The worker of the SDK performs only what is registered with it by name. What programs ask is called
//! after the agent or the kind of its request, which nobody knows before: so activities are polled here,
//! from the same core, and whoever performs is told how each is called. What panics says so in a sentence
//! of ours, for the text may hold anything.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use temporalio_client::{Client, NamespacedClient as _};
use temporalio_common::protos::coresdk::activity_result::ActivityExecutionResult;
use temporalio_common::protos::coresdk::activity_task::activity_task::Variant;
use temporalio_common::protos::coresdk::activity_task::{ActivityCancelReason, Cancel, Start};
use temporalio_common::protos::coresdk::{ActivityHeartbeat, ActivityTaskCompletion};
use temporalio_common::protos::temporal::api::common::v1::Payload;
use temporalio_common::protos::temporal::api::failure::v1::failure::FailureInfo;
use temporalio_common::protos::temporal::api::failure::v1::{ApplicationFailureInfo, Failure};
use temporalio_common::worker::WorkerTaskTypes;
use temporalio_sdk_core::{
    CoreRuntime, PollError, RuntimeOptions, Worker, WorkerConfig, WorkerVersioningStrategy,
    init_worker,
};
use tokio::sync::watch;

use crate::error::whole;
use crate::performer::ActivityPerformer;
use crate::{Error, Result};

/// How often beats are passed on to the server.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// How payloads say that they are JSON.
const JSON: (&str, &[u8]) = ("encoding", b"json/plain");

/// Why an attempt is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptStop {
    /// Nobody waits for it any more.
    Cancelled,
    /// Its worker stops: another one takes it up.
    WorkerStops,
}

/// An attempt under way.
#[derive(Clone)]
pub struct ActivityAttempt {
    worker: Arc<Worker>,
    token: Vec<u8>,
    stop: watch::Receiver<Option<AttemptStop>>,
}

/// What an attempt failed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityFault {
    /// What sort.
    pub code: &'static str,
    /// What happened, without secrets.
    pub message: String,
    /// Whether no other attempt is made.
    pub is_final: bool,
}

/// What becomes of an attempt.
pub type ActivityOutcome<T> = std::result::Result<T, ActivityFault>;

/// How activities are taken from a queue.
#[derive(Debug, Clone)]
pub struct AttemptTerms {
    /// The queue.
    pub queue: String,
    /// How many are performed at once.
    pub concurrency: usize,
    /// How long those under way have to end once the worker stops.
    pub grace: Duration,
}

impl ActivityAttempt {
    /// Tells the server that it is under way.
    pub fn beat(&self) {
        let (task_token, details) = (self.token.clone(), Vec::new());
        self.worker.record_activity_heartbeat(ActivityHeartbeat { task_token, details });
    }

    /// Waits until it is to end.
    pub async fn stopped(&self) -> AttemptStop {
        let mut stop = self.stop.clone();
        let told = stop.wait_for(Option::is_some).await.ok().and_then(|told| *told);
        match told {
            Some(told) => told,
            // Nobody can tell any more.
            None => std::future::pending().await,
        }
    }

    /// Says why it is to end, if it is.
    pub fn stop(&self) -> Option<AttemptStop> {
        *self.stop.borrow()
    }
}

/// Takes activities from a queue and has them performed, until `stopped` comes to its end and those under
/// way have ended.
///
/// # Errors
/// Fails when the server does not let anybody poll.
pub async fn perform_all(
    client: &Client,
    terms: AttemptTerms,
    performer: ActivityPerformer,
    stopped: impl Future<Output = ()>,
) -> Result<()> {
    let runtime = CoreRuntime::new_assume_tokio(RuntimeOptions::default()).map_err(failed)?;
    let config = WorkerConfig::builder()
        .namespace(client.namespace())
        .task_queue(terms.queue)
        .task_types(WorkerTaskTypes::activity_only())
        .max_outstanding_activities(terms.concurrency)
        .max_heartbeat_throttle_interval(BEAT_EVERY)
        .graceful_shutdown_period(terms.grace)
        .versioning_strategy(WorkerVersioningStrategy::default())
        .build()
        .map_err(Error::Runtime)?;
    let worker = init_worker(&runtime, config, client.connection().clone()).map_err(failed)?;
    let worker = Arc::new(worker);
    worker.validate().await.map_err(|error| Error::Runtime(whole(&error)))?;
    let polled = poll(&worker, &performer);
    let told = async {
        stopped.await;
        worker.initiate_shutdown();
        std::future::pending::<()>().await
    };
    let polled = tokio::select! {
        polled = polled => polled,
        () = told => Ok(()),
    };
    worker.shutdown().await;
    polled
}

async fn poll(worker: &Arc<Worker>, performer: &ActivityPerformer) -> Result<()> {
    let mut under_way: HashMap<Vec<u8>, watch::Sender<Option<AttemptStop>>> = HashMap::new();
    loop {
        let task = match worker.poll_activity_task().await {
            Ok(task) => task,
            Err(PollError::ShutDown) => return Ok(()),
            Err(error) => return Err(Error::Runtime(whole(&error))),
        };
        // Whoever has ended listens no more.
        under_way.retain(|_, told| !told.is_closed());
        match task.variant {
            Some(Variant::Start(start)) => {
                let (told, stop) = watch::channel(None);
                under_way.insert(task.task_token.clone(), told);
                let worker = Arc::clone(worker);
                let attempt = ActivityAttempt { worker, token: task.task_token, stop };
                tokio::spawn(perform(performer.clone(), attempt, start));
            }
            Some(Variant::Cancel(cancel)) => {
                if let Some(told) = under_way.get(&task.task_token) {
                    told.send_replace(Some(reason_of(&cancel)));
                }
            }
            None => {}
        }
    }
}

fn reason_of(cancel: &Cancel) -> AttemptStop {
    match cancel.reason() {
        ActivityCancelReason::WorkerShutdown => AttemptStop::WorkerStops,
        ActivityCancelReason::NotFound
        | ActivityCancelReason::Cancelled
        | ActivityCancelReason::TimedOut
        | ActivityCancelReason::Paused
        | ActivityCancelReason::Reset => AttemptStop::Cancelled,
    }
}

/// Performs an activity, and tells the server what became of it.
async fn perform(performer: ActivityPerformer, attempt: ActivityAttempt, start: Start) {
    let told = attempt.clone();
    let performed = guarded(async move {
        let input = start.input.first().map(|payload| payload.data.as_slice()).unwrap_or_default();
        performer.perform(&attempt, &start.activity_type, input).await
    });
    let result = match performed.await {
        Ok(data) => ActivityExecutionResult::ok(payload(data)),
        Err(fault) => ActivityExecutionResult::fail(failure(fault)),
    };
    let completion = ActivityTaskCompletion { task_token: told.token, result: Some(result) };
    // One that cannot be told is tried again by the server.
    let _ = told.worker.complete_activity_task(completion).await;
}

/// Catches what panics: nothing of its text is told.
async fn guarded<T: Send + 'static>(
    performing: impl Future<Output = ActivityOutcome<T>> + Send + 'static,
) -> ActivityOutcome<T> {
    let performed = tokio::spawn(performing).await;
    performed.unwrap_or_else(|_| {
        let message = "what performs it panicked".to_owned();
        Err(ActivityFault { code: "Panic", message, is_final: false })
    })
}

fn payload(data: Vec<u8>) -> Payload {
    let (key, encoding) = JSON;
    let metadata = HashMap::from([(key.to_owned(), encoding.to_vec())]);
    Payload { metadata, data, ..Payload::default() }
}

fn failure(fault: ActivityFault) -> Failure {
    let ActivityFault { code, message, is_final } = fault;
    let info = ApplicationFailureInfo {
        r#type: code.to_owned(),
        non_retryable: is_final,
        ..ApplicationFailureInfo::default()
    };
    let failure_info = Some(FailureInfo::ApplicationFailureInfo(info));
    Failure { message, failure_info, ..Failure::default() }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Runtime(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{ActivityFault, ActivityOutcome, failure, guarded};

    #[test]
    fn a_panic_is_told_without_its_text() {
        let panics = async {
            let secret = "planted-8d1f";
            let outcome: ActivityOutcome<()> =
                Err(ActivityFault { code: "Fault", message: String::new(), is_final: true });
            assert!(outcome.is_ok(), "{secret}");
            outcome
        };
        let runtime = crate::connection::runtime(1).expect("there are threads");
        let fault = runtime.block_on(guarded(panics)).expect_err("it panics");
        let failure = failure(fault);
        assert_eq!(failure.message, "what performs it panicked");
        assert!(failure.stack_trace.is_empty());
    }
}
