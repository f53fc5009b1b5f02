//! Workers: who performs what runs ask, and replays them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentic_providers::host::CancelFlag;
use agentic_session::SessionOptions;
use agentic_session::hosted::space_id;
use temporalio_sdk::{Runtime, Worker, WorkerOptions};

use crate::activity::SpacePerformer;
use crate::engine::queue_of;
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::workflow::ServedRun;
use crate::{Error, Result, ServerAddress};

/// How often beats are passed on to the server.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// How long what is under way has to end when a worker stops.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether a worker is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many threads a side of a worker has.
const THREADS: usize = 2;

/// What a worker is to do.
pub struct WorkerWish {
    /// The server.
    pub address: ServerAddress,
    /// The repository.
    pub folder: PathBuf,
    /// How it is opened.
    pub options: SessionOptions,
    /// Set when it is to stop.
    pub stop: CancelFlag,
}

/// What a worker polls for.
#[derive(Clone, Copy)]
enum WorkerSide {
    Workflows,
    Activities,
}

/// Works until it is told to stop. Says what it serves once it does.
///
/// # Errors
/// Fails when the repository or the server is not there.
pub fn work(wish: WorkerWish, serving: impl FnOnce(&str)) -> Result<()> {
    let WorkerWish { address, folder, options, stop } = wish;
    let ground = Arc::new(WorkerGround::open(folder, options)?);
    let queue = queue_of(&space_id(ground.space())?);
    // A server that is not there is told before anything is said.
    runtime()?.block_on(address.connect())?;
    let side = |side: WorkerSide| {
        let (ground, queue, address) = (Arc::clone(&ground), queue.clone(), address.clone());
        let stop = stop.clone();
        std::thread::spawn(move || runtime()?.block_on(serve(side, ground, queue, address, stop)))
    };
    // Apart, so that a program at its limit holds no activity up.
    let sides = [side(WorkerSide::Workflows), side(WorkerSide::Activities)];
    serving(&queue);
    let mut outcome = Ok(());
    for side in sides {
        let ended = side
            .join()
            .unwrap_or_else(|_| Err(Error::Runtime("a thread of the worker panicked".to_owned())));
        // The other one has nothing to do alone.
        stop.set();
        outcome = outcome.and(ended);
    }
    outcome
}

async fn serve(
    side: WorkerSide,
    ground: Arc<WorkerGround>,
    queue: String,
    address: ServerAddress,
    stop: CancelFlag,
) -> Result<()> {
    let failed = |error: &dyn std::error::Error| Error::Runtime(whole(error));
    let runtime =
        Runtime::from_current_tokio(Default::default()).map_err(|error| failed(&error))?;
    let client = address.connect().await?;
    let options = WorkerOptions::new(queue)
        .max_heartbeat_throttle_interval(BEAT_EVERY)
        .graceful_shutdown_period(GRACE);
    let options = match side {
        WorkerSide::Workflows => options
            .register_workflow_with_factory(move || ServedRun::on(Arc::clone(&ground)))
            .map_err(|error| failed(&error))?,
        WorkerSide::Activities => options.register_activities(SpacePerformer { ground }),
    };
    let mut worker =
        Worker::new(&runtime, client, options.build()).map_err(|error| failed(&error))?;
    let shut_down = worker.shutdown_handle();
    let watched = async move {
        while !stop.is_set() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        shut_down();
        std::future::pending::<()>().await
    };
    tokio::select! {
        ended = worker.run() => ended.map_err(|error| failed(&error)),
        () = watched => Ok(()),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.worker_threads(THREADS).enable_all().build();
    built.map_err(|error| Error::Runtime(error.to_string()))
}
