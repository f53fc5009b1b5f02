//! A workflow written by hand that has the same activities performed as a run of a program: what
//! `bench/temporal` measures such a run beside.
//!
//! ```text
//! handwritten work ADDRESS               hosts the runs of the queue `handwritten` until it is ended
//! handwritten run ADDRESS ID PLAN.json   starts one and waits until it is over
//! handwritten start ADDRESS ID PLAN.json starts one
//! handwritten decide ADDRESS ID          decides what it waits for, and waits for the receipt
//! ```
//!
//! A plan is what a run of ours had performed, taken from its history: stages, one after the other, of
//! activities that are begun together. A stage may wait for a decision before them.

use std::error::Error;
use std::str::FromStr as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use temporalio_client::{
    Client, ClientOptions, Connection, ConnectionOptions, Url, WorkflowExecuteUpdateOptions,
    WorkflowGetResultOptions, WorkflowStartOptions,
};
use temporalio_common::{ActivityDefinition, RetryPolicy};
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, Runtime, WaitConditionOptions, Worker, WorkerOptions, WorkflowContext,
    WorkflowResult,
};

/// The queue of the workflows.
const QUEUE: &str = "handwritten";
/// How long one activity may take.
const WITHIN: Duration = Duration::from_secs(600);
/// How often an activity is heard of, as those of our runs.
const BEAT_WITHIN: Duration = Duration::from_secs(10);

/// What is performed, in which order.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct HandPlan {
    stages: Vec<HandStage>,
    /// What a decision has performed.
    decide: Option<HandActivity>,
}

/// What is begun together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct HandStage {
    /// Whether it waits for a decision first.
    #[serde(default)]
    is_held: bool,
    activities: Vec<HandActivity>,
}

/// One activity.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct HandActivity {
    name: String,
    queue: String,
    id: String,
    input: Json,
}

/// An activity by its name.
struct NamedActivity(String);

impl ActivityDefinition for NamedActivity {
    type Input = Json;
    type Output = Json;

    fn name(&self) -> &str {
        &self.0
    }
}

impl HandActivity {
    fn options(&self) -> ActivityOptions {
        ActivityOptions::with_start_to_close_timeout(WITHIN)
            .task_queue(self.queue.clone())
            .activity_id(self.id.clone())
            .heartbeat_timeout(BEAT_WITHIN)
            .retry_policy(RetryPolicy::builder().maximum_attempts(1).build())
            .build()
    }
}

/// A run.
#[workflow]
#[derive(Default)]
struct HandRun {
    decide: Option<HandActivity>,
    n_decided: usize,
}

#[workflow_methods]
impl HandRun {
    #[run(name = "handwritten")]
    async fn run(ctx: &mut WorkflowContext<Self>, plan: HandPlan) -> WorkflowResult<usize> {
        ctx.state_mut(|run| run.decide = plan.decide);
        let mut n_held = 0;
        for stage in &plan.stages {
            if stage.is_held {
                n_held += 1;
                let is_decided = |run: &HandRun| run.n_decided >= n_held;
                ctx.wait_condition_with_options(is_decided, WaitConditionOptions::default())
                    .await?;
            }
            let begin = |one: &HandActivity| {
                ctx.execute_activity(
                    NamedActivity(one.name.clone()),
                    one.input.clone(),
                    one.options(),
                )
            };
            // Each is begun when its command is made, not when it is waited for.
            let begun: Vec<_> = stage.activities.iter().map(begin).collect();
            for done in begun {
                done.await?;
            }
        }
        Ok(plan.stages.len())
    }

    #[update(name = "decide")]
    async fn decide(ctx: &mut WorkflowContext<Self>, attempt: String) -> Result<Json, BoxedError> {
        // It may be called before the run has begun.
        let is_known = |run: &HandRun| run.decide.is_some();
        ctx.wait_condition_with_options(is_known, WaitConditionOptions::default()).await?;
        let activity = ctx.state(|run| run.decide.clone()).ok_or("nothing is decided here")?;
        let name = NamedActivity(activity.name.clone());
        let mut options = activity.options();
        options.activity_id = Some(format!("{}-{attempt}", activity.id));
        let said = ctx.execute_activity(name, activity.input, options).await?;
        ctx.state_mut(|run| run.n_decided += 1);
        Ok(said)
    }
}

/// An error of any sort.
type BoxedError = Box<dyn Error + Send + Sync>;

async fn connect(address: &str) -> Result<Client, BoxedError> {
    let options = ConnectionOptions::new(Url::from_str(&format!("http://{address}"))?).build();
    let connection = Connection::connect(options).await?;
    Ok(Client::new(connection, ClientOptions::new("default").build())?)
}

async fn work(client: Client) -> Result<(), BoxedError> {
    let runtime = Runtime::from_current_tokio(Default::default())?;
    let options = WorkerOptions::new(QUEUE).register_workflow::<HandRun>()?;
    let mut worker = Worker::new(&runtime, client, options.build())?;
    worker.run().await?;
    Ok(())
}

async fn start(client: &Client, id: &str, plan: &str) -> Result<(), BoxedError> {
    let plan: HandPlan = serde_json::from_slice(&std::fs::read(plan)?)?;
    let options = WorkflowStartOptions::new(QUEUE, id).build();
    client.start_workflow(HandRun::run, plan, options).await?;
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), BoxedError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["work", address] => work(connect(address).await?).await,
        ["start", address, id, plan] => start(&connect(address).await?, id, plan).await,
        ["run", address, id, plan] => {
            let client = connect(address).await?;
            start(&client, id, plan).await?;
            let run = client.get_workflow_handle::<HandRun>(id);
            run.get_result(WorkflowGetResultOptions::default()).await?;
            Ok(())
        }
        ["decide", address, id] => {
            let client = connect(address).await?;
            let run = client.get_workflow_handle::<HandRun>(id);
            let options = WorkflowExecuteUpdateOptions::builder().build();
            run.execute_update(HandRun::decide, "once".to_owned(), options).await?;
            Ok(())
        }
        _ => Err("handwritten work|run|start|decide ADDRESS [ID [PLAN.json]]".into()),
    }
}
