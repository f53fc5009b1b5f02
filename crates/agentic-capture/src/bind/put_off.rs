//! Conversations whose agent cannot be made or brought back now: others hold what that takes for longer
//! than a hook waits. The next event tries again; until then what no transcript has waits in the spool.

use agentic_model::AgentName;
use agentic_space::error::AgentError;

use super::{Binder, Binding, child_names};
use crate::CaptureError;
use crate::conversation::BindReason;
use crate::event::{EventSubagent, HookEvent};

/// Says of an error that somebody is busy whose agent it was that could not be had.
pub(super) fn of(error: CaptureError, bound: impl FnOnce(AgentName) -> Binding) -> CaptureError {
    use agentic_space::Error;
    if let CaptureError::Space(Error::Agent(AgentError::Busy { name })) = error {
        return CaptureError::Busy { binding: Box::new(bound(name)) };
    }
    error
}

impl Binder<'_> {
    /// Says the same of a subagent whose parent's agent could not be made.
    pub(super) fn child_put_off(
        &self,
        event: &HookEvent,
        subagent: &EventSubagent,
        parent: Binding,
    ) -> CaptureError {
        let (id, known) = self.record_of(subagent, &parent.id);
        let [agent, ..] = child_names(&parent.agent, &subagent.id);
        let is_helper = known.is_none() && self.is_helper(event, subagent, &id);
        let reason = BindReason::Parent;
        let binding = Binding { agent, reason, id, known, is_new: false, is_helper };
        CaptureError::Busy { binding: Box::new(binding) }
    }
}
