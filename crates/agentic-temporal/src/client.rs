//! What is asked of a server about one run.

use std::time::{Duration, Instant};

use temporalio_client::errors::{
    WorkflowInteractionError, WorkflowStartError, WorkflowUpdateError,
};
use temporalio_client::tonic::Code;
use temporalio_client::{
    Client, WorkflowDescribeOptions, WorkflowExecuteUpdateOptions, WorkflowExecutionStatus,
    WorkflowHandle, WorkflowIdReusePolicy, WorkflowQueryOptions, WorkflowSignalOptions,
    WorkflowStartOptions,
};
use temporalio_common::protos::temporal::api::failure::v1::Failure;
use temporalio_common::protos::temporal::api::failure::v1::failure::FailureInfo;

use crate::decision::{CancelAsk, DecideAsk, DecideReply, RunView, SignalAsk};
use crate::error::whole;
use crate::wire::RunInput;
use crate::workflow::ServedRun;
use crate::{Error, Result};

/// How long a task of the workflow may take.
pub const TASK_WITHIN: Duration = Duration::from_secs(60);
/// How long a decision waits for a place among those that a run takes at the same time.
const PLACE_WITHIN: Duration = Duration::from_secs(30);
/// How long a run is asked how it stands: without a worker nobody answers.
const VIEW_WITHIN: Duration = Duration::from_secs(3);
/// The shortest and the longest pause between two looks at a run that somebody waits for.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// What the server calls an update that outlived its run.
const CLOSED: &str = "AcceptedUpdateCompletedWorkflow";

/// How the server sees a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFate {
    /// It is under way.
    Open {
        /// Whether it says that only humans are waited for.
        rests: bool,
    },
    /// It is over.
    Closed,
    /// The server ended it.
    Ended,
    /// The server knows nothing of it.
    Unknown,
}

/// One run on a server.
pub struct RunClient<'c> {
    client: &'c Client,
    handle: WorkflowHandle<Client, ServedRun>,
    id: String,
}

