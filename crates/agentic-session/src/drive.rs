//! The driver: makes records durable, performs effects, applies decisions.
//!
//! Whoever drives a session holds its lock. Every step follows one order: records first, durable;
//! then whatever they allow to happen. Only the answers of pure requests and of timers that are due
//! wait for the next barrier, to share its sync. While the session has open holds an answer is appended under
//! the agent's lock, after the decisions that came in before it, so that both sides agree on who
//! was first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc;
use std::time::{Duration, Instant as Moment};

use agentic_host::{ObservedRun, OutsideSetting, RunExecutor};
use agentic_model::{Instant, Value};
use agentic_providers::provider::ProviderResponse;
use agentic_replay::{
    AnswerSource, EffectClass, Path, Performance, Program, ProgramFailure, Request, RequestAnswer,
    RequestId, Session, SessionId, SignalDelivery,
};
use agentic_store::Lock;
use agentic_store::error::FileError;
use agentic_store::journal::LogFile;

use super::backlog::Backlog;
use super::effect::{AskingSession, PerformedEffect, ended_child, perform, ready_child};
use super::executor::changed_since;
use super::folder::Folder;
use super::outcome::{EffectOutcome, ExecOutcome};
use super::room::ProgramRoom;
use super::unsynced::UnsyncedRecords;
use super::work::{Order, RunningWork, Task};
use crate::{Error, Result, SessionSpace};

/// How often a driver looks for letters while it is at work.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What work under way has come to.
type ArrivedWork = (Path, EffectOutcome);

/// An effect that a thread works on.
pub(super) struct RunningEffect {
    pub(super) work: RunningWork,
    pub(super) performance: Performance,
}

/// A session being driven.
pub struct Driver<'a> {
    pub(super) space: &'a SessionSpace,
    pub(super) folder: Folder,
    pub(super) _lock: Lock,
    pub(super) log: LogFile,
    pub(super) session: Session<Box<dyn Program>>,
    pub(super) executor: RunExecutor,
    /// Records that may wait for the next barrier.
    pub(super) unsynced: UnsyncedRecords,
    /// Effects that may begin.
    pub(super) ready: VecDeque<Performance>,
    /// Effects that may begin once more, later.
    pub(super) backlog: Backlog,
    /// The files of programs that have not begun.
    pub(super) room: ProgramRoom,
    /// Programs, calls and children under way.
    pub(super) running: BTreeMap<Path, RunningEffect>,
    pub(super) timers: BTreeMap<Path, Instant>,
    pub(super) arrivals: (mpsc::Sender<ArrivedWork>, mpsc::Receiver<ArrivedWork>),
    /// Effects that a fault of our own store stopped: they have no answer, and whoever drives the
    /// session next performs them again.
    pub(super) faulted: BTreeMap<Path, Error>,
    /// The holds that the trace has been told of.
    pub(super) told: BTreeSet<RequestId>,
    /// When the inbox was looked at last.
    pub(super) looked_at: Moment,
    /// Whether the session was told to stop.
    pub(super) is_cancelled: bool,
    /// Whether its program has asked people since.
    pub(super) asks_too_late: bool,
    /// Whether the session was over when it was loaded.
    pub(super) was_over: bool,
    /// What it tells whoever watches. It is the last to go: nobody waits for the lock meanwhile.
    pub(super) observed: ObservedRun,
}

impl<'a> Driver<'a> {
    /// Returns the id of the session.
    pub fn id(&self) -> SessionId {
        self.folder.id
    }

    /// Returns the session.
    pub fn session(&self) -> &Session<Box<dyn Program>> {
        &self.session
    }

    /// Runs the session as far as it goes without a human, an instant or a child.
    ///
    /// # Errors
    /// Fails when a record cannot be written. A fault of the store in one effect leaves that effect
    /// without an answer; everything else goes on as far as it can before the fault is returned.
    pub fn run(&mut self) -> Result<()> {
        if self.was_over {
            return self.folder.retire(self.space);
        }
        let ran = self.run_and_settle();
        // Whoever goes on here later makes room again.
        self.log.give_room_back();
        ran
    }

