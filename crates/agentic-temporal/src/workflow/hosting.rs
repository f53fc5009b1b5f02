//! The loop that hosts a program.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::Poll;

use agentic_host::RunExecutor;
use agentic_model::{Instant, Value, json};
use agentic_replay::record::{CancelMode, CancelRecord, PermitScope, VoteRecord};
use agentic_replay::{
    AnswerSource, CancelExtent, End, Hold, Note, Path, Performance, Program, RequestAnswer,
    Session, SessionProgress, SessionRefusal,
};
use agentic_session::hosted::{HostedOpening, HostedRun};
use temporalio_sdk::{
    ApplicationFailure, ContinueAsNewOptions, WorkflowCancellationToken, WorkflowContext,
    WorkflowResult, WorkflowTermination,
};

use crate::decision::{CancelAsk, SettledHold, WireFate, instant};
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::wire::{BadWire, RunInput, SealedPoint, WireValue};
use crate::workflow::desk::DecidedHold;
use crate::workflow::event::Event;
use crate::workflow::flight::Flight;
use crate::workflow::sealing::UnsealedTail;
use crate::workflow::{ServedRun, detached};

/// How long the names of the open holds may be that stand in the memo of a run, in bytes.
const MEMO_BYTES_MAX: usize = 16 << 10;

/// What fails the task of a run, and not the run: the right worker heals it.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowFault {
    /// The session layer failed: the program is not here, or does something else.
    #[error("{}", whole(.0))]
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
}

/// A run on its way.
pub struct Hosting<'c> {
    pub(super) ctx: &'c WorkflowContext<ServedRun>,
    pub(super) input: RunInput,
    pub(super) session: Session<Box<dyn Program>>,
    pub(super) executor: RunExecutor,
    pub(super) flight: Flight<'c>,
    /// What cancels each effect and timer under way.
    pub(super) tokens: BTreeMap<Path, WorkflowCancellationToken>,
    /// Answers that were computed.
    pub(super) computed: VecDeque<(Path, RequestAnswer, AnswerSource)>,
    /// Effects that wait for room.
    pub(super) backlog: VecDeque<Performance>,
    /// How many effects and other activities are under way.
    pub(super) n_activities: usize,
    pub(super) unsealed: UnsealedTail,
    /// Holds that nobody waits for, whose closing waits for their seal.
    pub(super) closing: VecDeque<agentic_replay::WithdrawnRequest>,
    pub(super) is_sealing: bool,
    pub(super) is_cancelled: bool,
    end: Option<End>,
    /// What the memo says.
    memo: Option<(Vec<String>, bool)>,
}

