//! What is asked of a server about one run.

use std::time::{Duration, Instant};

use temporalio_client::errors::{
    WorkflowInteractionError, WorkflowStartError, WorkflowUpdateError,
};
use temporalio_client::{
    Client, WorkflowDescribeOptions, WorkflowExecuteUpdateOptions, WorkflowExecutionStatus,
    WorkflowHandle, WorkflowIdReusePolicy, WorkflowQueryOptions, WorkflowSignalOptions,
    WorkflowStartOptions,
};
use temporalio_common::MemoValues;

use crate::decision::{CancelAsk, DecideAsk, DecideReply, RunView, SignalAsk};
use crate::error::START;
use crate::obstacle::{RunObstacle, divergence, obstacle};
use crate::search::of_start;
use crate::wire::{self, RunInput, short};
use crate::words::{is_passing, refused};
use crate::workflow::ServedRun;
use crate::{Error, Result};

/// How long a task of the workflow may take.
pub const TASK_WITHIN: Duration = Duration::from_secs(60);
/// How long a run is asked how it stands: without a worker nobody answers.
const VIEW_WITHIN: Duration = Duration::from_secs(3);
/// How long a server that has no room is asked again to take a decision.
const DECIDE_WITHIN: Duration = Duration::from_secs(60);
/// The shortest and the longest pause between two looks at a run that somebody waits for.
const LOOK_EVERY: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// The entry of the memo that names the space that has the run.
pub const SPACE: &str = "space";

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
    /// It is under way, but not on this build.
    Diverged,
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
        let mut memo = MemoValues::new();
        memo.insert(SPACE, input.start.space.clone());
        memo.insert("agent", input.start.agent.clone());
        memo.insert("key", input.start.key.clone());
        let search = of_start(&input.start, &input.search);
        let space = input.start.space.clone();
        let options = WorkflowStartOptions::new(queue, self.id.as_str())
            .memo(memo)
            .search_attributes(search)
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .task_timeout(TASK_WITHIN)
            .static_summary(format!("{} as {}", input.start.key, input.start.agent))
            .build();
        match self.client.start_workflow(ServedRun::run, input, options).await {
            Ok(_) => Ok(()),
            Err(WorkflowStartError::AlreadyStarted { .. }) => self.check_space(&space).await,
            Err(error) => Err(refused(START, &error)),
        }
    }

    /// Refuses a run of the same id that another space has.
    async fn check_space(&self, space: &str) -> Result<()> {
        let described = self.handle.describe(WorkflowDescribeOptions::default()).await;
        let described = described.map_err(|error| refused("tell of the run", &error))?;
        match described.memo().get::<String>(SPACE).ok().flatten() {
            Some(found) if found == space => Ok(()),
            Some(_) | None => Err(Error::OtherSpace { session: short(&self.id).to_owned() }),
        }
    }

    /// Says what it waits for that is no human, if it waits for long.
    pub async fn obstacle(&self) -> Option<RunObstacle> {
        let described = self.handle.describe(WorkflowDescribeOptions::default()).await.ok()?;
        obstacle(self.client, &described).await
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
            (false, false) if divergence(self.client, &described).await.is_some() => {
                RunFate::Diverged
            }
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
                RunFate::Closed | RunFate::Ended | RunFate::Diverged | RunFate::Unknown => {
                    return Ok(fate);
                }
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
    pub async fn decide(&self, ask: DecideAsk, mut update: String) -> Result<Option<DecideReply>> {
        let ([mut pause, longest], begun) = (LOOK_EVERY, Instant::now());
        loop {
            let options = WorkflowExecuteUpdateOptions::builder().update_id(update.clone()).build();
            match self.handle.execute_update(ServedRun::decide, ask.clone(), options).await {
                // The server repeats what it said of the same update before. What was refused then may
                // count now: what was refused is not decided.
                Ok(DecideReply::Refused(refusal)) if refusal.attempt != ask.attempt => {
                    update = format!("{update}-{}", ask.attempt);
                    continue;
                }
                Ok(reply) => return Ok(Some(reply)),
                Err(WorkflowUpdateError::NotFound(_)) => return Ok(None),
                // The server takes a few at once; the same update again is the same decision.
                Err(error) if is_passing(&error) && begun.elapsed() < DECIDE_WITHIN => {}
                Err(error) => match self.fate().await {
                    // It closed while the decision was on its way.
                    Ok(RunFate::Closed | RunFate::Ended | RunFate::Unknown) => return Ok(None),
                    Ok(RunFate::Open { .. } | RunFate::Diverged) | Err(_) => {
                        return Err(refused("take the decision", &error));
                    }
                },
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(longest);
        }
    }

    /// Asks it to stop.
    pub async fn cancel(&self, ask: CancelAsk) -> Result<RunFate> {
        let options = WorkflowSignalOptions::default();
        let sent = self.handle.signal(ServedRun::cancel, wire::told(&ask), options);
        heard(sent.await, "pass the wish to stop on")
    }

    /// Sends it what it waits for, or will wait for.
    pub async fn signal(&self, ask: SignalAsk) -> Result<RunFate> {
        let options = WorkflowSignalOptions::default();
        let sent = self.handle.signal(ServedRun::signal, wire::told(&ask), options);
        heard(sent.await, "pass the signal on")
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

/// Says whether a run has heard what it was told, or is over.
fn heard(
    told: std::result::Result<(), WorkflowInteractionError>,
    doing: &'static str,
) -> Result<RunFate> {
    match told {
        Ok(()) => Ok(RunFate::Open { rests: false }),
        Err(WorkflowInteractionError::NotFound(_)) => Ok(RunFate::Closed),
        Err(error) => Err(refused(doing, &error)),
    }
}
