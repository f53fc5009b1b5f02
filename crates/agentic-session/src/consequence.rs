//! What a decision makes of the hold that it settles.

use agentic_model::Value;
use agentic_replay::record::PermitScope;
use agentic_replay::{HOLD, HoldReason, ProgramFailure, RequestAnswer};

use crate::action::{Action, ApprovalScope};
use crate::decision::Decision;
use crate::policy::Policy;

/// What a decision makes of the hold that it settles.
#[derive(Debug, Clone, PartialEq)]
pub enum Consequence {
    /// The request has this answer.
    Answer(RequestAnswer),
    /// Its effect may begin, with another payload where the decision edited it.
    Permit(Option<Value>, PermitScope),
    /// Nobody waits any more.
    Nothing,
}

/// Derives it, from what was asked and decided alone.
pub fn consequence(
    kind: &str,
    reason: HoldReason,
    decision: &Decision,
    policy: &Policy,
) -> Consequence {
    use HoldReason::{Asked, InDoubt, NotAllowed};
    let refused = |code: &str| {
        let message = format!("{} by {}", decision.action.name(), decision.principal);
        Consequence::Answer(RequestAnswer::Failed(ProgramFailure::new(code, message)))
    };
    let told =
        || Consequence::Answer(RequestAnswer::Ok(decision.value.clone().unwrap_or(Value::Null)));
    match (reason, decision.action) {
        (Asked, _) if kind == HOLD => Consequence::Answer(decision.outcome(policy)),
        (Asked, Action::Approve | Action::Respond | Action::Edit) => told(),
        (NotAllowed, Action::Approve) if decision.scope() == Some(ApprovalScope::RestOfSession) => {
            Consequence::Permit(None, PermitScope::RestOfSession)
        }
        (NotAllowed | InDoubt, Action::Approve) => Consequence::Permit(None, PermitScope::Once),
        (NotAllowed | InDoubt, Action::Edit) => {
            Consequence::Permit(decision.value.clone(), PermitScope::Once)
        }
        (NotAllowed | InDoubt, Action::Respond) => told(),
        (_, Action::Reject) => refused("rejected"),
        (_, Action::Expire) => refused("expired"),
        (_, Action::Withdrawn) => Consequence::Nothing,
    }
}

#[cfg(test)]
mod tests;
