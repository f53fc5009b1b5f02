//! Driving a program: the part that every host shares.
//!
//! A [`ProgramRun`] owns the set of open requests. It hands newly opened ones out in path order,
//! takes withdrawals back, delivers one answer at a time as its record would give it back, and ends a
//! program that misbehaves instead of trusting it. It performs nothing and knows no clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::{Instant, Value};

use crate::settle::settle;
use crate::{
    Delivery, End, NOT_DATA, Path, Program, ProgramEvent, ProgramFailure, Request, RequestAnswer,
    ScopeStep, Seed, Start, Turn,
};

/// How many requests a program may still open after it was asked to stop; with one more its run
/// ends as cancelled.
pub const REQUESTS_AFTER_CANCEL_MAX: usize = 64;

/// The code of the failure of a program that waits for nothing, yet has not ended.
pub const STALLED: &str = "stalled";
/// The code of the failure of a program that broke its contract: a path opened twice, a payload
/// that is no data.
pub const DEFECT: &str = "defect";

/// The longest name of a kind, in bytes.
pub const KIND_BYTES_MAX: usize = 256;

/// A program under way, between two quiescences.
#[derive(Debug)]
pub struct ProgramRun<P> {
    program: P,
    open: BTreeMap<Path, Arc<Request>>,
    now: Instant,
    phase: RunPhase,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunPhase {
    Running,
    /// Asked to stop, with so many requests left.
    Stopping(usize),
    Ended,
}

/// What a host has to do after one quiescence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostStep {
    /// Requests to perform, in path order.
    pub opened: Vec<Arc<Request>>,
    /// Requests that were open before and that nobody waits for any more, in path order.
    pub withdrawn: Vec<Path>,
    /// Things to show, in order.
    pub events: Vec<ProgramEvent>,
    /// What happened to scopes, in order.
    pub scopes: Vec<ScopeStep>,
    /// How the program ended, once it has. Then every open request is among the withdrawn.
    pub end: Option<End>,
}

/// How a run of [`run_to_end`] went.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFinish {
    /// How the program ended.
    pub end: End,
    /// What it said on the way, in order.
    pub events: Vec<ProgramEvent>,
}

impl<P: Program> ProgramRun<P> {
    /// Starts a program and runs it to its first quiescence.
    pub fn begin(mut program: P, start: &Start) -> (ProgramRun<P>, HostStep) {
        let turn = program.start(start);
        let mut run =
            ProgramRun { program, open: BTreeMap::new(), now: start.at, phase: RunPhase::Running };
        let step = run.absorb(turn);
        (run, step)
    }

    /// Hands one answer over and runs the program to quiescence. An answer to a request that is
    /// not open changes nothing. Time never runs backwards: an earlier `at` counts as the latest.
    pub fn deliver(&mut self, path: &Path, answer: RequestAnswer, at: Instant) -> HostStep {
        if self.open.remove(path).is_none() {
            return HostStep::default();
        }
        self.now = self.now.max(at);
        let answer = answer.settled();
        let turn = self.program.deliver(Delivery { path: path.clone(), answer, at: self.now });
        self.absorb(turn)
    }

    /// Asks the program to stop. The second call, and one after the end, change nothing.
    pub fn cancel(&mut self, reason: &str, at: Instant) -> HostStep {
        if self.phase != RunPhase::Running {
            return HostStep::default();
        }
        self.phase = RunPhase::Stopping(REQUESTS_AFTER_CANCEL_MAX);
        self.now = self.now.max(at);
        let turn = self.program.cancel(reason, self.now);
        self.absorb(turn)
    }

    /// Ends the run at once, without giving the program a word.
    pub fn kill(&mut self) -> HostStep {
        match self.phase {
            RunPhase::Ended => HostStep::default(),
            RunPhase::Running | RunPhase::Stopping(_) => self.finish(Vec::new(), End::Cancelled),
        }
    }

    /// Ends the run at once with a failure that the host found.
    pub(crate) fn fail(&mut self, failure: ProgramFailure) -> HostStep {
        self.finish(Vec::new(), End::Failed(failure))
    }

    /// Replaces what randomness derives from, from here on.
    pub fn reseed(&mut self, seed: Seed) {
        self.program.reseed(seed);
    }

    /// Returns the program, to be looked at.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// Returns the open requests by path.
    pub fn open(&self) -> &BTreeMap<Path, Arc<Request>> {
        &self.open
    }

    /// Returns the time that the program sees.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Says whether the program has ended.
    pub fn has_ended(&self) -> bool {
        self.phase == RunPhase::Ended
    }

    fn absorb(&mut self, turn: Turn) -> HostStep {
        let scopes = self.program.take_scopes();
        HostStep { scopes, ..self.take_in(turn) }
    }