impl<'c> RunClient<'c> {
    /// Speaks of the run of a session.
    pub fn new(client: &'c Client, session: &str) -> RunClient<'c> {
        let handle = client.get_workflow_handle::<ServedRun>(session);
        RunClient { client, handle, id: session.to_owned() }
    }

    /// Starts the run, unless it is there.
    pub async fn start(&self, queue: &str, input: RunInput) -> Result<()> {
        let options = WorkflowStartOptions::new(queue, self.id.as_str())
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .task_timeout(TASK_WITHIN)
            .static_summary(format!("{} as {}", input.start.key, input.start.agent))
            .build();
        match self.client.start_workflow(ServedRun::run, input, options).await {
            Ok(_) | Err(WorkflowStartError::AlreadyStarted { .. }) => Ok(()),
            Err(error) => Err(refused("start the run", &error)),
        }
    }

    /// Looks how the server sees it.
    pub async fn fate(&self) -> Result<RunFate> {
        Ok(self.look().await?.0)
    }

    /// Looks how the server sees it, and which children it waits for.
    async fn look(&self) -> Result<(RunFate, Vec<String>)> {
        let described = match self.handle.describe(WorkflowDescribeOptions::default()).await {
            Ok(described) => described,
            Err(WorkflowInteractionError::NotFound(_)) => {
                return Ok((RunFate::Unknown, Vec::new()));
            }
            Err(error) => return Err(refused("tell of the run", &error)),
        };
        let status = described.status();
        let is_closed = matches!(
            status,
            WorkflowExecutionStatus::Completed
                | WorkflowExecutionStatus::Failed
                | WorkflowExecutionStatus::Canceled
        );
        let is_ended = matches!(
            status,
            WorkflowExecutionStatus::Terminated | WorkflowExecutionStatus::TimedOut
        );
        let memo = described.memo();
        let children = memo.get::<Vec<String>>("children").ok().flatten().unwrap_or_default();
        let fate = match (is_closed, is_ended) {
            (true, _) => RunFate::Closed,
            (false, true) => RunFate::Ended,
            (false, false) => {
                RunFate::Open { rests: memo.get::<bool>("rests").ok().flatten() == Some(true) }
            }
        };
        Ok((fate, children))
    }

    /// Waits until it is over or goes no further by itself, and neither do its children.
    pub async fn rest(&self) -> Result<RunFate> {
        let [mut pause, longest] = LOOK_EVERY;
        loop {
            let (fate, children) = self.look().await?;
            match fate {
                RunFate::Open { rests: true } => {
                    if self.do_rest(children).await? {
                        return Ok(fate);
                    }
                }
                RunFate::Open { rests: false } => {}
                RunFate::Closed | RunFate::Ended | RunFate::Unknown => return Ok(fate),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(longest);
        }
    }

    /// Says whether runs, and those that they wait for, go no further by themselves.
    async fn do_rest(&self, mut runs: Vec<String>) -> Result<bool> {
        while let Some(id) = runs.pop() {
            let (fate, children) = RunClient::new(self.client, &id).look().await?;
            if fate != (RunFate::Open { rests: true }) {
                return Ok(false);
            }
            runs.extend(children);
        }
        Ok(true)
    }

    /// Asks it how it stands; nothing where no worker answers.
    pub async fn view(&self) -> Option<RunView> {
        let asked = self.handle.query(ServedRun::view, (), WorkflowQueryOptions::default());
        tokio::time::timeout(VIEW_WITHIN, asked).await.ok()?.ok()
    }

    /// Has it seal what it has recorded, and waits until it has, or until no worker answers.
    pub async fn seal(&self) -> Result<Option<RunView>> {
        let Some(view) = self.view().await else { return Ok(None) };
        if view.is_sealed() {
            return Ok(Some(view));
        }
        let told = self.handle.signal(ServedRun::seal, (), WorkflowSignalOptions::default()).await;
        match told {
            Ok(()) => {}
            // It has closed: nothing more is sealed.
            Err(WorkflowInteractionError::NotFound(_)) => return Ok(Some(view)),
            Err(error) => return Err(refused("pass the wish on", &error)),
        }
        let wanted = view.records;
        let [pause, _] = LOOK_EVERY;
        loop {
            match self.view().await {
                Some(view) if view.sealed < wanted && !view.over => {}
                view => return Ok(view),
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Decides a hold. When this returns the decision is a commit, or is refused.
    pub async fn decide(&self, ask: DecideAsk, update: String) -> Result<Option<DecideReply>> {
        let asked = Instant::now();
        loop {
            let options = WorkflowExecuteUpdateOptions::builder().update_id(update.clone()).build();
            match self.handle.execute_update(ServedRun::decide, ask.clone(), options).await {
                Ok(reply) => return Ok(Some(reply)),
                Err(WorkflowUpdateError::NotFound(_)) => return Ok(None),
                Err(WorkflowUpdateError::Failed(failure)) if has_closed(&failure) => {
                    return Ok(None);
                }
                // A run has few places for updates.
                Err(WorkflowUpdateError::Rpc(status))
                    if status.code() == Code::ResourceExhausted
                        && asked.elapsed() < PLACE_WITHIN =>
                {
                    let [_, pause] = LOOK_EVERY;
                    tokio::time::sleep(pause).await;
                }
                Err(error) => return Err(refused("take the decision", &error)),
            }
        }
    }

    /// Asks it to stop.
    pub async fn cancel(&self, ask: CancelAsk) -> Result<RunFate> {
        let told = self.handle.signal(ServedRun::cancel, ask, WorkflowSignalOptions::default());
        match told.await {
            Ok(()) => Ok(RunFate::Open { rests: false }),
            Err(WorkflowInteractionError::NotFound(_)) => Ok(RunFate::Closed),
            Err(error) => Err(refused("pass the wish to stop on", &error)),
        }
    }

    /// Sends it what it waits for, or will wait for.
    pub async fn signal(&self, ask: SignalAsk) -> Result<RunFate> {
        let told = self.handle.signal(ServedRun::signal, ask, WorkflowSignalOptions::default());
        match told.await {
            Ok(()) => Ok(RunFate::Open { rests: false }),
            Err(WorkflowInteractionError::NotFound(_)) => Ok(RunFate::Closed),
            Err(error) => Err(refused("pass the signal on", &error)),
        }
    }

    /// Waits until it is over.
    pub async fn end(&self) -> Result<RunFate> {
        let [mut pause, longest] = LOOK_EVERY;
        loop {
            match self.fate().await? {
                RunFate::Open { .. } => {}
                fate => return Ok(fate),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(longest);
        }
    }
}

/// Says whether an update failed because its run was over before it.
fn has_closed(failure: &Failure) -> bool {
    let info = failure.failure_info.as_ref();
    matches!(info, Some(FailureInfo::ApplicationFailureInfo(info)) if info.r#type == CLOSED)
}

fn refused(doing: &'static str, error: &dyn std::error::Error) -> Error {
    Error::Server { doing, reason: whole(error) }
}
