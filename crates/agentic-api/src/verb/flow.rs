//! Durable runs, as pipelines speak of them.

mod ask;
mod crosscheck;
mod end;
mod plan;
mod run;
mod translate;
mod worker;

pub use self::ask::FlowAsk;
pub use self::crosscheck::FlowCrosscheck;
pub(crate) use self::end::end_reply;
pub use self::plan::{
    FlowCheck, FlowDiagnostics, FlowExplain, FlowExplainStored, FlowPlan, PlanForm,
};
pub use self::run::RunPipeline;
pub use self::translate::FlowTranslate;
pub use self::worker::FlowWorker;

use agentic_model::guidance::ErrorClass;
use agentic_replay::SessionState;
use agentic_replay::engine::{Cancellation, RunStatus};
use agentic_replay::record::CancelMode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{FlowEventView, FlowStatusView, RunAnswer};
use crate::{Caller, Notice, Refusal, principal};

/// Show how far a durable run has come.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowStatus {
    /// Its key, its agent, or its session.
    pub run: String,
}

impl Verb for FlowStatus {
    type Answer = FlowStatusView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FlowStatusView>, Refusal> {
        let (engine, run) = caller.engine_of(&self.run)?;
        let status = engine.status(&run)?;
        let completion = match status.state {
            SessionState::Diverged => VerbCompletion::Over(ErrorClass::Diverged),
            SessionState::Running
            | SessionState::Held
            | SessionState::Waiting
            | SessionState::Done
            | SessionState::Failed
            | SessionState::Cancelled => VerbCompletion::Whole,
        };
        Ok(Reply { completion, ..Reply::plain(FlowStatusView::from(&status)) })
    }
}

/// Tell what a durable run came to, or that it waits for a human.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowResult {
    /// Its key, its agent, or its session.
    pub run: String,
}

impl Verb for FlowResult {
    type Answer = RunAnswer;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<RunAnswer>, Refusal> {
        let (engine, run) = caller.engine_of(&self.run)?;
        let ended = engine.result(&run)?;
        let status = engine.status(&run)?;
        if let Some(end) = ended {
            return end_reply(&end, Some(&status.key));
        }
        match status.state {
            SessionState::Held | SessionState::Diverged => {
                Ok(run_reply(&status).map(RunAnswer::Standing))
            }
            SessionState::Running
            | SessionState::Waiting
            | SessionState::Done
            | SessionState::Failed
            | SessionState::Cancelled => Err(Refusal::refused(
                &format!("the run {} is not over", self.run),
                "`agentic flow status RUN` shows how far it came, `agentic flow worker RUN` goes on with it",
            )),
        }
    }
}

/// Tell what happened in a durable run, oldest first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowHistory {
    /// Its key, its agent, or its session.
    pub run: String,
}

impl Verb for FlowHistory {
    type Answer = Vec<FlowEventView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<FlowEventView>>, Refusal> {
        let (engine, run) = caller.engine_of(&self.run)?;
        let events = engine.history(&run)?;
        Ok(Reply::plain(events.iter().map(FlowEventView::from).collect()))
    }
}

/// Stop a durable run, its children first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowCancel {
    /// Its key, its agent, or its session.
    pub run: String,
    /// At once, without a chance to clean up.
    #[serde(default)]
    pub kill: bool,
    /// Why.
    #[serde(default)]
    pub why: String,
}

impl Verb for FlowCancel {
    type Answer = FlowStatusView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FlowStatusView>, Refusal> {
        let (engine, run) = caller.engine_of(&self.run)?;
        let mut redactor = CallerRedactor::new(caller)?;
        let cancellation = Cancellation {
            who: principal(caller.space)?,
            why: redactor.text("the reason", self.why),
            mode: if self.kill { CancelMode::Kill } else { CancelMode::Cooperative },
        };
        engine.cancel(&run, &cancellation)?;
        let view = FlowStatusView::from(&engine.status(&run)?);
        Ok(Reply { notices: redactor.notices(), ..Reply::plain(view) })
    }
}

/// Tells how a run stands that is not over.
pub(crate) fn run_reply(status: &RunStatus) -> Reply<FlowStatusView> {
    let held = status.holds.iter().map(|hold| Notice::Held { request: hold.request.clone() });
    let mut notices: Vec<Notice> = held.collect();
    if let Some(failure) = &status.unanswered {
        notices.push(Notice::Unanswered { why: failure.message.clone(), child: None });
        notices.push(Notice::ResumeRun { run: status.key.clone() });
    }
    let completion = match status.state {
        SessionState::Held => VerbCompletion::Held,
        SessionState::Waiting if status.unanswered.is_some() => VerbCompletion::Held,
        SessionState::Running | SessionState::Waiting | SessionState::Done => VerbCompletion::Whole,
        SessionState::Failed | SessionState::Cancelled => VerbCompletion::Over(ErrorClass::Refused),
        SessionState::Diverged => VerbCompletion::Over(ErrorClass::Diverged),
    };
    Reply { answer: FlowStatusView::from(status), notices, completion }
}
