//! The one thread that drives a program.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant as Tick};

use agentic_model::Instant;
use agentic_replay::{
    End, HostStep, Path, Program, ProgramEvent, ProgramFailure, ProgramRun, Request, RequestAnswer,
    Start,
};

use super::pool::{Job, Pool};
use super::{
    CancelFlag, Host, HostClock, HostExecutor, OVERLOADED, PANICKED, RequestPlace, awake,
    system_now,
};

/// The longest the driver waits at a stretch, so that a clock that was set is noticed.
const NAP_MAX: Duration = Duration::from_secs(60);
/// How many effects may be on their way out at once. With more, new ones wait for the grace and
/// then fail, so that executors that never come back cannot use up the system's threads.
const LEAVING_MAX: usize = 512;
/// How much longer than the grace a program is waited for that is stopped by force then.
const KILLED_WITHIN: Duration = Duration::from_millis(500);

/// What can happen to a run from outside its thread.
enum HostMessage {
    Finished { ticket: u64, answer: RequestAnswer },
    Cancel,
}

/// What became of an open request so far.
enum RequestStage {
    Queued { ticket: u64 },
    Inline { ticket: u64 },
    Working { ticket: u64 },
    Asleep { until: Instant },
}

/// A request that a thread works on.
struct ThreadEffect {
    path: Path,
    cancel: CancelFlag,
    job: Job,
    deadline: Option<Tick>,
}

struct HostDriver<'h, P> {
    host: &'h Host,
    run: ProgramRun<P>,
    pool: Pool,
    sender: Sender<HostMessage>,
    receiver: Receiver<HostMessage>,
    /// The jumping clock.
    now: Instant,
    /// The last ticket given out; tickets order requests as they came.
    ticket: u64,
    stages: HashMap<Path, RequestStage>,
    queue: BTreeMap<u64, Arc<Request>>,
    /// By ticket; those that were withdrawn have left their places empty.
    inline: VecDeque<(u64, Option<Arc<Request>>)>,
    working: BTreeMap<u64, ThreadEffect>,
    deadlines: BTreeSet<(Tick, u64)>,
    asleep: BTreeSet<(Instant, Path)>,
    refused: VecDeque<Path>,
    /// Effects told to stop that have not come back, and when they were told.
    leaving: BTreeMap<u64, Tick>,
    /// Since when too many are leaving.
    full_since: Option<Tick>,
}

/// Runs a program to its end.
pub(super) fn run(
    host: &Host,
    program: impl Program,
    start: &Start,
    cancel: &CancelFlag,
    sink: &mut dyn FnMut(ProgramEvent),
) -> End {
    let (sender, receiver) = channel();
    let (run, first) = ProgramRun::begin(program, start);
    let tell = sender.clone();
    cancel.on_set(move || {
        // The run may be over, and nobody listens any more.
        let _ = tell.send(HostMessage::Cancel);
    });
    let driver = HostDriver {
        host,
        run,
        pool: Pool::default(),
        sender,
        receiver,
        now: start.at,
        ticket: 0,
        stages: HashMap::new(),
        queue: BTreeMap::new(),
        inline: VecDeque::new(),
        working: BTreeMap::new(),
        deadlines: BTreeSet::new(),
        asleep: BTreeSet::new(),
        refused: VecDeque::new(),
        leaving: BTreeMap::new(),
        full_since: None,
    };
    driver.drive(first, sink)
}

