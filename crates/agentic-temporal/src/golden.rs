//! Histories that were recorded once and are replayed ever after: the builds of later releases still make
//! the same of them.

use std::path::PathBuf;
use std::sync::Arc;

use agentic_session::SessionOptions;
use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, NamespacedClient as _, WorkflowHistory};
use temporalio_common::protos::temporal::api::common::v1::WorkflowExecution;
use temporalio_common::protos::temporal::api::history::v1::{History, HistoryEvent};
use temporalio_common::protos::temporal::api::workflowservice::v1::GetWorkflowExecutionHistoryRequest;
use temporalio_sdk::workflow_replayer::{WorkflowReplayer, WorkflowReplayerOptions};

use crate::connection::runtime;
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::words::refused;
use crate::workflow::ServedRun;
use crate::{Error, Result, ServerSettings};

/// Reads the history of an execution from a server, as [`replay_history`] takes it.
///
/// # Errors
/// Fails when the server cannot be reached, or has no such execution.
pub fn read_history(settings: &ServerSettings, session: &str, run: &str) -> Result<String> {
    let events = runtime(1)?.block_on(async {
        let client = settings.connect().await?;
        let (workflow_id, run_id) = (session.to_owned(), run.to_owned());
        read_events(&client, &WorkflowExecution { workflow_id, run_id }).await
    })?;
    let failed = |error: serde_json::Error| Error::Runtime(error.to_string());
    serde_json::to_string(&History { events }).map_err(failed)
}

/// Reads the events of an execution.
///
/// # Errors
/// Fails as [`read_history`] does.
pub(crate) async fn read_events(
    client: &Client,
    execution: &WorkflowExecution,
) -> Result<Vec<HistoryEvent>> {
    let (mut events, mut token) = (Vec::new(), Vec::new());
    loop {
        let ask = GetWorkflowExecutionHistoryRequest {
            namespace: client.namespace(),
            execution: Some(execution.clone()),
            next_page_token: token,
            ..Default::default()
        };
        let mut service = client.connection().workflow_service();
        let page = service.get_workflow_execution_history(ask.into_request()).await;
        let page = page.map_err(|status| refused("tell the history", &status))?.into_inner();
        events.extend(page.history.into_iter().flat_map(|history| history.events));
        token = page.next_page_token;
        if token.is_empty() {
            return Ok(events);
        }
    }
}

/// Replays the history of an execution on the repository that a folder is in. No server is asked.
///
/// # Errors
/// Fails when this build does something else than was recorded.
pub fn replay_history(folder: PathBuf, options: SessionOptions, history: &str) -> Result<()> {
    let failed = |error: &dyn std::error::Error| Error::Runtime(whole(error));
    let ground = Arc::new(WorkerGround::open(folder, options)?);
    let history = WorkflowHistory::from_json(history.as_bytes()).map_err(|error| failed(&error))?;
    let options = WorkflowReplayerOptions::new()
        .register_workflow_with_factory(move || ServedRun::on(Arc::clone(&ground)))
        .map_err(|error| failed(&error))?
        .build();
    let replayer = WorkflowReplayer::new(options).map_err(|error| failed(&error))?;
    let replayed = runtime(1)?.block_on(replayer.replay_workflow(history));
    replayed.map_err(|error| failed(&error))
}