/// Hosts a program until it is over, or goes on as a new execution.
pub async fn host(
    ctx: &WorkflowContext<ServedRun>,
    input: RunInput,
) -> WorkflowResult<serde_json::Value> {
    let fault = match Hosting::begin(ctx, input) {
        Ok(mut hosting) => match hosting.run().await {
            Ok(ended) => return ended,
            Err(fault) => fault,
        },
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
                (HostedRun { session, executor: hosted.executor }, progress, 0)
            }
            Some(SealedPoint { records, head }) => {
                let (run, progress) = ground.load(&start, *records, head)?;
                (run, progress, *records)
            }
        };
        let mut hosting = Hosting {
            ctx,
            input,
            session: run.session,
            executor: run.executor,
            flight: Flight::default(),
            tokens: BTreeMap::new(),
            computed: VecDeque::new(),
            backlog: VecDeque::new(),
            n_activities: 0,
            unsealed: UnsealedTail::behind(n_sealed),
            closing: VecDeque::new(),
            is_sealing: false,
            is_cancelled: false,
            end: None,
            memo: None,
        };
        hosting.take_in(progress)?;
        Ok(hosting)
    }

    async fn run(&mut self) -> Result<WorkflowResult<serde_json::Value>, WorkflowFault> {
        loop {
            self.settle()?;
            if self.end.is_some() && self.unsealed.is_empty() && !self.is_sealing {
                return Ok(self.finish().await);
            }
            let rolls = self.should_roll();
            if rolls && self.is_at_rest() {
                if self.unsealed.is_empty() {
                    if let Some(rolled) = self.roll() {
                        return Ok(rolled);
                    }
                } else {
                    self.want_seal();
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
                self.session.answered(
                    &signalled.path,
                    RequestAnswer::Ok(signalled.value),
                    by,
                    at,
                )?
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

    fn put_before_people(&mut self, hold: &Hold, n_records: usize) {
        let request = hold.id.to_string();
        let position = n_records.saturating_sub(1);
        self.ctx.state_mut(|run| run.desk.put_before_people(request.clone(), position));
        self.want_seal();
        self.expire_later(hold);
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
        let at = self.now();
        let progress = match event {
            Event::Answered(path, answer, by) => {
                self.n_activities -= 1;
                self.tokens.remove(&path);
                self.session.answered(&path, answer, by, at)?
            }
            Event::Unanswered(path, why) => {
                self.n_activities -= 1;
                self.tokens.remove(&path);
                let next_at = at.plus_millis(super::launch::AGAIN_AFTER_MS);
                self.session.attempted(&path, &why, Some(next_at), at)?
            }
            Event::Lost(path) => {
                self.n_activities -= 1;
                self.tokens.remove(&path);
                self.session.doubt(&path, at)?
            }
            // A timer that was let go meanwhile is none.
            Event::Due(path) if self.tokens.remove(&path).is_some() => self.session.answered(
                &path,
                RequestAnswer::Ok(Value::Null),
                AnswerSource::Timer,
                at,
            )?,
            Event::Again(performance)
                if self.tokens.remove(&performance.request.path).is_some() =>
            {
                self.take_up(Performance { not_before: None, ..*performance });
                return Ok(());
            }
            Event::Sealed(n_sealed) => {
                self.is_sealing = false;
                self.unsealed.sealed(n_sealed);
                self.ctx.state_mut(|run| run.desk.n_sealed = n_sealed);
                self.close_withdrawn();
                return Ok(());
            }
            Event::Overdue(request) => {
                self.expire(request);
                return Ok(());
            }
            Event::Expired(request, settled) => {
                self.n_activities -= 1;
                let Some(settled) = settled else { return Ok(()) };
                return self.apply(&request, settled);
            }
            Event::Withdrawn(path, commit) => {
                self.n_activities -= 1;
                let by = commit.map_or_else(withdrawn, AnswerSource::Decision);
                let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
                self.session.answered(&path, answer, by, at)?
            }
            Event::Decided(decided) => return self.take_decision(decided),
            Event::Cancel(ask) => return self.cancel(ask),
            Event::Broken(why) => return Err(WorkflowFault::Broken(why)),
            Event::Due(_) | Event::Again(_) | Event::Looked => return Ok(()),
        };
        self.take_in(progress)
    }

    fn take_decision(&mut self, decided: DecidedHold) -> Result<(), WorkflowFault> {
        let DecidedHold { request, settled, vote, principal, action } = decided;
        if let Some(settled) = settled {
            return self.apply(&request, settled);
        }
        let (Some(hold), Some(decision)) = (self.hold(&request), vote) else { return Ok(()) };
        let vote = VoteRecord { path: hold.request.path.clone(), decision, principal, action };
        let progress = self.session.note(Note::Vote(vote), self.now())?;
        self.take_in(progress)
    }

    /// Does to a hold what a decision makes of it, unless it is closed.
    fn apply(&mut self, request: &str, settled: SettledHold) -> Result<(), WorkflowFault> {
        let Some(hold) = self.hold(request) else { return Ok(()) };
        let (path, at) = (hold.request.path.clone(), self.now());
        self.ctx.state_mut(|run| run.desk.holds.remove(request));
        if let Some(token) = self.tokens.remove(&path) {
            token.cancel_with_reason("decided");
        }
        let SettledHold { commit, fate } = settled;
        let progress = match fate {
            WireFate::Answer(answer) => self.session.answered(
                &path,
                answer.answer()?,
                AnswerSource::Decision(commit),
                at,
            )?,
            WireFate::Permit { edited, is_wide } => {
                let edited = edited.map(WireValue::value).transpose()?;
                let scope = if is_wide { PermitScope::RestOfSession } else { PermitScope::Once };
                self.session.permit(&path, &commit, edited, scope, at)?
            }
        };
        self.take_in(progress)
    }

    fn hold(&self, request: &str) -> Option<Hold> {
        self.session.pending().into_iter().find(|hold| hold.id.to_string() == request)
    }

    fn cancel(&mut self, ask: CancelAsk) -> Result<(), WorkflowFault> {
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
        self.ctx.workflow_time().map_or(Instant::from_millis(self.input.at), instant)
    }

    /// Says whether only humans and instants are waited for.
    fn is_at_rest(&self) -> bool {
        self.n_activities == 0
            && !self.is_sealing
            && self.closing.is_empty()
            && self.end.is_none()
            && !self.is_cancelled
            && !self.ctx.state(|run| run.desk.is_deciding())
    }

    fn should_roll(&self) -> bool {
        self.ctx.continue_as_new_suggested() || self.ctx.history_length() >= self.input.events_max
    }

    /// Goes on as a new execution, which begins from what is sealed.
    fn roll(&mut self) -> Option<WorkflowResult<serde_json::Value>> {
        if !self.ctx.all_handlers_finished() {
            return None;
        }
        let head = self.session.chain().head().to_string();
        let journal = Some(SealedPoint { records: self.unsealed.n_records(), head });
        let input = RunInput { journal, ..self.input.clone() };
        let rolled = self.ctx.continue_as_new(input, ContinueAsNewOptions::default());
        Some(rolled.map(|never| match never {}))
    }

    async fn finish(&mut self) -> WorkflowResult<serde_json::Value> {
        self.ctx.state_mut(|run| run.desk.is_over = true);
        self.publish();
        let is_idle = |run: &ServedRun| !run.desk.is_deciding();
        let _ = self.ctx.wait_condition_with_options(is_idle, detached()).await;
        match self.end.take() {
            Some(End::Done(value)) => Ok(json::to_json(&value)),
            Some(End::Failed(failure)) => {
                let said = ApplicationFailure::builder(failure.message);
                Err(said.type_name(failure.code).non_retryable(true).build().into())
            }
            Some(End::Cancelled) | None => Err(WorkflowTermination::cancelled()),
        }
    }

    /// Writes into the memo what waits for a human, and whether nothing else is waited for.
    fn publish(&mut self) {
        let mut holds: Vec<String> = self.ctx.state(|run| run.desk.holds.iter().cloned().collect());
        let rests = !holds.is_empty()
            && self.n_activities == 0
            && self.backlog.is_empty()
            && self.unsealed.is_empty();
        self.ctx.state_mut(|run| run.desk.rests = rests);
        let mut n_bytes = 0;
        holds.retain(|id| {
            n_bytes += id.len() + 3;
            n_bytes <= MEMO_BYTES_MAX
        });
        if self.memo.is_none() && holds.is_empty() {
            return;
        }
        let new = (holds, rests);
        if self.memo.as_ref() == Some(&new) {
            return;
        }
        let values = [
            ("holds", Some(temporalio_sdk::MemoValue::new(new.0.clone()))),
            ("rests", Some(temporalio_sdk::MemoValue::new(new.1))),
        ];
        // A memo only shows: a run without one is the same run.
        if self.ctx.upsert_memo(values).is_ok() {
            self.memo = Some(new);
        }
    }

    /// Waits for what comes next: decisions and requests to stop first, then completions by request.
    async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.mail() {
                return event;
            }
            let arrived = std::future::poll_fn(|cx| Poll::Ready(self.flight.poll(cx))).await;
            if let Some(event) = arrived {
                return event;
            }
            self.ctx.state_mut(|run| run.desk.all_seen());
            let has_mail = |run: &ServedRun| run.desk.has_mail();
            let mut mailed = Box::pin(self.ctx.wait_condition_with_options(has_mail, detached()));
            let root = self.ctx.cancellation_token();
            let mut stopped = Box::pin(root.cancelled());
            let (flight, watches) = (&mut self.flight, !self.is_cancelled);
            let event = std::future::poll_fn(|cx| {
                if let Some(event) = flight.poll(cx) {
                    return Poll::Ready(Some(event));
                }
                let is_mailed = std::future::Future::poll(mailed.as_mut(), cx).is_ready();
                let is_stopped =
                    watches && std::future::Future::poll(stopped.as_mut(), cx).is_ready();
                if is_mailed || is_stopped { Poll::Ready(None) } else { Poll::Pending }
            });
            if let Some(event) = event.await {
                return event;
            }
            if self.ctx.state(|run| run.desk.is_seal_wanted) {
                return Event::Looked;
            }
        }
    }

    fn mail(&mut self) -> Option<Event> {
        let token = self.ctx.cancellation_token();
        if !self.is_cancelled && token.is_cancelled() {
            let why = token.reason().unwrap_or_default();
            return Some(Event::Cancel(CancelAsk { who: "temporal".to_owned(), why, kill: false }));
        }
        self.ctx.state_mut(|run| {
            let cancel = run.desk.cancels.pop_front().map(Event::Cancel);
            cancel.or_else(|| run.desk.take_decided().map(Event::Decided))
        })
    }
}

/// Says that an answer was made because nobody waits for it.
pub(super) fn withdrawn() -> AnswerSource {
    AnswerSource::System("withdraw".to_owned())
}