impl<P: Program> HostDriver<'_, P> {
    fn drive(mut self, mut step: HostStep, sink: &mut dyn FnMut(ProgramEvent)) -> End {
        loop {
            for event in step.events {
                sink(event);
            }
            for path in &step.withdrawn {
                self.withdraw(path);
            }
            if let Some(end) = step.end {
                self.wait_for_the_leaving();
                return end;
            }
            for request in step.opened {
                self.place(request);
            }
            step = self.next_step();
        }
    }

    /// Decides where a new request goes.
    fn place(&mut self, request: Arc<Request>) {
        let path = request.path.clone();
        self.ticket += 1;
        let ticket = self.ticket;
        let stage = if let Some(until) = request.sleeps_until() {
            self.asleep.insert((until, path.clone()));
            RequestStage::Asleep { until }
        } else if self.host.executor.place(&request) == RequestPlace::Inline {
            self.inline.push_back((ticket, Some(request)));
            RequestStage::Inline { ticket }
        } else {
            self.queue.insert(ticket, request);
            RequestStage::Queued { ticket }
        };
        self.stages.insert(path, stage);
    }

    /// Takes a request back, wherever it stands.
    fn withdraw(&mut self, path: &Path) {
        match self.stages.remove(path) {
            Some(RequestStage::Queued { ticket }) => drop(self.queue.remove(&ticket)),
            Some(RequestStage::Inline { ticket }) => {
                if let Ok(at) = self.inline.binary_search_by_key(&ticket, |(ticket, _)| *ticket) {
                    self.inline[at].1 = None;
                }
            }
            Some(RequestStage::Asleep { until }) => {
                self.asleep.remove(&(until, path.clone()));
            }
            Some(RequestStage::Working { ticket }) => self.let_go(ticket),
            None => {}
        }
    }

    /// Waits until something happens that the program has to hear.
    fn next_step(&mut self) -> HostStep {
        loop {
            self.start_queued();
            let message = match self.receiver.try_recv().ok() {
                Some(message) => Some(message),
                None => {
                    if let Some((path, answer)) = self.next_answer() {
                        return self.deliver(&path, answer);
                    }
                    self.receiver.recv_timeout(self.nap()).ok()
                }
            };
            match message {
                Some(HostMessage::Finished { ticket, answer }) => {
                    if let Some(path) = self.came_back(ticket) {
                        return self.deliver(&path, answer);
                    }
                }
                Some(HostMessage::Cancel) => {
                    return self.run.cancel("the run was cancelled", self.time());
                }
                None => {}
            }
        }
    }

    fn deliver(&mut self, path: &Path, answer: RequestAnswer) -> HostStep {
        self.stages.remove(path);
        self.run.deliver(path, answer, self.time())
    }

    /// Finds an answer that needs no thread: a refusal, a sleep or a time limit that is over, a
    /// request performed here.
    fn next_answer(&mut self) -> Option<(Path, RequestAnswer)> {
        if let Some(path) = self.refused.pop_front() {
            let failure =
                ProgramFailure::new(OVERLOADED, "there is no thread to perform the request");
            return Some((path, RequestAnswer::Failed(failure)));
        }
        let now = self.time();
        if self.asleep.first().is_some_and(|(until, _)| *until <= now) {
            return self.wake();
        }
        if let Some((_, ticket)) = self.deadlines.first().filter(|(at, _)| *at <= Tick::now()) {
            let ticket = *ticket;
            let path = self.working.get(&ticket).map(|effect| effect.path.clone())?;
            self.let_go(ticket);
            return Some((path, RequestAnswer::TimedOut));
        }
        while let Some((_, request)) = self.inline.pop_front() {
            let Some(request) = request else { continue };
            let answer = perform(&*self.host.executor, &request, &CancelFlag::new());
            return Some((request.path.clone(), answer));
        }
        let is_idle = self.working.is_empty() && self.queue.is_empty();
        if self.host.clock == HostClock::Jumping && is_idle { self.wake() } else { None }
    }

    /// Ends the sleep that is over first, and moves the jumping clock there.
    fn wake(&mut self) -> Option<(Path, RequestAnswer)> {
        let (until, path) = self.asleep.pop_first()?;
        self.now = self.now.max(until);
        Some((path, awake()))
    }

    fn start_queued(&mut self) {
        while self.working.len() < self.host.limits.workers_max.max(1) && self.may_start() {
            let Some((ticket, request)) = self.queue.pop_first() else { return };
            self.start(ticket, request);
        }
    }

    /// Says whether another thread may be taken. When too many effects are leaving for longer
    /// than the grace, what is queued is refused.
    fn may_start(&mut self) -> bool {
        if self.leaving.len() < LEAVING_MAX {
            self.full_since = None;
            return true;
        }
        let since = *self.full_since.get_or_insert_with(Tick::now);
        if since.elapsed() >= self.host.limits.grace {
            let refused = std::mem::take(&mut self.queue).into_values();
            self.refused.extend(refused.map(|request| request.path.clone()));
        }
        false
    }

    fn start(&mut self, ticket: u64, request: Arc<Request>) {
        let path = request.path.clone();
        let limit = request.timeout_ms.map(Duration::from_millis);
        let deadline = limit.and_then(|limit| Tick::now().checked_add(limit));
        let cancel = CancelFlag::with_grace(self.host.limits.grace);
        let (executor, sender) = (Arc::clone(&self.host.executor), self.sender.clone());
        let watched = cancel.clone();
        let job = self.pool.start(move || {
            let answer = perform(&*executor, &request, &watched);
            // The run may be over, and nobody listens any more.
            let _ = sender.send(HostMessage::Finished { ticket, answer });
        });
        match job {
            Ok(job) => {
                self.deadlines.extend(deadline.map(|at| (at, ticket)));
                self.stages.insert(path.clone(), RequestStage::Working { ticket });
                self.working.insert(ticket, ThreadEffect { path, cancel, job, deadline });
            }
            Err(_) => self.refused.push_back(path),
        }
    }

    /// Takes in an effect that came back; its path, if the program still waits for it.
    fn came_back(&mut self, ticket: u64) -> Option<Path> {
        self.leaving.remove(&ticket);
        let effect = self.working.remove(&ticket)?;
        if let Some(at) = effect.deadline {
            self.deadlines.remove(&(at, ticket));
        }
        Some(effect.path)
    }

    /// Tells an effect to stop and does not wait for it.
    fn let_go(&mut self, ticket: u64) {
        let Some(effect) = self.working.remove(&ticket) else { return };
        if let Some(at) = effect.deadline {
            self.deadlines.remove(&(at, ticket));
        }
        effect.job.abandon();
        effect.cancel.set();
        self.leaving.insert(ticket, Tick::now());
    }

    /// Gives effects that were told to stop the rest of their grace, so that a program that runs
    /// next finds the world at rest.
    fn wait_for_the_leaving(&mut self) {
        while let Some(told_at) = self.leaving.values().max() {
            let patience = self.host.limits.grace + KILLED_WITHIN;
            let left = patience.saturating_sub(told_at.elapsed());
            match self.receiver.recv_timeout(left) {
                Ok(HostMessage::Finished { ticket, .. }) => drop(self.leaving.remove(&ticket)),
                Ok(HostMessage::Cancel) => {}
                Err(_) => return,
            }
        }
    }

    /// Returns the time that the program is told.
    fn time(&self) -> Instant {
        match self.host.clock {
            HostClock::System => system_now(),
            HostClock::Jumping => self.now,
        }
    }

    /// Returns how long nothing can happen by itself.
    fn nap(&self) -> Duration {
        let now = self.time();
        let sleep = self.asleep.first().map(|(until, _)| {
            let millis = until.millis().saturating_sub(now.millis()).max(0);
            Duration::from_millis(millis.unsigned_abs())
        });
        let sleep = sleep.filter(|_| self.host.clock == HostClock::System);
        let limit = self.deadlines.first().map(|(at, _)| at.saturating_duration_since(Tick::now()));
        let grace = self.host.limits.grace;
        let full = self.full_since.map(|since| grace.saturating_sub(since.elapsed()));
        [sleep, limit, full].into_iter().flatten().min().unwrap_or(NAP_MAX).min(NAP_MAX)
    }
}

/// Performs a request; a panic is a failure.
fn perform(executor: &dyn HostExecutor, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
    let outcome = catch_unwind(AssertUnwindSafe(|| executor.perform(request, cancel)));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let said = text.unwrap_or_else(|| "it said nothing".to_owned());
        let message = format!("performing `{}` panicked: {said}", request.kind);
        RequestAnswer::Failed(ProgramFailure::new(PANICKED, message))
    })
}
