//! `agentic flow worker`

use std::collections::{BTreeSet, VecDeque};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use agentic_api::view::FlowStatusView;
use agentic_lang_pipeline::PlannedRun;
use agentic_providers::host::CancelFlag;
use agentic_replay::SessionState;
use agentic_replay::engine::{DurableEngine, RunId, RunStatus};

use super::status::show;
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::engine::Address;
use crate::failure::CommandFailure;
use crate::output::warn;

/// How often it is looked which runs can go further.
const POLL: Duration = Duration::from_millis(100);
/// The longest time between two looks.
const POLL_MAX: Duration = Duration::from_secs(5);
/// How much longer than a look the pause after it is at least.
const PAUSE_TO_LOOK: u32 = 10;
/// How many runs are driven at once.
const RUNS_MAX: usize = 64;

/// Which runs are driven.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// This one alone, until it is over or waits for a human; its key, its agent or its session
    run: Option<String>,
    #[command(flatten)]
    address: Address,
}

/// What became of one run.
type DrivenRun = (RunId, Result<Option<RunStatus>, CommandFailure>);

/// Runs the verb.
pub fn run(context: &Context, args: &WorkerArgs) -> VerbOutcome {
    let stop = &context.listen()?;
    match &args.run {
        Some(name) => drive_one(context, &args.address, name, stop),
        None => drive_all(context, &args.address, stop),
    }
}

/// Drives a run until it is over, waits for a human, or this program is told to stop.
fn drive_one(context: &Context, address: &Address, name: &str, stop: &CancelFlag) -> VerbOutcome {
    let reached = address.reach(context)?;
    let engine = reached.engine();
    let run = engine.find(name)?;
    let status = loop {
        engine.go_on(&run)?;
        let status = engine.status(&run)?;
        let pause = status.until.filter(|_| status.state == SessionState::Waiting);
        let Some(until) = pause.filter(|_| !stop.is_set()) else { break status };
        while context.now() < until && !stop.is_set() {
            std::thread::sleep(POLL);
        }
    };
    reached.tell_mended();
    show(context, &FlowStatusView::from(&status));
    Ok(ExitCode::SUCCESS)
}

/// Drives all runs that can go further, until it is told to stop; then ends what is under way.
fn drive_all(context: &Context, address: &Address, stop: &CancelFlag) -> VerbOutcome {
    let reached = address.reach(context)?;
    let engine = reached.engine();
    let (done, driven) = channel();
    let mut worker = Worker { queue: VecDeque::new(), under_way: BTreeSet::new(), done };
    std::thread::scope(|scope| {
        while !stop.is_set() {
            let began = Instant::now();
            if worker.queue.is_empty() {
                worker.queue.extend(engine.due()?);
            }
            worker.begin(scope, context, address);
            // However many runs there are, to look for them takes a small part of the time.
            let patience = POLL.max(began.elapsed() * PAUSE_TO_LOOK).min(POLL_MAX);
            worker.report(context, &driven, patience);
            reached.tell_mended();
        }
        while !worker.under_way.is_empty() {
            worker.report(context, &driven, POLL);
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// What a worker has to do.
struct Worker {
    queue: VecDeque<RunId>,
    under_way: BTreeSet<RunId>,
    done: Sender<DrivenRun>,
}

impl Worker {
    /// Begins with as many runs as there is room for.
    fn begin<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        context: &'scope Context,
        address: &'scope Address,
    ) {
        for run in std::mem::take(&mut self.queue) {
            let is_full = self.under_way.len() >= RUNS_MAX;
            if is_full || !self.under_way.insert(run.clone()) {
                // What became due while it was driven may have come too late for that driver.
                self.queue.push_back(run);
                continue;
            }
            let done = self.done.clone();
            scope.spawn(move || {
                let driven = drive(context, address, &run);
                // Whoever does not listen any more has ended.
                let _ = done.send((run, driven));
            });
        }
    }

    /// Tells what became of runs that were driven; waits a while for the first.
    fn report(&mut self, context: &Context, driven: &Receiver<DrivenRun>, patience: Duration) {
        let mut patience = patience;
        loop {
            match driven.recv_timeout(patience) {
                Ok((run, outcome)) => {
                    self.under_way.remove(&run);
                    match outcome {
                        Ok(Some(status)) => show(context, &FlowStatusView::from(&status)),
                        Ok(None) => {}
                        Err(failure) => {
                            let why = failure.sentence();
                            warn(&format!("the run {run} cannot go on: {why}"));
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
            patience = Duration::ZERO;
        }
    }
}

/// Goes on with one run; returns how it stands if it got further.
fn drive(
    context: &Context,
    address: &Address,
    run: &RunId,
) -> Result<Option<RunStatus>, CommandFailure> {
    let reached = address.reach_again(context)?;
    let engine = reached.engine();
    let before = n_events(&*engine, run);
    engine.go_on(run)?;
    reached.tell_mended();
    let after = engine.status(run)?;
    Ok((n_events(&*engine, run) > before).then_some(after))
}

fn n_events(engine: &dyn DurableEngine<PlannedRun>, run: &RunId) -> usize {
    engine.history(run).map_or(0, |events| events.len())
}
