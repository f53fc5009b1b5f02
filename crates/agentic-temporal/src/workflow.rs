//! The one workflow that hosts every program.
//!
//! The session is a local of the run: handlers and queries see the plain data of the [`Desk`] beside it.
//! Everything here happens in the order of the history: there is no clock but that of the workflow, no
//! randomness and no map without order, and only futures of the SDK are waited for.

mod arrival;
mod children;
mod desk;
mod ending;
mod event;
mod flight;
mod holds;
mod hosting;
mod launch;
mod mailbox;
mod memo;
mod panics;
mod sealing;

use std::sync::Arc;

use temporalio_common::data_converters::RawValue;
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::{
    SyncWorkflowContext, WaitConditionOptions, WorkflowCancellationToken, WorkflowContext,
    WorkflowContextView, WorkflowResult,
};

use crate::activity::DecideActivity;
use crate::decision::{DecideAsk, DecideReply, RunView, WireRefusal};
use crate::ground::WorkerGround;
use crate::wire::{RunInput, heard, short};
use crate::workflow::desk::Desk;

/// An error that a handler ends with.
type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// A run.
#[workflow]
#[derive(Default)]
pub struct ServedRun {
    /// The repository of the worker.
    ground: Option<Arc<WorkerGround>>,
    desk: Desk,
}

impl ServedRun {
    /// Makes a run that stands on the repository of its worker.
    pub fn on(ground: Arc<WorkerGround>) -> ServedRun {
        ServedRun { ground: Some(ground), desk: Desk::default() }
    }
}

#[workflow_methods]
impl ServedRun {
    #[run(name = "agentic.program.v1")]
    pub async fn run(
        ctx: &mut WorkflowContext<Self>,
        input: RunInput,
    ) -> WorkflowResult<serde_json::Value> {
        hosting::host(ctx, input).await
    }

    #[update_validator(decide)]
    fn is_well_formed(
        &self,
        _ctx: &WorkflowContextView,
        ask: &DecideAsk,
    ) -> Result<(), HandlerError> {
        ask.misshapen().map_or(Ok(()), |why| Err(why.into()))
    }

    #[update(name = "agentic.decide")]
    pub async fn decide(
        ctx: &mut WorkflowContext<Self>,
        ask: DecideAsk,
    ) -> Result<DecideReply, HandlerError> {
        let ticket = ctx.state_mut(|run| run.desk.ask());
        let attempt = ask.attempt.clone();
        let reply = ServedRun::answer(ctx, ask, ticket).await;
        ctx.state_mut(|run| run.desk.answered());
        Ok(match reply? {
            DecideReply::Refused(refusal) => {
                DecideReply::Refused(WireRefusal { attempt, ..refusal })
            }
            decided @ DecideReply::Decided { .. } => decided,
        })
    }

    #[signal(name = "agentic.cancel")]
    pub fn cancel(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RawValue) {
        self.desk.cancels.extend(heard(&told));
    }

    #[signal(name = "agentic.signal")]
    pub fn signal(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RawValue) {
        self.desk.signals.extend(heard(&told));
    }

    #[signal(name = "agentic.child")]
    pub fn child_ended(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RawValue) {
        self.desk.child_ends.extend(heard(&told));
    }

    #[signal(name = "agentic.seal")]
    pub fn seal(&mut self, _ctx: &mut SyncWorkflowContext<Self>) {
        self.desk.is_seal_wanted = true;
    }

    #[query(name = "agentic.view")]
    pub fn view(&self, _ctx: &WorkflowContextView) -> RunView {
        self.desk.view()
    }
}

impl ServedRun {
    /// Answers a decision.
    async fn answer(
        ctx: &WorkflowContext<Self>,
        ask: DecideAsk,
        ticket: u64,
    ) -> Result<DecideReply, HandlerError> {
        // The loop takes in all of this activation first, no more.
        let seen = ctx.wait_condition_with_options(|run| run.desk.has_seen(ticket), detached());
        seen.await?;
        if !ctx.state(|run| run.desk.knows(&ask.request)) {
            return Ok(DecideReply::Refused(unknown(&ask.request)));
        }
        // Decisions of one hold are taken one after the other, and each finds its question sealed.
        let request = ask.request.clone();
        let is_free = |run: &ServedRun| run.desk.may_decide(&request);
        ctx.wait_condition_with_options(is_free, detached()).await?;
        let n = ctx.state_mut(|run| run.desk.begin_deciding(&request));
        let options = launch::of_upkeep(format!("decide-{request}-{n}"));
        let done = ctx.execute_activity(DecideActivity, ask, options).await;
        ctx.state_mut(|run| run.desk.end_deciding(&request));
        let reply = done?;
        if let DecideReply::Decided { settled, vote, principal, action, .. } = &reply {
            let decided = desk::DecidedHold {
                request: request.clone(),
                settled: settled.clone(),
                vote: vote.clone(),
                principal: principal.clone(),
                action: action.clone(),
            };
            let taken = ctx.state_mut(|run| run.desk.decided(decided));
            let is_taken = |run: &ServedRun| run.desk.has_taken(taken);
            ctx.wait_condition_with_options(is_taken, detached()).await?;
        }
        Ok(reply)
    }
}

/// Waits for a condition whatever becomes of the run: what is stopped still cleans up.
fn detached() -> WaitConditionOptions {
    let token = WorkflowCancellationToken::new();
    WaitConditionOptions::builder().cancellation_token(token).build()
}

fn unknown(request: &str) -> WireRefusal {
    WireRefusal {
        class: "refused".to_owned(),
        message: format!("the run has no request `{}` that a human answers", short(request)),
        hint: "`agentic pending` lists what waits for a human".to_owned(),
        because: None,
        attempt: String::new(),
    }
}