    fn take_in(&mut self, turn: Turn) -> HostStep {
        let Turn { opened, withdrawn, events, end } = turn;
        if let Some(end) = end {
            return self.finish(events, end);
        }
        let n_opened = opened.len();
        let opened = match self.accept(opened) {
            Ok(opened) => opened,
            Err(message) => {
                return self.finish(events, End::Failed(ProgramFailure::new(DEFECT, message)));
            }
        };
        if let RunPhase::Stopping(left) = self.phase {
            match left.checked_sub(n_opened) {
                Some(left) => self.phase = RunPhase::Stopping(left),
                None => return self.finish(events, End::Cancelled),
            }
        }
        let step = self.take_back(opened, withdrawn, events);
        if self.open.is_empty() {
            let failure =
                ProgramFailure::new(STALLED, "the program waits for nothing and does not end");
            return HostStep {
                withdrawn: step.withdrawn,
                ..self.finish(step.events, End::Failed(failure))
            };
        }
        step
    }

    /// Checks newly opened requests, settles their payloads and sorts them by their paths; or says
    /// what is wrong.
    fn accept(&self, opened: Vec<Request>) -> Result<Vec<Arc<Request>>, String> {
        let mut accepted = Vec::with_capacity(opened.len());
        for mut request in opened {
            let payload = std::mem::replace(&mut request.payload, Value::Null);
            request.payload = settle(payload).map_err(|error| {
                format!("the payload of request `{}` is no data: {error}", request.path)
            })?;
            if request.kind.is_empty() || request.kind.len() > KIND_BYTES_MAX {
                return Err(format!("the kind of request `{}` has no proper length", request.path));
            }
            accepted.push(Arc::new(request));
        }
        accepted.sort_by(|left, right| left.path.cmp(&right.path));
        let twin = accepted.windows(2).find(|pair| pair[0].path == pair[1].path);
        let twin = twin.map(|pair| &pair[0]);
        match twin.or(accepted.iter().find(|request| self.open.contains_key(&request.path))) {
            Some(twin) => Err(format!("two requests are open at `{}`", twin.path)),
            None => Ok(accepted),
        }
    }

    /// Takes withdrawn requests out. One that was opened in the same turn was never seen by
    /// anybody and disappears without a word.
    fn take_back(
        &mut self,
        mut opened: Vec<Arc<Request>>,
        mut withdrawn: Vec<Path>,
        events: Vec<ProgramEvent>,
    ) -> HostStep {
        withdrawn.sort();
        withdrawn.dedup();
        withdrawn.retain(|path| match opened.binary_search_by(|request| request.path.cmp(path)) {
            Ok(unseen) => {
                opened.remove(unseen);
                false
            }
            Err(_) => self.open.remove(path).is_some(),
        });
        // One by one: `append` builds the whole map anew, however little is added.
        for request in &opened {
            self.open.insert(request.path.clone(), Arc::clone(request));
        }
        HostStep { opened, withdrawn, events, ..HostStep::default() }
    }

    fn finish(&mut self, events: Vec<ProgramEvent>, end: End) -> HostStep {
        self.phase = RunPhase::Ended;
        let withdrawn = std::mem::take(&mut self.open).into_keys().collect();
        let end = match end {
            End::Done(value) => match settle(value) {
                Ok(value) => End::Done(value),
                Err(error) => End::Failed(ProgramFailure::new(NOT_DATA, error.to_string())),
            },
            End::Failed(failure) => End::Failed(failure.settled()),
            End::Cancelled => end,
        };
        HostStep { withdrawn, events, end: Some(end), ..HostStep::default() }
    }
}

/// Runs a program to its end in the calling thread: always the first open request in path order
/// is performed next. Time stands still, except that a request of kind `sleep` moves it and never
/// reaches `perform`.
///
/// Serves tests and programs whose requests are all computed in process.
pub fn run_to_end(
    program: impl Program,
    start: &Start,
    mut perform: impl FnMut(&Request) -> RequestAnswer,
) -> RunFinish {
    let (mut run, mut step) = ProgramRun::begin(program, start);
    let mut events = Vec::new();
    loop {
        events.append(&mut step.events);
        if let Some(end) = step.end {
            return RunFinish { end, events };
        }
        let request = run.open().values().next().cloned();
        let request = request.expect("a run that has not ended has an open request");
        let now = run.now();
        step = match request.sleeps_until() {
            Some(until) => {
                run.deliver(&request.path, RequestAnswer::Ok(Value::Null), until.max(now))
            }
            None => run.deliver(&request.path, perform(&request), now),
        };
    }
}
