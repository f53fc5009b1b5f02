//! The loop that hosts a program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use agentic_host::RunExecutor;
use agentic_model::Instant;
use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{
    AnswerSource, End, Language, Path, Performance, Program, RequestAnswer, Session,
    SessionProgress, SessionRefusal, WithdrawnRequest,
};
use agentic_session::hosted::{HostedOpening, HostedRun, SealedRun};
use temporalio_sdk::{WorkflowCancellationToken, WorkflowContext, WorkflowResult};

use crate::decision::instant;
use crate::error::{DIVERGED, diverged, whole};
use crate::ground::WorkerGround;
use crate::mask::masked;
use crate::outside::WireProgram;
use crate::wire::{BadWire, RunInput, SealedPoint};
use crate::workflow::ServedRun;
use crate::workflow::children::OpenChildren;
use crate::workflow::event::Event;
use crate::workflow::flight::Flight;
use crate::workflow::memo::ShownStanding;
use crate::workflow::panics::guarded;
use crate::workflow::sealing::UnsealedTail;

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
    #[error("{DIVERGED} the program or its host panicked: the worker has printed where")]
    Panicked,
}

/// Tells an error of the session layer; of a program that does something else than was recorded, what.
fn told(error: &agentic_session::Error) -> String {
    match error.class() == ErrorClass::Diverged {
        true => masked(&diverged(error)),
        false => masked(&whole(error)),
    }
}

/// A run on its way.
pub struct Hosting<'c> {
    pub(super) ctx: &'c WorkflowContext<ServedRun>,
    pub(super) input: RunInput,
    /// The time, where that moves only as far as the program waits.
    pub(super) clock: Option<Instant>,
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
    /// Those of them that nobody could answer.
    pub(super) unanswered: BTreeSet<Path>,
    /// Effects under way that nobody waits for.
    pub(super) withdrawn: BTreeSet<Path>,
    pub(super) children: OpenChildren,
    pub(super) unsealed: UnsealedTail,
    /// What was sealed when this execution was replayed: the program must make the same.
    pub(super) sealed: Option<SealedRun>,
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
                let hosted = ground.program(&start, input.source())?;
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
        // The SDK notices another activity, but no other hold, pause or computation.
        hosting.sealed = ctx.is_replaying().then(|| ground.sealed(&start)).transpose()?;
        hosting.carried = WireProgram::of(&ground.carried(&start)?);
        if n_sealed > 0 {
            // The execution before has told of those.
            for hold in hosting.session.pending() {
                hosting.unsealed.tells_of(&hold);
            }
        }
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
            unanswered: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            children: OpenChildren::default(),
            unsealed: UnsealedTail::behind(n_sealed),
            sealed: None,
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
            self.begin_children();
            match rolls {
                true => self.ctx.state_mut(|run| run.desk.await_answers()),
                false => self.launch(),
            }
            self.seal_if_wanted();
            self.publish();
            let event = self.next().await;
            self.take_event(event)?;
        }
    }

    /// Delivers what was computed, and signals, until the program waits for somebody else.
    pub(super) fn settle(&mut self) -> Result<(), WorkflowFault> {
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
        if let Some(sealed) = &self.sealed {
            let from = self.unsealed.n_records();
            for (at, link) in progress.links.iter().enumerate() {
                sealed.check(from + at, &link.bytes)?;
            }
        }
        self.unsealed.extend(&progress);
        self.tell(&progress);
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
}

/// Says that an answer was made because nobody waits for it.
pub(super) fn withdrawn() -> AnswerSource {
    AnswerSource::System("withdraw".to_owned())
}
