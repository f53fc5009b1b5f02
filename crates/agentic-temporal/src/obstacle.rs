//! What a run waits for that is no human: a worker, one who can do it, or the right build.

use std::time::{Duration, SystemTime};

use agentic_model::json;
use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, NamespacedClient as _, WorkflowExecutionDescription};
use temporalio_common::protos::temporal::api::common::v1::WorkflowExecution;
use temporalio_common::protos::temporal::api::enums::v1::{
    PendingActivityState, PendingWorkflowTaskState, WorkflowTaskFailedCause,
};
use temporalio_common::protos::temporal::api::history::v1::WorkflowTaskFailedEventAttributes;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;
use temporalio_common::protos::temporal::api::workflow::v1::{
    PendingActivityInfo, PendingWorkflowTaskInfo,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::GetWorkflowExecutionHistoryReverseRequest;

use crate::error::DIVERGED;
use crate::golden::read_events;
use crate::wire::{EffectAsk, EffectCall};
use crate::words::{clipped, clipped_to};

/// How long a task may lie in its queue before it is said that nobody takes it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of the last events are looked through for the last failure of a task.
const EVENTS_MAX: i32 = 20;
/// How the SDK says which activity was recorded.
const SCHEDULED: &str = "Activity id of scheduled event '";
/// The longest text that tells how a program differs, in bytes.
const DIFFERENCE_BYTES_MAX: usize = 4 << 10;

/// What keeps a run from going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunObstacle {
    /// The build that hosts it does something else than was recorded, or cannot host it.
    Diverged(String),
    /// Something else.
    Other(String),
}

/// Says what a run waits for that is no human, if it waits for long.
pub async fn obstacle(client: &Client, run: &WorkflowExecutionDescription) -> Option<RunObstacle> {
    let raw = run.raw();
    if let Some(task) = &raw.pending_workflow_task {
        if task.attempt > 1
            && let Some(found) = last_failure(client, run).await
        {
            return Some(found);
        }
        if lies_long(task) {
            return Some(RunObstacle::Other(waiting(run.task_queue())));
        }
    }
    let mut under_way = raw.pending_activities.iter();
    under_way.find_map(|one| of_activity(one, run.task_queue())).map(RunObstacle::Other)
}

/// Says how a run has diverged, if the last task of it says so.
pub async fn divergence(client: &Client, run: &WorkflowExecutionDescription) -> Option<String> {
    let task = run.raw().pending_workflow_task.as_ref();
    if task.is_none_or(|task| task.attempt <= 1) {
        return None;
    }
    match last_failure(client, run).await {
        Some(RunObstacle::Diverged(why)) => Some(why),
        Some(RunObstacle::Other(_)) | None => None,
    }
}

fn lies_long(task: &PendingWorkflowTaskInfo) -> bool {
    task.state == PendingWorkflowTaskState::Scheduled as i32 && is_long_ago(task.scheduled_time)
}

/// Says what keeps an activity from being done.
fn of_activity(activity: &PendingActivityInfo, queue_of_run: &str) -> Option<String> {
    if let Some(failure) = &activity.last_failure {
        return Some(format!("what it asks for keeps failing: {}", clipped(&failure.message)));
    }
    let is_lying = activity.state == PendingActivityState::Scheduled as i32;
    let options = activity.activity_options.as_ref();
    let queue = options.and_then(|options| options.task_queue.as_ref());
    let queue = queue.map_or(queue_of_run, |queue| queue.name.as_str());
    (is_lying && is_long_ago(activity.scheduled_time)).then(|| waiting(queue))
}

fn waiting(queue: &str) -> String {
    format!("waiting for a worker of queue {queue}")
}

fn is_long_ago<T>(at: Option<T>) -> bool
where
    SystemTime: TryFrom<T>,
{
    let at = at.and_then(|at| SystemTime::try_from(at).ok());
    at.and_then(|at| at.elapsed().ok()).is_some_and(|elapsed| elapsed >= PATIENCE)
}

/// Returns what the last task of a run failed with, if it has.
async fn last_failure(client: &Client, run: &WorkflowExecutionDescription) -> Option<RunObstacle> {
    let (workflow_id, run_id) = (run.id().to_owned(), run.run_id().to_owned());
    let ask = GetWorkflowExecutionHistoryReverseRequest {
        namespace: client.namespace(),
        execution: Some(WorkflowExecution { workflow_id, run_id }),
        maximum_page_size: EVENTS_MAX,
        ..Default::default()
    };
    let mut service = client.connection().workflow_service();
    let found = service.get_workflow_execution_history_reverse(ask.into_request()).await.ok()?;
    let events = found.into_inner().history?.events;
    for event in events {
        match event.attributes {
            Some(Attributes::WorkflowTaskFailedEventAttributes(failed)) => {
                let recorded = recorded(client, run, &failed).await;
                return Some(of_failure(failed, recorded));
            }
            // What failed before that has been healed.
            Some(Attributes::WorkflowTaskCompletedEventAttributes(_)) => return None,
            _ => {}
        }
    }
    None
}

/// Finds the request that was recorded where a build asks for another one. The SDK names its id; what it
/// asks stands in the history.
async fn recorded(
    client: &Client,
    run: &WorkflowExecutionDescription,
    failed: &WorkflowTaskFailedEventAttributes,
) -> Option<String> {
    let said = failed.failure.as_ref().map(|failure| failure.message.as_str())?;
    let id = said.split_once(SCHEDULED)?.1.split('\'').next()?;
    let (workflow_id, run_id) = (run.id().to_owned(), run.run_id().to_owned());
    let execution = WorkflowExecution { workflow_id, run_id };
    let events = read_events(client, &execution).await.ok()?;
    let asked = events.into_iter().find_map(|event| {
        let attributes = event.attributes?;
        let Attributes::ActivityTaskScheduledEventAttributes(asked) = attributes else {
            return None;
        };
        asked.input.filter(|_| asked.activity_id == id)
    })?;
    let call: EffectCall = serde_json::from_slice(&asked.payloads.first()?.data).ok()?;
    let EffectAsk { path, kind, payload, .. } = call.effect;
    let payload = payload.value().map(|payload| json::to_text(&payload)).unwrap_or_default();
    Some(format!("request `{path}`: recorded `{kind}` {payload}, now another"))
}

fn of_failure(failed: WorkflowTaskFailedEventAttributes, recorded: Option<String>) -> RunObstacle {
    let cause = failed.cause();
    let said = failed.failure.map(|failure| failure.message).unwrap_or_default();
    let at = said.find(DIVERGED);
    let is_other_code = cause == WorkflowTaskFailedCause::NonDeterministicError;
    match at {
        Some(at) => RunObstacle::Diverged(clipped_to(&said[at..], DIFFERENCE_BYTES_MAX)),
        None if is_other_code => {
            let said = recorded.unwrap_or(said);
            RunObstacle::Diverged(clipped_to(&format!("{DIVERGED} {said}"), DIFFERENCE_BYTES_MAX))
        }
        None => {
            let why = clipped(&said);
            RunObstacle::Other(format!("what goes on with the run keeps failing: {why}"))
        }
    }
}
