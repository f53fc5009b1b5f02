//! What waits for a human on a server: a listing that needs neither a worker nor a repository.

use serde::de::DeserializeOwned;
use temporalio_client::tonic::IntoRequest as _;
use temporalio_client::{Client, NamespacedClient as _};
use temporalio_common::protos::temporal::api::common::v1::Memo;
use temporalio_common::protos::temporal::api::workflow::v1::WorkflowExecutionInfo;
use temporalio_common::protos::temporal::api::workflowservice::v1::ListWorkflowExecutionsRequest;

use crate::connection::runtime;
use crate::decision::HoldNote;
use crate::words::refused;
use crate::{Result, ServerSettings};

/// What finds the runs of a namespace.
const QUERY: &str = "WorkflowType = 'agentic.program.v1' AND ExecutionStatus = 'Running'";
/// How many runs are listed at once.
const PAGE: i32 = 200;
/// How many runs are looked through.
const RUNS_MAX: usize = 100_000;

/// A hold, as the memo of its run tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedHold {
    /// The session.
    pub session: String,
    /// The agent that it runs as.
    pub agent: String,
    /// The key of the run.
    pub key: String,
    /// The space that has it.
    pub space: String,
    /// The hold.
    pub hold: HoldNote,
}

/// Lists what waits for a human on a server, in whatever repositories.
///
/// # Errors
/// Fails when the server cannot be reached.
pub fn waiting(settings: &ServerSettings) -> Result<Vec<ServedHold>> {
    runtime(1)?.block_on(async {
        let client = settings.connect().await?;
        list(&client).await
    })
}

async fn list(client: &Client) -> Result<Vec<ServedHold>> {
    let (mut found, mut n_runs, mut token) = (Vec::new(), 0, Vec::new());
    loop {
        let ask = ListWorkflowExecutionsRequest {
            namespace: client.namespace(),
            page_size: PAGE,
            next_page_token: token,
            query: QUERY.to_owned(),
        };
        let mut service = client.connection().workflow_service();
        let page = service.list_workflow_executions(ask.into_request()).await;
        let page = page.map_err(|status| refused("list its runs", &status))?.into_inner();
        n_runs += page.executions.len();
        found.extend(page.executions.iter().flat_map(holds_of));
        token = page.next_page_token;
        if token.is_empty() || n_runs >= RUNS_MAX {
            return Ok(found);
        }
    }
}

fn holds_of(run: &WorkflowExecutionInfo) -> Vec<ServedHold> {
    let session = run.execution.as_ref().map(|it| it.workflow_id.clone()).unwrap_or_default();
    let Some(memo) = &run.memo else { return Vec::new() };
    let text = |name: &str| entry::<String>(memo, name).unwrap_or_default();
    let holds = entry::<Vec<HoldNote>>(memo, "holds").unwrap_or_default();
    let served = holds.into_iter().map(|hold| ServedHold {
        session: session.clone(),
        agent: text("agent"),
        key: text("key"),
        space: text("space"),
        hold,
    });
    served.collect()
}

/// Reads an entry of a memo.
fn entry<T: DeserializeOwned>(memo: &Memo, name: &str) -> Option<T> {
    serde_json::from_slice(&memo.fields.get(name)?.data).ok()
}
