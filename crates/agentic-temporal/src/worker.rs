//! Workers: who performs what runs ask, and replays them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use agentic_providers::host::CancelFlag;
use agentic_session::SessionOptions;
use agentic_session::hosted::space_id;
use temporalio_client::Client;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder, WorkerTuner};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};

use crate::attempt::{AttemptTerms, perform_all};
use crate::connection::runtime;
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::performer::ActivityPerformer;
use crate::route::{ANYWHERE, needs_repository, queue_of};
use crate::workflow::ServedRun;
use crate::{Error, Result, ServerSettings};

/// How long what is under way has to end when a worker stops, where nobody says otherwise.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether a worker is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many threads a side of a worker has.
const THREADS: usize = 2;
/// How much one side performs at once where nobody says otherwise.
const CONCURRENCY: usize = 100;

/// What a worker is to do.
pub struct WorkerWish {
    /// The server.
    pub settings: ServerSettings,
    /// The folder that it works in, with a repository or without.
    pub folder: PathBuf,
    /// How the repository is opened.
    pub options: SessionOptions,
    /// The queues that it serves; the usual ones without any.
    pub queues: Vec<String>,
    /// How much it performs at once on each.
    pub concurrency: Option<NonZeroUsize>,
    /// Set when it is to stop.
    pub stop: CancelFlag,
}

/// What one side of a worker polls for.
#[derive(Clone)]
enum WorkerSide {
    /// Workflows of a space.
    Workflows(Arc<WorkerGround>),
    /// Activities of a space.
    Activities(Arc<WorkerGround>),
    /// Activities that need no repository.
    Outside,
}

/// How each side works.
#[derive(Clone)]
struct SideTerms {
    settings: ServerSettings,
    folder: PathBuf,
    grace: Duration,
    concurrency: usize,
    stop: CancelFlag,
}

/// Works until it is told to stop. Says which queues it serves once it does.
///
/// # Errors
/// Fails when the server is not there, or a repository that a queue needs.
pub fn work(wish: WorkerWish, serving: impl Fn(&str)) -> Result<()> {
    let WorkerWish { settings, folder, options, queues, concurrency, stop } = wish;
    let terms = SideTerms {
        settings,
        folder,
        grace: options.grace.unwrap_or(GRACE),
        concurrency: concurrency.map_or(CONCURRENCY, NonZeroUsize::get),
        stop,
    };
    let sides = sides(&terms, options, queues)?;
    // A server that is not there is told before anything is said.
    runtime(THREADS)?.block_on(terms.settings.connect())?;
    let begin = |(side, queue): (WorkerSide, String)| {
        let terms = terms.clone();
        std::thread::spawn(move || runtime(THREADS)?.block_on(serve(side, queue, terms)))
    };
    let mut said: Vec<&str> = sides.iter().map(|(_, queue)| queue.as_str()).collect();
    said.dedup();
    said.into_iter().for_each(serving);
    // Apart, so that a program at its limit holds no activity up.
    let threads = sides.into_iter().map(begin).collect();
    joined(threads, &terms.stop)
}

/// Says what a worker polls for on which queues.
fn sides(
    terms: &SideTerms,
    options: SessionOptions,
    queues: Vec<String>,
) -> Result<Vec<(WorkerSide, String)>> {
    let needs_one = queues.is_empty() || queues.iter().any(|queue| needs_repository(queue));
    let own = match needs_one && has_repository(&terms.folder) {
        true => {
            let ground = Arc::new(WorkerGround::open(terms.folder.clone(), options)?);
            let queue = queue_of(&space_id(ground.space())?);
            Some((ground, queue))
        }
        false => None,
    };
    let usual = || terms.settings.queues.usual.clone().unwrap_or_else(|| ANYWHERE.to_owned());
    let queues = match queues.is_empty() {
        false => queues,
        true => own.iter().map(|(_, queue)| queue.clone()).chain([usual()]).collect(),
    };
    let mut sides = Vec::new();
    for queue in queues {
        if !needs_repository(&queue) {
            sides.push((WorkerSide::Outside, queue));
            continue;
        }
        match &own {
            Some((ground, own)) if *own == queue => {
                sides.push((WorkerSide::Workflows(Arc::clone(ground)), queue.clone()));
                sides.push((WorkerSide::Activities(Arc::clone(ground)), queue));
            }
            Some(_) | None => return Err(Error::NoRepository { queue }),
        }
    }
    Ok(sides)
}

/// Says whether a folder is in a repository.
fn has_repository(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    agentic_git::is_repository_above(&folder)
}

/// Waits until all sides have ended. When one has, the others have nothing to do.
fn joined(threads: Vec<JoinHandle<Result<()>>>, stop: &CancelFlag) -> Result<()> {
    while !threads.iter().any(JoinHandle::is_finished) {
        std::thread::sleep(LOOK_EVERY);
    }
    stop.set();
    let mut outcome = Ok(());
    for thread in threads {
        let panicked = || Error::Runtime("a thread of the worker panicked".to_owned());
        let ended = thread.join().unwrap_or_else(|_| Err(panicked()));
        outcome = outcome.and(ended);
    }
    outcome
}

async fn serve(side: WorkerSide, queue: String, terms: SideTerms) -> Result<()> {
    let client = terms.settings.connect().await?;
    let (folder, stop) = (terms.folder, terms.stop.clone());
    let ground = match side {
        WorkerSide::Workflows(ground) => return host(client, queue, ground, stop).await,
        WorkerSide::Activities(ground) => Some(ground),
        WorkerSide::Outside => None,
    };
    let SideTerms { concurrency, grace, .. } = terms;
    let terms = AttemptTerms { queue, concurrency, grace };
    perform_all(&client, terms, ActivityPerformer { ground, folder }, stopped(stop)).await
}

/// Hosts the runs of a queue until it is told to stop.
async fn host(
    client: Client,
    queue: String,
    ground: Arc<WorkerGround>,
    stop: CancelFlag,
) -> Result<()> {
    let failed = |error: &dyn std::error::Error| Error::Runtime(whole(error));
    let runtime =
        Runtime::from_current_tokio(Default::default()).map_err(|error| failed(&error))?;
    let options = WorkerOptions::new(queue)
        .tuner(tuner())
        .register_workflow_with_factory(move || ServedRun::on(Arc::clone(&ground)))
        .map_err(|error| failed(&error))?;
    let mut worker =
        Worker::new(&runtime, client, options.build()).map_err(|error| failed(&error))?;
    let shut_down = worker.shutdown_handle();
    let watched = async move {
        stopped(stop).await;
        shut_down();
        std::future::pending::<()>().await
    };
    tokio::select! {
        ended = worker.run() => ended.map_err(|error| failed(&error)),
        () = watched => Ok(()),
    }
}

/// Waits until a worker is told to stop.
async fn stopped(stop: CancelFlag) {
    while !stop.is_set() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Lets so many tasks of workflows be looked at. How many runs are replayed at once is the SDK's to say.
fn tuner() -> WorkerTuner {
    let slots = FixedSizeSlotSupplier::new;
    TunerHolder::builder()
        .workflow_task_slot_supplier(slots(CONCURRENCY))
        .activity_task_slot_supplier(slots(CONCURRENCY))
        .local_activity_task_slot_supplier(slots(CONCURRENCY))
        .nexus_task_slot_supplier(slots(CONCURRENCY))
        .build()
        .into()
}
