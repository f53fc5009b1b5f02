//! What a run waits for that is no human: a worker, or one who can do it.

use std::time::{Duration, SystemTime};

use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, NamespacedClient as _, WorkflowExecutionDescription};
use temporalio_common::protos::temporal::api::common::v1::WorkflowExecution;
use temporalio_common::protos::temporal::api::enums::v1::{
    PendingActivityState, PendingWorkflowTaskState,
};
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;
use temporalio_common::protos::temporal::api::workflow::v1::{
    PendingActivityInfo, PendingWorkflowTaskInfo,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::GetWorkflowExecutionHistoryReverseRequest;

use crate::words::clipped;

/// How long a task may lie in its queue before it is said that nobody takes it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of the last events are looked through for the last failure of a task.
const EVENTS_MAX: i32 = 20;

/// Says what a run waits for that is no human, if it waits for long.
pub async fn obstacle(client: &Client, run: &WorkflowExecutionDescription) -> Option<String> {
    let raw = run.raw();
    if let Some(task) = &raw.pending_workflow_task {
        if task.attempt > 1
            && let Some(why) = last_failure(client, run).await
        {
            return Some(format!("what goes on with the run keeps failing: {why}"));
        }
        if lies_long(task) {
            return Some(waiting(run.task_queue()));
        }
    }
    raw.pending_activities.iter().find_map(|activity| of_activity(activity, run.task_queue()))
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

/// Returns what the last task of a run failed with.
async fn last_failure(client: &Client, run: &WorkflowExecutionDescription) -> Option<String> {
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
    events.into_iter().find_map(|event| match event.attributes {
        Some(Attributes::WorkflowTaskFailedEventAttributes(failed)) => {
            failed.failure.map(|failure| clipped(&failure.message))
        }
        _ => None,
    })
}
