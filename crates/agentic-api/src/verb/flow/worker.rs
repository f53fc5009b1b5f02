//! Driving durable runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use agentic_lang_pipeline::PlannedRun;
use agentic_replay::SessionState;
use agentic_replay::engine::{DurableEngine, RunId, RunStatus};
use agentic_session::engine::EmbeddedEngine;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::FlowStatusView;
use crate::watcher::NoticeDesk;
use crate::{Caller, Notice, Refusal, VerbEvent};

/// How often it is looked which runs can go further.
const POLL: Duration = Duration::from_millis(100);
/// The longest time between two looks.
const POLL_MAX: Duration = Duration::from_secs(5);
/// How much longer than a look the pause after it is at least.
const PAUSE_TO_LOOK: u32 = 10;
/// How many runs are driven at once.
const RUNS_MAX: usize = 64;

/// Drive durable runs: those that were detached, those whose pause is over, answered holds. Ends when
/// the watcher stops it, and then ends what is under way. Where nobody listens, how the runs stood last
/// is the answer.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlowWorker {
    /// This one alone, until it is over or waits for a human; its key, its agent or its session.
    pub run: Option<String>,
}

impl Verb for FlowWorker {
    type Answer = Vec<FlowStatusView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<FlowStatusView>>, Refusal> {
        match &self.run {
            Some(name) => drive_one(caller, name),
            None => drive_all(caller),
        }
    }
}

/// Drives a run until it is over, waits for a human, or the watcher stops it.
fn drive_one(caller: &Caller<'_>, name: &str) -> Result<Reply<Vec<FlowStatusView>>, Refusal> {
    let engine = EmbeddedEngine::new(caller.space, caller.client);
    let stop = &caller.watcher().stop;
    let run = engine.find(name)?;
    let status = loop {
        engine.go_on(&run)?;
        let status = engine.status(&run)?;
        let pause = status.until.filter(|_| status.state == SessionState::Waiting);
        let Some(until) = pause.filter(|_| !stop.is_set()) else { break status };
        while caller.space.now() < until && !stop.wait(POLL) {}
    };
    let notices = Notice::mended(caller.space);
    Ok(Reply { notices, ..Reply::plain(vec![FlowStatusView::from(&status)]) })
}

/// What became of one run: how it stands, if it got further.
type DrivenRun = (RunId, Result<Option<RunStatus>, Refusal>);

/// Drives all runs that can go further, until it is stopped; then ends what is under way.
fn drive_all(caller: &Caller<'_>) -> Result<Reply<Vec<FlowStatusView>>, Refusal> {
    let engine = EmbeddedEngine::new(caller.space, caller.client);
    let (done, driven) = channel();
    let mut worker = Worker {
        caller,
        desk: NoticeDesk::new(caller.watcher()),
        queue: VecDeque::new(),
        under_way: BTreeSet::new(),
        unheard: BTreeMap::new(),
        done,
    };
    let outcome = std::thread::scope(|scope| {
        while !caller.watcher().stop.is_set() {
            let began = Instant::now();
            if worker.queue.is_empty() {
                worker.queue.extend(engine.due()?);
            }
            worker.begin(scope);
            // However many runs there are, to look for them takes a small part of the time.
            let patience = POLL.max(began.elapsed() * PAUSE_TO_LOOK).min(POLL_MAX);
            worker.report(&driven, patience);
        }
        while !worker.under_way.is_empty() {
            worker.report(&driven, POLL);
        }
        Ok::<(), Refusal>(())
    });
    outcome?;
    let answer = worker.unheard.into_values().collect();
    Ok(Reply { notices: worker.desk.take_kept(), ..Reply::plain(answer) })
}

/// What a worker has to do.
struct Worker<'c> {
    caller: &'c Caller<'c>,
    desk: NoticeDesk<'c>,
    queue: VecDeque<RunId>,
    under_way: BTreeSet<RunId>,
    /// How runs stood last of which nobody heard.
    unheard: BTreeMap<RunId, FlowStatusView>,
    done: Sender<DrivenRun>,
}

impl<'c> Worker<'c> {
    /// Begins with as many runs as there is room for.
    fn begin<'scope>(&mut self, scope: &'scope Scope<'scope, '_>)
    where
        'c: 'scope,
    {
        for run in std::mem::take(&mut self.queue) {
            let is_full = self.under_way.len() >= RUNS_MAX;
            if is_full || !self.under_way.insert(run.clone()) {
                // What became due while it was driven may have come too late for that driver.
                self.queue.push_back(run);
                continue;
            }
            let (done, caller) = (self.done.clone(), self.caller);
            scope.spawn(move || {
                let outcome = drive(caller, &run);
                // Whoever does not listen any more has ended.
                let _ = done.send((run, outcome));
            });
        }
    }

    /// Tells what became of runs that were driven; waits a while for the first.
    fn report(&mut self, driven: &Receiver<DrivenRun>, patience: Duration) {
        let mut patience = patience;
        while let Ok((run, outcome)) = driven.recv_timeout(patience) {
            self.under_way.remove(&run);
            match outcome {
                Ok(Some(status)) => self.tell(run, FlowStatusView::from(&status)),
                Ok(None) => {}
                Err(refusal) => {
                    let why = refusal.sentence();
                    self.desk.warn(format!("the run {run} cannot go on: {why}"));
                }
            }
            patience = Duration::ZERO;
        }
        for mended in Notice::mended(self.caller.space) {
            self.desk.say(mended);
        }
    }

    fn tell(&mut self, run: RunId, view: FlowStatusView) {
        if let Some(VerbEvent::Run(view)) = self.caller.watcher().tell(VerbEvent::Run(view)) {
            self.unheard.insert(run, view);
        }
    }
}

/// Goes on with one run; returns how it stands if it got further.
fn drive(caller: &Caller<'_>, run: &RunId) -> Result<Option<RunStatus>, Refusal> {
    let engine = EmbeddedEngine::new(caller.space, caller.client);
    let before = n_events(&engine, run);
    engine.go_on(run)?;
    let after = engine.status(run)?;
    Ok((n_events(&engine, run) > before).then_some(after))
}

fn n_events(engine: &dyn DurableEngine<PlannedRun>, run: &RunId) -> usize {
    engine.history(run).map_or(0, |events| events.len())
}