    fn run_and_settle(&mut self) -> Result<()> {
        let ran = self.run_on();
        self.or_put_off(ran)?;
        let settled = self.settle_down();
        match std::mem::take(&mut self.faulted).pop_first() {
            Some((_, fault)) => Err(fault),
            None => settled,
        }
    }

    fn run_on(&mut self) -> Result<()> {
        self.look_after_orphans()?;
        if let Some(remark) = self.executor.configure(|| self.work_folder()) {
            self.space.note_mended(remark);
        }
        let started = self.session.started();
        if let Some(remark) = changed_since(&self.executor, started, || self.work_folder()) {
            self.space.note_mended(remark);
        }
        self.take_letters()?;
        self.apply_decisions()?;
        self.probe_doubts()?;
        loop {
            if self.space.is_stopping() {
                self.put_off()?;
                self.leave_orphans();
            }
            self.take_up_retries();
            self.start_ready()?;
            if let Some(signalled) = self.session.signalled() {
                let SignalDelivery { seq, path, value } = signalled;
                self.answer(&path, RequestAnswer::Ok(value), AnswerSource::Signal(seq))?;
            } else if let Some(path) = self.due_timer() {
                self.timers.remove(&path);
                let (answer, by) = self.timer_answer(&path);
                self.answer_again(&path, answer, by)?;
            } else if !self.running.is_empty() {
                self.flush()?;
                self.wait_for_work()?;
            } else if self.ready.is_empty() {
                return Ok(());
            }
        }
    }

    /// Takes in what some work under way has come to, unless that takes longer than letters wait.
    fn wait_for_work(&mut self) -> Result<()> {
        match self.arrivals.1.recv_timeout(LOOK_EVERY) {
            Ok((path, came)) => match self.running.remove(&path) {
                Some(running) => {
                    if let EffectOutcome::Orphans { are_over } = came {
                        self.orphaned(running.performance, are_over)
                    } else {
                        self.arrived(&running, came)
                    }
                }
                None => Ok(()),
            },
            // The driver holds a sender of its own, so nothing has come yet.
            Err(_) => Ok(()),
        }
    }

    /// Begins everything that may begin.
    fn start_ready(&mut self) -> Result<()> {
        loop {
            self.look_for_letters()?;
            let Some(performance) = self.ready.pop_front() else { return Ok(()) };
            let path = performance.request.path.clone();
            if performance.class != EffectClass::Pure {
                // What was asked is durable before anything of it begins.
                self.flush()?;
            }
            let Some(performance) = self.look_first(performance)? else { continue };
            if let Some(task) = self.to_work(&performance) {
                self.flush()?;
                self.note_retry(&performance)?;
                agentic_store::fault::point("before-effect")?;
                let work = task.begin(self.order(&performance), &performance);
                self.running.insert(path, RunningEffect { work, performance });
                continue;
            }
            if let Some(answer) = self.executor.compute(&performance.request) {
                self.computed(&performance, answer)?;
                continue;
            }
            self.flush()?;
            match perform(self.space, AskingSession::asking(&self.session, &path), &performance) {
                Ok(PerformedEffect::Answered(answer, by)) => self.answer(&path, answer, by)?,
                Ok(PerformedEffect::Waiting) => {}
                Err(fault) => {
                    self.faulted.insert(path, fault);
                }
            }
        }
    }

