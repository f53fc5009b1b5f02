//! The loop that hosts a program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use agentic_host::RunExecutor;
use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_model::{Instant, json};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{
    AnswerSource, CancelExtent, End, Language, Path, Performance, Program, RequestAnswer, Session,
    SessionProgress, SessionRefusal, Signal, WithdrawnRequest,
};
use agentic_session::hosted::{HostedOpening, HostedRun, pause_before_next};
use temporalio_sdk::{
    ApplicationFailure, ContinueAsNewOptions, WorkflowCancellationToken, WorkflowContext,
    WorkflowResult, WorkflowTermination,
};

use crate::decision::{CancelAsk, SignalAsk, instant};
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::outside::WireProgram;
use crate::wire::{BadWire, RunInput, SealedPoint};
use crate::workflow::children::OpenChildren;
use crate::workflow::event::Event;
use crate::workflow::flight::Flight;
use crate::workflow::launch::AGAIN_AFTER_MS;
use crate::workflow::memo::ShownStanding;
use crate::workflow::panics::guarded;
use crate::workflow::sealing::UnsealedTail;
use crate::workflow::{ServedRun, detached};

/// The longest result that is handed to the server, as JSON in bytes: the records have any.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// What fails the task of a run, and not the run: the right worker heals it.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowFault {
    /// The session layer failed: the program is not here, or does something else.
    #[error("{}", told(.0))]
    Session(#[from] agentic_session::Error),
    /// What crossed the server cannot be read.
    #[error(transparent)]
    Wire(#[from] BadWire),
    /// The session was told something that it does not wait for.
    #[error("the session refused what the server delivers: {0}")]
    Refusal(#[from] SessionRefusal),
    /// The input is no data.
    #[error("the input is no data: {0}")]
    Input(#[from] agentic_model::canonical::CanonicalError),
    /// Something of the host cannot be mended by trying again.
    #[error("{0}")]
    Broken(String),
    /// The program or the host panicked.
    #[error("the program or its host panicked: the worker has printed where")]
    Panicked,
}

/// Tells an error of the session layer; of a program that does something else than was recorded, what.
fn told(error: &agentic_session::Error) -> String {
    match error.because().filter(|_| error.class() == ErrorClass::Diverged) {
        Some(difference) => format!("DIVERGED {error}: {difference}"),
        None => whole(error),
    }
}

/// A run on its way.
pub struct Hosting<'c> {
    pub(super) ctx: &'c WorkflowContext<ServedRun>,
    pub(super) input: RunInput,
    /// The time, where that moves only as far as the program waits.
    clock: Option<Instant>,
    pub(super) session: Session<Box<dyn Program>>,
    pub(super) executor: RunExecutor,
    pub(super) language: &'static dyn Language,
    /// What goes along with requests that need no repository, unless it is too long.
    pub(super) carried: Option<WireProgram>,
    pub(super) flight: Flight<'c>,
    /// What cancels each effect and timer under way.
    pub(super) tokens: BTreeMap<Path, WorkflowCancellationToken>,
    /// Answers that were computed.
    pub(super) computed: VecDeque<(Path, RequestAnswer, AnswerSource)>,
    /// Effects that wait for room.
    pub(super) backlog: VecDeque<Performance>,
    /// How many effects and other activities are under way.
    pub(super) n_activities: usize,
    /// Until when the program sleeps.
    pub(super) sleeping: BTreeMap<Path, Instant>,
    /// Effects between two attempts.
    pub(super) pausing: BTreeSet<Path>,
    /// Effects under way that nobody waits for.
    pub(super) withdrawn: BTreeSet<Path>,
    pub(super) children: OpenChildren,
    pub(super) unsealed: UnsealedTail,
    /// Holds that nobody waits for, whose closing waits for their seal.
    pub(super) closing: VecDeque<WithdrawnRequest>,
    /// Holds whose deadline has come, whose expiry waits for their seal.
    pub(super) overdue: BTreeSet<String>,
    /// How often holds have gone on to other people.
    pub(super) n_escalations: BTreeMap<Path, usize>,
    pub(super) is_sealing: bool,
    /// Somebody asked it to stop.
    pub(super) is_stopping: bool,
    /// The program was told so.
    pub(super) is_cancelled: bool,
    pub(super) end: Option<End>,
    /// How long the history was in the task that takes inputs now, and how many it has taken, in bytes.
    pub(super) task: (u32, usize),
    /// What the memo says.
    pub(super) memo: Option<ShownStanding>,
}

/// Hosts a program until it is over, or goes on as a new execution.
pub async fn host(
    ctx: &WorkflowContext<ServedRun>,
    input: RunInput,
) -> WorkflowResult<serde_json::Value> {
    let hosted = guarded(async { Hosting::begin(ctx, input)?.run().await });
    let fault = match hosted.await {
        Ok(ended) => return ended,
        Err(fault) => fault,
    };
    // The task fails, and is tried again until a worker can do it.
    ctx.force_task_fail(fault);
    std::future::pending().await
}

impl<'c> Hosting<'c> {
    fn begin(
        ctx: &'c WorkflowContext<ServedRun>,
        input: RunInput,
    ) -> Result<Hosting<'c>, WorkflowFault> {
        let ground: Option<Arc<WorkerGround>> = ctx.state(|run| run.ground.clone());
        let ground =
            ground.ok_or(WorkflowFault::Broken("the worker has no repository".to_owned()))?;
        let start = input.start.start()?;
        let (run, progress, n_sealed) = match &input.journal {
            None => {
                let HostedOpening { opening, at } = input.opening()?;
                let hosted = ground.program(&start)?;
                let kinds = hosted.executor.kinds().clone();
                let (session, progress) = Session::start(opening, at, hosted.program, &kinds)?;
                let (executor, language) = (hosted.executor, hosted.language);
                let (asked_people, n_escalations) = (Vec::new(), BTreeMap::new());
                let run = HostedRun { session, executor, language, asked_people, n_escalations };
                (run, progress, 0)
            }
            Some(SealedPoint { records, head }) => {
                let (run, progress) = ground.load(&start, *records, head)?;
                (run, progress, *records)
            }
        };
        ctx.state_mut(|state| {
            state.desk.n_sealed = n_sealed;
            let asked = run.asked_people.iter().map(ToString::to_string);
            asked.for_each(|request| state.desk.was_put_before_people(request));
        });
        let mut hosting = Hosting::new(ctx, input, run, n_sealed);
        hosting.carried = WireProgram::of(&ground.carried(&start)?);
        hosting.take_in(progress)?;
        Ok(hosting)
    }

    fn new(
        ctx: &'c WorkflowContext<ServedRun>,
        input: RunInput,
        run: HostedRun,
        n_sealed: usize,
    ) -> Hosting<'c> {
        Hosting {
            ctx,
            clock: input.clock.map(Instant::from_millis),
            input,
            session: run.session,
            executor: run.executor,
            language: run.language,
            carried: None,
            flight: Flight::default(),
            tokens: BTreeMap::new(),
            computed: VecDeque::new(),
            backlog: VecDeque::new(),
            n_activities: 0,
            sleeping: BTreeMap::new(),
            pausing: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            children: OpenChildren::default(),
            unsealed: UnsealedTail::behind(n_sealed),
            closing: VecDeque::new(),
            overdue: BTreeSet::new(),
            n_escalations: run.n_escalations,
            is_sealing: false,
            is_stopping: false,
            is_cancelled: false,
            end: None,
            task: (0, 0),
            memo: None,
        }
    }

    async fn run(&mut self) -> Result<WorkflowResult<serde_json::Value>, WorkflowFault> {
        loop {
            self.settle()?;
            self.stop_after_children()?;
            if self.is_done() {
                return Ok(self.finish().await);
            }
            let rolls = self.should_roll();
            if rolls && self.is_at_rest() {
                if !self.unsealed.is_empty() {
                    self.want_seal();
                } else {
                    // The next execution has the memo of this one.
                    self.publish();
                    if let Some(rolled) = self.roll() {
                        return Ok(rolled);
                    }
                }
            }
            if !rolls {
                self.launch();
            }
            self.seal_if_wanted();
            self.publish();
            let event = self.next().await;
            self.take_event(event)?;
        }
    }

    /// Delivers what was computed, and signals, until the program waits for somebody else.
    fn settle(&mut self) -> Result<(), WorkflowFault> {
        loop {
            let at = self.now();
            let progress = if let Some(signalled) = self.session.signalled() {
                let by = AnswerSource::Signal(signalled.seq);
                let answer = RequestAnswer::Ok(signalled.value);
                if let Some(hold) = self.hold_at(&signalled.path) {
                    self.close_hold(&hold, &signalled.path);
                }
                self.session.answered(&signalled.path, answer, by, at)?
            } else if let Some((path, answer, by)) = self.computed.pop_front() {
                self.session.answered(&path, answer, by, at)?
            } else {
                return Ok(());
            };
            self.take_in(progress)?;
        }
    }

    /// Takes in what the program made of something.
    pub(super) fn take_in(&mut self, progress: SessionProgress) -> Result<(), WorkflowFault> {
        let asks_people = {
            let asked = progress.asked();
            progress.holds.iter().any(|hold| asked.contains(&hold.request.path))
        };
        self.unsealed.extend(&progress);
        let n_records = self.unsealed.n_records();
        self.ctx.state_mut(|run| run.desk.n_records = n_records);
        for performance in progress.perform {
            self.take_up(performance);
        }
        for (until, path) in progress.timers {
            self.sleeping.insert(path.clone(), until);
            self.wait_until(until, path, Event::Due);
        }
        for hold in &progress.holds {
            self.put_before_people(hold, n_records);
        }
        for withdrawn in progress.withdrawn {
            self.withdraw(withdrawn);
        }
        if let Some(end) = progress.end {
            self.end = Some(end);
            self.want_seal();
        }
        if self.is_cancelled && asks_people && self.end.is_none() {
            return self.end_for_good();
        }
        Ok(())
    }

    fn hold_at(&self, path: &Path) -> Option<String> {
        let pending = self.session.pending();
        pending.iter().find(|hold| hold.request.path == *path).map(|hold| hold.id.to_string())
    }

    /// Ends a program that asks people again although it was told to stop.
    fn end_for_good(&mut self) -> Result<(), WorkflowFault> {
        let cancel = CancelRecord {
            who: "system:cancel".to_owned(),
            why: "it asked for a decision after it was told to stop".to_owned(),
            mode: CancelMode::Kill,
        };
        let progress = self.session.cancel(cancel, self.now())?;
        self.take_in(progress)
    }

    fn take_event(&mut self, event: Event) -> Result<(), WorkflowFault> {
        // size: an arm for each event
        match event {
            Event::Answered(path, answer, by) => self.effect_answered(path, answer, by),
            Event::Unanswered(path, answer, why) => self.effect_unanswered(path, answer, &why),
            Event::Faulted(performance, answer, why) => {
                self.effect_faulted(&performance, answer, &why)
            }
            Event::Lost(path) => self.effect_lost(path),
            Event::Spawned(path, ask) => {
                self.n_activities -= 1;
                self.tokens.remove(&path);
                self.spawned(path, *ask)
            }
            Event::ChildEnded(end) => self.child_ended(end),
            Event::ChildClosed(child) => self.child_closed(child),
            Event::Told(gone) => {
                self.told(gone);
                Ok(())
            }
            Event::Due(path) => self.due(&path),
            Event::Again(performance)
                if self.tokens.remove(&performance.request.path).is_some() =>
            {
                self.try_again(*performance)
            }
            Event::Sealed(n_sealed) => {
                self.is_sealing = false;
                self.unsealed.sealed(n_sealed);
                self.ctx.state_mut(|run| run.desk.n_sealed = n_sealed);
                self.close_withdrawn();
                self.expire_overdue();
                Ok(())
            }
            Event::SealDue => {
                self.unsealed.is_due();
                Ok(())
            }
            Event::NextTask => {
                self.task.1 = 0;
                Ok(())
            }
            Event::Overdue(request) => self.hold_overdue(&request),
            Event::Expired(request, settled) => {
                self.n_activities -= 1;
                settled.map_or(Ok(()), |settled| self.apply(&request, settled))
            }
            Event::Withdrawn(path, commit) => {
                self.n_activities -= 1;
                let by = commit.map_or_else(withdrawn, AnswerSource::Decision);
                let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
                let progress = self.session.answered(&path, answer, by, self.now())?;
                self.take_in(progress)
            }
            Event::Decided(decided) => self.take_decision(decided),
            Event::Signal(signal) => self.signal(signal),
            Event::Cancel(ask) => self.cancel(ask),
            Event::Broken(why) => Err(WorkflowFault::Broken(why)),
            // A timer that was let go meanwhile is none.
            Event::Again(_) | Event::Looked => Ok(()),
        }
    }

    /// Ends the pauses whose instant has come, the earliest first: the server may tell of several at once.
    fn due(&mut self, path: &Path) -> Result<(), WorkflowFault> {
        let Some(until) = self.sleeping.get(path).copied() else { return Ok(()) };
        while self.sleeping.contains_key(path) {
            let due = self.sleeping.iter().filter(|(_, at)| **at <= until);
            let first =
                due.min_by_key(|(path, at)| (**at, *path)).map(|(path, at)| (path.clone(), *at));
            let Some((first, at)) = first else { return Ok(()) };
            self.sleeping.remove(&first);
            if let Some(token) = self.tokens.remove(&first).filter(|_| first != *path) {
                token.cancel_with_reason("due");
            }
            self.pass_time(at);
            let (answer, by) = self.timer_answer(&first);
            let progress = self.session.answered(&first, answer, by, self.now())?;
            self.take_in(progress)?;
            self.settle()?;
        }
        Ok(())
    }

    fn effect_answered(
        &mut self,
        path: Path,
        answer: RequestAnswer,
        by: AnswerSource,
    ) -> Result<(), WorkflowFault> {
        self.n_activities -= 1;
        self.tokens.remove(&path);
        let is_withdrawn = self.withdrawn.remove(&path);
        let is_stopped = is_withdrawn && matches!(answer, RequestAnswer::Cancelled(_));
        let by = if is_stopped { withdrawn() } else { by };
        let progress = self.session.answered(&path, answer, by, self.now())?;
        self.take_in(progress)
    }

    fn effect_unanswered(
        &mut self,
        path: Path,
        answer: RequestAnswer,
        why: &str,
    ) -> Result<(), WorkflowFault> {
        // A run that is to stop does not wait for anybody.
        if self.is_cancelled || self.withdrawn.contains(&path) {
            return self.effect_answered(path, answer, AnswerSource::Executor);
        }
        self.n_activities -= 1;
        self.tokens.remove(&path);
        let at = self.now();
        let progress =
            self.session.attempted(&path, why, Some(at.plus_millis(AGAIN_AFTER_MS)), at)?;
        self.take_in(progress)
    }

    fn effect_faulted(
        &mut self,
        performance: &Performance,
        answer: RequestAnswer,
        why: &str,
    ) -> Result<(), WorkflowFault> {
        let path = &performance.request.path;
        let retries_max = self.executor.kinds().rule(&performance.request).retries_max;
        let pause = pause_before_next(performance, retries_max);
        let Some(pause) = pause.filter(|_| !self.withdrawn.contains(path)) else {
            return self.effect_answered(path.clone(), answer, AnswerSource::Executor);
        };
        self.n_activities -= 1;
        self.tokens.remove(path);
        let at = self.now();
        let progress = self.session.attempted(path, why, Some(at.plus_millis(pause)), at)?;
        self.take_in(progress)
    }

    /// Puts an effect before people of which nobody knows whether it happened.
    fn effect_lost(&mut self, path: Path) -> Result<(), WorkflowFault> {
        if self.withdrawn.contains(&path) {
            let answer = RequestAnswer::Cancelled(CancelExtent::Unknown);
            return self.effect_answered(path, answer, AnswerSource::Executor);
        }
        self.n_activities -= 1;
        self.tokens.remove(&path);
        let progress = self.session.doubt(&path, self.now())?;
        self.take_in(progress)
    }

    fn try_again(&mut self, performance: Performance) -> Result<(), WorkflowFault> {
        self.pausing.remove(&performance.request.path);
        performance.not_before.into_iter().for_each(|at| self.pass_time(at));
        if performance.class == agentic_replay::EffectClass::Once {
            let progress = self.session.retried(&performance.request.path, self.now())?;
            self.take_in(progress)?;
        }
        self.take_up(Performance { not_before: None, ..performance });
        Ok(())
    }

    fn signal(&mut self, ask: SignalAsk) -> Result<(), WorkflowFault> {
        let SignalAsk { id, name, value } = ask;
        let Ok(value) = value.value() else { return Ok(()) };
        match self.session.signal(Signal { id, name, value }, self.now()) {
            Ok(progress) => {
                self.want_seal();
                self.take_in(progress)
            }
            // It is over, or has more than it can keep: whoever sent it sees that it is not recorded.
            Err(_) => Ok(()),
        }
    }

    fn cancel(&mut self, ask: CancelAsk) -> Result<(), WorkflowFault> {
        if self.session.program_has_ended() {
            return Ok(());
        }
        self.is_stopping = true;
        if self.stop_children(&ask) {
            return Ok(());
        }
        self.stop(ask)
    }

    /// Tells the program to stop.
    pub(super) fn stop(&mut self, ask: CancelAsk) -> Result<(), WorkflowFault> {
        if self.session.program_has_ended() {
            return Ok(());
        }
        let CancelAsk { who, why, kill } = ask;
        let mode = if kill { CancelMode::Kill } else { CancelMode::Cooperative };
        let progress = self.session.cancel(CancelRecord { who, why, mode }, self.now())?;
        self.is_cancelled = true;
        self.take_in(progress)
    }

    /// Returns the time of the task of the workflow.
    pub(super) fn now(&self) -> Instant {
        self.clock.unwrap_or_else(|| self.time_of_task())
    }

    /// Moves a clock that only moves so to an instant that was waited for.
    pub(super) fn pass_time(&mut self, until: Instant) {
        self.clock = self.clock.map(|clock| clock.max(until));
    }

    fn time_of_task(&self) -> Instant {
        self.ctx.workflow_time().map_or(Instant::from_millis(self.input.at), instant)
    }

    fn is_done(&self) -> bool {
        self.end.is_some()
            && self.unsealed.is_empty()
            && !self.is_sealing
            && self.n_activities == 0
            && self.children.have_stopped()
    }

    /// Says whether only humans, instants and children are waited for.
    fn is_at_rest(&self) -> bool {
        self.n_activities == 0
            && self.computed.is_empty()
            && !self.is_sealing
            && self.closing.is_empty()
            && self.end.is_none()
            && !self.is_stopping
            && self.ctx.state(|run| run.desk.is_clear())
    }

    /// Says whether it is to go on as a new execution. One that stops does not: it still cleans up.
    fn should_roll(&self) -> bool {
        let is_long = self.ctx.continue_as_new_suggested()
            || self.ctx.history_length() >= self.input.events_max;
        is_long && !self.is_stopping && self.end.is_none()
    }

    /// Goes on as a new execution, which begins from what is sealed.
    fn roll(&mut self) -> Option<WorkflowResult<serde_json::Value>> {
        if !self.ctx.all_handlers_finished() {
            return None;
        }
        let head = self.session.chain().head().to_string();
        let journal = Some(SealedPoint { records: self.unsealed.n_records(), head });
        let clock = self.clock.map(Instant::millis);
        let input = RunInput { journal, clock, ..self.input.clone() };
        let rolled = self.ctx.continue_as_new(input, ContinueAsNewOptions::default());
        Some(rolled.map(|never| match never {}))
    }

    async fn finish(&mut self) -> WorkflowResult<serde_json::Value> {
        self.ctx.state_mut(|run| run.desk.is_over = true);
        self.publish();
        self.pass_on().await;
        let is_idle = |run: &ServedRun| !run.desk.is_asked();
        let _ = self.ctx.wait_condition_with_options(is_idle, detached()).await;
        match self.end.take() {
            Some(End::Done(value)) => {
                let value = json::to_json(&value);
                Ok(match value.to_string().len() > RESULT_BYTES_MAX {
                    true => serde_json::json!({ "too_long": "the sealed records have it" }),
                    false => value,
                })
            }
            Some(End::Failed(failure)) => {
                let said = ApplicationFailure::builder(failure.message);
                Err(said.type_name(failure.code).non_retryable(true).build().into())
            }
            Some(End::Cancelled) | None => Err(WorkflowTermination::cancelled()),
        }
    }
}

/// Says that an answer was made because nobody waits for it.
pub(super) fn withdrawn() -> AnswerSource {
    AnswerSource::System("withdraw".to_owned())
}
