//! The end of an execution: of the run, or of this part of its history.

use agentic_model::{Instant, json};
use agentic_replay::End;
use temporalio_sdk::{
    ApplicationFailure, ContinueAsNewOptions, WorkflowResult, WorkflowTermination,
};

use crate::wire::{RunInput, SealedPoint};
use crate::workflow::hosting::Hosting;
use crate::workflow::{ServedRun, detached};

/// The longest result that is handed to the server, as JSON in bytes: the records have any.
const RESULT_BYTES_MAX: usize = 1 << 20;

impl Hosting<'_> {
    /// Says whether the run is over, and everything of it sealed.
    pub(super) fn is_done(&self) -> bool {
        self.end.is_some()
            && self.unsealed.is_empty()
            && !self.is_sealing
            && self.n_activities == 0
            && !self.children.are_to_begin()
            && self.children.have_stopped()
    }

    /// Says whether only humans, instants and children are waited for.
    pub(super) fn is_at_rest(&self) -> bool {
        self.n_activities == 0
            && self.computed.is_empty()
            && !self.children.are_to_begin()
            && !self.is_sealing
            && self.closing.is_empty()
            && self.end.is_none()
            && !self.is_stopping
            && self.ctx.state(|run| run.desk.is_clear())
    }

    /// Says whether it is to go on as a new execution. One that stops does not: it still cleans up.
    pub(super) fn should_roll(&self) -> bool {
        let is_long = self.ctx.continue_as_new_suggested()
            || self.ctx.history_length() >= self.input.events_max;
        is_long && !self.is_stopping && self.end.is_none()
    }

    /// Goes on as a new execution, which begins from what is sealed.
    pub(super) fn roll(&mut self) -> Option<WorkflowResult<serde_json::Value>> {
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

    pub(super) async fn finish(&mut self) -> WorkflowResult<serde_json::Value> {
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