    /// Takes in what work came to: an answer, a fault after which it is tried again, or nothing
    /// for a child that is not over.
    fn arrived(&mut self, running: &RunningEffect, came: EffectOutcome) -> Result<()> {
        if let EffectOutcome::Exec(ended) = &came
            && let Some(fault) = &ended.fault
            && self.tries_again(&running.performance, fault)?
        {
            return Ok(());
        }
        let path = &running.performance.request.path;
        let answer = match came {
            // What it takes to know the program again could not be kept: nothing began.
            EffectOutcome::Exec(ExecOutcome { no_room: Some(source), .. }) => {
                let path = self.work_folder();
                let doing = "start a program in";
                let fault = agentic_store::Error::File(FileError { doing, path, source });
                self.faulted.insert(running.performance.request.path.clone(), fault.into());
                return Ok(());
            }
            EffectOutcome::Exec(ended) => ended.answer,
            EffectOutcome::Probe(ended) => return self.probed(&running.performance, ended),
            EffectOutcome::Orphans { .. } => return Ok(()),
            EffectOutcome::Answer(response) => return self.responded(path, response),
            EffectOutcome::Child(ran) => {
                let ended = ran
                    .and_then(|id| ended_child(self.space, AskingSession::of(&self.session), id));
                return match ended {
                    Ok(Some((answer, by))) => self.answer(path, answer, by),
                    Ok(None) => Ok(()),
                    Err(fault) => {
                        self.faulted.insert(path.clone(), fault);
                        Ok(())
                    }
                };
            }
        };
        self.answer(path, answer, AnswerSource::Executor)
    }

    /// Takes in what somebody outside answered, or that nobody could.
    fn responded(&mut self, path: &Path, response: ProviderResponse) -> Result<()> {
        match response.unanswered {
            // A session that is to stop does not wait for anybody.
            Some(why) if !self.is_cancelled => self.put_aside(path, &why),
            Some(_) | None => self.answer(path, response.answer, AnswerSource::Executor),
        }
    }

    /// Returns what a thread is to do for a request: have somebody outside do it, run a child.
    fn to_work(&self, performance: &Performance) -> Option<Task> {
        let request = &performance.request;
        let outside = self.executor.outside(request, || OutsideSetting {
            folder: self.work_folder(),
            run: self.folder.id.to_string(),
            key: performance.id.to_string(),
            stamp: Ok(self.call_stamp(performance)),
        });
        if let Some(Ok(work)) = outside {
            return Some(Task::Outside(Box::new(work)));
        }
        if let Some(child) = ready_child(self.space, AskingSession::of(&self.session), performance)
        {
            return Some(Task::Child(child, self.space.opener()));
        }
        let is_plain = request.kind == "exec" && !self.executor.is_scripted(request);
        is_plain.then(|| Task::Exec(self.work_folder()))
    }

    fn order(&self, performance: &Performance) -> Order {
        Order {
            path: performance.request.path.clone(),
            charge: self.charge(performance),
            grace: self.space.grace(),
            waiting: self.arrivals(),
        }
    }

    /// Returns where work under way tells what it came to.
    pub(super) fn arrivals(&self) -> mpsc::Sender<ArrivedWork> {
        self.arrivals.0.clone()
    }

    /// Returns the folder that programs run in.
    pub(super) fn work_folder(&self) -> std::path::PathBuf {
        self.space.work_folder(&self.session.started().agent)
    }

    /// Says whether a request has no answer yet.
    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.session.unanswered().any(|request| request.path == *path)
    }

    /// Returns how often an effect is tried again unless its request says so itself.
    pub(super) fn retries_max(&self, request: &Request) -> u32 {
        self.executor.kinds().rule(request).retries_max
    }

    /// Returns what a timer that is due gives: a failure where its request names no instant.
    fn timer_answer(&self, path: &Path) -> (RequestAnswer, AnswerSource) {
        let request = self.session.unanswered().find(|request| request.path == *path);
        timer_answer(request.and_then(|request| request.sleeps_until()))
    }

    fn due_timer(&self) -> Option<Path> {
        let now = self.space.now();
        let due = self.timers.iter().filter(|(_, until)| **until <= now);
        due.min_by_key(|(path, until)| (*until, *path)).map(|(path, _)| path.clone())
    }
}

/// Returns what a timer that is due gives whose request names an instant, or none.
pub fn timer_answer(until: Option<Instant>) -> (RequestAnswer, AnswerSource) {
    match until {
        Some(_) => (RequestAnswer::Ok(Value::Null), AnswerSource::Timer),
        None => {
            let needs = "`sleep` needs `until`, an instant as a number of milliseconds";
            let failure = ProgramFailure::new("bad-request", needs);
            (RequestAnswer::Failed(failure), AnswerSource::Executor)
        }
    }
}
