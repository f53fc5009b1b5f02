//! What arrives: answers of effects, instants, decisions, signals, and requests to stop.

use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, Path, Performance, RequestAnswer, Signal,
};
use agentic_session::hosted::{PROBE, pause_before_next};

use crate::decision::{CancelAsk, SignalAsk};
use crate::wire::LostReply;
use crate::workflow::event::{Event, LostPlace};
use crate::workflow::hosting::{Hosting, WorkflowFault, withdrawn};
use crate::workflow::launch::AGAIN_AFTER_MS;

impl Hosting<'_> {
    /// Takes in what arrived.
    pub(super) fn take_event(&mut self, event: Event) -> Result<(), WorkflowFault> {
        // size: an arm for each event
        match event {
            Event::Answered(path, answer, by) => self.effect_answered(path, answer, by),
            Event::Unanswered(path, answer, why) => self.effect_unanswered(path, answer, &why),
            Event::Faulted(performance, answer, why) => {
                self.effect_faulted(&performance, answer, &why)
            }
            Event::Lost(performance, place) => self.effect_lost(*performance, place),
            Event::Probed(path, known) => self.effect_probed(path, known),
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
        self.unanswered.insert(path.clone());
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

    /// Has it found out whether an effect happened whose worker was lost, where somebody can.
    fn effect_lost(
        &mut self,
        performance: Performance,
        place: LostPlace,
    ) -> Result<(), WorkflowFault> {
        let path = performance.request.path.clone();
        if self.withdrawn.contains(&path) || place == LostPlace::Elsewhere {
            return self.effect_unknown(path);
        }
        self.probe(performance);
        Ok(())
    }

    fn effect_probed(&mut self, path: Path, known: LostReply) -> Result<(), WorkflowFault> {
        match known {
            LostReply::Happened(answer) => {
                let by = AnswerSource::System(PROBE.to_owned());
                self.effect_answered(path, answer.answer()?, by)
            }
            LostReply::NotHappened(_) if self.withdrawn.contains(&path) => {
                let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
                self.effect_answered(path, answer, AnswerSource::Executor)
            }
            LostReply::NotHappened(why) => {
                self.n_activities -= 1;
                self.tokens.remove(&path);
                let at = self.now();
                let progress = self.session.attempted(&path, &why, Some(at), at)?;
                self.take_in(progress)
            }
            LostReply::Unknown => self.effect_unknown(path),
        }
    }

    /// Puts an effect before people of which nobody knows whether it happened.
    fn effect_unknown(&mut self, path: Path) -> Result<(), WorkflowFault> {
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
        self.unanswered.remove(&performance.request.path);
        performance.not_before.into_iter().for_each(|at| self.pass_time(at));
        if performance.class == EffectClass::Once {
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
}
